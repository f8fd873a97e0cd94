"""Every operator on CUDA tensors: what the other tests check on the CPU, and what only a GPU can show.

Run by ``pytest -m cuda``.
"""

import pytest
import torch

import test_derivatives
import test_functorch
import test_layouts
from numerics import as_tuple, assert_rounded_once, same_bits
from op_specs import GATHER_ND, SCATTER_ND, SEGMENT_SUM, SEGMENT_SUM_BACKWARD, SPARSE_CONCAT, each_operator, each_sample
from specs.base import COMPLEX, FLOATING, Sample, widen
from test_compile import SIZES as COMPILED_SIZES
from test_compile import program
from test_determinism import SIZES
from test_functorch import REPRESENTATIVE, TRANSFORMS
from test_values import LARGE

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]
DERIVED = REPRESENTATIVE | {"batched", "int32_indices", "rank_1", "unsorted"}


def on_cuda(sample):
    """Everything but the shapes of sparse_concat, which are best left on the CPU."""
    moved = sample.map_tensors(torch.Tensor.cuda)
    with_shapes = len(sample.args) > 3 and isinstance(sample.args[2], list)
    return moved.map_argument(2, lambda shape: shape.cpu()) if with_shapes else moved


def cpu(results):
    return tuple(result.cpu() for result in as_tuple(results))


def workload(spec, dtype, size):
    return on_cuda(spec.workload(dtype, *size))


@each_sample()
def test_value(spec, sample):
    moved = on_cuda(sample)
    assert_rounded_once(cpu(spec.op(*moved.args, **moved.kwargs)), spec.expected(sample))


@each_sample(torch.float32, torch.bool)
@pytest.mark.parametrize("layout", test_layouts.SAME_VALUES, ids=lambda layout: layout.__name__)
def test_any_layout(spec, sample, layout):
    laid_out = on_cuda(sample).map_tensors(layout)
    assert_rounded_once(cpu(spec.op(*laid_out.args, **laid_out.kwargs)), spec.expected(sample))


@each_sample(torch.complex64)
@pytest.mark.parametrize("layout", [test_layouts.expanded, test_layouts.negated, test_layouts.conjugated])
def test_any_layout_of_values(spec, sample, layout):
    expected = spec.expected(sample.map_argument(spec.values, layout))
    laid_out = on_cuda(sample).map_argument(spec.values, layout)
    assert_rounded_once(cpu(spec.op(*laid_out.args, **laid_out.kwargs)), expected)


@each_operator
@pytest.mark.parametrize("size", LARGE, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int16, torch.bool], ids=str)
def test_value_of_large_inputs(spec, size, dtype):
    sample = workload(spec, dtype, size)
    exact = as_tuple(spec.aten(*sample.map_argument(spec.values, widen).args))
    tolerance = {"rtol": 0, "atol": 0}
    if dtype.is_floating_point:  # numbers below 10, added in order at worst
        terms = size[0] / size[1]
        tolerance = {"rtol": torch.finfo(dtype).eps, "atol": 1e-3 + 10 * terms * torch.finfo(torch.float32).eps}
    for i, (ours, theirs) in enumerate(zip(as_tuple(spec.op(*sample.args)), exact, strict=True)):
        depends_on_values = i == (spec.output or 0)
        torch.testing.assert_close(ours, theirs.to(dtype) if depends_on_values else theirs, **tolerance)


@each_operator
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64], ids=str)
def test_same_bits_in_20_runs(spec, size, dtype):
    args = workload(spec, dtype, size).args
    expected = spec.op(*args)
    assert all(same_bits(spec.op(*args), expected) for _ in range(20))


@each_operator
def test_layout_does_not_change_the_bits(spec):
    sample = workload(spec, torch.float32, (100_000, 500, 60))
    expected = spec.op(*sample.args)
    for layout in (test_layouts.column_major, test_layouts.offset, test_layouts.column_of_wider):
        assert same_bits(spec.op(*sample.map_argument(spec.values, layout).args), expected)


@each_operator
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_replay_of_a_cuda_graph(spec, size):
    """Capture fails on any synchronisation, so this shows that there is none too."""
    sample, other = (workload(spec, torch.float32, size) for _ in range(2))
    spec.op(*sample.args)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = spec.op(*sample.args)
    for ours, theirs in zip(tensors_of(sample), tensors_of(other), strict=True):
        ours.copy_(theirs)
    graph.replay()
    assert same_bits(output, spec.op(*other.args))


def tensors_of(sample):
    tensors = []
    sample.map_tensors(lambda x: tensors.append(x) or x)
    return tensors


@each_operator
def test_work_is_queued_on_the_current_stream(spec):
    expected = spec.op(*workload(spec, torch.float32, (100_000, 300, 16)).args)
    torch.manual_seed(0)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        moved = on_cuda(spec.workload(torch.float32, 100_000, 300, 16)).map_argument(spec.values, lambda x: x * 2)
        output = spec.op(*moved.args)
        twice = output if spec.output is None else output[spec.output]
    stream.synchronize()
    torch.testing.assert_close(twice, 2 * as_tuple(expected)[spec.output or 0])


@each_operator
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_the_device_of_the_input_is_used(spec):
    sample = spec.workload(torch.float32, 1000, 30, 16).map_tensors(lambda x: x.to("cuda:1"))
    assert as_tuple(spec.op(*sample.args))[0].device == torch.device("cuda:1")
    assert torch.cuda.current_device() == 0


INDICES = torch.tensor([[0, 1], [3, 0], [-1, 2], [2, 2], [0, 2**40]])  # of a 3 x 4 tensor: the 1st and 4th are good
GOOD = torch.tensor([True, False, False, True, False])


