// A checked sparse_concat: shapes, dtypes and devices are right and the result's shape is known; the values of the
// indices are the kernels' to check.
#pragma once

#include <tuple>

#include "../common/tensors.h"

namespace torch_sparse_ops {

inline constexpr const char* kSparseConcat = "sparse_concat";

// Entry i of a sparse tensor has index component k at indices[i * entry_stride + k * component_stride].
struct SparseInput {
  const int64_t* indices;
  int64_t entry_stride, component_stride;
  int64_t nnz;
  const void* values;
  std::vector<int64_t> shape;
  int64_t offset;  // of this input along the concatenated dimension
};

struct SparseConcatProblem {
  std::vector<Tensor> values;  // contiguous
  std::vector<SparseInput> inputs;
  int rank = 0, dim = 0;
  std::vector<int64_t> shape;  // of the result
  int64_t nnz = 0;             // of the result
  int64_t value_bytes = 0;     // of one entry
  std::vector<int64_t> value_sizes;
};

inline std::vector<int64_t> read_shape(const Tensor& shape) {
  const Tensor on_cpu = to_contiguous(
      shape.is_cpu() ? shape : torch::stable::to(shape, torch::stable::Device(torch::headeronly::DeviceType::CPU)));
  const auto* data = static_cast<const int64_t*>(on_cpu.const_data_ptr());
  return {data, data + on_cpu.numel()};
}

inline void check_sparse_input(const std::vector<Tensor>& indices, const std::vector<Tensor>& values,
                               const std::vector<Tensor>& shapes, size_t i) {
  const char* op = kSparseConcat;
  const auto check_int64 = [&](const char* argument, const Tensor& tensor, int64_t rank, const char* expected) {
    check(tensor.scalar_type() == ScalarType::Long, op, argument, "[", i, "] has dtype ",
          dtype_name(tensor.scalar_type()), ", expected torch.int64");
    check(tensor.dim() == rank, op, argument, "[", i, "] has shape ", tuple_text(tensor.sizes()), ", expected ",
          expected);
  };
  check_int64("indices", indices[i], 2, "[nnz, R]");
  check_int64("shapes", shapes[i], 1, "[R]");
  const int64_t rank = indices[0].size(1);
  check(rank >= 1 && rank <= kMaxRank, op, "indices[0] has ", rank, " columns, expected R in [1, ", kMaxRank, "]");
  check(indices[i].size(1) == rank, op, "indices[", i, "] has ", indices[i].size(1), " columns, expected R = ", rank,
        " as indices[0] has");
  check(shapes[i].size(0) == rank, op, "shapes[", i, "] has ", shapes[i].size(0), " sizes, expected R = ", rank);

  check(values[i].scalar_type() == values[0].scalar_type(), op, "values[", i, "] has dtype ",
        dtype_name(values[i].scalar_type()), ", expected that of values[0], ", dtype_name(values[0].scalar_type()));
  check(values[i].dim() >= 1, op, "values[", i, "] has shape (), expected [nnz, ...]");
  check(values[i].size(0) == indices[i].size(0), op, "values[", i, "] has ", values[i].size(0),
        " entries, expected nnz = ", indices[i].size(0), " as indices[", i, "] has");
  const std::vector<int64_t> first = sizes_of(values[0]), sizes = sizes_of(values[i]);
  check(std::equal(first.begin() + 1, first.end(), sizes.begin() + 1, sizes.end()), op, "values[", i, "] has shape ",
        tuple_text(sizes), ", expected the dense dimensions of values[0], whose shape is ", tuple_text(first));
  check(indices[i].device() == values[0].device() && values[i].device() == values[0].device(), op, "indices[", i,
        "] and values[", i, "] must be on the device of values[0]");
  check(shapes[i].is_cpu() || shapes[i].device() == values[0].device(), op, "shapes[", i,
        "] must be on the CPU or on the device of values[0]");
}

// Widens the result's shape by that of input i.
inline void join_shape(SparseConcatProblem& problem, const std::vector<int64_t>& shape, size_t i, bool expand) {
  const char* op = kSparseConcat;
  for (int k = 0; k < problem.rank; k++) {
    const int64_t size = shape[k];
    int64_t& joined = problem.shape[k];
    check(size >= 0, op, "shapes[", i, "][", k, "] = ", size, " is negative; sizes are in [0, 2^63)");
    if (i == 0) {
      joined = size;
    } else if (k == problem.dim) {
      check(size <= std::numeric_limits<int64_t>::max() - joined, op, "the sizes along concat_dim = ", k,
            " sum to more than 2^63 - 1 at shapes[", i, "][", k, "] = ", size);
      joined += size;
    } else {
      check(expand || size == joined, op, "shapes[", i, "][", k, "] = ", size, ", expected ", joined,
            " as shapes[0] has; only concat_dim = ", problem.dim, " may differ unless expand_nonconcat_dims is true");
      joined = std::max(joined, size);
    }
  }
}

inline SparseConcatProblem sparse_concat_problem(const std::vector<Tensor>& indices, const std::vector<Tensor>& values,
                                                 const std::vector<Tensor>& shapes, int64_t concat_dim, bool expand) {
  const char* op = kSparseConcat;
  check(!indices.empty(), op, "indices is an empty list, expected at least one input");
  check(indices.size() == values.size() && indices.size() == shapes.size(), op, "indices, values and shapes have ",
        indices.size(), ", ", values.size(), " and ", shapes.size(), " entries, expected equal numbers");
  for (size_t i = 0; i < indices.size(); i++) check_sparse_input(indices, values, shapes, i);
  check_value_dtype(op, "values[0]", values[0].scalar_type());

  SparseConcatProblem problem;
  problem.rank = static_cast<int>(indices[0].size(1));
  check(concat_dim >= -problem.rank && concat_dim < problem.rank, op, "concat_dim = ", concat_dim, " is outside [-",
        problem.rank, ", ", problem.rank, ")");
  problem.dim = static_cast<int>(concat_dim < 0 ? concat_dim + problem.rank : concat_dim);
  problem.shape.resize(problem.rank);
  for (size_t i = 0; i < indices.size(); i++) {
    const std::vector<int64_t> shape = read_shape(shapes[i]);
    const int64_t offset = problem.shape[problem.dim];
    join_shape(problem, shape, i, expand);
    problem.values.push_back(to_contiguous(values[i]));
    problem.inputs.push_back({static_cast<const int64_t*>(indices[i].const_data_ptr()), indices[i].stride(0),
                              indices[i].stride(1), indices[i].size(0), problem.values.back().const_data_ptr(), shape,
                              offset});
    problem.nnz += indices[i].size(0);
  }
  problem.value_sizes = sizes_of(values[0]);
  problem.value_sizes[0] = problem.nnz;
  check_shape(op, "the shape of the result's values", problem.value_sizes, values[0].element_size());
  problem.value_bytes = product(problem.value_sizes.begin() + 1, problem.value_sizes.end()) *
                        static_cast<int64_t>(values[0].element_size());
  return problem;
}

}  // namespace torch_sparse_ops
