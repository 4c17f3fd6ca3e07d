# The part of folly that schedq uses: hazptr, RCU, F14, UnboundedQueue, ConcurrentHashMap,
# DistributedMutex, the two concurrent priority queues (rivals) and DeterministicSchedule (tests).
# A whole build of folly takes five minutes; these objects take less than one.
set(SCHEDQ_FOLLY_FILES
    Demangle.cpp
    ExceptionString.cpp
    Executor.cpp
    Random.cpp
    ScopeGuard.cpp
    SharedMutex.cpp
    SingletonThreadLocal.cpp
    concurrency/CacheLocality.cpp
    container/detail/F14Table.cpp
    debugging/exception_tracer/ExceptionTracerLib.cpp
    detail/Futex.cpp
    detail/StaticSingletonManager.cpp
    detail/ThreadLocalDetail.cpp
    detail/UniqueInstance.cpp
    detail/thread_local_globals.cpp
    lang/CString.cpp
    lang/Exception.cpp
    lang/SafeAssert.cpp
    lang/ToAscii.cpp
    memory/ReentrantAllocator.cpp
    portability/SysMembarrier.cpp
    synchronization/AsymmetricThreadFence.cpp
    synchronization/AtomicNotification.cpp
    synchronization/DistributedMutex.cpp
    synchronization/Hazptr.cpp
    synchronization/HazptrDomain.cpp
    synchronization/ParkingLot.cpp
    synchronization/Rcu.cpp
    system/AtFork.cpp
    system/ThreadId.cpp
    system/ThreadName.cpp
    test/DeterministicSchedule.cpp)
