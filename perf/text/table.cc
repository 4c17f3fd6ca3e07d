#include "perf/text/table.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "engine/base/result.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

constexpr size_t kGap = 2;  // Spaces between columns.
constexpr size_t kFirstColumnMin = 16;

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

std::string Shortened(const std::string& text, size_t width) {
  constexpr size_t kDots = 3;
  const size_t length = DisplayWidth(text);
  if (length <= width) return text;
  if (width <= kDots) return std::string(width, '.');
  // Whole code points: `from` counts them, not bytes.
  const auto part = [&text](size_t from, size_t count) {
    std::string letters;
    size_t point = 0;
    for (const char letter : text) {
      if ((static_cast<unsigned char>(letter) & 0xC0) != 0x80) ++point;
      if (point > from && point <= from + count) letters += letter;
    }
    return letters;
  };
  const size_t tail = (width - kDots) / 2;
  const size_t head = width - kDots - tail;
  return part(0, head) + std::string(kDots, '.') + part(length - tail, tail);
}

std::string Wrapped(const std::string& text, size_t width, size_t indent) {
  std::string lines;
  size_t column = 0;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    start = end + 1;
    if (word.empty()) continue;
    const size_t length = DisplayWidth(word);
    if (column > indent && column + 1 + length > width) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!lines.empty()) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += length;
  }
  return lines;
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.title = VisibleText(column.title);
}

void TextTable::AddRow(std::vector<Cell> cells) {
  SCHEDQ_CHECK(cells.size() == columns_.size(), "a row needs as many cells as columns");
  for (Cell& cell : cells) {
    std::replace(cell.text.begin(), cell.text.end(), '\n', ' ');
    cell.text = VisibleText(cell.text);
  }
  rows_.push_back(std::move(cells));
}

void TextTable::AddRule() { rows_.emplace_back(); }

size_t TextTable::WidthOf(size_t column) const {
  size_t width = DisplayWidth(columns_[column].title);
  for (const std::vector<Cell>& row : rows_) {
    if (!row.empty()) width = std::max(width, DisplayWidth(row[column].text));
  }
  return width;
}

size_t TextTable::WidthOf(const std::vector<size_t>& columns) const {
  size_t width = columns.empty() ? 0 : kGap * (columns.size() - 1);
  for (const size_t column : columns) width += WidthOf(column);
  return width;
}

std::vector<size_t> TextTable::Choose(const TableLayout& layout) const {
  std::vector<size_t> chosen(columns_.size());
  std::iota(chosen.begin(), chosen.end(), size_t{0});
  if (layout.wide) return chosen;
  std::erase_if(chosen, [this](size_t i) { return columns_[i].shown == Shown::kWide; });
  while (WidthOf(chosen) > layout.width_max) {
    const auto last = std::find_if(chosen.rbegin(), chosen.rend(), [this](size_t i) {
      return columns_[i].shown == Shown::kIfRoom;
    });
    if (last == chosen.rend()) break;
    chosen.erase(std::next(last).base());
  }
  return chosen;
}

std::string TextTable::HiddenColumns(const std::vector<size_t>& chosen, size_t width) const {
  std::string names;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
    names += (names.empty() ? "" : ", ") + columns_[i].title;
  }
  return names.empty() ? "" : Wrapped("--wide adds: " + names, width, 2) + '\n';
}

std::string TextTable::Render(bool colour) const {
  return Render({.colour = colour, .wide = true});
}

std::string TextTable::Render(const TableLayout& layout) const {
  const std::vector<size_t> chosen = Choose(layout);
  std::vector<size_t> widths;
  for (const size_t column : chosen) widths.push_back(WidthOf(column));
  size_t width = WidthOf(chosen);
  if (!layout.wide && width > layout.width_max) {
    const size_t first =
        std::max(kFirstColumnMin, widths[0] - std::min(widths[0], width - layout.width_max));
    width = width - widths[0] + std::min(widths[0], first);
    widths[0] = std::min(widths[0], first);
  }
  const std::string rule = Toned(std::string(width, '-'), Tone::kDim, layout.colour) + '\n';
  const auto line_of = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (i != 0) line.append(kGap, ' ');
      Cell cell = cell_of(chosen[i]);
      cell.text = Shortened(cell.text, widths[i]);
      AppendCell(line, cell, columns_[chosen[i]].align, widths[i], layout.colour);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
  };
  std::string text =
      line_of([this](size_t i) { return Cell(columns_[i].title, Tone::kStrong); }) + rule;
  for (const std::vector<Cell>& row : rows_) {
    text += row.empty() ? rule : line_of([&row](size_t i) { return row[i]; });
  }
  return text + HiddenColumns(chosen, layout.width_max);
}

}  // namespace schedq
