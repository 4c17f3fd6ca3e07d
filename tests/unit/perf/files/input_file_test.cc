// Goal: input is read whole or refused with a reason; no file, device or pipe makes the reader
// hang, grow without bound, or take a part for the whole.
// Method: files of each kind in a temporary folder, and a pipe whose writer is this test.
#include "perf/files/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class InputFileTest : public testing::Test {
 protected:
  std::string Write(std::string_view content) {
    std::string path = folder_.File("input");
    EXPECT_TRUE(WriteFileAtomically(path, content).ok());
    return path;
  }
  static std::string Refusal(const std::string& path, const InputLimits& limits = {}) {
    const Result<std::string> text = ReadInput(path, InputFrom::kFile, limits);
    return text ? "read" : text.error().message();
  }
  static std::vector<std::string> Lines(const std::string& path, const InputLimits& limits = {}) {
    Result<InputFile> file = InputFile::Open(path, InputFrom::kFile, limits);
    std::vector<std::string> lines;
    for (std::string line;;) {
      const Result<bool> read = file->ReadLine(&line);
      if (!read) lines.push_back(read.error().message());
      if (!read || !*read) return lines;
      lines.push_back(line);
    }
  }

  TemporaryFolder folder_ = std::move(*TemporaryFolder::Make());
};

// A pipe whose ends close with it.
struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Pipe() {
    close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
  }
  void Write(std::string_view text) const {
    EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void CloseWriter() { close(std::exchange(ends[1], -1)); }

  std::array<int, 2> ends = {-1, -1};
};

TEST_F(InputFileTest, ReadsAWholeFile) {
  const std::string large(300'000, 'x');
  EXPECT_EQ(*ReadInput(Write(large), InputFrom::kFile), large);
  EXPECT_EQ(*ReadInput(Write(""), InputFrom::kFile), "");
  EXPECT_EQ(*ReadInput(Write(std::string_view("a\0b", 3)), InputFrom::kFile),
            std::string_view("a\0b", 3));
}

TEST_F(InputFileTest, ReadsLinesWithAndWithoutALastBreak) {
  EXPECT_THAT(Lines(Write("a\n\nb")), ElementsAre("a", "", "b"));
  EXPECT_THAT(Lines(Write("a\n\nb\n")), ElementsAre("a", "", "b"));
  EXPECT_THAT(Lines(Write("")), ElementsAre());
  EXPECT_THAT(Lines(Write("\n")), ElementsAre(""));
  const std::string long_line(200'000, 'y');
  EXPECT_THAT(Lines(Write(long_line + "\n" + long_line)), ElementsAre(long_line, long_line));
}

TEST_F(InputFileTest, RefusesWhatIsNoRegularFileAtOnce) {
  EXPECT_EQ(Refusal(folder_.path()), "is a folder, expected a file");
  EXPECT_THAT(Refusal("/dev/zero"), HasSubstr("is a device or a socket, expected a file"));
  EXPECT_THAT(Refusal("/dev/null"), HasSubstr("is a device or a socket"));
  const std::string fifo = folder_.File("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(Refusal(fifo), "is a pipe, expected a file, or - for standard input");
  EXPECT_EQ(Refusal(folder_.File("none")), "does not exist, expected a readable file");
  EXPECT_THAT(Refusal(Write("x") + "/below"), HasSubstr("cannot be opened"));
  // Only a caller who lets "-" stand for standard input reads that.
  EXPECT_EQ(Refusal("-"), "does not exist, expected a readable file");
}

TEST_F(InputFileTest, AReadThatFailsIsAnErrorAndNotTheEnd) {
  // The kernel refuses to read here with EIO or EINVAL, after a successful open.
  EXPECT_THAT(Refusal("/proc/self/mem"), HasSubstr("cannot be read"));
}

TEST_F(InputFileTest, BoundsSizeAndLines) {
  const std::string path = Write("12345678\nabc\n");
  EXPECT_EQ(Refusal(path, {.bytes_max = 13}), "read");
  EXPECT_EQ(Refusal(path, {.bytes_max = 12}), "is too large, expected at most 12 bytes");
  EXPECT_THAT(Lines(path, {.line_bytes_max = 8}), ElementsAre("12345678", "abc"));
  EXPECT_THAT(Lines(path, {.line_bytes_max = 7}),
              ElementsAre("has a line of more than 7 bytes, expected shorter ones"));
}

TEST_F(InputFileTest, ReadsAPipeToItsEnd) {
  Pipe pipe;
  pipe.Write("one\ntw");
  pipe.Write("o");
  pipe.CloseWriter();
  EXPECT_EQ(*InputFile::Borrow(pipe.ends[0], {}).ReadAll(), "one\ntwo");
}

TEST_F(InputFileTest, WaitsForAPipeOnlySoLong) {
  Pipe pipe;
  pipe.Write("begin");
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::string> text =
      InputFile::Borrow(pipe.ends[0], {.wait_max = std::chrono::milliseconds(50)}).ReadAll();
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message(), "gave nothing for 50 ms in all, expected its end before");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// The handler restarts reads, as the program's own does: only the wait before the read ends.
TEST_F(InputFileTest, ASignalEndsTheWait) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  constexpr itimerval kSoonAndOften = {{0, 50'000}, {0, 50'000}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &kSoonAndOften, nullptr), 0);
  Pipe pipe;
  const Result<std::string> text =
      InputFile::Borrow(pipe.ends[0], {.wait_max = std::chrono::minutes(1)}).ReadAll();
  constexpr itimerval kOff = {};
  setitimer(ITIMER_REAL, &kOff, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message(), HasSubstr("interrupted by a signal"));
}

}  // namespace
}  // namespace schedq
