// Finds the word that a misspelt one was probably meant to be.
//
// Threads: any; pure functions.
#pragma once

#include <string>
#include <vector>

namespace schedq {

// The candidate that `word` was probably meant to be; empty when none is near.
std::string NearestWord(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace schedq
