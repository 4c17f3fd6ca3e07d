// Goal: a file is written whole or not at all, at the place that its path means, and nothing else
// on the disk changes: links, devices, pipes, permissions, temporary files.
// Method: each kind of target in a folder of the test's own; failures by limits of the process.
#include "perf/files/file_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "engine/base/result.h"
#include "perf/files/file_io.h"
#include "perf/files/leftovers.h"
#include "perf/files/temporary_folder.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

class FileWriterTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.File(name); }
  size_t Entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_.path()), {}));
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat file {};
    EXPECT_EQ(lstat(path.c_str(), &file), 0) << path;
    return file.st_mode;
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::Make());
};

// While it lives, no file of this process may grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(FileWriterTest, ALinkStaysAndItsTargetIsReplaced) {
  ASSERT_TRUE(WriteFileAtomically(Path("real"), "old").ok());
  fs::create_symlink("real", Path("link"));
  fs::create_symlink(Path("link"), Path("second"));
  ASSERT_TRUE(WriteFileAtomically(Path("second"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_TRUE(fs::is_symlink(Path("second")));
  EXPECT_EQ(*ReadWholeFile(Path("real")), "new");
  EXPECT_EQ(Entries(), 3u);
}

TEST_F(FileWriterTest, ALinkToNothingMakesItsTarget) {
  fs::create_symlink("folder/absent", Path("link"));
  ASSERT_TRUE(WriteFileAtomically(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(*ReadWholeFile(Path("folder/absent")), "new");
}

TEST_F(FileWriterTest, WhatCannotBeRenamedToIsAStream) {
  const auto is_stream = [](const std::string& path) {
    return FindOutputPlace(path)->kind == OutputKind::kStream;
  };
  EXPECT_TRUE(is_stream("/dev/null"));
  EXPECT_TRUE(is_stream("/dev/stdout"));
  EXPECT_FALSE(is_stream(Path("absent")));
  // Another descriptor of a regular file: its name may be gone.
  const int file = open(Path("open").c_str(), O_WRONLY | O_CREAT, 0600);
  EXPECT_TRUE(is_stream("/dev/fd/" + std::to_string(file)));
  close(file);
}

TEST_F(FileWriterTest, LinksWithoutEndAreAnError) {
  fs::create_symlink("b", Path("a"));
  fs::create_symlink("a", Path("b"));
  const Status status = WriteFileAtomically(Path("a"), "new");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            Path("a") + ": cannot be written: Too many levels of symbolic links");
  EXPECT_EQ(Entries(), 2u);
}

TEST_F(FileWriterTest, APipeIsWrittenAndStays) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const std::string content(1 << 20, 'x');
  std::string arrived;
  // The reader comes late, and reads more slowly than the pipe fills.
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ifstream pipe(Path("pipe"));
    arrived.assign(std::istreambuf_iterator<char>(pipe), std::istreambuf_iterator<char>());
  });
  const Status status = WriteFileAtomically(Path("pipe"), content);
  reader.join();
  EXPECT_TRUE(status.ok()) << status.error().message();
  EXPECT_TRUE(arrived == content) << arrived.size();
  EXPECT_TRUE(S_ISFIFO(ModeOf(Path("pipe"))));
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(FileWriterTest, APipeWhoseReaderGoesIsAnErrorAndNoSignal) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  std::thread reader([&] {
    const int pipe = open(Path("pipe").c_str(), O_RDONLY);
    char first = 0;
    EXPECT_EQ(read(pipe, &first, 1), 1);
    close(pipe);
  });
  const Status status = WriteFileAtomically(Path("pipe"), std::string(1 << 20, 'x'));
  reader.join();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(), Path("pipe") + ": cannot be written: Broken pipe");
}

TEST_F(FileWriterTest, ADeviceIsWrittenAndStays) {
  const mode_t before = ModeOf("/dev/null");
  fs::create_symlink("/dev/null", Path("null"));
  EXPECT_TRUE(WriteFileAtomically("/dev/null", "text").ok());
  EXPECT_TRUE(WriteFileAtomically(Path("null"), "text").ok());
  EXPECT_EQ(ModeOf("/dev/null"), before);
  EXPECT_TRUE(S_ISCHR(before));
  const Status full = WriteFileAtomically("/dev/full", "text");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message(), "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(S_ISCHR(ModeOf("/dev/full")));
}

