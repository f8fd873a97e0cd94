"""Every answer of TensorFlow's: values, gradients and rejections."""

import pytest
import torch

from golden import GoldenCase, golden_cases

CASES = list(golden_cases())
VALUES = [case for case in CASES if case.error is None]
GRADIENTS = [case for case in CASES if case.grads]
REJECTIONS = [case for case in CASES if case.error is not None]


def assert_within_rounding(actual, expected):
    """TensorFlow sums 16-bit floats in 16 bits; the longest sum in the data has 11 terms."""
    in_16_bits = expected.dtype in (torch.float16, torch.bfloat16)
    tolerance = 8 * torch.finfo(expected.dtype).eps if in_16_bits else None
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def test_no_case_is_missing():
    assert len(CASES) == 173
    assert len(VALUES) + len(REJECTIONS) == 173


@pytest.mark.parametrize("case", VALUES, ids=str)
@pytest.mark.parametrize("implementation", ["reference", "op"])
def test_value(case: GoldenCase, implementation: str):
    actual = getattr(case.spec, implementation)(*case.sample.args)
    actual = list(actual) if isinstance(actual, tuple) else [actual]
    assert len(actual) == len(case.outputs)
    for ours, theirs in zip(actual, case.outputs, strict=True):
        assert_within_rounding(ours, theirs)


@pytest.mark.parametrize("case", GRADIENTS, ids=str)
def test_gradient(case: GoldenCase):
    inputs = [values.requires_grad_() for values in case.spec.value_tensors(case.sample)]
    output = case.spec.as_function_of_values(case.spec.op, case.sample)(*inputs)
    grads = torch.autograd.grad(output, inputs, case.grad_output)
    torch.testing.assert_close(list(grads), case.grads)


@pytest.mark.parametrize("case", REJECTIONS, ids=str)
def test_rejection(case: GoldenCase):
    with pytest.raises(case.error, match=rf"^{case.spec.name}\(\): ") as raised:
        case.spec.op(*case.sample.args)
    assert type(raised.value) is case.error
