// A hash of the texts that a workload's definition consists of.
//
// Purpose: to tell whether two runs ran the same text.
// When not to use it: against forgery; texts with equal hashes are easily made.
// Source: FNV-1a, 64 bits, over each text and its length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace schedq {

class DefinitionHash {
 public:
  void Add(std::string_view text);
  // 16 hexadecimal digits.
  std::string Text() const;

 private:
  void AddByte(uint8_t byte);

  uint64_t value_ = 14695981039346656037u;
};

}  // namespace schedq
