#include "perf/files/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace schedq {
namespace {

constexpr const char* kStandardInput = "-";

Error SystemError(const char* what) {
  return Error(std::string(what) + " (" + std::strerror(errno) + "), expected a readable file");
}

// Why a file of this kind is not read; null: it is.
const char* Obstacle(mode_t mode) {
  if (S_ISREG(mode)) return nullptr;
  if (S_ISDIR(mode)) return "is a folder, expected a file";
  if (S_ISFIFO(mode)) return "is a pipe, expected a file, or - for standard input";
  return "is a device or a socket, expected a file, or - for standard input";
}

}  // namespace

InputFile::InputFile(int descriptor, bool is_owned, const InputLimits& limits)
    : descriptor_(descriptor),
      is_owned_(is_owned),
      limits_(limits),
      buffer_(std::make_unique<char[]>(kBufferBytes)) {}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(other.descriptor_),
      is_owned_(std::exchange(other.is_owned_, false)),
      limits_(other.limits_),
      bytes_read_(other.bytes_read_),
      waited_(other.waited_),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_) {}

InputFile::~InputFile() {
  if (is_owned_) close(descriptor_);
}

InputFile InputFile::Borrow(int descriptor, const InputLimits& limits) {
  return InputFile(descriptor, /*is_owned=*/false, limits);
}

// Without O_NONBLOCK the opening of a pipe would wait for its writer.
Result<InputFile> InputFile::Open(const std::string& path, InputFrom from,
                                  const InputLimits& limits) {
  if (from == InputFrom::kFileOrStandardInput && path == kStandardInput) {
    return Borrow(STDIN_FILENO, limits);
  }
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0 && errno == ENOENT) return Error("does not exist, expected a readable file");
  if (descriptor < 0) return SystemError("cannot be opened");
  InputFile file(descriptor, /*is_owned=*/true, limits);
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) return SystemError("cannot be read");
  if (const char* obstacle = Obstacle(status.st_mode)) return Error(obstacle);
  return file;
}

Result<bool> InputFile::ReadLine(std::string* line) {
  line->clear();
  for (bool is_begun = false;; is_begun = true) {
    if (begin_ == end_) {
      const Result<bool> filled = Fill();
      if (!filled) return filled.error();
      if (!*filled) return is_begun;
    }
    const char* const from = buffer_.get() + begin_;
    const char* const to = buffer_.get() + end_;
    const char* const line_break = std::find(from, to, '\n');
    line->append(from, line_break);
    begin_ += static_cast<size_t>(line_break - from);
    if (line->size() > limits_.line_bytes_max) {
      return Error("has a line of more than " + std::to_string(limits_.line_bytes_max) +
                   " bytes, expected shorter ones");
    }
    if (line_break == to) continue;
    ++begin_;
    return true;
  }
}

Result<std::string> InputFile::ReadAll() {
  std::string content;
  for (;;) {
    if (begin_ == end_) {
      const Result<bool> filled = Fill();
      if (!filled) return filled.error();
      if (!*filled) return content;
    }
    content.append(buffer_.get() + begin_, end_ - begin_);
    begin_ = end_;
  }
}

Result<bool> InputFile::Fill() {
  begin_ = end_ = 0;
  for (;;) {
    // A regular file never makes its reader wait, but some under /proc would.
    if (!is_owned_) {
      if (Status status = WaitForBytes(); !status) return status.error();
    }
    const ssize_t count = read(descriptor_, buffer_.get(), kBufferBytes);
    if (count == 0) return false;
    const bool would_wait = count < 0 && errno == EAGAIN;
    if (would_wait && is_owned_) return Error("makes its reader wait, expected a file");
    if (would_wait || (count < 0 && errno == EINTR)) continue;
    if (count < 0) return SystemError("cannot be read");
    end_ = static_cast<size_t>(count);
    bytes_read_ += end_;
    if (bytes_read_ <= limits_.bytes_max) return true;
    return Error("is too large, expected at most " + std::to_string(limits_.bytes_max) + " bytes");
  }
}

// A signal ends the wait, because whoever sent it does not want to wait for the input either.
Status InputFile::WaitForBytes() {
  using Clock = std::chrono::steady_clock;
  const auto left = limits_.wait_max - waited_;
  const auto begin = Clock::now();
  pollfd one = {descriptor_, POLLIN, 0};
  const int ready = poll(&one, 1, static_cast<int>(std::max(left.count(), int64_t{0})));
  waited_ += std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  if (ready > 0) return Status::Ok();
  if (ready < 0 && errno == EINTR) return Error("is not read to its end: interrupted by a signal");
  if (ready < 0) return SystemError("cannot be read");
  return Error("gave nothing for " + std::to_string(limits_.wait_max.count()) +
               " ms in all, expected its end before");
}

Result<std::string> ReadInput(const std::string& path, InputFrom from, const InputLimits& limits) {
  Result<InputFile> file = InputFile::Open(path, from, limits);
  if (!file) return file.error();
  return file->ReadAll();
}

}  // namespace schedq
