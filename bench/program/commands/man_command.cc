// `schedq man`: the manual as man pages.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/program/command.h"
#include "bench/program/manual/man_page.h"
#include "bench/program/manual/manual.h"
#include "bench/program/output_file.h"
#include "engine/base/result.h"
#include "perf/files/file_io.h"

namespace schedq {
namespace {

class ManCommand : public Command {
 public:
  CommandText Text() const override {
    CommandText text;
    text.name = "man";
    text.purpose = "Print a man page, or write all of them";
    text.examples = {{"schedq man run | man -l -", "Read the page of `schedq run`"},
                     {"schedq man --out DIR", "Write schedq.1, schedq-run.1 and so on"}};
    return text;
  }

  void Declare(CLI::App& app) override {
    app.add_option("COMMAND", command_, "The command; none: the program's page")
        ->type_name("COMMAND");
    app.add_option("--out", out_, "Write the pages of the program and of all commands here")
        ->type_name("DIR");
  }

  Result<ExitCode> Run() override {
    if (!out_.empty() && !command_.empty()) {
      return Error("--out: expected no command beside it, for all pages are written");
    }
    if (!out_.empty()) {
      if (Status status = CheckFolder({"--out", out_}); !status) return status.error();
      return WriteAll();
    }
    if (command_.empty()) {
      fmt::print("{}", ProgramManPage(ReadManual()));
      return ExitCode::kGood;
    }
    const Result<ManualPage> page = FindPage(command_);
    if (!page) return page.error();
    fmt::print("{}", CommandManPage(*page));
    return ExitCode::kGood;
  }

 private:
  Result<ExitCode> WriteAll() const {
    const std::vector<ManualPage> pages = ReadManual();
    if (Status status = WriteFileAtomically(out_ + "/schedq.1", ProgramManPage(pages)); !status) {
      return status.error();
    }
    for (const ManualPage& page : pages) {
      const std::string file = out_ + "/schedq-" + page.text.name + ".1";
      if (Status status = WriteFileAtomically(file, CommandManPage(page)); !status) {
        return status.error();
      }
    }
    return ExitCode::kGood;
  }

  std::string command_;
  std::string out_;
};

const CommandRegistration kRegistration(140, [] { return std::make_unique<ManCommand>(); });

}  // namespace
}  // namespace schedq
