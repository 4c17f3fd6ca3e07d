#include "bench/program/gate/duet.h"

#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "bench/interrupt.h"
#include "bench/program/gate/commit_build.h"
#include "bench/run_program.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "perf/text/number_text.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

// Which this process may use.
std::vector<int> Processors() {
  std::vector<int> processors;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  }
  return processors;
}

// One side of a round: its program, where it runs, and where its output goes.
struct Player {
  std::string program;
  std::string folder;
  int processor = -1;  // -1: all.
};

std::string CommandLine(const Player& player, const std::vector<std::string>& arguments) {
  std::string line =
      player.processor < 0 ? "" : fmt::format("taskset --cpu-list {} ", player.processor);
  line += ShellWord(player.program);
  for (const std::string& word : arguments) line += ' ' + ShellWord(word);
  return fmt::format("{} >{} 2>&1", line, ShellWord(player.folder + "/output"));
}

// What a player left: its results, or why there are none.
Result<Results> ResultsOfPlayer(const Player& player) {
  const Result<std::string> code = ReadWholeFile(player.folder + "/code");
  if (!code) return code.error();
  // A workload that failed or a wrong answer is no measurement.
  if (*code == "0\n") return ReadResults(player.folder + "/results");
  const Result<std::string> output = ReadWholeFile(player.folder + "/output");
  const ProgramEnd end{0, output ? *output : "", ""};
  return Error(fmt::format("{}: exit code {}: {}", player.program,
                           code->substr(0, code->find('\n')), end.LastLine()));
}

class Duet {
 public:
  Duet(std::string base, std::string next, const DuetOptions& options, std::string folder)
      : programs_{std::move(base), std::move(next)},
        options_(options),
        folder_(std::move(folder)),
        processors_(Processors()),
        is_sequential_(options.is_sequential || processors_.size() < 2) {}

  bool is_sequential() const { return is_sequential_; }

  // Plays one piece of work. An error: the base cannot do it.
  Status PlayRound(const std::string& workload, uint64_t round, std::array<Results, 2>* results,
                   std::string* crash) {
    std::array<Player, 2> players;
    for (size_t side = 0; side < players.size(); ++side) {
      Player& player = players[side];
      player.program = programs_[side];
      player.folder = fmt::format("{}/{}", folder_, side);
      std::error_code ignored;
      std::filesystem::remove_all(player.folder, ignored);
      std::filesystem::create_directories(player.folder + "/results", ignored);
      if (!is_sequential_) player.processor = processors_[(side + round) % 2];
    }
    const Result<ProgramEnd> end = RunProgram({"/bin/sh", "-c", Script(players, workload, round)});
    if (Interrupted()) return Error("interrupted");
    if (!end) return end.error();
    for (size_t side = 0; side < players.size(); ++side) {
      Result<Results> made = ResultsOfPlayer(players[side]);
      if (!made && side == 0) return made.error();
      if (!made) *crash = made.error().message();
      if (made) (*results)[side] = std::move(*made);
    }
    return Status::Ok();
  }

 private:
  std::vector<std::string> Arguments(const std::string& folder, const std::string& workload,
                                     uint64_t round) const {
    if (workload.empty()) {
      return {"bench", options_.bench, "--benchmark_repetitions=1",
              "--seed=" + std::to_string(options_.flags.seed + round),
              "--json=" + folder + "/results/bench.json"};
    }
    std::vector<std::string> arguments = {"run", "--clock=real", "--repeat=1",
                                          "--out=" + folder + "/results"};
    const std::vector<std::string> flags =
        options_.flags.OfOne(workload, options_.flags.seed + round);
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return arguments;
  }

  // Both in one group of processes, so that a limit or a signal ends both.
  std::string Script(const std::array<Player, 2>& players, const std::string& workload,
                     uint64_t round) const {
    std::array<std::string, 2> lines;
    std::array<std::string, 2> codes;
    for (size_t side = 0; side < players.size(); ++side) {
      lines[side] = CommandLine(players[side], Arguments(players[side].folder, workload, round));
      codes[side] = "echo $? >" + ShellWord(players[side].folder + "/code");
    }
    if (is_sequential_) {
      const size_t first = round % 2;
      return lines[first] + "; " + codes[first] + "\n" + lines[1 - first] + "; " +
             codes[1 - first] + '\n';
    }
    return lines[0] + " & one=$!\n" + lines[1] + " & two=$!\nwait $one; " + codes[0] +
           "\nwait $two; " + codes[1] + '\n';
  }

  const std::array<std::string, 2> programs_;
  const DuetOptions& options_;
  const std::string folder_;
  const std::vector<int> processors_;
  const bool is_sequential_;
};

double Together(double first, double second) {
  return first > 0 && second > 0 ? std::sqrt(first * second) : (first + second) / 2;
}

}  // namespace

Results PairsOfRounds(const std::vector<Results>& rounds) {
  Results pairs;
  for (size_t i = 0; i + 1 < rounds.size(); i += 2) {
    for (const auto& [name, first] : rounds[i].metrics) {
      const auto second = rounds[i + 1].metrics.find(name);
      if (second == rounds[i + 1].metrics.end()) continue;
      ResultMetric& metric = pairs.metrics[name];
      std::vector<double> values = std::move(metric.values);
      metric = first;
      values.push_back(Together(first.values.front(), second->second.values.front()));
      metric.values = std::move(values);
    }
  }
  return pairs;
}

Result<DuetResults> PlayDuet(const std::string& base, const std::string& next,
                             const DuetOptions& options, const BuildProgress& progress) {
  const Result<TemporaryFolder> folder = TemporaryFolder::Make();
  if (!folder) return folder.error();
  Duet duet(base, next, options, folder->path());
  std::vector<std::string> work = options.workloads;
  if (!options.bench.empty()) work.emplace_back();
  std::vector<Results> of_base;
  std::vector<Results> of_next;
  DuetResults results;
  results.is_sequential = duet.is_sequential();
  const uint64_t rounds = 2 * options.pairs;
  const auto began = std::chrono::steady_clock::now();
  for (uint64_t round = 0; round < rounds; ++round) {
    of_base.emplace_back();
    of_next.emplace_back();
    for (const std::string& one : work) {
      std::array<Results, 2> sides;
      if (Status status = duet.PlayRound(one, round, &sides, &results.crash); !status) {
        return status.error();
      }
      if (!results.crash.empty()) return results;
      of_base.back().metrics.merge(sides[0].metrics);
      of_next.back().metrics.merge(sides[1].metrics);
    }
    if (round > 0) continue;
    const std::chrono::duration<double> each = std::chrono::steady_clock::now() - began;
    progress(fmt::format("time: {} pairs of two rounds, about {}{}", options.pairs,
                         DurationText(each.count() * static_cast<double>(rounds) * 1e9),
                         results.is_sequential ? ", one side after the other" : ""));
  }
  results.base = PairsOfRounds(of_base);
  results.next = PairsOfRounds(of_next);
  results.base.path = base;
  results.next.path = next;
  return results;
}

}  // namespace schedq
