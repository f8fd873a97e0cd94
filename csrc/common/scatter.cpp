#include "scatter.h"

#include "scatter_input.h"

namespace torch_sparse_ops {
namespace {

constexpr int64_t kBucketBytes = 256 << 10;  // of accumulators: half of a small second-level cache
constexpr int64_t kMaxBuckets = 1024;        // as many as can be written to side by side
constexpr int64_t kMaxPieces = 32;           // into which the work is cut at most if one bucket has it all
constexpr int64_t kWholeBytes = 8 << 20;     // a result up to this size need not be cut into buckets
constexpr int64_t kCopiesBytes = 16 << 20;   // all copies of one bucket together

// What is added where: `target` is a row of the bucket, counted from its first.
struct RowEntry {
  uint32_t target;
  uint32_t row;  // of the source
};
struct WideRowEntry {
  uint32_t target;
  int64_t row;
};
template <class Acc>
struct ValueEntry {  // of rows of one column, which need not be looked up again
  uint32_t target;
  Acc value;
};

template <class E>
inline constexpr bool holds_value = requires(E entry) { entry.value; };

// A part of a bucket's entries. All but a bucket's first sum into a copy of their own.
struct Piece {
  int64_t bucket, begin, end;
  int64_t copy = -1;
};

template <class T, class Entry>
class Scatter {
  using Acc = Accumulator<T>;

 public:
  Scatter(const Tensor& source, const IndexTuples* rows, const IndexTuples& targets, BadIndices bad_indices,
          int64_t num_rows, int64_t width, const Tensor& result)
      : input_(source, rows, targets, bad_indices, width),
        num_rows_(num_rows),
        width_(width),
        result_(result),
        out_(mutable_values_of<T>(result)) {
    const int64_t work = input_.count() * std::max<int64_t>(width_, 4) / kSerialElements;
    chunks_ = std::max<int64_t>(1, std::min<int64_t>(work, kMaxPieces));
    shift_ = bucket_shift();
    buckets_ = ((num_rows_ - 1) >> shift_) + 1;
  }

  bool run() {
    std::vector<Piece> pieces;
    std::optional<Scratch<Entry>> entries;
    if (buckets_ == 1) {
      append_pieces(pieces, 0, 0, input_.count());
    } else {
      std::vector<int64_t> starts = count_entries();
      entries.emplace(result_, starts.back() + input_.count() / chunks_ + 1);  // and what one chunk may write too far
      if (!input_.is_bad()) distribute(starts, entries->data());
      if (!input_.is_bad())
        for (int64_t b = 0; b < buckets_; b++) append_pieces(pieces, b, starts[b * chunks_], starts[(b + 1) * chunks_]);
    }
    if (!input_.is_bad()) sum(pieces, entries ? entries->data() : nullptr);
    return !input_.is_bad();
  }

 private:
  int bucket_shift() const {
    const int64_t row_bytes = width_ * static_cast<int64_t>(sizeof(Acc)), bytes = num_rows_ * row_bytes;
    int shift = 0;
    // Distributing costs more than the cache misses of adding here and there in a result that the third-level cache
    // holds, if there are entries enough to pay for clearing and adding copies of it.
    if (bytes <= kWholeBytes && (input_.count() >= 2 * num_rows_ || chunks_ == 1)) {
      while ((num_rows_ - 1) >> shift) shift++;
      return shift;
    }
    while (shift < 32 && (int64_t{2} << shift) * row_bytes <= kBucketBytes) shift++;
    while (shift < 32 && (num_rows_ - 1) >> shift >= kMaxBuckets) shift++;
    return shift;
  }

  int64_t bucket_rows(int64_t bucket) const { return std::min(num_rows_ - (bucket << shift_), int64_t{1} << shift_); }

