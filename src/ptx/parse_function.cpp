// Functions: headers, scopes, declarations and labels of bodies, .loc.
//
// PTX ISA 9.0 sections 5.4, 7, 11.2-11.5. All scopes of a body are flattened into the lists of
// Function; names hidden by that get a suffix. A forward declaration and its definition become one
// Function.
#include "ptx/parser.h"

#include <fmt/format.h>

namespace heddle::ptx {
namespace {

constexpr std::size_t deepest_scope = 256;
constexpr std::size_t most_registers = 1U << 22; // of one function

} // namespace

bool Parser::function(Linkage linkage, bool entry) {
  auto function = std::make_unique<Function>();
  function->entry = entry;
  function->linkage = linkage;
  while (lexer_.peek().kind == TokenKind::DotWord) {
    if (lexer_.peek().is_dot("attribute")) {
      if (!variable_attributes(function->directives)) {
        return false;
      }
    } else if (lexer_.peek().is_dot("noreturn")) {
      function->noreturn = true;
      lexer_.advance();
    } else {
      return fail_here("the name of a function is expected");
    }
  }
  if (lexer_.peek().is('(')) {
    if (entry) {
      return fail_here("a kernel returns nothing");
    }
    if (!parameters(function->returns, /*prototype=*/false)) {
      return false;
    }
  }
  Token name = lexer_.peek();
  function->at = position(name);
  std::string_view word;
  if (!expect_word(&word, "the name of a function")) {
    return false;
  }
  function->name = std::string(word);
  if (lexer_.peek().is('(') && !parameters(function->parameters, /*prototype=*/false)) {
    return false;
  }
  if (!function_directives(*function)) {
    return false;
  }
  if (lexer_.peek().is(';')) {
    lexer_.advance();
    return add_function(std::move(function), name.offset);
  }
  if (!lexer_.peek().is('{')) {
    return fail_here("'{' or ';' expected after the header of a function");
  }
  function->defined = true;
  // Declared before the body is read: it may call itself.
  function_ = function.get();
  if (!add_function(std::move(function), name.offset)) {
    return false;
  }
  bool good = body();
  function_ = nullptr;
  return good;
}

bool Parser::add_function(std::unique_ptr<Function> function, std::uint32_t offset) {
  auto [entry, added] = module_names_.try_emplace(
      function->name,
      ModuleName{true, static_cast<std::uint32_t>(module_->functions.size())}
  );
  if (added) {
    module_->functions.push_back(std::move(function));
    return true;
  }
  if (!entry->second.function) {
    return fail(offset, fmt::format("'{}' is declared as a variable already", function->name));
  }
  std::unique_ptr<Function>& known = module_->functions[entry->second.index];
  if (known->entry != function->entry) {
    return fail(offset, fmt::format("'{}' is a kernel and a function", function->name));
  }
  if (function->defined && known->defined) {
    return fail(offset, fmt::format("function '{}' is defined twice", function->name));
  }
  if (function->parameters.size() != known->parameters.size() ||
      function->returns.size() != known->returns.size()) {
    return fail(
        offset,
        fmt::format("'{}' is declared before with other parameters", function->name)
    );
  }
  // What only the forward declaration says (.noreturn, .weak) stays true.
  const Function& declaration = function->defined ? *known : *function;
  Function& definition = function->defined ? *function : *known;
  definition.noreturn = definition.noreturn || declaration.noreturn;
  if (definition.linkage == Linkage::Internal && declaration.linkage != Linkage::Extern) {
    definition.linkage = declaration.linkage;
  }
  if (function->defined) {
    known = std::move(function);
  }
  return true;
}

bool Parser::dimensions(std::uint32_t (&out)[3]) {
  lexer_.advance();
  out[0] = out[1] = out[2] = 1;
  for (int i = 0; i < 3; ++i) {
    if (!small_integer(out[i], "a number")) {
      return false;
    }
    if (!lexer_.peek().is(',') || i == 2) {
      return true;
    }
    lexer_.advance();
  }
  return true;
}

bool Parser::function_directives(Function& function) {
  while (lexer_.peek().kind == TokenKind::DotWord) {
    std::string_view word = lexer_.peek().text;
    bool good = true;
    auto number = [&](std::uint32_t& out) {
      lexer_.advance();
      return small_integer(out, "a number");
    };
    if (word == "maxntid") {
      good = dimensions(function.max_ntid);
    } else if (word == "reqntid") {
      good = dimensions(function.req_ntid);
    } else if (word == "reqnctapercluster") {
      good = dimensions(function.req_cluster);
    } else if (word == "maxclusterrank") {
      good = number(function.max_cluster_rank);
    } else if (word == "minnctapersm") {
      good = number(function.min_nctapersm);
    } else if (word == "maxnreg") {
      good = number(function.max_nreg);
    } else if (word == "explicitcluster") {
      function.explicit_cluster = true;
      lexer_.advance();
    } else if (word == "noreturn") {
      function.noreturn = true;
      lexer_.advance();
    } else if (word == "pragma") {
      lexer_.advance();
      good = pragma(function.pragmas);
    } else if (word == "blocksareclusters" || word == "abi_preserve_control") {
      function.directives.emplace_back(word);
      lexer_.advance();
      if (lexer_.peek().kind == TokenKind::Integer) {
        function.directives.back() += fmt::format(" {}", lexer_.peek().value);
        lexer_.advance();
      }
    } else if (word == "abi_preserve" || word == "maxnctapersm") {
      std::uint32_t value = 0;
      good = number(value);
      function.directives.push_back(fmt::format("{} {}", word, value));
    } else {
      return fail_here("no such directive of a function");
    }
    if (!good) {
      return false;
    }
  }
  return true;
}

/// Parameters in register space are registers of the body too; names of both kinds are declared.
bool Parser::bind_formals() {
  std::uint32_t index = 0;
  for (const auto* list : {&function_->returns, &function_->parameters}) {
    for (const Variable& variable : *list) {
      std::string flat = names_.unique(variable.name);
      Entity entity{Entity::Kind::Variable, 1, index++};
      if (variable.space == Mod::Reg) {
        entity =
            {Entity::Kind::Register, 1, static_cast<std::uint32_t>(function_->registers.size())};
        function_->registers.push_back({variable.name, variable.type});
      }
      if (flat != variable.name || !names_.bind(variable.name, entity)) {
        return fail_here(fmt::format("parameter '{}' is declared twice", variable.name));
      }
    }
  }
  formals_ = index;
  return true;
}

bool Parser::body() {
  names_.reset();
  label_uses_.clear();
  scope_uses_.clear();
  place_locations_.clear();
  location_ = Instruction::no_location;
  names_.open_scope();
  scope_uses_.push_back(0);
  if (!bind_formals()) {
    return false;
  }
  lexer_.advance(); // {
  while (names_.depth() != 0) {
    if (!statement()) {
      return false;
    }
  }
  return true;
}

bool Parser::statement() {
  const Token& token = lexer_.peek();
  switch (token.kind) {
  case TokenKind::Identifier: {
    Token first = token;
    TextPosition at = position(token);
    std::string_view word = lexer_.take_dotted(scratch_);
    if (lexer_.peek().is(':')) {
      lexer_.advance();
      return label(word, first.offset);
    }
    return instruction(word, first.offset, at, std::nullopt);
  }
  case TokenKind::DotWord:
    return body_directive();
  case TokenKind::Punctuation:
    if (token.is('@')) {
      return guarded_instruction();
    }
    if (token.is('}')) {
      return close_scope();
    }
    if (token.is('{')) {
      if (names_.depth() >= deepest_scope) {
        return fail_here("blocks are nested too deeply");
      }
      lexer_.advance();
      names_.open_scope();
      scope_uses_.push_back(static_cast<std::uint32_t>(label_uses_.size()));
      return true;
    }
    if (token.is(';')) {
      lexer_.advance();
      return true;
    }
    [[fallthrough]];
  default:
    return fail_here(
        token.kind == TokenKind::End
            ? fmt::format("the body of '{}' is not closed", function_->name)
            : std::string("an instruction, a label or a declaration is expected")
    );
  }
}

bool Parser::body_directive() {
  std::string_view word = lexer_.peek().text;
  if (word == "reg") {
    lexer_.advance();
    return registers();
  }
  if (word == "loc") {
    lexer_.advance();
    return location();
  }
  if (word == "pragma") {
    lexer_.advance();
    return pragma(function_->pragmas);
  }
  if (word == "file") {
    return file_directive();
  }
  Linkage linkage = Linkage::Internal;
  if (word == "extern" || word == "weak" || word == "visible" || word == "common") {
    linkage = word == "extern"   ? Linkage::Extern
              : word == "weak"   ? Linkage::Weak
              : word == "common" ? Linkage::Common
                                 : Linkage::Visible;
    lexer_.advance();
    word = lexer_.peek().kind == TokenKind::DotWord ? lexer_.peek().text : "";
  }
  auto mod = find_modifier(word);
  if (mod == Mod::Local || mod == Mod::Shared || mod == Mod::Param || mod == Mod::Global ||
      mod == Mod::Const) {
    lexer_.advance();
    return local_variables(*mod, linkage);
  }
  return fail_here("no such directive in a function");
}

bool Parser::registers() {
  std::uint32_t vector = 1;
  std::optional<Type> type;
  while (lexer_.peek().kind == TokenKind::DotWord) {
    auto mod = find_modifier(lexer_.peek().text);
    if (mod == Mod::V2 || mod == Mod::V4) {
      vector = mod == Mod::V2 ? 2 : 4;
    } else if (mod && category(*mod) == Category::Type && type_bits(*mod) != 0 && !type) {
      type = mod;
    } else {
      return fail_here("a type of registers is expected");
    }
    lexer_.advance();
  }
  if (!type) {
    return fail_here("a type of registers is expected");
  }
  while (true) {
    Token name = lexer_.peek();
    std::string_view word;
    if (!expect_word(&word, "the name of a register") || !declare_register(name, *type, vector)) {
      return false;
    }
    if (!lexer_.peek().is(',')) {
      return expect(';', "after a declaration of registers");
    }
    lexer_.advance();
  }
}

bool Parser::declare_register(const Token& name, Type type, std::uint32_t vector) {
  auto first = static_cast<std::uint32_t>(function_->registers.size());
  bool declared = false;
  if (lexer_.peek().is('<')) {
    std::uint32_t count = 0;
    if (!this->count(count)) {
      return false;
    }
    if (vector != 1) {
      return fail(name.offset, "numbered vector registers are not supported");
    }
    if (first + std::uint64_t{count} > most_registers) {
      return fail(name.offset, "too many registers");
    }
    declared = names_.bind_range(name.text, count, first);
    std::string prefix = names_.unique_prefix(name.text, count);
    function_->registers.reserve(first + count);
    for (std::uint32_t i = 0; i < count; ++i) {
      function_->registers.push_back({prefix + std::to_string(i), type});
    }
  } else {
    if (first + std::uint64_t{vector} > most_registers) {
      return fail(name.offset, "too many registers");
    }
    auto kind = vector == 1 ? Entity::Kind::Register : Entity::Kind::VectorRegister;
    declared = names_.bind(name.text, {kind, static_cast<std::uint8_t>(vector), first});
    for (std::uint32_t i = 0; i < vector; ++i) {
      std::string flat(name.text);
      if (vector != 1) {
        // .v4 registers become four scalars.
        flat += fmt::format("${}", "xyzw"[i]);
      }
      function_->registers.push_back({names_.unique(flat), type});
    }
  }
  return declared || fail(name.offset, fmt::format("'{}' is declared twice", name.text));
}

bool Parser::local_variables(Mod space, Linkage linkage) {
  return variable_declaration(space, linkage, {}, [&](Variable variable, const Token& name) {
    auto index = static_cast<std::uint32_t>(formals_ + function_->variables.size());
    // name<n> declares several from one token: bind by the text they share only if it is the name.
    std::string_view key =
        variable.name == name.text ? name.text : *kept_names_.insert(variable.name).first;
    if (!names_.bind(key, {Entity::Kind::Variable, 1, index})) {
      return fail(name.offset, fmt::format("'{}' is declared twice", variable.name));
    }
    variable.name = names_.unique(variable.name);
    function_->variables.push_back(std::move(variable));
    return true;
  });
}

bool Parser::label(std::string_view name, std::uint32_t offset) {
  if (name.find('.') != std::string_view::npos) {
    return fail(offset, fmt::format("'{}' cannot be a label", name));
  }
  if (lexer_.peek().is_dot("branchtargets") || lexer_.peek().is_dot("calltargets")) {
    bool branches = lexer_.peek().is_dot("branchtargets");
    lexer_.advance();
    return target_list(name, offset, branches);
  }
  if (lexer_.peek().is_dot("callprototype")) {
    lexer_.advance();
    return prototype(name, offset);
  }
  Entity entity{Entity::Kind::Label, 1, static_cast<std::uint32_t>(function_->labels.size())};
  if (!names_.bind(name, entity)) {
    return fail(offset, fmt::format("label '{}' is declared twice", name));
  }
  function_->labels.push_back(
      {names_.unique(name), static_cast<std::uint32_t>(function_->body.size())}
  );
  return true;
}

bool Parser::target_list(std::string_view name, std::uint32_t offset, bool branches) {
  auto index = static_cast<std::uint32_t>(function_->targets.size());
  if (!names_.bind(name, {Entity::Kind::Targets, 1, index})) {
    return fail(offset, fmt::format("'{}' is declared twice", name));
  }
  TargetList list;
  list.name = names_.unique(name);
  while (true) {
    std::string_view word;
    std::uint32_t at = lexer_.peek().offset;
    if (!expect_word(&word, branches ? "a label" : "the name of a function")) {
      return false;
    }
    list.targets.emplace_back(word);
    if (branches) {
      label_uses_.push_back(
          {word, at, index, static_cast<std::uint32_t>(list.labels.size()), /*from_list=*/true}
      );
      list.labels.push_back(0);
    } else {
      use_module_name(word, at);
    }
    if (!lexer_.peek().is(',')) {
      break;
    }
    lexer_.advance();
  }
  function_->targets.push_back(std::move(list));
  return expect(';', "after a list of targets");
}

/// name: .callprototype (returns) _ (parameters) .noreturn;
bool Parser::prototype(std::string_view name, std::uint32_t offset) {
  auto index = static_cast<std::uint32_t>(function_->prototypes.size());
  if (!names_.bind(name, {Entity::Kind::Prototype, 1, index})) {
    return fail(offset, fmt::format("'{}' is declared twice", name));
  }
  CallPrototype prototype;
  prototype.name = names_.unique(name);
  if (lexer_.peek().is('(') && !parameters(prototype.returns, /*prototype=*/true)) {
    return false;
  }
  if (!lexer_.peek().is_word("_")) {
    return fail_here("'_' expected in a prototype");
  }
  lexer_.advance();
  if (lexer_.peek().is('(') && !parameters(prototype.parameters, /*prototype=*/true)) {
    return false;
  }
  while (lexer_.peek().kind == TokenKind::DotWord) {
    if (lexer_.peek().is_dot("noreturn")) {
      prototype.noreturn = true;
      lexer_.advance();
    } else if (
        lexer_.peek().is_dot("abi_preserve") || lexer_.peek().is_dot("abi_preserve_control")
    ) {
      // Says which registers survive the call: nothing an interpreter could get wrong.
      std::uint32_t ignored = 0;
      lexer_.advance();
      if (!small_integer(ignored, "a number of registers")) {
        return false;
      }
    } else {
      return fail_here("no such directive of a prototype");
    }
  }
  function_->prototypes.push_back(std::move(prototype));
  return expect(';', "after a prototype");
}

bool Parser::close_scope() {
  if (!resolve_label_uses(names_.depth() == 1)) {
    return false;
  }
  lexer_.advance(); // }
  names_.close_scope();
  scope_uses_.pop_back();
  return true;
}

/// A label is visible in the whole block that declares it: uses are looked up when a block ends,
/// and handed on to the enclosing block when it is not there.
bool Parser::resolve_label_uses(bool outermost) {
  std::size_t kept = scope_uses_.back();
  for (std::size_t u = scope_uses_.back(); u < label_uses_.size(); ++u) {
    LabelUse use = label_uses_[u];
    const Entity* entity = names_.find_here(use.name);
    if (entity == nullptr && !outermost) {
      label_uses_[kept++] = use;
      continue;
    }
    if (entity == nullptr || entity->kind != Entity::Kind::Label) {
      return fail(
          use.offset,
          entity == nullptr ? fmt::format("label '{}' is not declared in this function", use.name)
                            : fmt::format("'{}' is not a label", use.name)
      );
    }
    if (use.from_list) {
      TargetList& list = function_->targets[use.instruction];
      list.labels[use.operand] = entity->index;
      list.targets[use.operand] = function_->labels[entity->index].name;
    } else {
      function_->body[use.instruction].operands[use.operand].index = entity->index;
    }
  }
  label_uses_.resize(kept);
  return true;
}

std::size_t Parser::LocationHash::operator()(const LocationKey& key) const {
  std::uint64_t h = std::uint64_t{key.file} * 0x9e3779b97f4a7c15ULL + key.line;
  h = h * 0x9e3779b97f4a7c15ULL + (std::uint64_t{key.column} << 32 | key.inlined_at);
  h = h * 0x9e3779b97f4a7c15ULL + key.offset + std::hash<std::string_view>{}(key.label);
  return h ^ (h >> 29);
}

/// file line column [, function_name label[+n], inlined_at file line column]
bool Parser::location() {
  LocationKey key{0, 0, 0, Instruction::no_location, 0, {}};
  if (!small_integer(key.file, "the number of a file") || !small_integer(key.line, "a line") ||
      !small_integer(key.column, "a column")) {
    return false;
  }
  auto add = [&](const LocationKey& wanted) {
    auto [entry, added] = locations_.try_emplace(
        wanted,
        static_cast<std::uint32_t>(module_->source_locations.size())
    );
    if (added) {
      SourceLocation location;
      location.file = wanted.file;
      location.line = wanted.line;
      location.column = wanted.column;
      if (wanted.inlined_at != Instruction::no_location) {
        location.inlined_at = wanted.inlined_at;
      }
      module_->source_locations.push_back(std::move(location));
      location_keys_.push_back(wanted);
    }
    return entry->second;
  };
  auto place = [](std::uint32_t file, std::uint32_t line, std::uint32_t column) {
    return std::tuple(file, line, column);
  };
  if (lexer_.peek().is(',')) {
    lexer_.advance();
    if (!lexer_.peek().is_word("function_name")) {
      return fail_here("'function_name' expected");
    }
    lexer_.advance();
    // A label of .debug_str, or the section itself and an offset.
    if (lexer_.peek().is_dot("debug_str")) {
      key.label = lexer_.peek().text;
      lexer_.advance();
    } else if (!expect_word(&key.label, "the label of a name in .debug_str")) {
      return false;
    }
    if (lexer_.peek().is('+')) {
      lexer_.advance();
      if (!small_integer(key.offset, "an offset")) {
        return false;
      }
    }
    if (!expect(',', "after function_name")) {
      return false;
    }
    if (!lexer_.peek().is_word("inlined_at")) {
      return fail_here("'inlined_at' expected");
    }
    lexer_.advance();
    LocationKey call{0, 0, 0, Instruction::no_location, 0, {}};
    if (!small_integer(call.file, "the number of a file") || !small_integer(call.line, "a line") ||
        !small_integer(call.column, "a column")) {
      return false;
    }
    // The call stands where an earlier .loc says; the latest one is meant.
    auto known = place_locations_.find(place(call.file, call.line, call.column));
    key.inlined_at = known != place_locations_.end() ? known->second : add(call);
  }
  location_ = add(key);
  place_locations_[place(key.file, key.line, key.column)] = location_;
  return true;
}

} // namespace heddle::ptx
