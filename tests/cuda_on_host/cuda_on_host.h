// Runs CUDA device code on the host, for tests. Compile a device header (.cuh) with g++ -include cuda_on_host.h; a
// launch runs block after block, the threads of a block as fibers that switch only at barriers and warp collectives.
//   Covers:      threadIdx, blockIdx, blockDim, gridDim in one to three dimensions, static __shared__ memory,
//                __syncthreads, __syncthreads_or, __shfl_sync, __ballot_sync, early exit of threads; under
//                AddressSanitizer every access.
//   Cannot show: data races and missing barriers (between barriers threads run in order), the memory model, what blocks
//                do to each other (they run one after another), speed.
//   A barrier that some threads of the block never reach, or a collective that not all lanes of its mask reach, aborts.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __shared__ static  // one block runs at a time

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_on_host {

enum class State { kRunnable, kAtBarrier, kAtCollective, kDone };

struct Fiber {
  static constexpr size_t kStackBytes = 64 << 10;
  ucontext_t context;
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStackBytes);
  State state = State::kDone;
  unsigned mask = 0;     // of the collective it waits at
  uint64_t deposit = 0;  // what it brings there
};

inline std::vector<std::unique_ptr<Fiber>> fibers;  // of the running block, by thread
inline ucontext_t scheduler;
inline int current = 0;
inline std::function<void()> kernel_body;

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "cuda_on_host: %s (block %u, %u, %u)\n", what, blockIdx.x, blockIdx.y, blockIdx.z);
  std::abort();
}

inline void wait_as(State state) {
  fibers[current]->state = state;
  swapcontext(&fibers[current]->context, &scheduler);
}

inline void run_fiber() {
  kernel_body();
  wait_as(State::kDone);
}

// Lets the lanes of a collective go on together once all that its mask names are there.
inline bool release_collectives(int first, int last) {
  bool released = false;
  for (int i = first; i < last; i++) {
    if (fibers[i]->state != State::kAtCollective) continue;
    const unsigned mask = fibers[i]->mask;
    bool complete = true;
    for (int lane = 0; lane < 32; lane++) {
      if (!(mask >> lane & 1)) continue;
      if (first + lane >= last || fibers[first + lane]->state == State::kDone)
        fail("a warp collective names a lane that has exited");
      complete &= fibers[first + lane]->state == State::kAtCollective && fibers[first + lane]->mask == mask;
    }
    if (!complete) continue;
    for (int lane = 0; lane < 32; lane++)
      if (mask >> lane & 1) fibers[first + lane]->state = State::kRunnable;
    released = true;
  }
  return released;
}

inline void start_fiber(Fiber& fiber) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = Fiber::kStackBytes;
  fiber.context.uc_link = nullptr;
  fiber.state = State::kRunnable;
  makecontext(&fiber.context, run_fiber, 0);
}

inline void run_block(int threads) {
  for (int i = 0; i < threads; i++) start_fiber(*fibers[i]);
  for (;;) {
    int live = 0, at_barrier = 0;
    bool progress = false;
    for (int i = 0; i < threads; i++) {
      Fiber& fiber = *fibers[i];
      if (fiber.state == State::kRunnable) {
        current = i;
        threadIdx = dim3(i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y));
        swapcontext(&scheduler, &fiber.context);
        progress = true;
      }
      live += fiber.state != State::kDone;
      at_barrier += fiber.state == State::kAtBarrier;
    }
    if (live == 0) return;
    for (int warp = 0; warp < threads; warp += 32) progress |= release_collectives(warp, std::min(threads, warp + 32));
    if (at_barrier == live) {
      for (int i = 0; i < threads; i++)
        if (fibers[i]->state == State::kAtBarrier) fibers[i]->state = State::kRunnable;
      progress = true;
    }
    if (!progress) fail("some threads wait at a barrier or collective that others never reach");
  }
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, const Arguments&... arguments) {
  const int threads = block.x * block.y * block.z;
  while (static_cast<int>(fibers.size()) < threads) fibers.push_back(std::make_unique<Fiber>());
  kernel_body = [&] { kernel(arguments...); };
  gridDim = grid;
  blockDim = block;
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        blockIdx = dim3(x, y, z);
        run_block(threads);
      }
}

// Brings `value` to the lanes of `mask`. Everyone may read the deposits until the second rendezvous.
template <class T, class Read>
auto meet(unsigned mask, T value, const Read& read) {
  static_assert(sizeof(T) <= sizeof(Fiber::deposit));
  if (!(mask >> (current & 31) & 1)) fail("a lane calls a warp collective whose mask leaves it out");
  Fiber& fiber = *fibers[current];
  fiber.mask = mask;
  std::memcpy(&fiber.deposit, &value, sizeof(T));
  wait_as(State::kAtCollective);
  const auto deposit_of = [&](int lane) {
    T deposit;
    std::memcpy(&deposit, &fibers[(current & ~31) + lane]->deposit, sizeof(T));
    return deposit;
  };
  const auto result = read(deposit_of);
  wait_as(State::kAtCollective);
  return result;
}

}  // namespace cuda_on_host

inline bool __syncthreads_or(bool predicate) {
  using namespace cuda_on_host;
  fibers[current]->deposit = predicate;
  wait_as(State::kAtBarrier);
  bool any = false;
  for (unsigned i = 0; i < blockDim.x * blockDim.y * blockDim.z; i++) any |= fibers[i]->deposit != 0;
  wait_as(State::kAtBarrier);  // all have read before anyone brings something else
  return any;
}

inline void __syncthreads() {
  cuda_on_host::wait_as(cuda_on_host::State::kAtBarrier);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  return cuda_on_host::meet(mask, value, [&](const auto& deposit_of) { return deposit_of(lane & 31); });
}

inline unsigned __ballot_sync(unsigned mask, bool predicate) {
  return cuda_on_host::meet(mask, predicate, [&](const auto& deposit_of) {
    unsigned votes = 0;
    for (int lane = 0; lane < 32; lane++)
      if (mask >> lane & 1) votes |= static_cast<unsigned>(deposit_of(lane)) << lane;
    return votes;
  });
}

#include "stand_ins.h"
