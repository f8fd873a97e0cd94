"""Backward, double backward, forward-mode and batched derivatives of every operator."""

import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck
from torch.testing import make_tensor

from numerics import assert_rounded_once
from op_specs import each_sample
from specs.base import COMPLEX, FLOATING, widen


def differentiable(spec, sample):
    inputs = [values.clone().requires_grad_() for values in spec.value_tensors(sample)]
    return spec.as_function_of_values(spec.op, sample), inputs


def in_random_directions(inputs) -> bool:
    """Whether to use gradcheck's fast mode: the cost of the full one grows with the square of the inputs' number."""
    return sum(torch.view_as_real(x).numel() if x.is_complex() else x.numel() for x in inputs) > 20


@each_sample(torch.float64, torch.complex128)
def test_first_derivatives(spec, sample):
    f, inputs = differentiable(spec, sample)
    modes = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(f, inputs, fast_mode=in_random_directions(inputs), **modes)


@each_sample(torch.float64, torch.complex128)
def test_second_derivatives(spec, sample):
    f, inputs = differentiable(spec, sample)
    modes = {"check_batched_grad": True, "check_fwd_over_rev": True, "check_rev_over_rev": True}
    assert gradgradcheck(f, inputs, fast_mode=in_random_directions(inputs), **modes)


@each_sample(*FLOATING, *COMPLEX)
def test_gradient_has_the_value_of_atens(spec, sample):
    f, inputs = differentiable(spec, sample)
    output = f(*inputs)
    cotangent = make_tensor(output.shape, dtype=output.dtype, device=output.device)
    grads = torch.autograd.grad(output, inputs, cotangent)
    twin = spec.as_function_of_values(spec.aten, sample)
    exact_inputs = [widen(x.detach()).requires_grad_() for x in inputs]
    exact = torch.autograd.grad(twin(*exact_inputs), exact_inputs, widen(cotangent))
    assert_rounded_once(grads, [grad.to(output.dtype) for grad in exact])


@each_sample(*FLOATING, *COMPLEX)
def test_tangent_has_the_value_of_atens(spec, sample):
    f, inputs = differentiable(spec, sample)
    tangents = [make_tensor(x.shape, dtype=x.dtype, device=x.device) for x in inputs]
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(inputs, tangents, strict=True)]
        tangent = forward_ad.unpack_dual(f(*duals)).tangent
    exact = spec.as_function_of_values(spec.aten, sample)(*map(widen, tangents))  # the operators are linear
    assert_rounded_once(tangent, exact.to(tangent.dtype))


@each_sample(torch.float64)
def test_expanded_cotangent(spec, sample):
    """What ``.sum().backward()`` sends: a gradient without strides."""
    f, inputs = differentiable(spec, sample)
    twin = spec.as_function_of_values(spec.aten, sample)
    torch.testing.assert_close(
        torch.autograd.grad(f(*inputs).sum(), inputs), torch.autograd.grad(twin(*inputs).sum(), inputs)
    )


@each_sample(torch.float64, names=["rows", "every_row", "columns"])
def test_a_constant_gets_no_gradient(spec, sample):
    f, inputs = differentiable(spec, sample)
    inputs[-1].requires_grad_(False)
    output = f(*inputs)
    assert output.requires_grad == (len(inputs) > 1)
    if output.requires_grad:
        output.sum().backward()
        assert inputs[0].grad.eq(1).all() and inputs[-1].grad is None


@each_sample(torch.float64, names=["rows", "every_row", "columns"])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode], ids=lambda mode: mode.__name__)
def test_nothing_is_recorded_where_gradients_are_off(spec, sample, mode):
    f, inputs = differentiable(spec, sample)
    with mode():
        output = f(*inputs)
    assert not output.requires_grad and output.is_inference() == (mode is torch.inference_mode)
    torch.testing.assert_close(output, spec.as_function_of_values(spec.aten, sample)(*inputs))


@each_sample(torch.int64, torch.bool, names=["rows", "every_row", "columns"])
def test_integers_have_no_gradient(spec, sample):
    f = spec.as_function_of_values(spec.op, sample)
    assert not f(*spec.value_tensors(sample)).requires_grad