def test_bad_indices_are_ignored_by_default():
    updates, params = torch.rand(5, 2), torch.rand(3, 4, 2)
    expected = torch.zeros(3, 4, 2)
    expected[0, 1], expected[2, 2] = updates[0], updates[3]
    assert torch.equal(SCATTER_ND.op(INDICES.cuda(), updates.cuda(), (3, 4, 2)).cpu(), expected)
    expected = torch.zeros(5, 2)
    expected[0], expected[3] = params[0, 1], params[2, 2]
    assert torch.equal(GATHER_ND.op(params.cuda(), INDICES.cuda()).cpu(), expected)
    ids, rows = torch.tensor([-1, 0, 0, 1, 7]).cuda(), torch.tensor([0, 1, 9, -1, 0]).cuda()
    assert SEGMENT_SUM.op(torch.ones(3).cuda(), rows, ids, 2).tolist() == [1, 0]
    assert SEGMENT_SUM_BACKWARD.op(torch.ones(2).cuda(), rows, ids, 3).tolist() == [0, 1, 0]


def test_bad_indices_raise_if_asked_to():
    message = r"indices\[1\] = \(3, 0\) is outside shape \(3, 4\)"
    with pytest.raises(IndexError, match=message):
        SCATTER_ND.op(INDICES.cuda(), torch.rand(5).cuda(), (3, 4), bad_indices_policy="error")
    with pytest.raises(IndexError, match=message):
        GATHER_ND.op(torch.rand(3, 4).cuda(), INDICES.cuda(), bad_indices_policy="error")


def test_ignored_entries_have_zero_gradients():
    updates = torch.ones(5, device="cuda", requires_grad=True)
    SCATTER_ND.op(INDICES.cuda(), updates, (3, 4)).sum().backward()
    assert torch.equal(updates.grad.cpu(), GOOD.float())


def test_unsorted_ids_touch_nothing_else():
    ids = torch.randint(-100, 5000, (1_000_000,), device="cuda")
    sums = SEGMENT_SUM.op(torch.ones(1_000_000, 3, dtype=torch.int64, device="cuda"), None, ids, 4000)
    assert sums.min() >= 0 and sums.max() <= 1_000_000


def test_more_than_2_to_the_31_elements():
    indices = torch.tensor([[0, 46341, 0], [0, 5, 46340]], dtype=torch.int32, device="cuda")
    result = SCATTER_ND.op(indices, torch.tensor([7, 9], dtype=torch.uint8, device="cuda"), (1, 46342, 46341))
    assert result[0, 46341, 0] == 7 and result[0, 5, 46340] == 9 and result.count_nonzero() == 2
    assert GATHER_ND.op(result, indices).tolist() == [7, 9]
    data = torch.ones(3, 2**31 + 8, dtype=torch.uint8, device="cuda")
    sums = SEGMENT_SUM.op(data, None, torch.tensor([0, 1, 1], device="cuda"), 2)
    assert sums[0].eq(1).all() and sums[1].eq(2).all()


@each_operator
def test_refused_arguments(spec):
    for case in spec.error_cases():
        arguments = Sample(case.name, case.args, case.kwargs)
        is_huge = any(x.numel() > 1_000_000 for x in tensors_of(arguments))
        is_for_the_cpu = case.error is IndexError or "descend" in case.name or case.name == "devices"
        if not is_huge and not is_for_the_cpu:
            with pytest.raises(RuntimeError, match=case.message):
                spec.op(*on_cuda(arguments).args, **case.kwargs)


@each_sample(torch.float64, torch.complex128, names=DERIVED)
def test_derivatives_of_first_and_second_order(spec, sample):
    test_derivatives.test_first_derivatives(spec, on_cuda(sample))
    test_derivatives.test_second_derivatives(spec, on_cuda(sample))


@each_sample(*FLOATING, *COMPLEX, names=DERIVED)
def test_derivatives_have_the_values_of_atens(spec, sample):
    test_derivatives.test_gradient_has_the_value_of_atens(spec, on_cuda(sample))
    test_derivatives.test_tangent_has_the_value_of_atens(spec, on_cuda(sample))


@each_sample(torch.float64, names={"duplicates", "chosen_rows", "columns", "hybrid"})
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_transform(spec, sample, transform):
    test_functorch.test_transform(spec, on_cuda(sample), transform)


@each_operator
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled_forward_and_backward(spec, mode):
    torch._dynamo.reset()
    compiled = torch.compile(program(spec, spec.op), fullgraph=True, dynamic=mode == "default", mode=mode)
    for size in COMPILED_SIZES:
        sample = workload(spec, torch.float64, size).map_argument(spec.values, torch.Tensor.requires_grad_)
        values, args, inputs = sample.args[spec.values], sample.args, spec.value_tensors(sample)
        output, expected = compiled(values, args), program(spec, spec.aten)(values, args)
        torch.testing.assert_close(output, expected)
        grads, exact = (torch.autograd.grad(result.sum(), inputs) for result in (output, expected))
        torch.testing.assert_close(grads, exact)


@each_sample(torch.float32, names=DERIVED)
def test_opcheck(spec, sample):
    sample = on_cuda(sample).map_argument(spec.values, torch.Tensor.requires_grad_)
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(spec.op, sample.args, sample.kwargs, test_utils=tests)


def test_sparse_concat_reads_shapes_on_the_gpu_too():
    sample = SPARSE_CONCAT.workload(torch.float32, 1000, 30)
    moved = sample.map_tensors(torch.Tensor.cuda)
    results = SPARSE_CONCAT.op(*moved.args)
    assert all(result.is_cuda for result in results)
    torch.testing.assert_close(cpu(results), as_tuple(SPARSE_CONCAT.op(*sample.args)))
