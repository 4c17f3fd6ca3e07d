// A small log-log scatter plot of letters, with fitted lines.
//
// Threads: pure function; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "perf/statistics/fit.h"

namespace schedq {

struct PlotSeries {
  char mark = '*';
  std::string name;
  std::vector<double> x;  // Points that are not positive and finite are left out.
  std::vector<double> y;
  std::optional<LineFit> fit;  // A FitLogLog; drawn with dots across the series' own range.
};

struct PlotOptions {
  size_t columns = 60;
  size_t rows = 16;
  std::string x_label;
  std::string y_label;
};

// Frame, corner values of both axes, one legend line a series with the fitted exponent. Where two
// series share a cell, the first one shows; points go before lines.
std::string LogLogPlot(const std::vector<PlotSeries>& series, const PlotOptions& options);

}  // namespace schedq
