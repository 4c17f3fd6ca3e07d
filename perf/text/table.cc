#include "perf/text/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "engine/base/result.h"

namespace schedq {
namespace {

constexpr size_t kGap = 2;  // Spaces between columns.

const char* EscapeOf(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kBad:
      return "\x1b[31m";
    case Tone::kDim:
      return "\x1b[2m";
    case Tone::kStrong:
      return "\x1b[1m";
    case Tone::kPlain:
      break;
  }
  return "";
}

void AppendCell(std::string& line, const TextTable::Cell& cell, Align align, size_t width,
                bool colour) {
  const std::string padding(width - DisplayWidth(cell.text), ' ');
  const std::string text = Toned(cell.text, cell.tone, colour);
  line += align == Align::kRight ? padding + text : text + padding;
}

}  // namespace

bool WantsColour(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(descriptor) == 1;
}

std::string Toned(const std::string& text, Tone tone, bool colour) {
  if (!colour || tone == Tone::kPlain || text.empty()) return text;
  return EscapeOf(tone) + text + "\x1b[0m";
}

size_t DisplayWidth(const std::string& text) {
  // Continuation bytes of UTF-8 start with the bits 10.
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xC0) != 0x80;
  }));
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::AddRow(std::vector<Cell> cells) {
  SCHEDQ_CHECK(cells.size() == columns_.size(), "a row needs as many cells as columns");
  for (Cell& cell : cells) std::replace(cell.text.begin(), cell.text.end(), '\n', ' ');
  rows_.push_back(std::move(cells));
}

void TextTable::AddRule() { rows_.emplace_back(); }

std::string TextTable::Render(bool colour) const {
  std::vector<Cell> titles;
  std::vector<size_t> widths;
  size_t width = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    titles.emplace_back(columns_[i].title, Tone::kStrong);
    widths.push_back(DisplayWidth(columns_[i].title));
    for (const std::vector<Cell>& row : rows_) {
      if (!row.empty()) widths[i] = std::max(widths[i], DisplayWidth(row[i].text));
    }
    width += widths[i] + (i == 0 ? 0 : kGap);
  }
  const std::string rule = Toned(std::string(width, '-'), Tone::kDim, colour) + '\n';
  const auto line_of = [&](const std::vector<Cell>& row) {
    if (row.empty()) return std::string(rule);
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i != 0) line.append(kGap, ' ');
      AppendCell(line, row[i], columns_[i].align, widths[i], colour);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
  };
  std::string text = line_of(titles) + rule;
  for (const std::vector<Cell>& row : rows_) text += line_of(row);
  return text;
}

}  // namespace schedq
