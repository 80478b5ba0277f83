// Lowers tex, tld4, txq, suld.b, sust.b and suq (PTX ISA 9.0, 9.7.10 and 9.7.11) on texture and
// surface objects, whose handles are in registers (the unified mode of PTX; what CUDA C++ has had
// since it dropped texture references).
//
// Unsupported: .texref, .samplerref and .surfref variables, separate samplers, multi-sample
// textures, f16 results, offsets, depth comparison, residency predicates other than "resident",
// sust.p and sured.
//
// May be wrong in this direction: a texture whose texels the same kernel writes reads the new
// values at once; hardware may give old ones.
#include "isa/lower_atomic.h"
#include "isa/lower_memory_address.h"
#include "isa/ops_texture.h"
#include "isa/texture_lanes.h"

#include <fmt/format.h>

namespace heddle::isa {
namespace {

using ptx::Mod;

/// What an instruction's geometry means.
struct Shape {
  int axes = 2; // texel coordinates after projection
  bool layered = false;
  bool cube = false;
  std::size_t coordinates() const { return cube ? 3 : static_cast<std::size_t>(axes); }
};

std::optional<Shape> shape_of(const ptx::Instruction& i) {
  switch (i.one_of(ptx::Category::Geometry).value_or(Mod::Dim5d)) {
  case Mod::Dim1d:
    return Shape{1, false, false};
  case Mod::Dim2d:
    return Shape{2, false, false};
  case Mod::Dim3d:
    return Shape{3, false, false};
  case Mod::DimA1d:
    return Shape{1, true, false};
  case Mod::DimA2d:
    return Shape{2, true, false};
  case Mod::DimCube:
    return Shape{2, false, true};
  case Mod::DimAcube:
    return Shape{2, true, true};
  default:
    return std::nullopt; // multi-sample
  }
}

enum class Choice : std::uint8_t {
  Base,
  Level,
  Gradients,
  Gather
};

/// Code::refs of an op: four destinations and the residency predicate, the layer if there is one,
/// the coordinates, then the level or both gradients. The rest is in op.imm.
struct TextureFlags {
  Shape shape;
  bool integer = false;
  Choice choice = Choice::Base;
  std::uint8_t channel = 0; // of a gather

