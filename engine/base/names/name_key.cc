#include "engine/base/names/name_key.h"

#include <sys/random.h>

#include <atomic>
#include <cerrno>

#include "engine/base/atom.h"
#include "engine/base/names/packed_text.h"
#include "engine/base/random.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

// The seed of the process's key; kNoSeed: there is none yet. Written once by the first thread that
// asks for the key, and by FixForProcess.
constexpr uint64_t kNoSeed = 0;
constinit std::atomic<uint64_t> process_seed{kNoSeed};

uint64_t EntropyOfSystem() {
  uint64_t drawn = kNoSeed;
  // A signal may interrupt the call while the machine starts up. A drawn kNoSeed is drawn again.
  while (drawn == kNoSeed) {
    const ssize_t size = getrandom(&drawn, sizeof(drawn), 0);
    SCHEDQ_CHECK(size == sizeof(drawn) || (size == -1 && errno == EINTR),
                 "the system gives random bytes");
  }
  return drawn;
}

}  // namespace

NameKey NameKey::FromSeed(uint64_t seed) {
  Random random(seed);
  const uint64_t first = random.Next();
  return {first, random.Next()};
}

NameKey NameKey::OfProcess() {
  // Relaxed: the word is all that there is to read.
  uint64_t seed = LoadRelaxed(process_seed);
  if (seed == kNoSeed) {
    const uint64_t drawn = EntropyOfSystem();
    if (process_seed.compare_exchange_strong(seed, drawn, std::memory_order_relaxed)) seed = drawn;
  }
  return FromSeed(seed);
}

void NameKey::FixForProcess(uint64_t seed) {
  // Any seed may be asked for, kNoSeed too.
  StoreRelaxed(process_seed, seed == kNoSeed ? ~kNoSeed : seed);
}

size_t NameHash::operator()(std::string_view text) const { return PackedText(key_, text).hash(); }

}  // namespace schedq
