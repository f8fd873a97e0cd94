// What is to be added where, read block by block: the input of scatter.cpp.
#pragma once

#include "cpu.h"

namespace torch_sparse_ops {

// Row rows[i] (or i, without `rows`) of the source goes to row targets[i] of the result.
template <class T>
class ScatterInput {
 public:
  struct Block {
    int64_t begin, count;
    bool consecutive;  // entry i is of source row begin + i
    int64_t target[kBlockRows], row[kBlockRows];
  };

  ScatterInput(const Tensor& source, const IndexTuples* rows, const IndexTuples& targets, BadIndices bad_indices,
               int64_t width)
      : source_(values_of<T>(source)), rows_(rows), targets_(targets), bad_indices_(bad_indices), width_(width) {}

  int64_t count() const { return targets_.count; }
  const T* source() const { return source_; }

  // Whether an index was found that is an error.
  bool is_bad() const { return bad_; }
  void set_bad() { bad_.store(true, std::memory_order_relaxed); }

  // Calls function(block) for the entries [begin, end), in blocks and without those to be ignored; stops at a bad one
  // that is not.
  template <class Function>
  void for_each_block(int64_t begin, int64_t end, const Function& function) {
    Block block;
    for (; begin < end; begin += kBlockRows) {
      const int64_t block_end = std::min(begin + kBlockRows, end);
      bool valid = index_kernels().read_offsets(targets_, begin, block_end, block.target);
      if (rows_) valid &= index_kernels().read_offsets(*rows_, begin, block_end, block.row);
      if (!valid && bad_indices_ == BadIndices::kError) return set_bad();
      block.begin = begin;
      block.count = block_end - begin;
      block.consecutive = valid && !rows_;
      if (!valid) drop_ignored(block);
      function(block);
    }
  }

  RowSource<T> rows_of(const Block& block) const {
    return {block.consecutive ? source_ + block.begin * width_ : source_, width_,
            block.consecutive ? nullptr : block.row, block.count};
  }

 private:
  void drop_ignored(Block& block) {
    int64_t kept = 0;
    for (int64_t i = 0; i < block.count; i++) {
      const int64_t row = rows_ ? block.row[i] : block.begin + i;
      if (row < 0 || block.target[i] < 0) continue;
      block.target[kept] = block.target[i];
      block.row[kept++] = row;
    }
    block.count = kept;
  }

  const T* const source_;
  const IndexTuples* const rows_;
  const IndexTuples& targets_;
  const BadIndices bad_indices_;
  const int64_t width_;
  std::atomic<bool> bad_{false};
};

}  // namespace torch_sparse_ops
