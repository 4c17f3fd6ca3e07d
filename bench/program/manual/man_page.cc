#include "bench/program/manual/man_page.h"

#include <fmt/format.h>

#include "bench/program/command.h"
#include "perf/documents/environment.h"

namespace schedq {
namespace {

// Text as roff shows it: a backslash is an escape, a plain dash is a hyphen, and a dot or a quote
// at the start of a line is a request.
std::string Escaped(const std::string& text) {
  std::string roff;
  bool is_line_start = true;
  for (const char letter : text) {
    if (is_line_start && (letter == '.' || letter == '\'')) roff += "\\&";
    if (letter == '\\') {
      roff += "\\e";
    } else if (letter == '-') {
      roff += "\\-";
    } else {
      roff += letter;
    }
    is_line_start = letter == '\n';
  }
  return roff;
}

std::string Title(const std::string& name) {
  std::string upper;
  for (const char letter : name) {
    upper += letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return fmt::format(".TH {} 1 \"\" \"schedq {}\" \"schedq\"\n", Escaped(upper),
                     ReadBuild().version);
}

std::string Entry(const std::string& term, const std::string& meaning) {
  return fmt::format(".TP\n.B {}\n{}\n", Escaped(term), Escaped(meaning));
}

std::string Flags(const std::vector<ManualFlag>& flags) {
  std::string roff;
  for (const ManualFlag& flag : flags) {
    const std::string standard =
        flag.standard.empty() ? "" : fmt::format(" (default: {})", flag.standard);
    roff += Entry(flag.Usage(), flag.about + standard + '.');
  }
  return roff;
}

std::string Examples(const std::vector<CommandExample>& examples) {
  std::string roff;
  for (const CommandExample& example : examples) roff += Entry(example.line, example.what + '.');
  return roff;
}

std::string ExitStatus(const CommandText& text) {
  std::string roff = ".SH EXIT STATUS\n";
  for (const ExitCodeText& code : ExitCodesOf(text)) {
    roff += Entry(std::to_string(code.code), code.meaning + '.');
  }
  return roff;
}

}  // namespace

std::string ProgramManPage(const std::vector<ManualPage>& pages) {
  std::string roff = Title("schedq");
  roff += ".SH NAME\nschedq \\- " + Escaped(ProgramPurpose()) + '\n';
  roff += ".SH SYNOPSIS\n.B schedq\n.I COMMAND\n[flags] [arguments]\n.SH COMMANDS\n";
  std::string see_also;
  std::vector<CommandExample> steps;
  CommandText all;
  all.no = "the answer is no: a threshold missed, a mismatch, a regression";
  for (const ManualPage& page : pages) {
    roff += Entry(page.text.name, page.text.purpose + '.');
    see_also += fmt::format("{}.BR schedq\\-{} (1)", see_also.empty() ? "" : ",\n",
                            Escaped(page.text.name));
    for (const CommandExample& example : page.text.examples) {
      if (example.is_first_step) steps.push_back(example);
    }
  }
  roff += ".SH EXAMPLES\n" + Examples(steps) + ExitStatus(all);
  return roff + ".SH SEE ALSO\n" + see_also + '\n';
}

std::string CommandManPage(const ManualPage& page) {
  std::string roff = Title("schedq-" + page.text.name);
  roff += fmt::format(".SH NAME\nschedq\\-{} \\- {}\n", Escaped(page.text.name),
                      Escaped(page.text.purpose));
  roff += ".SH SYNOPSIS\n" + Escaped(page.Synopsis()) + '\n';
  if (!page.positionals.empty()) roff += ".SH ARGUMENTS\n" + Flags(page.positionals);
  roff += ".SH OPTIONS\n" + Flags(page.flags);
  if (!page.text.notes.empty()) roff += ".SH NOTES\n.nf\n" + Escaped(page.text.notes) + "\n.fi\n";
  roff += ".SH EXAMPLES\n" + Examples(page.text.examples) + ExitStatus(page.text);
  return roff + ".SH SEE ALSO\n.BR schedq (1)\n";
}

}  // namespace schedq
