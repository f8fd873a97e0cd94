// What every CPU kernel needs of torch: threads and memory.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <atomic>
#include <optional>

#include "row_kernels.h"
#include "tensors.h"

namespace torch_sparse_ops {

// Work of fewer elements than this runs in the calling thread.
inline constexpr int64_t kSerialElements = 16 << 10;

// How many threads for_each_task uses for so many tasks.
inline int64_t worker_count(int64_t tasks) {
  return tasks <= 1 ? 1 : std::min<int64_t>(tasks, torch::stable::get_num_threads());
}

// Calls function(task, worker) for each task in [0, tasks), on torch's threads, each taking the next one when it is
// free; worker in [0, worker_count(tasks)) tells the threads apart. In the calling thread if the work is not worth
// others.
template <class Function>
void for_each_task(int64_t tasks, const Function& function, bool worth_threads = true) {
  const int64_t workers = worth_threads ? worker_count(tasks) : 1;
  if (workers == 1) {
    for (int64_t task = 0; task < tasks; task++) function(task, int64_t{0});
    return;
  }
  std::atomic<int64_t> next{0};
  torch::stable::parallel_for(0, workers, 1, [&](int64_t worker, int64_t) {
    for (int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) function(task, worker);
  });
}

// The begin of part `i` of `parts` near-equal parts of [0, count).
inline int64_t part_begin(int64_t count, int64_t parts, int64_t i) {
  const int64_t base = count / parts, extra = count % parts;
  return i * base + std::min(i, extra);
}

// Fresh large memory costs a page fault every 4 KB, more than the sums themselves. Huge pages make that one in 512.
inline void prefer_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] int64_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr uintptr_t huge_page = 2 << 20;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + huge_page - 1) & ~(huge_page - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) & ~(huge_page - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice: failure is harmless
#endif
}

// An uninitialised result of like's dtype.
inline Tensor new_result(const Tensor& like, const std::vector<int64_t>& sizes) {
  Tensor result = allocate_empty(like, sizes);
  prefer_huge_pages(result.mutable_data_ptr(), result.numel() * static_cast<int64_t>(result.element_size()));
  return result;
}

// Uninitialised working memory: a little of it in place, more from torch's allocator, so that running out of memory is
// torch's own error.
template <class T>
class Scratch {
 public:
  Scratch(const Tensor& like, int64_t count) {
    const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
    if (bytes <= static_cast<int64_t>(sizeof(in_place_))) return;
    tensor_ = allocate_empty(like, {bytes}, ScalarType::Byte);
    data_ = static_cast<T*>(tensor_->mutable_data_ptr());
    prefer_huge_pages(data_, bytes);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  alignas(64) char in_place_[1024];
  std::optional<Tensor> tensor_;
  T* data_ = reinterpret_cast<T*>(in_place_);
};

// What is left to do for an empty result: bad indices are errors all the same.
inline bool all_valid(const IndexTuples& tuples) {
  if (tuples.depth == 0) return true;
  const int64_t count = tuples.tuple_stride == 0 ? std::min<int64_t>(tuples.count, 1) : tuples.count;  // all alike
  int64_t offsets[kBlockRows];
  for (int64_t begin = 0; begin < count; begin += kBlockRows)
    if (!index_kernels().read_offsets(tuples, begin, std::min(begin + kBlockRows, count), offsets)) return false;
  return true;
}

template <class T>
const T* values_of(const Tensor& tensor) {
  return static_cast<const T*>(tensor.const_data_ptr());
}

template <class T>
T* mutable_values_of(const Tensor& tensor) {
  return static_cast<T*>(tensor.mutable_data_ptr());
}

}  // namespace torch_sparse_ops
