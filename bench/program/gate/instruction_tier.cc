#include "bench/program/gate/instruction_tier.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/interrupt.h"
#include "bench/lab/profile/callgrind.h"
#include "bench/lab/profile/profile_kind.h"
#include "bench/program/gate/built_alike.h"
#include "bench/program/gate/commit_build.h"
#include "bench/program/gate/workload_choice.h"
#include "perf/compare/instructions.h"
#include "perf/compare/junit.h"
#include "perf/files/temporary_folder.h"
#include "perf/text/pattern.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

// What is counted: its name, and the arguments of the program that does it.
struct CountedThing {
  std::string name;
  std::vector<std::string> arguments;
};

Result<std::vector<CountedThing>> Paths(const InstructionTierOptions& options) {
  std::vector<CountedThing> things;
  if (options.has_files || !options.flags.labels.empty()) return things;
  const Result<Pattern> chosen = Pattern::Parse(options.flags.name);
  if (!chosen) return Error("--name " + chosen.error().message());
  const auto is_of_product = [&](const std::string& series) {
    const std::string owner = series.substr(0, series.find('/'));
    return owner == "assembled" || owner == "schedq" ||
           std::find(options.engines.begin(), options.engines.end(), owner) !=
               options.engines.end();
  };
  for (const ProfileKind& kind : AllProfileKinds()) {
    for (const ProfileSubject& subject : kind.subjects) {
      const std::string name = kind.name + ' ' + subject.name;
      if (!is_of_product(subject.name) || !chosen->IsFoundIn(name)) continue;
      things.push_back({name,
                        {"profile", kind.name, "--run-once", "--only",
                         PatternOfExactly(subject.name), "--sizes", std::to_string(kPathSize)}});
    }
  }
  return things;
}

// Without a choice those that are short.
Result<std::vector<CountedThing>> Workloads(const InstructionTierOptions& options) {
  RunFlags chosen = options.flags;
  if (!ChoosesWorkloads(chosen)) chosen.labels = "short";
  const Result<std::vector<std::string>> names = WorkloadsOf(chosen);
  if (!names) return names.error();
  std::vector<CountedThing> things;
  for (const std::string& name : *names) {
    for (const std::string& engine : options.engines) {
      RunFlags flags = options.flags;
      flags.engine = engine;
      CountedThing& thing = things.emplace_back();
      thing.name = name + ' ' + engine;
      thing.arguments = {"run", "--jobs", "1"};
      const std::vector<std::string> one = flags.OfOne(name, flags.seed);
      thing.arguments.insert(thing.arguments.end(), one.begin(), one.end());
    }
  }
  return things;
}

Result<InstructionSample> Count(const std::string& program, const CountedThing& thing) {
  std::vector<std::string> command = {program};
  command.insert(command.end(), thing.arguments.begin(), thing.arguments.end());
  std::string output;
  Result<InstructionCount> count = CountInstructionsSteadily(command, &output);
  if (!count) return count.error();
  return InstructionSample{thing.name, count->instructions, std::move(count->by_function)};
}

// The program under a name whose length is the same for both sides: the length of a path shifts the
// stack.
Result<std::string> Linked(const std::string& program, const std::string& link) {
  std::error_code code;
  fs::create_symlink(program, link, code);
  if (code) return Error(link + ": cannot be made: " + code.message());
  return link;
}

struct Counts {
  std::vector<InstructionSample> base;
  std::vector<InstructionSample> next;
  std::vector<std::string> notes;
  std::vector<std::string> failures;  // What only the new program could not run.
};