  std::int64_t pack() const {
    return shape.axes | (shape.layered ? 4 : 0) | (shape.cube ? 8 : 0) | (integer ? 16 : 0) |
           static_cast<int>(choice) << 5 | channel << 7;
  }
  static TextureFlags unpack(std::int64_t bits) {
    return {
        {static_cast<int>(bits & 3), (bits & 4) != 0, (bits & 8) != 0},
        (bits & 16) != 0,
        static_cast<Choice>(bits >> 5 & 3),
        static_cast<std::uint8_t>(bits >> 7 & 3)
    };
  }
};
constexpr std::size_t result_refs = 5;

/// Copies the descriptor that a lane's handle names. False: fault() is filled in.
bool find_object(
    Exec& exec,
    int lane,
    memory::Address handle,
    std::uint64_t tag,
    TextureDescriptor& t
) {
  const std::byte* p =
      exec.translate(lane, handle, TextureDescriptor::allocation_bytes, /*store=*/false);
  if (p != nullptr) {
    std::memcpy(static_cast<void*>(&t), p, sizeof t);
    if (t.tag == tag) {
      return true;
    }
    wrong_space(exec, lane, handle, TextureDescriptor::allocation_bytes, /*store=*/false);
  }
  exec.fault().text = tag == TextureDescriptor::texture_tag
                          ? "the handle of a texture object is none"
                          : "the handle of a surface object is none";
  return false;
}

/// The object of each lane in turn, looked up once as long as it stays the same.
class Objects {
public:
  Objects(Exec& exec, const Op& op, std::uint64_t tag)
      : exec_(exec),
        handles_(exec.in<std::uint64_t>(op.a)),
        tag_(tag) {}
  const TextureDescriptor* of(int lane) {
    if (!known_ || handles_[lane] != handle_) {
      handle_ = handles_[lane];
      known_ = find_object(exec_, lane, handle_, tag_, descriptor_);
    }
    return known_ ? &descriptor_ : nullptr;
  }

private:
  Exec& exec_;
  const std::uint64_t* handles_;
  std::uint64_t tag_;
  memory::Address handle_ = 0;
  bool known_ = false;
  TextureDescriptor descriptor_;
};

/// The object of all executing lanes; nullptr: they have several, or it is none.
const TextureDescriptor* only_object(Exec& exec, const Op& op, std::uint64_t tag) {
  const auto* handles = exec.in<std::uint64_t>(op.a);
  const int lane = std::countr_zero(exec.mask());
  std::uint64_t differs = 0;
  exec.each([&](int other) { differs |= handles[other] ^ handles[lane]; });
  if (differs != 0 || exec.is_watched()) {
    return nullptr;
  }
  const auto* t = reinterpret_cast<const TextureDescriptor*>(
      exec.translate(lane, handles[lane], TextureDescriptor::allocation_bytes, /*store=*/false)
  );
  return t != nullptr && t->tag == tag ? t : nullptr;
}

// --- Textures

/// False: nothing was done.
bool sample_at_hand(Exec& exec, const Op& op, const TextureFlags& flags) {
  const bool plain = flags.choice == Choice::Base || flags.choice == Choice::Level;
  const TextureDescriptor* t =
      plain && !flags.shape.cube ? only_object(exec, op, TextureDescriptor::texture_tag) : nullptr;
  if (t == nullptr) {
    return false;
  }
  const int first = std::countr_zero(exec.mask());
  const TexelMemory memory = texels_at_hand(exec, first, *t, /*store=*/false);
  if (memory.begin == nullptr) {
    return false;
  }
  const Ref* refs = exec.code().refs.data() + op.list;
  const Ref* next = refs + result_refs;
  SamplePlaces places;
  if (flags.shape.layered) {
    places.layer = exec.in<std::uint32_t>(*next++);
  }
  for (std::size_t axis = 0; axis < flags.shape.coordinates(); ++axis) {
    places.at[axis] = exec.in<std::uint32_t>(*next++);
  }
  for (std::size_t channel = 0; channel < places.result.size(); ++channel) {
    if (!refs[channel].none()) {
      places.result[channel] = exec.out<std::uint32_t>(refs[channel]);
    }
  }
  const auto sample = [&]<int axes>() {
    flags.integer ? sample_lanes<axes, true>(exec, *t, places, memory)
                  : sample_lanes<axes, false>(exec, *t, places, memory);
  };
  switch (flags.shape.axes) {
  case 1:
    sample.template operator()<1>();
    break;
  case 2:
    sample.template operator()<2>();
    break;
  default:
    sample.template operator()<3>();
  }
  if (!refs[result_refs - 1].none()) {
    exec.set_predicate(refs[result_refs - 1], all_lanes); // everything is resident
  }
  return true;
}

const Op* run_texture(Exec& exec, const Op& op) {
  const TextureFlags flags = TextureFlags::unpack(op.imm);
  if (sample_at_hand(exec, op, flags)) {
    return &op + 1;
  }
  const Ref* refs = exec.code().refs.data() + op.list;
  Objects objects(exec, op, TextureDescriptor::texture_tag);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const TextureDescriptor* t = objects.of(lane);
    if (t == nullptr) {
      return access_fault(exec, op);
    }
    const Ref* next = refs + result_refs;
    ops::TexturePoint point;
    point.integer = flags.integer;
    if (flags.shape.layered) {
      point.layer = exec.in<std::uint32_t>(*next++)[lane];
    }
    for (std::size_t i = 0; i < flags.shape.coordinates(); ++i, ++next) {
      if (flags.integer) {
        point.texel[i] = exec.in<std::int32_t>(*next)[lane];
      } else {
        point.at[i] = exec.in<float>(*next)[lane];
      }
    }
    if (flags.shape.cube) {
      ops::project_on_cube(point);
    }
    if (flags.choice == Choice::Level) {
      point.level = flags.integer ? static_cast<float>(exec.in<std::int32_t>(*next)[lane])
                                  : exec.in<float>(*next)[lane];
    } else if (flags.choice == Choice::Gradients) {
      std::array<float, 3> gradient[2]{};
      for (auto& direction : gradient) {
        for (int axis = 0; axis < flags.shape.axes; ++axis, ++next) {
          direction[static_cast<std::size_t>(axis)] = exec.in<float>(*next)[lane];
        }
      }
      point.level = ops::level_of_gradients(*t, gradient[0], gradient[1], flags.shape.axes);
    }
    const auto read = [&](memory::Address at, std::uint32_t bytes) -> const std::byte* {
      return exec.translate(lane, at, bytes, /*store=*/false);
    };
    ops::Words words{};
    const bool done = flags.choice == Choice::Gather
                          ? ops::gather(*t, point, flags.channel, read, words)
                          : ops::sample(*t, point, flags.shape.axes, read, words);
    if (!done) {
      return access_fault(exec, op);
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!refs[i].none()) {
        exec.out<std::uint32_t>(refs[i])[lane] = words[i];
      }
    }
  }
  if (!refs[4].none()) {
    exec.set_predicate(refs[4], all_lanes); // everything is resident
  }
  return &op + 1;
}

