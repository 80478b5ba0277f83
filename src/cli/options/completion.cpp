// Implements completion.h, from the definitions of the flags.
#include "cli/options/completion.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace heddle::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string flags_of(const CLI::App& command) {
  std::string flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) {
      continue;
    }
    for (const std::string& name : option->get_lnames()) {
      flags += (flags.empty() ? "--" : " --") + name;
    }
  }
  return flags;
}

std::string for_bash(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += fmt::format("    {}) flags=\"{}\" ;;\n", command->get_name(), flags_of(*command));
  }
  return fmt::format(
      "_heddle() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} flags\n"
      "  case ${{COMP_WORDS[1]}} in\n{}"
      "    *) flags=\"{}\" ;;\n"
      "  esac\n"
      "  COMPREPLY=()\n"
      "  if [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "      mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -W \"{}\" -- \"$word\")\n"
      "    fi\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _heddle heddle\n",
      cases,
      flags_of(app),
      commands
  );
}

/// In single quotes of fish.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("'\\", at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return "'" + text + "'";
}

std::string for_fish(const CLI::App& app) {
  std::string script;
  for (const CLI::App* command : commands_of(app)) {
    script += fmt::format(
        "complete -c heddle -n __fish_use_subcommand -a {} -d {}\n",
        command->get_name(),
        quoted(command->get_description())
    );
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        script +=
            option->get_group().empty()
                ? ""
                : fmt::format(
                      "complete -c heddle -n '__fish_seen_subcommand_from {}' -l {}{} -d {}\n",
                      command->get_name(),
                      name,
                      option->get_items_expected_max() == 0 ? "" : " -r",
                      quoted(option->get_description())
                  );
      }
    }
  }
  return script;
}

} // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") {
    return for_fish(app);
  }
  const std::string loader = shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  return loader + for_bash(app);
}

} // namespace heddle::cli
