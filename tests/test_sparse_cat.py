"""sparse_cat is torch.cat(...).coalesce() of sparse COO tensors, and differentiable."""

import pytest
import torch
from torch.testing import make_tensor

from torch_sparse_ops import sparse_cat


def random_sparse(shape, nnz, *, dense=(), dtype=torch.float64, coalesced=True):
    indices = torch.stack([torch.randint(size, (nnz,)) for size in shape]) if nnz else torch.empty(len(shape), 0).long()
    values = make_tensor((nnz, *dense), dtype=dtype, device="cpu")
    tensor = torch.sparse_coo_tensor(indices, values, (*shape, *dense))
    return tensor.coalesce() if coalesced else tensor


CASES = {
    "rows": lambda **options: ([random_sparse((n, 5), 2 * n, **options) for n in (3, 1, 4)], 0),
    "columns": lambda **options: ([random_sparse((4, n), 2 * n, **options) for n in (3, 1, 4)], 1),
    "negative_dim": lambda **options: ([random_sparse((4, n), 2 * n, **options) for n in (3, 2)], -1),
    "rank_1": lambda **options: ([random_sparse((n,), 3, **options) for n in (3, 4)], 0),
    "rank_3": lambda **options: ([random_sparse((2, n, 3), 6, **options) for n in (3, 4)], 1),
    "hybrid": lambda **options: ([random_sparse((4, n), 5, dense=(2, 3), **options) for n in (3, 4)], 1),
    "one_tensor": lambda **options: ([random_sparse((4, 3), 5, **options)], 0),
    "some_empty": lambda **options: ([random_sparse((4, n), 2 * n, **options) for n in (0, 3, 0)], 1),
    "all_empty": lambda **options: ([random_sparse((4, 3), 0, **options)] * 2, 0),
}
each_case = pytest.mark.parametrize("make", CASES.values(), ids=CASES)


def assert_same_sparse(actual, expected):
    assert actual.is_coalesced() and actual.shape == expected.shape
    assert torch.equal(actual.indices(), expected.indices())
    torch.testing.assert_close(actual.values(), expected.values())


@each_case
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.complex128, torch.int64, torch.bool], ids=str)
def test_value(make, dtype):
    tensors, dim = make(dtype=dtype)
    assert_same_sparse(sparse_cat(tensors, dim), torch.cat(tensors, dim).coalesce())


@each_case
def test_uncoalesced_tensors_are_coalesced(make):
    tensors, dim = make(coalesced=False)
    assert_same_sparse(sparse_cat(tensors, dim), torch.cat(tensors, dim).coalesce())


@each_case
def test_satisfies_the_invariants_of_sparse_tensors(make):
    with torch.sparse.check_sparse_tensor_invariants():
        result = sparse_cat(*make())
        torch.sparse_coo_tensor(result.indices(), result.values(), result.shape, is_coalesced=True)


@each_case
@pytest.mark.parametrize("coalesced", [True, False])
def test_gradient_reaches_the_values(make, coalesced):
    tensors, dim = make(coalesced=coalesced)
    leaves = [tensor._values().clone().requires_grad_() for tensor in tensors]

    def rebuilt():
        return [
            torch.sparse_coo_tensor(tensor._indices(), leaf, tensor.shape, is_coalesced=coalesced)
            for tensor, leaf in zip(tensors, leaves, strict=True)
        ]

    dense = torch.cat([tensor.to_dense() for tensor in rebuilt()], dim)
    ours = sparse_cat(rebuilt(), dim).to_dense()
    torch.testing.assert_close(ours, dense)
    cotangent = torch.randn_like(dense)
    torch.testing.assert_close(
        torch.autograd.grad(ours, leaves, cotangent), torch.autograd.grad(dense, leaves, cotangent)
    )


def test_gradient_of_sparse_leaves():
    tensors = [random_sparse((4, n), 5).requires_grad_() for n in (3, 4)]
    weight = torch.randn(7, 2, dtype=torch.float64)
    torch.sparse.mm(sparse_cat(tensors, 1), weight).sum().backward()
    for tensor, rows in zip(tensors, weight.split([3, 4]), strict=True):
        at = tensor.detach().indices()
        grad = tensor.grad.to_dense() if tensor.grad.is_sparse else tensor.grad
        torch.testing.assert_close(grad[at[0], at[1]], rows.sum(1)[at[1]])


ERRORS = {
    "no_tensors": (lambda: sparse_cat([]), "tensors"),
    "dense_tensor": (lambda: sparse_cat([torch.ones(2, 2)]), r"tensors\[0\].*strided"),
    "csr_tensor": (lambda: sparse_cat([torch.eye(2).to_sparse_csr()]), r"tensors\[0\].*csr"),
    "sizes_differ": (lambda: sparse_cat([torch.eye(2).to_sparse(), torch.eye(3).to_sparse()]), r"(3|2).*(2|3)"),
    "dense_dim": (lambda: sparse_cat([torch.ones(2, 2).to_sparse(1)], 1), r"dim = 1"),
    "dim_beyond": (lambda: sparse_cat([torch.eye(2).to_sparse()], 2), r"dim = 2 .*\[-2, 2\)"),
    "dim_below": (lambda: sparse_cat([torch.eye(2).to_sparse()], -3), r"dim = -3 .*\[-2, 2\)"),
    "sparse_dims_differ": (lambda: sparse_cat([torch.eye(2).to_sparse(), torch.eye(2).to_sparse(1)]), r"tensors\[1\]"),
    "dtypes_differ": (lambda: sparse_cat([torch.eye(2).to_sparse(), torch.eye(2).double().to_sparse()]), r"\[1\]"),
}


@pytest.mark.parametrize("call, message", ERRORS.values(), ids=ERRORS)
def test_error(call, message):
    with pytest.raises(RuntimeError, match=rf"^sparse_c(onc)?at\(\): .*{message}"):
        call()