/// The register that holds an object's handle.
Result<Ref> handle_of(Lowering& l, const ptx::Operand& address) {
  const ptx::Operand& base = address.elements.at(0);
  if (base.kind == ptx::OperandKind::Register && l.element_bytes(base, Mod::U64) == 8) {
    return l.source(base, Mod::U64);
  }
  return unsupported("a texture, sampler or surface variable");
}

/// Appends `count` of an operand's elements, the first of them a layer if `layered`; they may be
/// followed by padding.
Result<void> append(
    Lowering& l,
    const ptx::Operand& operand,
    bool layered,
    std::size_t count,
    ptx::Type type,
    std::vector<Ref>& refs
) {
  const auto elements = elements_of(operand);
  const std::size_t wanted = count + (layered ? 1 : 0);
  if (elements.size() < wanted) {
    return unsupported("too few texture coordinates");
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    const ptx::Type element_type = layered && i == 0 ? Mod::U32 : type;
    if (l.element_bytes(*elements[i], element_type) != 4) {
      return unsupported("texture coordinates that are not of 32 bits");
    }
    refs.push_back(l.source(*elements[i], element_type));
    if (refs.back().none()) {
      return unsupported("a texture coordinate of this kind");
    }
  }
  return {};
}

/// Destinations and residency predicate: the first `result_refs`.
Result<std::vector<Ref>> results_of(Lowering& l, const ptx::Operand& operand) {
  const bool pair = operand.kind == ptx::OperandKind::PredicatePair;
  std::vector<Ref> refs;
  for (const ptx::Operand* element : elements_of(pair ? operand.elements.at(0) : operand)) {
    if (element->kind == ptx::OperandKind::Register && l.element_bytes(*element, Mod::U32) != 4) {
      return unsupported("texture results that are not of 32 bits");
    }
    refs.push_back(l.destination(*element));
  }
  refs.resize(result_refs - 1);
  refs.push_back(pair ? l.destination(operand.elements.at(1)) : Ref{});
  return refs;
}

