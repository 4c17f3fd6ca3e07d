// Aligned text tables for terminals and logs.
//
// Threads: one thread builds and renders a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace schedq {

enum class Align : uint8_t { kLeft, kRight };
enum class Tone : uint8_t { kPlain, kGood, kBad, kDim, kStrong };

// Whether to colour what goes to this file descriptor: a terminal that is not "dumb", and NO_COLOR
// is unset or empty.
bool WantsColour(int descriptor);

// `text` in a tone, or plain.
std::string Toned(const std::string& text, Tone tone, bool colour);

// How many columns UTF-8 text takes, one a code point.
size_t DisplayWidth(const std::string& text);

class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  struct Cell {
    // Implicit, so that a row is written as a list of texts.
    // NOLINTBEGIN(google-explicit-constructor)
    Cell(std::string text, Tone tone = Tone::kPlain) : text(std::move(text)), tone(tone) {}
    Cell(const char* text) : text(text) {}
    // NOLINTEND(google-explicit-constructor)
    std::string text;
    Tone tone = Tone::kPlain;
  };

  explicit TextTable(std::vector<Column> columns);

  // As many cells as columns.
  void AddRow(std::vector<Cell> cells);
  // A line across, between groups of rows.
  void AddRule();

  // Lines end without trailing spaces. Line breaks in cells become spaces.
  std::string Render(bool colour) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // An empty row is a rule.
};

}  // namespace schedq
