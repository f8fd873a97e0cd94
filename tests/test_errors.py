"""Bad arguments raise the promised class, with a message that says what is wrong where, before anything is returned."""

import re

import pytest
import torch

from op_specs import GATHER_ND, OP_SPECS, SCATTER_ND, SEGMENT_SUM, SPARSE_CONCAT, each_operator

CASES = [pytest.param(spec, case, id=f"{spec.name}-{case.name}") for spec in OP_SPECS for case in spec.error_cases()]
each_error = pytest.mark.parametrize("spec, case", CASES)


def assert_raises(spec, case, call, args):
    with pytest.raises(case.error) as raised:
        call(*args, **case.kwargs)
    message = str(raised.value)
    assert type(raised.value) is case.error
    assert message.startswith(f"{spec.name}(): "), message
    assert re.search(case.message, message), message
    assert not re.search(r"\.(cpp|h|py)\b|INTERNAL ASSERT|Exception raised from", message), message


@each_error
def test_error(spec, case):
    assert_raises(spec, case, spec.op, case.args)


@each_error
def test_error_where_gradients_are_recorded(spec, case):
    def differentiable(values):
        can = isinstance(values, torch.Tensor) and (values.is_floating_point() or values.is_complex())
        return values.clone().requires_grad_() if can and values.numel() < 100 else values

    args = list(case.args)
    values = args[spec.values]
    args[spec.values] = list(map(differentiable, values)) if isinstance(values, list) else differentiable(values)
    assert_raises(spec, case, spec.op, args)


@each_operator
def test_operator_works_after_an_error(spec):
    for case in spec.error_cases():
        with pytest.raises(case.error):
            spec.op(*case.args, **case.kwargs)
    sample = next(spec.samples(torch.int64))
    torch.testing.assert_close(spec.op(*sample.args), spec.expected(sample))


# Large enough for several threads, which must agree on which bad entry is the first.
N = 400_000


def bad_calls():
    bad = torch.arange(N) % 1000
    bad[123_456], bad[300_001] = 1000, -7
    valid, ids = torch.arange(N) % 1000, torch.arange(N) // 1000
    descending = ids.clone()
    descending[250_000:] -= 100
    beyond = ids.clone()
    beyond[200_000:] += 10_000
    wide, narrow = torch.ones(1000, 4), torch.ones(1000)
    tuple_ = r"indices\[123456\] = \(1000,\) is outside shape \(1000,\)"
    index = r"indices\[123456\] = 1000 is outside \[0, 1000\)"
    order = r"segment_ids\[250000\] = 150 is less than segment_ids\[249999\] = 249"
    yield "scatter_nd", SCATTER_ND, (bad[:, None], torch.ones(N), (1000,)), tuple_
    yield "scatter_nd_rows", SCATTER_ND, (bad[:, None], torch.ones(N, 4), (1000, 4)), tuple_
    yield "gather_nd", GATHER_ND, (narrow, bad[:, None]), tuple_
    yield "gather_nd_rows", GATHER_ND, (wide, bad[:, None]), tuple_
    yield "index", SEGMENT_SUM, (narrow, bad, ids, 400), index
    yield "index_of_rows", SEGMENT_SUM, (wide, bad, ids, 400), index
    yield "id", SEGMENT_SUM, (narrow, valid, beyond, 400), r"segment_ids\[200000\] = 10200 is outside \[0, 400\)"
    yield "order", SEGMENT_SUM, (narrow, valid, descending, 400), order
    yield "order_unsized", SEGMENT_SUM, (narrow, valid, descending), order


BAD_CALLS = list(bad_calls())


@pytest.mark.parametrize("spec, args, message", [call[1:] for call in BAD_CALLS], ids=[call[0] for call in BAD_CALLS])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_first_bad_entry_is_named_for_any_number_of_threads(spec, args, message, threads, num_threads):
    num_threads(threads)
    with pytest.raises((IndexError, RuntimeError), match=message):
        spec.op(*args)


def test_first_bad_entry_of_a_large_concat_is_named():
    indices, values, shapes, dim = SPARSE_CONCAT.workload(torch.float32, 300_000, 500).args
    indices[1][70_000, 1] = 1000
    with pytest.raises(IndexError, match=r"indices\[1\]\[70000\] = \(\d+, 1000\) .*\(500, 1000\)"):
        SPARSE_CONCAT.op(indices, values, shapes, dim)