// An error: the program cannot be counted at all.
Status CountAll(const std::string& base, const std::string& next,
                const std::vector<CountedThing>& things, const BuildProgress& progress,
                Counts* counts) {
  std::optional<Error> first_error;
  const auto began = std::chrono::steady_clock::now();
  for (size_t i = 0; i < things.size() && !Interrupted(); ++i) {
    const CountedThing& thing = things[i];
    Result<InstructionSample> before = Count(base, thing);
    Result<InstructionSample> after = Count(next, thing);
    if (Interrupted()) return Error("interrupted");
    if (i == 0) {
      const std::chrono::duration<double> each = std::chrono::steady_clock::now() - began;
      progress(fmt::format("count instructions of {} paths and workloads, about {:.0f} s",
                           things.size(), each.count() * static_cast<double>(things.size())));
    }
    if (!before || before->instructions == 0) {
      const std::string why = before ? "the base counts nothing" : before.error().message();
      if (!first_error) first_error = Error(why);
      counts->notes.push_back(thing.name + ": not compared, " + why);
      continue;
    }
    if (!after || after->instructions == 0) {
      counts->failures.push_back(thing.name + ": " +
                                 (after ? "counts nothing any more" : after.error().message()));
      continue;
    }
    counts->base.push_back(std::move(*before));
    counts->next.push_back(std::move(*after));
  }
  if (counts->base.empty() && counts->failures.empty()) {
    return first_error ? *first_error : Error("there is nothing to count, expected another choice");
  }
  return Status::Ok();
}

void AddFailures(const Counts& counts, GateReport* report) {
  JunitSuite suite{"instructions run", {}};
  for (const std::string& failure : counts.failures) {
    report->text += VisibleText(failure) + '\n';
    report->markdown += "- " + VisibleText(failure) + '\n';
    suite.cases.push_back({failure.substr(0, failure.find(": ")), 0, JunitOutcome::kFailed,
                           failure.substr(failure.find(": ") + 2), ""});
  }
  if (suite.cases.empty()) return;
  report->AddJunit(std::move(suite));
  report->Fail("the instruction tier fails: the new program cannot run what the base can");
}

}  // namespace

Status JudgeInstructions(const Side& base, const Side& next, const InstructionTierOptions& options,
                         const BuildProgress& progress, GateReport* report) {
  const auto refuse = [](const Error& error) {
    return Error("--tier instructions: " + error.message());
  };
  if (Status status = CheckBuiltAlike(base.program, next.program); !status) {
    return refuse(status.error());
  }
  Result<std::vector<CountedThing>> things = Paths(options);
  if (!things) return refuse(things.error());
  const Result<std::vector<CountedThing>> workloads = Workloads(options);
  if (!workloads) return refuse(workloads.error());
  things->insert(things->end(), workloads->begin(), workloads->end());
  const Result<TemporaryFolder> folder = TemporaryFolder::Make();
  if (!folder) return refuse(folder.error());
  const Result<std::string> before = Linked(base.program, folder->File("base"));
  const Result<std::string> after = Linked(next.program, folder->File("next"));
  for (const Result<std::string>* link : {&before, &after}) {
    if (!*link) return refuse(link->error());
  }
  Counts counts;
  if (Status status = CountAll(*before, *after, *things, progress, &counts); !status) {
    return refuse(status.error());
  }
  const std::vector<InstructionChange> changes =
      CompareInstructions(counts.base, counts.next, options.threshold);
  const bool is_worse = std::any_of(changes.begin(), changes.end(),
                                    [](const InstructionChange& one) { return one.is_worse; });
  const char* const verdict = is_worse || !counts.failures.empty() ? "FAIL" : "pass";
  report->text +=
      fmt::format("instructions: {}\n", verdict) + InstructionsTable(changes, options.layout);
  report->markdown +=
      fmt::format("### Instruction tier: {}\n\n", verdict) + InstructionsMarkdown(changes);
  for (const std::string& note : counts.notes) report->text += VisibleText(note) + '\n';
  report->AddJunit(InstructionsJunit(changes));
  for (const InstructionSample& sample : counts.next) {
    report->series["instructions " + sample.name] = {static_cast<double>(sample.instructions),
                                                     "count"};
  }
  if (is_worse) {
    report->Fail(fmt::format("the instruction tier fails: more than {:g} % more instructions",
                             options.threshold * 100));
  }
  AddFailures(counts, report);
  return Status::Ok();
}

}  // namespace schedq
