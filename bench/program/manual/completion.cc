#include "bench/program/manual/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace schedq {
namespace {

std::string CommandNames(const std::vector<ManualPage>& pages) {
  std::string names;
  for (const ManualPage& page : pages) names += (names.empty() ? "" : " ") + page.text.name;
  return names;
}

// The words that may stand where the command takes words; empty: files.
std::string Words(const ManualPage& page, const std::vector<ManualPage>& pages) {
  std::string words;
  for (const ManualFlag& one : page.positionals) {
    if (one.value == "COMMAND") return CommandNames(pages);
    words += fmt::format("{}", fmt::join(one.choices, " "));
  }
  return words;
}

// Text inside single quotes of a shell that knows no escapes there.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

// Text inside a description of zsh's _arguments, where brackets and colons have a meaning.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string BashCase(const ManualPage& page, const std::vector<ManualPage>& pages) {
  std::string flags;
  std::string values;
  for (const ManualFlag& flag : page.flags) {
    flags += fmt::format("{}{}", flags.empty() ? "" : " ", fmt::join(flag.names, " "));
    if (flag.choices.empty()) continue;
    values += fmt::format("        {}) words=\"{}\" ;;\n", fmt::join(flag.names, "|"),
                          fmt::join(flag.choices, " "));
  }
  std::string text = fmt::format("    {})\n      flags=\"{}\"\n      words=\"{}\"\n",
                                 page.text.name, flags, Words(page, pages));
  if (!values.empty()) text += "      case \"$previous\" in\n" + values + "      esac\n";
  return text + "      ;;\n";
}

}  // namespace

std::string BashCompletion(const std::vector<ManualPage>& pages) {
  std::string text =
      "# Completion of schedq for bash. Written by `schedq completion bash`.\n"
      "_schedq() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  local flags=\"\" words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  text += fmt::format("    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n",
                      CommandNames(pages));
  text += "    return\n  fi\n  case \"${COMP_WORDS[1]}\" in\n";
  for (const ManualPage& page : pages) text += BashCase(page, pages);
  return text +
         "  esac\n"
         "  case \"$current\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$current\")) ;;\n"
         "    *) if [ -n \"$words\" ]; then\n"
         "         COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "       else\n"
         "         COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "       fi ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _schedq schedq\n";
}

std::string ZshCompletion(const std::vector<ManualPage>& pages) {
  std::string text =
      "#compdef schedq\n"
      "# Completion of schedq for zsh. Written by `schedq completion zsh`.\n"
      "_schedq() {\n"
      "  local -a commands\n"
      "  if (( CURRENT == 2 )); then\n"
      "    commands=(\n";
  for (const ManualPage& page : pages) {
    text += "      " + Quoted(page.text.name + ":" + page.text.purpose) + '\n';
  }
  text +=
      "    )\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const ManualPage& page : pages) {
    text += fmt::format("    {})\n      _arguments", page.text.name);
    for (const ManualFlag& flag : page.flags) {
      for (const std::string& name : flag.names) {
        std::string one = "*" + name + "[" + ZshText(flag.about) + "]";
        if (!flag.choices.empty()) {
          one += fmt::format(":value:({})", fmt::join(flag.choices, " "));
        } else if (!flag.value.empty()) {
          one += ":" + ZshText(flag.value) + ":_files";
        }
        text += " \\\n        " + Quoted(one);
      }
    }
    const std::string words = Words(page, pages);
    text += " \\\n        " +
            Quoted(words.empty() ? "*:file:_files" : fmt::format("*:word:({})", words)) +
            "\n      ;;\n";
  }
  return text + "  esac\n}\n_schedq \"$@\"\n";
}

std::string FishCompletion(const std::vector<ManualPage>& pages) {
  std::string text = "# Completion of schedq for fish. Written by `schedq completion fish`.\n";
  for (const ManualPage& page : pages) {
    text += fmt::format("complete -c schedq -n __fish_use_subcommand -f -a {} -d {}\n",
                        page.text.name, Quoted(page.text.purpose));
    const std::string condition =
        fmt::format("-n '__fish_seen_subcommand_from {}'", page.text.name);
    for (const ManualFlag& flag : page.flags) {
      text += "complete -c schedq " + condition;
      for (const std::string& name : flag.names) {
        text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!flag.choices.empty()) {
        text += fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "));
      } else if (!flag.value.empty()) {
        text += " -r";
      }
      text += " -d " + Quoted(flag.about) + '\n';
    }
    if (const std::string words = Words(page, pages); !words.empty()) {
      text += fmt::format("complete -c schedq {} -f -a '{}'\n", condition, words);
    }
  }
  return text;
}

}  // namespace schedq
