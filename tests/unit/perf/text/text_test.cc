// Goal: numbers, tables and plots read as intended, and nothing is coloured that should not be.
// Method: exact text.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "perf/statistics/fit.h"
#include "perf/text/nearest_word.h"
#include "perf/text/number_text.h"
#include "perf/text/plot.h"
#include "perf/text/table.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

// Levenshtein's distance, by its definition.
size_t WholeDistance(const std::string& from, const std::string& to) {
  std::vector<std::vector<size_t>> table(from.size() + 1, std::vector<size_t>(to.size() + 1));
  for (size_t i = 0; i <= from.size(); ++i) {
    for (size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const size_t changed = table[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, changed});
    }
  }
  return table.back().back();
}

TEST(PerfNumberText, ThreeDigitsAndGroups) {
  EXPECT_EQ(NumberText(0), "0");
  EXPECT_EQ(NumberText(1.2345), "1.23");
  EXPECT_EQ(NumberText(12.345), "12.3");
  EXPECT_EQ(NumberText(1234.5), "1,234");
  EXPECT_EQ(NumberText(-1234567), "-1,234,567");
  EXPECT_EQ(NumberText(0.012345), "0.0123");
  EXPECT_EQ(NumberText(9.996), "10.0");
  EXPECT_EQ(NumberText(9.994), "9.99");
  EXPECT_EQ(NumberText(1.2e-7), "1.20e-07");
  EXPECT_EQ(NumberText(1.23456, 5), "1.2346");
  EXPECT_EQ(NumberText(INFINITY), "inf");
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(PerfNumberText, UnitsFit) {
  EXPECT_EQ(DurationText(812), "812 ns");
  EXPECT_EQ(DurationText(1230), "1.23 us");
  EXPECT_EQ(DurationText(999.7), "1.00 us");
  EXPECT_EQ(DurationText(4.56e6), "4.56 ms");
  EXPECT_EQ(DurationText(84.9e9), "84.9 s");
  EXPECT_EQ(DurationText(720e9), "12.0 min");
  EXPECT_EQ(DurationText(9000e9), "2.50 h");
  EXPECT_EQ(DurationText(0), "0 ns");
  EXPECT_EQ(BytesText(512), "512 B");
  EXPECT_EQ(BytesText(1536), "1.50 KiB");
  EXPECT_EQ(ChangeText(0.0493), "+4.9 %");
  EXPECT_EQ(ChangeText(-0.003), "-0.3 %");
}

TEST(PerfTable, ColumnsAlign) {
  TextTable table({{"name", Align::kLeft}, {"µs"}, {"note", Align::kLeft}});
  table.AddRow({"a", "1.23", "x"});
  table.AddRule();
  table.AddRow({"longer", "456", "two\nlines"});
  EXPECT_EQ(table.Render(false),
            "name      µs  note\n"
            "-----------------------\n"
            "a       1.23  x\n"
            "-----------------------\n"
            "longer   456  two lines\n");
}

TEST(PerfTable, ColumnsThatDoNotFitAreLeftOutAndNamed) {
  TextTable table({{"name", Align::kLeft},
                   {"pods/s"},
                   {"attempts", Align::kRight, Shown::kIfRoom},
                   {"hints", Align::kRight, Shown::kIfRoom},
                   {"seed", Align::kRight, Shown::kWide}});
  table.AddRow({"a workload", "1", "2", "3", "4"});
  EXPECT_EQ(table.Render({.width_max = 35}),
            "name        pods/s  attempts  hints\n"
            "-----------------------------------\n"
            "a workload       1         2      3\n"
            "--wide adds: seed\n");
  EXPECT_EQ(table.Render({.width_max = 34}),
            "name        pods/s  attempts\n"
            "----------------------------\n"
            "a workload       1         2\n"
            "--wide adds: hints, seed\n");
  EXPECT_EQ(table.Render({.wide = true, .width_max = 10}), table.Render(false));
}

TEST(PerfTable, TheFirstColumnIsShortenedInTheMiddle) {
  TextTable table({{"workload", Align::kLeft}, {"pods/s"}});
  table.AddRow({"ClaimTemplates/5Nodes_PairsOfDevices", "207"});
  EXPECT_EQ(table.Render({.width_max = 28}),
            "workload              pods/s\n"
            "----------------------------\n"
            "ClaimTemp...fDevices     207\n");
}

TEST(PerfText, WrapsAtBlanksAndKeepsLongWords) {
  EXPECT_EQ(Wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(Wrapped("a unbreakable b", 6), "a\nunbreakable\nb");
  EXPECT_EQ(Shortened("äöüäöü", 5), "ä...ü");
  EXPECT_EQ(Shortened("short", 5), "short");
}

TEST(PerfTable, ColourDoesNotChangeTheWidths) {
  TextTable table({{"verdict", Align::kLeft}, {"p"}});
  table.AddRow({{"slower", Tone::kBad}, "0.001"});
  EXPECT_EQ(table.Render(true),
            "\x1b[1mverdict\x1b[0m      \x1b[1mp\x1b[0m\n\x1b[2m--------------\x1b[0m\n"
            "\x1b[31mslower\x1b[0m   0.001\n");
  EXPECT_EQ(table.Render(false).find('\x1b'), std::string::npos);
}

TEST(PerfTable, NoColourWithoutATerminalOrWithNoColor) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  EXPECT_TRUE(WantsColour(terminal));
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(WantsColour(terminal));
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(WantsColour(terminal));
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(WantsColour(terminal));
  setenv("TERM", "xterm", 1);
  const int file = open("/dev/null", O_WRONLY);
  EXPECT_FALSE(WantsColour(file));
  close(file);
  close(terminal);
}

TEST(PerfTableDeathTest, ARowHasAllItsCells) {
  TextTable table({{"a"}, {"b"}});
  EXPECT_DEATH(table.AddRow({"1"}), "as many cells");
}

PlotSeries Quadratic() {
  PlotSeries series;
  series.mark = 'o';
  series.name = "scan";
  series.x = {1, 10, 100, 1000};
  for (const double x : series.x) series.y.push_back(2 * x * x);
  return series;
}

TEST(PerfPlot, PointsLieOnTheDiagonal) {
  PlotOptions options;
  options.columns = 13;
  options.rows = 4;
  options.x_label = "pods";
  options.y_label = "ns";
  EXPECT_EQ(LogLogPlot({Quadratic()}, options),
            "ns\n"
            "2,000,000 |            o\n"
            "          |        o\n"
            "          |    o\n"
            "     2.00 |o\n"
            "          +-------------\n"
            "           1.00    1,000\n"
            "           pods\n"
            "o  scan\n");
}

TEST(PerfPlot, TheFitIsDrawnBehindThePointsAndNamed) {
  PlotSeries series = Quadratic();
  series.fit = *FitLogLog(series.x, series.y);
  PlotOptions options;
  options.columns = 13;
  options.rows = 4;
  const std::string text = LogLogPlot({series}, options);
  EXPECT_NE(text.find("|          ..o\n"), std::string::npos) << text;
  EXPECT_NE(text.find("     2.00 |o.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("o  scan: exponent 2.000 [2.000, 2.000] at 95 %, R2 1.0000\n"),
            std::string::npos)
      << text;
}

TEST(PerfNearestWord, IsTheFirstOfTheLeastDistanceWithinAThird) {
  const std::vector<std::string> words = {"--seed", "--rounds", "--json", "--only", "--sizes"};
  EXPECT_EQ(NearestWord("--sed", words), "--seed");
  EXPECT_EQ(NearestWord("--round", words), "--rounds");
  EXPECT_EQ(NearestWord("--josn", words), "--json");
  EXPECT_EQ(NearestWord("--xxxxxx", words), "") << "a hint would mislead";
  EXPECT_EQ(NearestWord("ab", {"cb", "ab", "abc"}), "ab");
  EXPECT_EQ(NearestWord("abx", {"aby", "abz"}), "aby") << "the first of two that are as near";
  EXPECT_EQ(NearestWord("", {"a"}), "a");
  // A search that gives up early must not give up on the nearest: a whole table is the judge.
  Random random(1);
  const auto word = [&random] {
    std::string text;
    for (uint64_t left = random.Below(9); left > 0; --left) text += "abc"[random.Below(3)];
    return text;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string misspelt = word();
    const std::vector<std::string> candidates = {word(), word(), word(), word()};
    std::string nearest;
    size_t least = std::max<size_t>(misspelt.size() / 3, 1) + 1;
    for (const std::string& candidate : candidates) {
      const size_t distance = WholeDistance(misspelt, candidate);
      if (distance < least) nearest = candidate;
      least = std::min(least, distance);
    }
    ASSERT_EQ(NearestWord(misspelt, candidates), nearest)
        << misspelt << " of " << testing::PrintToString(candidates);
  }
}

TEST(PerfPlot, NothingToPlotAndSinglePoints) {
  PlotSeries series;
  EXPECT_EQ(LogLogPlot({series}, {}), "(no positive points to plot)\n");
  series.x = {0, -1, NAN, 5};
  series.y = {1, 1, 1, 7};
  const std::string text = LogLogPlot({series}, {});
  EXPECT_NE(text.find('*'), std::string::npos);
}

}  // namespace
}  // namespace schedq