  // starts[bucket * chunks + chunk] is where the chunk's entries of the bucket begin; the last one is their number.
  std::vector<int64_t> count_entries() {
    std::vector<int64_t> starts(buckets_ * chunks_ + 1);
    for_each_task(chunks_, [&](int64_t chunk, int64_t) {
      std::vector<int64_t> counts(buckets_);
      input_.for_each_block(chunk_begin(chunk), chunk_begin(chunk + 1), [&](const auto& block) {
        for (int64_t i = 0; i < block.count; i++) counts[block.target[i] >> shift_]++;
      });
      for (int64_t b = 0; b < buckets_; b++) starts[b * chunks_ + chunk] = counts[b];
    });
    int64_t sum = 0;
    for (int64_t& start : starts) start = std::exchange(sum, sum + start);
    return starts;
  }

  void distribute(const std::vector<int64_t>& starts, Entry* entries) {
    const int64_t in_bucket = (int64_t{1} << shift_) - 1;
    for_each_task(chunks_, [&](int64_t chunk, int64_t) {
      std::vector<int64_t> next(buckets_);
      for (int64_t b = 0; b < buckets_; b++) next[b] = starts[b * chunks_ + chunk];
      Acc values[holds_value<Entry> ? kBlockRows : 1];
      input_.for_each_block(chunk_begin(chunk), chunk_begin(chunk + 1), [&](const auto& block) {
        if constexpr (holds_value<Entry>) kernels_.widen(input_.rows_of(block), block.count, values);
        for (int64_t i = 0; i < block.count; i++) {
          Entry& entry = entries[next[block.target[i] >> shift_]++];
          entry.target = static_cast<uint32_t>(block.target[i] & in_bucket);
          if constexpr (holds_value<Entry>)
            entry.value = values[i];
          else
            entry.row = static_cast<decltype(entry.row)>(block.consecutive ? block.begin + i : block.row[i]);
        }
      });
      // The counts hold unless the indices were changed meanwhile.
      for (int64_t b = 0; b < buckets_; b++)
        if (next[b] != starts[b * chunks_ + chunk + 1]) input_.set_bad();
    });
  }

  int64_t chunk_begin(int64_t chunk) const { return part_begin(input_.count(), chunks_, chunk); }

  // A copy costs clearing and adding its bucket, so a piece has at least as many entries as the bucket has rows.
  void append_pieces(std::vector<Piece>& pieces, int64_t bucket, int64_t begin, int64_t end) {
    const int64_t rows = bucket_rows(bucket), bytes = rows * width_ * static_cast<int64_t>(sizeof(Acc));
    const int64_t share = std::max(input_.count() / chunks_, rows);
    const int64_t parts = std::max<int64_t>(1, std::min((end - begin) / share, 1 + kCopiesBytes / bytes));
    for (int64_t part = 0; part < parts; part++)
      pieces.push_back({bucket, begin + part_begin(end - begin, parts, part),
                        begin + part_begin(end - begin, parts, part + 1), part ? copies_++ : -1});
  }

  void sum(const std::vector<Piece>& pieces, const Entry* entries) {
    const int64_t tasks = static_cast<int64_t>(pieces.size());
    const int64_t bucket_size = bucket_rows(0) * width_;
    const Scratch<Acc> copies(result_, copies_ * bucket_size);
    const Scratch<Acc> sums(result_, accumulates_in_place<T> ? 0 : worker_count(tasks) * bucket_size);
    std::vector<int64_t> cut;  // the first pieces of the buckets that are cut; their sums wait for the copies
    for (int64_t p = 0; p + 1 < tasks; p++)
      if (pieces[p].copy < 0 && pieces[p + 1].copy >= 0) cut.push_back(p);
    const Scratch<Acc> cut_sums(result_, accumulates_in_place<T> ? 0 : cut.size() * bucket_size);

    for_each_task(tasks, [&](int64_t p, int64_t worker) {
      const Piece& piece = pieces[p];
      const auto cut_at = std::lower_bound(cut.begin(), cut.end(), p);
      const bool is_cut = cut_at != cut.end() && *cut_at == p;
      T* const out = out_ + (piece.bucket << shift_) * width_;
      Acc* to;
      if (piece.copy >= 0)
        to = copies.data() + piece.copy * bucket_size;
      else if constexpr (accumulates_in_place<T>)
        to = reinterpret_cast<Acc*>(out);
      else
        to = is_cut ? cut_sums.data() + (cut_at - cut.begin()) * bucket_size : sums.data() + worker * bucket_size;
      const int64_t size = bucket_rows(piece.bucket) * width_;
      std::fill_n(to, size, Acc{});
      if (entries)
        add_entries(entries + piece.begin, entries + piece.end, to);
      else
        input_.for_each_block(piece.begin, piece.end, [&](const auto& block) {
          kernels_.add_rows(input_.rows_of(block), block.target, block.count, width_, to);
        });
      if (!accumulates_in_place<T> && piece.copy < 0 && !is_cut) kernels_.round(out, to, size);
    });
    if (input_.is_bad()) return;
    for (size_t i = 0; i < cut.size(); i++)
      add_copies(pieces, cut[i], copies.data(), cut_sums.data() + i * bucket_size);
  }