Result<void> lower_texture(Lowering& l, const ptx::Instruction& i) {
  TextureFlags flags;
  const auto shape = shape_of(i);
  const ptx::Type result_type = i.type(0).value_or(Mod::Pred);
  const ptx::Type coordinate_type = i.type(1).value_or(Mod::Pred);
  if (!shape || ptx::type_bits(result_type) != 32 || result_type == Mod::F16x2 ||
      (shape->cube && coordinate_type != Mod::F32)) {
    return unknown_form(i);
  }
  flags.shape = *shape;
  flags.integer = coordinate_type == Mod::S32;
  std::size_t operands = 2;
  if (i.opcode == ptx::Opcode::Tld4) {
    flags.choice = Choice::Gather;
    flags.channel = i.has(Mod::R) ? 0 : i.has(Mod::G) ? 1 : i.has(Mod::B) ? 2 : 3;
  } else if (i.has(Mod::Level)) {
    flags.choice = Choice::Level;
    operands = 3;
  } else if (i.has(Mod::Grad)) {
    flags.choice = Choice::Gradients;
    operands = 4;
  }
  const ptx::Operand& address = i.operands.at(1);
  if (i.operands.size() != operands || address.elements.size() != 2 ||
      (flags.choice == Choice::Gradients && (shape->cube || flags.integer))) {
    return unknown_form(i); // offsets, depth comparison, separate samplers
  }
  Op op = l.op(i);
  TRY(op.a, handle_of(l, address));
  TRY(std::vector<Ref> refs, results_of(l, i.operands[0]));
  TRY_VOID(
      append(l, address.elements[1], shape->layered, shape->coordinates(), coordinate_type, refs)
  );
  if (flags.choice == Choice::Level) {
    TRY_VOID(append(l, i.operands[2], false, 1, flags.integer ? Mod::S32 : Mod::F32, refs));
  } else if (flags.choice == Choice::Gradients) {
    for (std::size_t n = 2; n < 4; ++n) {
      TRY_VOID(
          append(l, i.operands[n], false, static_cast<std::size_t>(shape->axes), Mod::F32, refs)
      );
    }
  }
  op.list = l.list(refs);
  op.count = static_cast<std::uint16_t>(refs.size());
  op.imm = flags.pack();
  op.execute = run_texture;
  l.emit(op);
  return {};
}

// --- Surfaces

/// Code::refs of an op: one value per element, the layer if there is one, the coordinates.
struct SurfaceFlags {
  Shape shape;
  std::uint8_t element_bytes = 4;
  std::uint8_t register_bytes = 4;
  std::uint8_t elements = 1;
  Mod outside = Mod::Trap;

  std::int64_t pack() const {
    return shape.axes | (shape.layered ? 4 : 0) | element_bytes << 4 | register_bytes << 8 |
           elements << 12 |
           (outside == Mod::Clamp  ? 1 << 16
            : outside == Mod::Zero ? 2 << 16
                                   : 0);
  }
  static SurfaceFlags unpack(std::int64_t bits) {
    constexpr Mod modes[] = {Mod::Trap, Mod::Clamp, Mod::Zero};
    return {
        {static_cast<int>(bits & 3), (bits & 4) != 0, false},
        static_cast<std::uint8_t>(bits >> 4 & 15),
        static_cast<std::uint8_t>(bits >> 8 & 15),
        static_cast<std::uint8_t>(bits >> 12 & 15),
        modes[bits >> 16 & 3]
    };
  }
  std::uint32_t access_bytes() const { return std::uint32_t{element_bytes} * elements; }
};

/// Where an access to a surface goes.
struct SurfacePlace {
  bool inside = true;
  memory::Address at = 0;
};

/// at: byte offset in the row, row, slice; the layer counts as the slice of a layered surface.
[[gnu::always_inline]] inline SurfacePlace place_on_surface(
    const TextureDescriptor& t,
    const SurfaceFlags& flags,
    std::array<std::int64_t, 3> at
) {
  const std::int64_t access = flags.access_bytes();
  const std::array<std::int64_t, 3> last{
      std::int64_t{t.width} * t.texel_bytes() - access,
      std::int64_t{t.height} - 1,
      (t.dimensions == 3 ? std::int64_t{t.depth} : std::int64_t{t.layers}) - 1
  };
  const bool clamps = flags.outside == Mod::Clamp;
  bool inside = true;
  for (std::size_t axis = 0; axis < at.size(); ++axis) { // without branches: many lanes do this
    const std::int64_t most = std::max<std::int64_t>(0, last[axis]);
    const std::int64_t nearest = std::min(std::max<std::int64_t>(at[axis], 0), most);
    inside &= at[axis] >= 0 && at[axis] <= last[axis];
    at[axis] = clamps ? nearest : at[axis];
  }
  SurfacePlace place;
  place.inside = inside || clamps;
  place.at = t.data + static_cast<std::uint64_t>(at[2] * t.height + at[1]) * t.pitch +
             static_cast<std::uint64_t>(at[0]);
  return place;
}

