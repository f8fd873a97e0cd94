// segment_sum on the CPU: the rows are cut into chunks at boundaries that depend on the problem alone. A chunk sums the
// segments that lie within it straight into the result; what it has of a segment that crosses its ends is combined
// in order afterwards. So the bits do not depend on the threads, and a giant segment is shared among them.
#include "../common/cpu.h"
#include "../common/gather.h"
#include "../common/scatter.h"
#include "problem.h"

namespace torch_sparse_ops {
namespace {

constexpr int64_t kMaxChunks = 128;
constexpr int64_t kMinChunkRows = 64;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// `limit`: that of ids; without num_segments it is the largest int64, since what can be wrong then is their order.
[[noreturn]] void report_bad(const SegmentSumProblem& problem, int64_t limit) {
  const IndexTuples& ids = problem.segment_ids.tuples;
  const std::string limit_text = limit == kNoLimit ? "2^63 - 1" : std::to_string(limit);
  int64_t previous = 0;
  for (int64_t i = 0; i < problem.count; i++) {
    const int64_t id = index_value(ids, i);
    if (id < 0 || id >= limit)
      fail_index(kSegmentSum, "segment_ids[", i, "] = ", id, " is outside [0, ", limit_text, ")");
    check(id >= previous, kSegmentSum, "segment_ids[", i, "] = ", id, " is less than segment_ids[", i - 1,
          "] = ", previous, "; they must ascend");
    previous = id;
    if (!problem.indices) continue;
    const int64_t row = index_value(problem.indices->tuples, i);
    if (row < 0 || row >= problem.rows)
      fail_index(kSegmentSum, "indices[", i, "] = ", row, " is outside [0, ", problem.rows, ")");
  }
  fail(kSegmentSum, "indices or segment_ids changed during the call");
}

// What a chunk has of the segment that began before it, and of the one that goes on after it. One segment may be both,
// and is then `head` only.
template <class Acc>
struct CrossingSums {
  int64_t head_segment = kInvalid, tail_segment = kInvalid;
  Acc* head = nullptr;
  Acc* tail = nullptr;
};

template <class T>
class SegmentSum {
  using Acc = Accumulator<T>;

 public:
  SegmentSum(const SegmentSumProblem& problem, int64_t id_limit, const Tensor& result)
      : problem_(problem),
        id_limit_(id_limit),
        result_(result),
        num_segments_(result.size(0)),
        out_(mutable_values_of<T>(result)),
        chunks_(chunk_count()),
        crossing_storage_(result, 2 * chunks_ * problem.width),
        crossing_(chunks_) {}

  void run() {
    for (int64_t c = 0; c < chunks_; c++) {
      crossing_[c].head = crossing_storage_.data() + 2 * c * problem_.width;
      crossing_[c].tail = crossing_[c].head + problem_.width;
    }
    for_each_task(chunks_, [&](int64_t c, int64_t) {
      if (!sum_chunk(c)) bad_.store(true, std::memory_order_relaxed);
    });
    if (bad_) report_bad(problem_, id_limit_);
    combine_crossing();
  }

 private:
  int64_t chunk_count() const {
    const int64_t by_work = problem_.count * std::max<int64_t>(problem_.width, 4) / kSerialElements;
    return std::max<int64_t>(1, std::min({by_work, problem_.count / kMinChunkRows, kMaxChunks}));
  }

  void zero(int64_t first_segment, int64_t end_segment) {
    if (first_segment < end_segment)
      std::fill_n(reinterpret_cast<char*>(out_ + first_segment * problem_.width),
                  (end_segment - first_segment) * problem_.width * sizeof(T), 0);
  }

  // Block by block. `open` is the segment whose sum is not complete yet: its rows so far are in `partial`.
  bool sum_chunk(int64_t chunk) {
    const int64_t begin = part_begin(problem_.count, chunks_, chunk);
    const int64_t end = part_begin(problem_.count, chunks_, chunk + 1);
    const IndexTuples& ids = problem_.segment_ids.tuples;
    const int64_t before = begin ? index_value(ids, begin - 1) : kInvalid;
    const int64_t after = end < problem_.count ? index_value(ids, end) : num_segments_;
    if (before < kInvalid || before >= num_segments_) return false;
    CrossingSums<Acc>& crossing = crossing_[chunk];

    int64_t rows[kBlockRows + kLookAhead];
    Runs runs;
    int64_t open = kInvalid, done = before;  // segments up to `done` are written, or left to another chunk
    Acc* partial = crossing.tail;
    const auto close = [&] {
      if (open == kInvalid) return;
      if (open == before)
        crossing.head_segment = open;
      else
        kernels_.round(out_ + open * problem_.width, partial, problem_.width);
      open = kInvalid;
    };

    for (int64_t block = begin; block < end; block += kBlockRows) {
      const int64_t block_end = std::min(block + kBlockRows, end), count = block_end - block;
      if (!index_kernels().read_runs(ids, block, block_end, std::max<int64_t>(done, 0), num_segments_, runs))
        return false;
      RowSource<T> source{values_of<T>(problem_.data), problem_.row_stride, nullptr, count};
      if (problem_.indices) {
        const int64_t ahead_end = std::min(block_end + kLookAhead, problem_.count);
        if (!index_kernels().read_offsets(problem_.indices->tuples, block, ahead_end, rows)) return false;
        source.rows = rows;
        source.rows_available = ahead_end - block;
      } else {
        source.data += block * problem_.row_stride;
      }

      // The first run may continue an open segment, the last may go on in the next block or chunk.
      int64_t r = 0;
      const auto add_to_partial = [&](int64_t run) {
        const bool continues = open == runs.segment[run];
        if (!continues) {
          close();
          open = runs.segment[run];
          partial = open == before ? crossing.head : crossing.tail;
        }
        kernels_.sum_rows(source, run ? runs.end[run - 1] : 0, runs.end[run], problem_.width, partial, continues);
      };
      zero(done + 1, runs.segment[0]);
      if (runs.segment[0] == open || runs.segment[0] == before) add_to_partial(r++);
      const bool last_block = block_end == end;
      if (r < runs.count) {
        close();
        const int64_t complete = runs.count - 1;
        const bool last_is_complete = last_block && runs.segment[complete] != after;
        const int64_t whole = complete + (last_is_complete ? 1 : 0);
        kernels_.sum_runs(source, runs, r, whole, problem_.width, out_, problem_.width);
        if (!last_is_complete) add_to_partial(complete);
      }
      for (int64_t i = 1; i < runs.count; i++) zero(runs.segment[i - 1] + 1, runs.segment[i]);
      done = runs.segment[runs.count - 1];
    }
    if (open == after && open != before) {
      crossing.tail_segment = open;
    } else {
      close();
    }
    if (end == problem_.count) zero(done + 1, num_segments_);
    return true;
  }

