// A folder of our own for files of the moment, removed at the end with all that is in it.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace schedq {

class TemporaryFolder {
 public:
  // An error: none can be made where temporary files go.
  static Result<TemporaryFolder> Make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  // The path of a file in it.
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryFolder(std::string path);

  std::string path_;  // Empty: moved away.
};

}  // namespace schedq
