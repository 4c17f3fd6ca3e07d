// Aligned text tables for terminals and logs.
//
// Threads: one thread builds and renders a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace schedq {

enum class Align : uint8_t { kLeft, kRight };
enum class Tone : uint8_t { kPlain, kGood, kBad, kDim, kStrong };

// When a column is shown: whatever the width; while the table fits; or when all columns are wanted.
enum class Shown : uint8_t { kAlways, kIfRoom, kWide };

struct TableLayout {
  bool colour = false;
  bool wide = false;  // All columns, however wide the table becomes.
  size_t width_max = 100;
};

// `text` in a tone, or plain.
std::string Toned(const std::string& text, Tone tone, bool colour);

// How many columns UTF-8 text takes, one a code point.
size_t DisplayWidth(const std::string& text);

// `text` in at most `width` columns: "..." stands for the middle of a longer one.
std::string Shortened(const std::string& text, size_t width);

// `text` broken at blanks into lines of at most `width` columns; all but the first line start with
// `indent` blanks. A word that is longer than a line has a line of its own.
std::string Wrapped(const std::string& text, size_t width, size_t indent = 0);

class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kRight;
    Shown shown = Shown::kAlways;
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
  // Leaves out the last columns of Shown::kIfRoom until the table fits, then shortens the cells of
  // the first column. A last line names the columns that --wide adds.
  std::string Render(const TableLayout& layout) const;

 private:
  size_t WidthOf(size_t column) const;
  size_t WidthOf(const std::vector<size_t>& columns) const;
  // The columns that the layout shows, by index.
  std::vector<size_t> Choose(const TableLayout& layout) const;
  std::string HiddenColumns(const std::vector<size_t>& chosen, size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // An empty row is a rule.
};

}  // namespace schedq