/// Of a surface whose texels are at hand, and elements that are as long as their registers, or are
/// in wider ones. Returns the lanes for which nothing was done.
template <bool Store, class Element, class Register>
LaneMask access_at_hand(
    Exec& exec,
    const Op& op,
    const SurfaceFlags& flags,
    const TextureDescriptor& t,
    const TexelMemory& memory
) {
  const Ref* refs = exec.code().refs.data() + op.list;
  const Ref* next = refs + flags.elements;
  const auto axes = static_cast<std::size_t>(flags.shape.axes);
  std::array<const std::int32_t*, 3> places{};
  if (flags.shape.layered) {
    places[2] = exec.in<std::int32_t>(*next++);
  }
  for (std::size_t axis = 0; axis < axes; ++axis) {
    places[axis] = exec.in<std::int32_t>(*next++);
  }
  using Place = std::conditional_t<Store, const Register*, Register*>;
  std::array<Place, 4> registers{};
  for (std::size_t n = 0; n < flags.elements; ++n) {
    if constexpr (Store) {
      registers[n] = exec.in<Register>(refs[n]);
    } else {
      registers[n] = refs[n].none() ? nullptr : exec.out<Register>(refs[n]);
    }
  }
  const TextureDescriptor surface = t; // nobody else writes to these
  const SurfaceFlags how = flags;
  const TexelMemory texels = memory;
  alignas(64) std::array<std::array<std::int32_t, warp_size>, 3> at{};
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    if (places[axis] != nullptr) {
      std::memcpy(at[axis].data(), places[axis], sizeof at[axis]);
    }
  }
  std::array<std::uint64_t, warp_size> to;
  std::array<std::uint32_t, warp_size> apart; // a fault, or not an access at all
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const SurfacePlace place =
        place_on_surface(surface, how, {at[0][lane], at[1][lane], at[2][lane]});
    to[lane] = place.at;
    apart[lane] = !place.inside || (place.at & (how.access_bytes() - 1)) != 0 ? 1 : 0;
  }
  LaneMask lanes = exec.mask();
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    if (apart[static_cast<std::size_t>(std::countr_zero(m))] != 0) {
      lanes &= (m & -m) - 1; // those before it
      break;
    }
  }
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    std::byte* p = texels(to[lane], how.access_bytes());
    for (std::size_t n = 0; n < how.elements; ++n, p += sizeof(Element)) {
      if constexpr (Store) {
        const auto element = static_cast<Element>(registers[n][lane]);
        std::memcpy(p, &element, sizeof element);
      } else if (registers[n] != nullptr) {
        Element element;
        std::memcpy(&element, p, sizeof element);
        registers[n][lane] = element;
      }
    }
  }
  return exec.mask() & ~lanes;
}

template <bool Store> LaneMask access_at_hand(Exec& exec, const Op& op, const SurfaceFlags& flags) {
  const TextureDescriptor* t = only_object(exec, op, TextureDescriptor::surface_tag);
  if (t == nullptr) {
    return exec.mask();
  }
  const int first = std::countr_zero(exec.mask());
  const TexelMemory memory = texels_at_hand(exec, first, *t, Store);
  if (memory.begin == nullptr) {
    return exec.mask();
  }
  const auto as = [&]<class Element, class Register>() {
    return access_at_hand<Store, Element, Register>(exec, op, flags, *t, memory);
  };
  switch (flags.element_bytes << 4 | flags.register_bytes) {
  case 0x12:
    return as.template operator()<std::uint8_t, std::uint16_t>();
  case 0x14:
    return as.template operator()<std::uint8_t, std::uint32_t>();
  case 0x22:
    return as.template operator()<std::uint16_t, std::uint16_t>();
  case 0x24:
    return as.template operator()<std::uint16_t, std::uint32_t>();
  case 0x44:
    return as.template operator()<std::uint32_t, std::uint32_t>();
  case 0x88:
    return as.template operator()<std::uint64_t, std::uint64_t>();
  default:
    return exec.mask();
  }
}

