// A temporary folder, which the destructor removes with all that is in it, and so does a signal
// that ends the process.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "perf/files/leftovers.h"

namespace schedq {

class TemporaryFolder {
 public:
  // Returns an error where the system's folder for temporary files refuses.
  static Result<TemporaryFolder> Make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  // The path of a file in the folder.
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  TemporaryFolder(std::string path, Leftover leftover);

  std::string path_;  // Empty after a move from this object.
  Leftover leftover_;
};

}  // namespace schedq
