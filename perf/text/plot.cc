#include "perf/text/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/result.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

// One axis: from the logarithm of a value to a cell.
class Axis {
 public:
  explicit Axis(size_t cells) : cells_(cells) {}

  void Include(double value) {
    low_ = std::min(low_, std::log(value));
    high_ = std::max(high_, std::log(value));
  }
  bool empty() const { return low_ > high_; }
  // May lie outside the axis: then it is not below cells().
  size_t CellOf(double value) const {
    const double span = high_ - low_;
    const double share = span > 0 ? (std::log(value) - low_) / span : 0.5;
    const double cell = std::round(share * static_cast<double>(cells_ - 1));
    return cell < 0 ? cells_ : static_cast<size_t>(std::min(cell, static_cast<double>(cells_)));
  }
  double ValueOf(size_t cell) const {
    return std::exp(low_ +
                    (high_ - low_) * static_cast<double>(cell) / static_cast<double>(cells_ - 1));
  }
  size_t cells() const { return cells_; }
  double low() const { return std::exp(low_); }
  double high() const { return std::exp(high_); }

 private:
  size_t cells_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

bool Drawable(double x, double y) { return x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y); }

class Canvas {
 public:
  Canvas(const std::vector<PlotSeries>& series, const PlotOptions& options)
      : x_(options.columns), y_(options.rows), lines_(options.rows) {
    for (std::string& line : lines_) line.assign(options.columns, ' ');
    for (const PlotSeries& one : series) {
      for (size_t i = 0; i < one.x.size(); ++i) {
        if (!Drawable(one.x[i], one.y[i])) continue;
        x_.Include(one.x[i]);
        y_.Include(one.y[i]);
      }
    }
  }

  void DrawPoints(const PlotSeries& series) {
    for (size_t i = 0; i < series.x.size(); ++i) {
      if (Drawable(series.x[i], series.y[i])) Mark(series.x[i], series.y[i], series.mark);
    }
  }

  void DrawLine(const PlotSeries& series) {
    if (!series.fit.has_value() || series.x.empty()) return;
    const auto [first, last] = std::minmax_element(series.x.begin(), series.x.end());
    for (size_t column = 0; column < x_.cells(); ++column) {
      const double x = x_.ValueOf(column);
      if (x < *first || x > *last) continue;
      Mark(x, PowerAt(*series.fit, x), '.');
    }
  }

  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }
  // From the top.
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void Mark(double x, double y, char mark) {
    const size_t column = x_.CellOf(x);
    const size_t row = y_.CellOf(y);
    if (column >= x_.cells() || row >= y_.cells()) return;
    char& cell = lines_[y_.cells() - 1 - row][column];
    if (cell == ' ') cell = mark;
  }

  Axis x_;
  Axis y_;
  std::vector<std::string> lines_;
};

std::string LegendLine(const PlotSeries& series) {
  std::string line = fmt::format("{}  {}", series.mark, series.name);
  if (series.fit.has_value()) {
    line +=
        fmt::format(": exponent {:.3f} [{:.3f}, {:.3f}] at {:g} %, R2 {:.4f}", series.fit->slope,
                    series.fit->slope_interval.low, series.fit->slope_interval.high,
                    series.fit->confidence * 100, series.fit->r_squared);
  }
  return line + '\n';
}

}  // namespace

std::string LogLogPlot(const std::vector<PlotSeries>& series, const PlotOptions& options) {
  SCHEDQ_CHECK(options.columns >= 2 && options.rows >= 2, "a plot needs two cells each way");
  Canvas canvas(series, options);
  if (canvas.x().empty()) return "(no positive points to plot)\n";
  for (const PlotSeries& one : series) canvas.DrawPoints(one);
  for (const PlotSeries& one : series) canvas.DrawLine(one);

  const std::string top = NumberText(canvas.y().high());
  const std::string bottom = NumberText(canvas.y().low());
  const size_t margin = std::max(top.size(), bottom.size());
  std::string text = options.y_label.empty() ? "" : options.y_label + '\n';
  for (size_t row = 0; row < canvas.lines().size(); ++row) {
    const bool last = row + 1 == canvas.lines().size();
    const std::string& value = row == 0 ? top : last ? bottom : std::string();
    std::string line = fmt::format("{:>{}} |{}", value, margin, canvas.lines()[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  const std::string low = NumberText(canvas.x().low());
  const std::string high = NumberText(canvas.x().high());
  text += fmt::format("{:>{}} +{}\n", "", margin, std::string(options.columns, '-'));
  const size_t room = std::max(options.columns, low.size() + high.size() + 1) - low.size();
  text += fmt::format("{:>{}}  {}{:>{}}", "", margin, low, high, room);
  text += '\n';
  if (!options.x_label.empty()) text += fmt::format("{:>{}}  {}\n", "", margin, options.x_label);
  for (const PlotSeries& one : series) text += LegendLine(one);
  return text;
}

}  // namespace schedq