template <bool Store> const Op* run_surface(Exec& exec, const Op& op) {
  const SurfaceFlags flags = SurfaceFlags::unpack(op.imm);
  const Ref* refs = exec.code().refs.data() + op.list;
  Objects objects(exec, op, TextureDescriptor::surface_tag);
  for (LaneMask m = access_at_hand<Store>(exec, op, flags); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const TextureDescriptor* t = objects.of(lane);
    if (t == nullptr) {
      return access_fault(exec, op);
    }
    const Ref* next = refs + flags.elements;
    const auto coordinate = [&] { return std::int64_t{exec.in<std::int32_t>(*next++)[lane]}; };
    std::array<std::int64_t, 3> at{};
    if (flags.shape.layered) {
      at[2] = coordinate();
    }
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(flags.shape.axes); ++axis) {
      at[axis] = coordinate();
    }
    const SurfacePlace place = place_on_surface(*t, flags, at);
    std::byte* p = nullptr;
    if (place.inside) {
      p = exec.translate(lane, place.at, flags.access_bytes(), Store);
      if (p == nullptr) {
        return access_fault(exec, op);
      }
    } else if (flags.outside == Mod::Trap) {
      Fault& fault = exec.fault();
      fault = Fault{};
      fault.kind = FaultKind::OutOfBounds;
      fault.lane = lane;
      fault.address = place.at;
      fault.bytes = flags.access_bytes();
      fault.store = Store;
      fault.text = fmt::format(
          "byte {} of row {} of {} {} lies outside of the surface ({} bytes a row, {} rows, {})",
          at[0],
          at[1],
          flags.shape.layered ? "layer" : "slice",
          at[2],
          t->width * t->texel_bytes(),
          t->height,
          t->dimensions == 3 ? t->depth : t->layers
      );
      return access_fault(exec, op);
    }
    for (std::uint32_t n = 0; n < flags.elements; ++n) {
      if (refs[n].none()) {
        continue;
      }
      if constexpr (Store) {
        if (p != nullptr) {
          const auto* from = exec.in<std::byte>(refs[n]) + lane * flags.register_bytes;
          std::memcpy(p + std::size_t{n} * flags.element_bytes, from, flags.element_bytes);
        }
      } else {
        auto* to = exec.out<std::byte>(refs[n]) + lane * flags.register_bytes;
        std::memset(to, 0, flags.register_bytes);
        if (p != nullptr) {
          std::memcpy(to, p + std::size_t{n} * flags.element_bytes, flags.element_bytes);
        }
      }
    }
  }
  return &op + 1;
}

