"""torch.compile(fullgraph=True) of every operator and its derivatives, with static and with dynamic shapes."""

import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.func import grad, jvp
from torch.utils._pytree import tree_map

from op_specs import SEGMENT_SUM, each_operator

# Rows, targets and the width of a row; no two sizes of the first are equal, lest they be taken for one symbol.
SIZES = [(24, 5, 3), (25, 6, 3), (39, 9, 3)]


@pytest.fixture(autouse=True)
def _fresh_compiler():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def program(spec, implementation):
    """``p(values, args)``: the operator between other operators, so that there is something to fuse and to plan."""

    def p(values, args):
        args = [*args[: spec.values], tree_map(torch.sin, values), *args[spec.values + 1 :]]
        result = implementation(*args)
        return (result if spec.output is None else result[spec.output]).square()

    return p


def forward(p):
    return p


def func_grad(p):
    return grad(lambda values, args: p(values, args).sum())


def func_jvp(p):
    return lambda values, args: jvp(lambda v: p(v, args), (values,), (tree_map(torch.cos, values),))


@each_operator
@pytest.mark.parametrize("transform", [forward, func_grad, func_jvp], ids=lambda transform: transform.__name__)
@pytest.mark.parametrize("dynamic", [True, False], ids=["dynamic", "static"])
def test_compiled(spec, transform, dynamic):
    compiled = torch.compile(transform(program(spec, spec.op)), fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for size in SIZES if dynamic else SIZES[:1]:
        sample = spec.workload(torch.float64, *size)
        values, args = sample.args[spec.values], sample.args
        torch.testing.assert_close(compiled(values, args), transform(program(spec, spec.aten))(values, args))


@each_operator
@pytest.mark.parametrize(
    "backend, dynamic",
    [("aot_eager", True), ("aot_eager", False), ("inductor", True)],
    ids=["dynamic", "static", "inductor"],
)
def test_compiled_backward(spec, backend, dynamic):
    compiled = torch.compile(program(spec, spec.op), fullgraph=True, dynamic=dynamic, backend=backend)
    for size in SIZES if dynamic else SIZES[:1]:
        sample = spec.workload(torch.float64, *size)
        column_major = sample.map_argument(spec.values, lambda x: x.t().contiguous().t().requires_grad_())
        inputs = spec.value_tensors(column_major)
        values, args = column_major.args[spec.values], column_major.args
        output, expected = compiled(values, args), program(spec, spec.aten)(values, args)
        torch.testing.assert_close(output, expected)
        cotangent = torch.randn_like(expected)
        torch.testing.assert_close(
            torch.autograd.grad(output, inputs, cotangent), torch.autograd.grad(expected, inputs, cotangent)
        )


@each_operator
def test_sizes_change_without_a_recompilation(spec):
    counter = CompileCounter()
    compiled = torch.compile(program(spec, spec.op), fullgraph=True, dynamic=True, backend=counter)
    for size in SIZES:
        sample = spec.workload(torch.float64, *size)
        compiled(sample.args[spec.values], sample.args)
    assert counter.frame_count == 1


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("with_indices", [True, False])
@torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True)
def test_segment_count_from_the_last_id(backend, with_indices):
    def f(data, indices, segment_ids):
        result = SEGMENT_SUM.op(data.sin(), indices, segment_ids)
        return result.square(), result.sum(0)

    compiled = torch.compile(f, fullgraph=True, dynamic=True, backend=backend)
    for size in SIZES:
        data, indices, segment_ids, _ = SEGMENT_SUM.workload(torch.float64, *size).args
        data.requires_grad_()
        indices = indices if with_indices else None
        actual, expected = compiled(data, indices, segment_ids), f(data, indices, segment_ids)
        assert len(actual[0]) == segment_ids[-1] + 1
        torch.testing.assert_close(actual, expected)
        torch.testing.assert_close(
            torch.autograd.grad(sum(map(torch.sum, actual)), data),
            torch.autograd.grad(sum(map(torch.sum, expected)), data),
        )


@each_operator
def test_compiled_errors_are_the_eager_ones(spec):
    case = next(case for case in spec.error_cases() if case.error is IndexError)
    compiled = torch.compile(lambda *args: spec.op(*args), fullgraph=True, backend="aot_eager")
    with pytest.raises(IndexError, match=case.message):
        compiled(*case.args)
