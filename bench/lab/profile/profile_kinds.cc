#include <vector>

#include "bench/lab/profile/profile_kind.h"

namespace schedq {

std::vector<ProfileKind> AllProfileKinds() {
  return {RequeueProfile(),  BackoffProfile(), DispatchProfile(),
          AssemblyProfile(), GroupsProfile(),  DevicesProfile()};
}

}  // namespace schedq
