"""segment_sum(sparse_gradient=True): the gradient of ``data`` is a sparse tensor of the rows that were used."""

import pytest
import torch

import torch_sparse_ops
from op_specs import SEGMENT_SUM, each_sample


def gradient(data, indices, segment_ids, num_segments, *, sparse, cotangent=None):
    data = data.detach().clone().requires_grad_()
    output = torch_sparse_ops.segment_sum(data, indices, segment_ids, num_segments, sparse_gradient=sparse)
    (grad,) = torch.autograd.grad(output, data, torch.ones_like(output) if cotangent is None else cotangent)
    return grad


@each_sample(torch.float32, torch.bfloat16, torch.complex128, operators=[SEGMENT_SUM])
def test_values_are_the_rows_of_the_dense_gradient(spec, sample):
    data, indices, segment_ids, *num_segments = sample.args
    arguments = data, indices, segment_ids, *(num_segments or [None])
    cotangent = torch.randn_like(spec.op(*arguments))
    sparse = gradient(*arguments, sparse=True, cotangent=cotangent)
    assert sparse.layout == torch.sparse_coo and sparse.is_coalesced()
    used = torch.arange(len(data)) if indices is None else indices.unique().long()
    assert torch.equal(sparse.indices(), used[None])
    dense = gradient(*arguments, sparse=False, cotangent=cotangent)
    assert sparse.shape == dense.shape
    assert torch.equal(sparse.values(), dense[used])


def test_the_forward_result_is_the_same():
    data, indices, segment_ids, num_segments = SEGMENT_SUM.workload(torch.float32, 1000, 50, 4).args
    dense, sparse = (SEGMENT_SUM.op(data, indices, segment_ids, num_segments, option) for option in (False, True))
    assert torch.equal(dense, sparse)


def test_satisfies_the_invariants_of_sparse_tensors():
    data, indices, segment_ids, num_segments = SEGMENT_SUM.workload(torch.float32, 1000, 50, 4).args
    with torch.sparse.check_sparse_tensor_invariants():
        grad = gradient(data, indices, segment_ids, num_segments, sparse=True)
        torch.sparse_coo_tensor(grad.indices(), grad.values(), grad.shape, is_coalesced=True)


def test_training_with_sparse_adam_matches_embedding_bag():
    indices, segment_ids = torch.tensor([2, 0, 2, 5, 7, 0]), torch.tensor([0, 0, 1, 1, 1, 2])
    offsets = torch.tensor([0, 2, 5])
    ours, theirs = (torch.arange(40.0).reshape(10, 4).div(40).requires_grad_() for _ in range(2))
    optimizers = [torch.optim.SparseAdam([table], lr=0.1) for table in (ours, theirs)]
    for _ in range(5):
        outputs = (
            torch_sparse_ops.segment_sum(ours, indices, segment_ids, 3, sparse_gradient=True),
            torch.nn.functional.embedding_bag(indices, theirs, offsets, mode="sum", sparse=True),
        )
        torch.testing.assert_close(*outputs)
        for output, optimizer in zip(outputs, optimizers, strict=True):
            optimizer.zero_grad()
            output.sin().sum().backward()
            optimizer.step()
        torch.testing.assert_close(ours, theirs)
    untouched = [1, 3, 4, 6, 8, 9]
    assert torch.equal(ours[untouched], torch.arange(40.0).reshape(10, 4).div(40)[untouched])


def test_gradients_accumulate():
    data = torch.ones(4, 2, requires_grad=True)
    for rows in ([0, 1], [1, 3]):
        ids = torch.zeros(2, dtype=torch.int64)
        torch_sparse_ops.segment_sum(data, torch.tensor(rows), ids, 1, sparse_gradient=True).sum().backward()
    assert torch.equal(data.grad.to_dense(), torch.tensor([[1.0, 1], [2, 2], [0, 0], [1, 1]]))


def test_second_derivative_says_that_there_is_none():
    data = torch.ones(4, 2, requires_grad=True)
    ids = torch.zeros(2, dtype=torch.int64)
    output = torch_sparse_ops.segment_sum(data, torch.tensor([0, 2]), ids, 1, sparse_gradient=True)
    (grad,) = torch.autograd.grad(output.pow(2).sum(), data, create_graph=True)
    with pytest.raises(RuntimeError, match=r"segment_sum\(\): .*sparse_gradient=True.*not differentiable"):
        grad.to_dense().sum().backward()
