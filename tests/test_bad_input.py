"""Input that once gave a hang, a message of torch's internals or garbage: one case for each kind."""

import pytest
import torch

import torch_sparse_ops as ops

INDICES = torch.tensor([[0, 0], [1, 1]])
VALUES = torch.ones(2)
SHAPE = torch.tensor([2, 2])


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda: ops.scatter_nd(None, torch.ones(2, 3), [2, 3]), "indices"),
        (lambda: ops.scatter_nd(INDICES, None, [2, 3]), "updates"),
        (lambda: ops.gather_nd(None, INDICES), "params"),
        (lambda: ops.segment_sum(None, None, torch.tensor([0])), "data"),
        (lambda: ops.segment_sum(torch.ones(2, 3), None, None), "segment_ids"),
    ],
)
def test_none_for_a_tensor_is_named(call, argument):
    with pytest.raises(RuntimeError, match=rf"^\w+\(\): {argument} is None, expected a tensor$"):
        call()


@pytest.mark.parametrize(
    "indices, values, argument",
    [
        ([INDICES.to_sparse()], [VALUES], r"indices\[0\]"),
        ([INDICES, INDICES], [VALUES, VALUES.to_sparse()], r"values\[1\]"),
    ],
)
def test_a_sparse_layout_in_a_list_is_named(indices, values, argument):
    with pytest.raises(RuntimeError, match=rf"^sparse_concat\(\): {argument} has layout torch.sparse_coo"):
        ops.sparse_concat(indices, values, [SHAPE] * len(indices), 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.scatter_nd(torch.zeros(2**62, 0, dtype=torch.long), torch.ones(0).expand(2**62, 0), [0]),
        lambda: ops.scatter_nd(torch.zeros(1, 1).long().expand(2**50, 1), torch.ones(0).expand(2**50, 0), [3, 0]),
        lambda: ops.gather_nd(torch.ones(3, 0), torch.zeros(1, 1).long().expand(2**50, 1)),
    ],
)
def test_an_empty_result_takes_no_time_however_many_updates(call):
    assert call().numel() == 0


def test_meta_inputs_with_shapes_on_the_cpu_give_the_shape():
    meta = torch.device("meta")
    indices, _, shape = ops.sparse_concat([INDICES.to(meta)] * 2, [VALUES.to(meta)] * 2, [SHAPE] * 2, 1)
    assert indices.shape == (4, 2)
    assert shape.tolist() == [2, 4]


def test_sparse_gradient_is_dense_under_torch_func():
    rows, ids = torch.tensor([1, 1]), torch.tensor([0, 2])
    gradient = torch.func.grad(lambda data: ops.segment_sum(data, rows, ids, 4, sparse_gradient=True).sum())
    assert gradient(torch.ones(3, 2)).tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]


def test_sparse_cat_names_its_own_arguments():
    with pytest.raises(RuntimeError, match=r"^sparse_cat\(\): tensors\[1\] has shape \(3, 3\)"):
        ops.sparse_cat([torch.eye(2).to_sparse(), torch.eye(3).to_sparse()])


def test_memory_that_is_not_there_is_an_error_with_its_size():
    with pytest.raises(RuntimeError, match=r"out of memory: could not allocate \d+ bytes$"):
        ops.scatter_nd(torch.tensor([[0]]), torch.ones(1, 1), [2**52, 1])