  void add_entries(const Entry* entry, const Entry* end, Acc* to) const {
    if constexpr (holds_value<Entry>) {
      for (; entry < end; entry++) {
        if constexpr (std::is_same_v<T, Bool>)
          to[entry->target] |= entry->value;
        else
          to[entry->target] += entry->value;
      }
    } else {
      int64_t target[kBlockRows], row[kBlockRows + kLookAhead];
      while (entry < end) {
        const int64_t count = std::min<int64_t>(end - entry, kBlockRows);
        const int64_t rows = std::min<int64_t>(end - entry, kBlockRows + kLookAhead);
        for (int64_t i = 0; i < count; i++) target[i] = entry[i].target;
        for (int64_t i = 0; i < rows; i++) row[i] = entry[i].row;
        kernels_.add_rows({input_.source(), width_, row, rows}, target, count, width_, to);
        entry += count;
      }
    }
  }

  // Adds the copies of the bucket whose first piece is `first` in order.
  void add_copies(const std::vector<Piece>& pieces, int64_t first, const Acc* copies, Acc* first_sum) {
    const int64_t bucket = pieces[first].bucket, bucket_size = bucket_rows(0) * width_;
    const int64_t size = bucket_rows(bucket) * width_;
    T* const out = out_ + (bucket << shift_) * width_;
    Acc* to = accumulates_in_place<T> ? reinterpret_cast<Acc*>(out) : first_sum;
    const int64_t parts = (size + kSerialElements - 1) / kSerialElements;
    for_each_task(parts, [&](int64_t part, int64_t) {
      const int64_t begin = part_begin(size, parts, part), count = part_begin(size, parts, part + 1) - begin;
      for (size_t p = first + 1; p < pieces.size() && pieces[p].bucket == bucket; p++)
        kernels_.add(to + begin, copies + pieces[p].copy * bucket_size + begin, count);
      if (!accumulates_in_place<T>) kernels_.round(out + begin, to + begin, count);
    });
  }

  ScatterInput<T> input_;
  const int64_t num_rows_, width_;
  const Tensor& result_;
  T* const out_;
  const RowKernels<T>& kernels_ = row_kernels<T>();
  int shift_ = 0;  // row >> shift_ is its bucket
  int64_t buckets_ = 1, chunks_ = 1, copies_ = 0;
};

}  // namespace

bool scatter_add_rows(const Tensor& source, const IndexTuples* rows, const IndexTuples& targets, BadIndices bad_indices,
                      int64_t num_rows, int64_t width, const Tensor& result) {
  if (result.numel() == 0)
    return bad_indices == BadIndices::kIgnore || (all_valid(targets) && (!rows || all_valid(*rows)));
  bool valid = false;
  dispatch_sum("scatter_nd", "updates", source.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto run = [&](auto entry) {
      valid = Scatter<T, decltype(entry)>(source, rows, targets, bad_indices, num_rows, width, result).run();
    };
    const int64_t source_rows = rows ? rows->size[0] : targets.count;
    if (width == 1)
      run(ValueEntry<Accumulator<T>>{});
    else if (source_rows <= std::numeric_limits<uint32_t>::max())
      run(RowEntry{});
    else
      run(WideRowEntry{});
  });
  return valid;
}

}  // namespace torch_sparse_ops
