// Parameters that a command line gives: they go before those of a workload's file, and stand in
// for those that it lacks.
//
// Threads: one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/format/template/value.h"
#include "engine/base/result.h"

namespace schedq {

class GivenParams {
 public:
  // From NAME=VALUE, of which each name stands once; the value is YAML. An error names the text.
  static Result<GivenParams> Parse(const std::vector<std::string>& texts);

  // Null: it is not given. What is found counts as used.
  const Value* Find(const std::string& name);
  // An error for the first that no workload has used.
  Status CheckAllUsed() const;

 private:
  std::map<std::string, Value> values_;
  std::set<std::string> used_;
};

}  // namespace schedq
