// Reads what users hand in: a regular file, or standard input by the name "-".
//
// Purpose: the one reader of the program. What it reads has a bounded size and arrives within a
// bounded time, and a read that fails is an error: no command can hang on its input, fill the
// memory with it, or take the part before a failure for the whole.
// A path to a folder, a pipe, a socket or a device is refused, for its size is unknown and reading
// it may never end. A user who wants a pipe says so: `command | schedq replay -`.
// Threads: one an object.
// Memory: what is returned, and a buffer of kBufferBytes.
// Errors hold only the reason ("is a folder, expected a file"), because the caller knows the place
// that names the file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/result.h"

namespace schedq {

// Whether "-" stands for standard input, or for a file of this name.
enum class InputFrom : uint8_t { kFile, kFileOrStandardInput };

struct InputLimits {
  uint64_t bytes_max = uint64_t{256} << 20;
  size_t line_bytes_max = size_t{64} << 20;
  // How long reads may wait for standard input in all. The reader's own work does not count.
  std::chrono::milliseconds wait_max = std::chrono::minutes(1);
};

class InputFile {
 public:
  static Result<InputFile> Open(const std::string& path, InputFrom from,
                                const InputLimits& limits = {});
  // Reads from an open descriptor, which stays open. For standard input, and for tests.
  static InputFile Borrow(int descriptor, const InputLimits& limits);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // Reads the next line without its line break; false at the end. A last line needs no break.
  Result<bool> ReadLine(std::string* line);
  // Reads all that is left.
  Result<std::string> ReadAll();

 private:
  static constexpr size_t kBufferBytes = 1 << 16;

  InputFile(int descriptor, bool is_owned, const InputLimits& limits);
  // Fills the empty buffer; false at the end.
  Result<bool> Fill();
  Status WaitForBytes();

  int descriptor_;
  bool is_owned_;
  InputLimits limits_;
  uint64_t bytes_read_ = 0;
  std::chrono::milliseconds waited_{0};
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;  // The bytes of the buffer that are not consumed.
  size_t end_ = 0;
};

// Reads a whole input.
Result<std::string> ReadInput(const std::string& path, InputFrom from,
                              const InputLimits& limits = {});

}  // namespace schedq