Result<void> lower_surface(Lowering& l, const ptx::Instruction& i) {
  const bool store = i.opcode == ptx::Opcode::Sust;
  const auto shape = shape_of(i);
  const ptx::Operand& address = i.operands.at(store ? 0 : 1);
  const ptx::Operand& value = i.operands.at(store ? 1 : 0);
  const std::optional<ptx::Type> type = i.type();
  if (!shape || shape->cube || !type || !i.has(Mod::B) || address.elements.size() != 2) {
    return unknown_form(i);
  }
  SurfaceFlags flags;
  flags.shape = *shape;
  flags.element_bytes = static_cast<std::uint8_t>(ptx::type_bits(*type) / 8);
  flags.outside = i.one_of(ptx::Category::Clamp).value_or(Mod::Trap);
  std::vector<Ref> refs;
  flags.register_bytes = 0;
  for (const ptx::Operand* element : elements_of(value)) {
    const auto bytes = static_cast<std::uint8_t>(l.element_bytes(*element, *type));
    if (flags.register_bytes != 0 && flags.register_bytes != bytes) {
      return unsupported("a vector of registers of different widths");
    }
    flags.register_bytes = bytes;
    refs.push_back(store ? l.source(*element, *type) : l.destination(*element));
    if (store && refs.back().none()) {
      return unknown_form(i);
    }
  }
  if (flags.register_bytes < flags.element_bytes || flags.register_bytes > 8) {
    return unknown_form(i);
  }
  flags.elements = static_cast<std::uint8_t>(refs.size());
  Op op = l.op(i);
  op.flags |= Visible;
  TRY(op.a, handle_of(l, address));
  TRY_VOID(append(l, address.elements[1], shape->layered, shape->coordinates(), Mod::S32, refs));
  op.list = l.list(refs);
  op.count = static_cast<std::uint16_t>(refs.size());
  op.imm = flags.pack();
  op.execute = store ? run_surface</*Store=*/true> : run_surface</*Store=*/false>;
  l.emit(op);
  return {};
}

// --- Queries

std::uint32_t answer(const TextureDescriptor& t, Mod question, std::uint32_t level) {
  const ops::TextureExtent e = ops::level_extent(t, std::min(level, t.levels - 1));
  switch (question) {
  case Mod::Width:
    return e.size[0];
  case Mod::Height:
    return t.dimensions >= 2 ? e.size[1] : 0;
  case Mod::Depth:
    return t.dimensions == 3 ? e.size[2] : 0;
  case Mod::ArraySize:
    return t.layered ? t.layers / (t.cubemap ? 6U : 1U) : 0;
  case Mod::NumMipmapLevels:
    return t.levels;
  default: // NormalizedCoords
    return t.normalised_coordinates ? 1 : 0;
  }
}

template <bool Surface> const Op* run_query(Exec& exec, const Op& op) {
  Objects objects(
      exec,
      op,
      Surface ? TextureDescriptor::surface_tag : TextureDescriptor::texture_tag
  );
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const TextureDescriptor* t = objects.of(lane);
    if (t == nullptr) {
      return access_fault(exec, op);
    }
    const std::uint32_t level = op.b.none() ? 0 : exec.in<std::uint32_t>(op.b)[lane];
    exec.out<std::uint32_t>(op.d)[lane] = answer(*t, static_cast<Mod>(op.imm), level);
  }
  return &op + 1;
}

Result<void> lower_query(Lowering& l, const ptx::Instruction& i) {
  const Mod question = i.one_of(ptx::Category::Query).value_or(Mod::NumSamples);
  switch (question) {
  case Mod::Width:
  case Mod::Height:
  case Mod::Depth:
  case Mod::ArraySize:
  case Mod::NumMipmapLevels:
  case Mod::NormalizedCoords:
    break;
  default:
    return unknown_form(i);
  }
  Op op = l.op(i);
  TRY(op.a, handle_of(l, i.operands.at(1)));
  op.d = l.destination(i.operands[0]);
  if (i.operands.size() > 2) {
    op.b = l.source(i.operands[2], Mod::U32);
  }
  if (op.d.none() || l.element_bytes(i.operands[0], Mod::B32) != 4) {
    return unknown_form(i);
  }
  op.imm = static_cast<std::int64_t>(question);
  op.execute =
      i.opcode == ptx::Opcode::Suq ? run_query</*Surface=*/true> : run_query</*Surface=*/false>;
  l.emit(op);
  return {};
}

} // namespace

void register_texture(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Tex] = lower_texture;
  table[Opcode::Tld4] = lower_texture;
  table[Opcode::Suld] = lower_surface;
  table[Opcode::Sust] = lower_surface;
  table[Opcode::Txq] = lower_query;
  table[Opcode::Suq] = lower_query;
}

} // namespace heddle::isa
