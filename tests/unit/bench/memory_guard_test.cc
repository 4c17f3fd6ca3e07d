// Goal: the limit of memory is what the machine and the control groups leave, and use beyond it is
// noticed.
// Method: a folder that looks like proc and sys; memory that is really taken.
#include "bench/memory_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/sanitizers.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"

namespace schedq {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMebibyte = 1 << 20;

TEST(MemoryGuardTest, SizesAreReadStrictly) {
  EXPECT_EQ(*ParseBytes("1"), 1u);
  EXPECT_EQ(*ParseBytes("3K"), 3072u);
  EXPECT_EQ(*ParseBytes("512MiB"), 512 * kMebibyte);
  EXPECT_EQ(*ParseBytes("2G"), 2048 * kMebibyte);
  EXPECT_EQ(*ParseBytes("1TB"), kMebibyte * kMebibyte);
  for (const char* wrong : {"", "0", "-1", "1.5G", "G", "1X", "1 G", "1Gi", "1GG", "99999999999T",
                            "18446744073709551616", "+1", "0x10", "1\n"}) {
    const Result<uint64_t> bytes = ParseBytes(wrong);
    ASSERT_FALSE(bytes.ok()) << wrong;
    EXPECT_THAT(bytes.error().message(), HasSubstr("expected a size above 0"));
  }
}

class FreeMemoryTest : public testing::Test {
 protected:
  void Put(const std::string& path, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomically(folder_.path() + path, text).ok());
  }
  uint64_t Free() const { return FreeMemoryBytes(folder_.path()); }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::Make());
};

TEST_F(FreeMemoryTest, TheMachineDecidesWhereNoGroupDoes) {
  Put("/proc/meminfo", "MemTotal: 4096 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n");
  EXPECT_EQ(Free(), 2 * kMebibyte);
  Put("/proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(Free(), 2 * kMebibyte);
  Put("/sys/fs/cgroup/a/memory.max", "max\n");
  Put("/sys/fs/cgroup/a/memory.current", "1000\n");
  EXPECT_EQ(Free(), 2 * kMebibyte);
}

TEST_F(FreeMemoryTest, TheNarrowestGroupDecides) {
  Put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
  Put("/proc/self/cgroup", "0::/a/b\n");
  Put("/sys/fs/cgroup/a/memory.max", "5000\n");
  Put("/sys/fs/cgroup/a/memory.current", "3000\n");
  Put("/sys/fs/cgroup/a/memory.stat", "anon 2000\ninactive_file 500\n");
  Put("/sys/fs/cgroup/a/b/memory.max", "9000\n");
  Put("/sys/fs/cgroup/a/b/memory.current", "1000\n");
  EXPECT_EQ(Free(), 2500u) << "what is cached makes room";
  Put("/sys/fs/cgroup/a/memory.current", "6000\n");
  EXPECT_EQ(Free(), 0u);
}

TEST_F(FreeMemoryTest, GroupsOfTheFirstVersionAndOfContainersAreFound) {
  Put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
  Put("/proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/docker/1\n");
  Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "7000\n");
  Put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "4000\n");
  EXPECT_EQ(Free(), 3000u) << "the group's own folder is not visible in the container";
}

TEST(MemoryGuardTest, UseBeyondTheLimitIsNoticedAndForgottenWhenFreed) {
#ifdef SCHEDQ_ADDRESS_SANITIZER
  GTEST_SKIP() << "a sanitizer keeps what was freed";
#endif
  uint64_t used = 0;
  {
    MemoryGuard guard(0);
    EXPECT_FALSE(guard.IsExceeded());
    used = guard.BytesInUse();
    EXPECT_GT(guard.bytes_max(), used);
  }
  EXPECT_GT(used, 0u);
  MemoryGuard guard(used + 64 * kMebibyte);
  EXPECT_FALSE(guard.IsExceeded());
  {
    std::vector<char> taken(256 * kMebibyte, 'x');
    EXPECT_EQ(taken[kMebibyte], 'x');
    EXPECT_TRUE(guard.IsExceeded());
  }
  EXPECT_TRUE(guard.IsExceeded()) << "until Reset";
  EXPECT_THAT(guard.Reason(), HasSubstr("beyond the limit of"));
  guard.Reset();
  EXPECT_FALSE(guard.IsExceeded());
}

}  // namespace
}  // namespace schedq