  void combine_crossing() {
    Acc* sum = nullptr;
    int64_t segment = kInvalid;
    const auto finish = [&] {
      if (sum) kernels_.round(out_ + segment * problem_.width, sum, problem_.width);
      sum = nullptr;
    };
    for (const CrossingSums<Acc>& crossing : crossing_) {
      if (sum && crossing.head_segment == segment) kernels_.add(sum, crossing.head, problem_.width);
      if (crossing.tail_segment == kInvalid) continue;
      finish();
      sum = crossing.tail;
      segment = crossing.tail_segment;
    }
    finish();
  }

  const SegmentSumProblem& problem_;
  const int64_t id_limit_;
  const Tensor& result_;
  const int64_t num_segments_;
  T* const out_;
  const int64_t chunks_;
  const Scratch<Acc> crossing_storage_;
  std::vector<CrossingSums<Acc>> crossing_;
  const RowKernels<T>& kernels_ = row_kernels<T>();
  std::atomic<bool> bad_{false};
};

Tensor segment_sum(const Tensor& data, std::optional<Tensor> indices, const Tensor& segment_ids,
                   std::optional<int64_t> num_segments, bool) {
  SegmentSumProblem problem = segment_sum_problem(data, indices, segment_ids, num_segments);
  const int64_t id_limit = num_segments.value_or(kNoLimit);
  if (!num_segments) {
    const int64_t last = problem.count ? index_value(problem.segment_ids.tuples, problem.count - 1) : -1;
    if (problem.count && (last < 0 || last == kNoLimit)) report_bad(problem, id_limit);
    num_segments = last + 1;
  }
  const std::vector<int64_t> sizes = problem.result_sizes(*num_segments);
  check_shape(kSegmentSum, "the result's shape", sizes, data.element_size());
  const Tensor result = new_result(data, sizes);
  if (problem.count == 0)
    std::fill_n(static_cast<char*>(result.mutable_data_ptr()), result.numel() * result.element_size(), 0);
  else
    dispatch_sum(kSegmentSum, "data", data.scalar_type(),
                 [&](auto tag) { SegmentSum<typename decltype(tag)::type>(problem, id_limit, result).run(); });
  return result;
}

Tensor segment_sum_backward(const Tensor& grad, std::optional<Tensor> indices, const Tensor& segment_ids,
                            int64_t num_rows) {
  const SegmentSumBackwardProblem problem = segment_sum_backward_problem(grad, indices, segment_ids, num_rows);
  const Tensor result = new_result(grad, problem.result_sizes);
  const auto report = [&](const char* argument, const IndexTuples& tuples) {
    const int64_t bad = first_invalid(tuples);
    if (bad >= 0)
      fail_index(kSegmentSumBackward, argument, "[", bad, "] = ", index_value(tuples, bad), " is outside [0, ",
                 tuples.size[0], ")");
  };
  bool valid = true;
  if (!problem.indices)
    valid = gather_rows(problem.grad, problem.segment_ids.tuples, problem.width / reals_per_value(grad.scalar_type()),
                        BadIndices::kError, result);
  else
    valid = scatter_add_rows(problem.grad, &problem.segment_ids.tuples, problem.indices->tuples, BadIndices::kError,
                             problem.num_rows, problem.width, result);
  if (!valid) {
    report("segment_ids", problem.segment_ids.tuples);
    if (problem.indices) report("indices", problem.indices->tuples);
    fail(kSegmentSumBackward, "indices or segment_ids changed during the call");
  }
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CPU, m) {
  m.impl("segment_sum", TORCH_BOX(&segment_sum));
  m.impl("segment_sum_backward", TORCH_BOX(&segment_sum_backward));
}

}  // namespace
}  // namespace torch_sparse_ops