TEST_F(FileWriterTest, OwnStdoutIsWrittenBehindWhatWasPrinted) {
  const std::string path = Path("stdout");
  const int saved = dup(STDOUT_FILENO);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  std::fflush(stdout);
  ASSERT_EQ(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
  std::fputs("table\n", stdout);
  const Status status = WriteFileAtomically(path, "document\n");
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(file);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(*ReadWholeFile(path), "table\ndocument\n");
}

TEST_F(FileWriterTest, TheUmaskDecidesOfANewFileAndTheOldOneOfItself) {
  const mode_t before = umask(027);
  EXPECT_TRUE(WriteFileAtomically(Path("new"), "text").ok());
  umask(before);
  EXPECT_EQ(ModeOf(Path("new")) & 0777, 0640u);
  ASSERT_EQ(chmod(Path("new").c_str(), 0604), 0);
  EXPECT_TRUE(WriteFileAtomically(Path("new"), "text").ok());
  EXPECT_EQ(ModeOf(Path("new")) & 0777, 0604u);
}

TEST_F(FileWriterTest, TheLongestNameCanBeWritten) {
  EXPECT_TRUE(WriteFileAtomically(Path(std::string(255, 'n')), "text").ok());
  const Status status = WriteFileAtomically(Path(std::string(256, 'n')), "text");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("File name too long"), std::string::npos);
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(FileWriterTest, AFullDiskLeavesTheOldContentAndNothingElse) {
  ASSERT_TRUE(WriteFileAtomically(Path("file"), "old").ok());
  const FileSizeLimit limit(4096);
  const std::string content(10'000, 'x');
  const Status replaced = WriteFileAtomically(Path("file"), content);
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.error().message(), Path("file") + ": cannot be written: File too large");
  EXPECT_FALSE(WriteFileAtomically(Path("new/deep/file"), content).ok());
  EXPECT_EQ(*ReadWholeFile(Path("file")), "old");
  EXPECT_EQ(Entries(), 1u) << "no temporary file, no folder that was made for it";
}

TEST(LeftoversTest, WhatIsRememberedIsRemovedWithAllThatIsInIt) {
  const TemporaryFolder outer = std::move(*TemporaryFolder::Make());
  const std::string tree = outer.File("tree");
  for (int i = 0; i < 300; ++i) {
    fs::create_directories(tree + "/" + std::to_string(i) + "/deep");
    std::ofstream(tree + "/" + std::to_string(i) + "/file") << "text";
  }
  fs::create_directory_symlink(outer.path(), tree + "/link");
  ASSERT_TRUE(WriteFileAtomically(outer.File("kept"), "text").ok());
  ASSERT_TRUE(WriteFileAtomically(outer.File("forgotten"), "text").ok());
  const pid_t child = fork();
  if (child == 0) {
    const Leftover remembered(tree);
    { const Leftover forgotten(outer.File("forgotten")); }
    RemoveLeftovers();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(fs::exists(tree));
  EXPECT_TRUE(fs::exists(outer.File("kept"))) << "a link is removed and not followed";
  EXPECT_TRUE(fs::exists(outer.File("forgotten")));
}

// A thread that writes is not the one that ends the process: the file once appeared behind the
// removal's back.
TEST(LeftoversTest, NothingIsMadeBehindARemovalsBack) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const auto make = [](const std::string& path, std::chrono::milliseconds delay) {
    std::this_thread::sleep_for(delay);
    return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  };
  for (const bool is_forbidden_first : {false, true}) {
    const std::string path = folder.File(is_forbidden_first ? "later" : "meanwhile");
    const pid_t child = fork();
    if (child == 0) {
      std::atomic<bool> has_begun{is_forbidden_first};
      if (is_forbidden_first) ForbidMaking();
      std::thread maker([&] {
        const Leftover leftover(path, [&] {
          has_begun.store(true);
          return make(path, std::chrono::milliseconds(50));
        });
        for (;;) pause();
      });
      while (!has_begun.load()) std::this_thread::yield();
      if (is_forbidden_first) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ForbidMaking();
      RemoveLeftovers();
      _exit(fs::exists(path) ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << path;
    EXPECT_FALSE(fs::exists(path));
  }
}

TEST(LeftoversTest, ASignalWaitsForWhatIsBeingMade) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const std::string path = folder.File("file");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGUSR1, [](int) {
      RemoveLeftovers();
      _exit(7);
    });
    const Leftover leftover(path, [&path] {
      const int made = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
      std::raise(SIGUSR1);
      return made;
    });
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_FALSE(fs::exists(path));
}

TEST(LeftoversTest, WhatAnotherHasMadeIsNotRemoved) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const std::string path = folder.File("file");
  ASSERT_TRUE(WriteFileAtomically(path, "text").ok());
  const pid_t child = fork();
  if (child == 0) {
    const Leftover leftover(path, [&path] { return open(path.c_str(), O_CREAT | O_EXCL, 0600); });
    const bool was_refused = leftover.made() == -1 && errno == EEXIST;
    RemoveLeftovers();
    _exit(was_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(fs::exists(path));
}

TEST(LeftoversTest, AForkedChildRemovesNothingOfItsParent) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const pid_t child = fork();
  if (child == 0) {
    RemoveLeftovers();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::exists(folder.path()));
}

}  // namespace
}  // namespace schedq
