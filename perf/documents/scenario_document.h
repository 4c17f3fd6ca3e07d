// Scenarios in documents: the ways in which each was played, their figures, and the verdict on the
// promise of a proposal.
#pragma once

#include <string>
#include <vector>

namespace schedq {

// One way of playing a scenario.
struct ScenarioArm {
  std::string name;             // "implicit-delayed"
  std::vector<double> figures;  // In the order of ScenarioResult::figures.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("name", self.name, "The way in which it was played.");
    archive.Field("figures", self.figures, "In the order of the scenario's figures.");
  }
};

struct ScenarioResult {
  std::string name;                  // "KEP-5501/transient"
  std::string about;                 // What happens in it.
  std::vector<std::string> figures;  // Names of the figures: "patches".
  std::vector<ScenarioArm> arms;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("name", self.name, "The proposal and the scenario.");
    archive.Field("about", self.about, "What happens in it.");
    archive.Field("figures", self.figures, "What is counted.");
    archive.Field("arms", self.arms, "One entry a way of playing it.");
  }
};

struct PromiseVerdict {
  std::string proposal;  // "KEP-5501"
  bool holds = false;
  std::string line;  // One line with the promise and the figures.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("proposal", self.proposal, "Whose promise it is.");
    archive.Field("holds", self.holds, "Whether the numbers say so.");
    archive.Field("line", self.line, "What was promised and what came out.");
  }
};

}  // namespace schedq
