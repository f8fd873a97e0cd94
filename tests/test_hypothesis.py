"""Every operator agrees with its reference on arguments that hypothesis thinks up."""

import torch
from hypothesis import given
from hypothesis import strategies as st

import strategies
from numerics import assert_rounded_once
from op_specs import each_operator


@each_operator
@given(data=st.data())
def test_value(spec, data):
    dtype = data.draw(st.sampled_from(spec.dtypes))
    sample = data.draw(getattr(strategies, spec.name)(dtype))
    assert_rounded_once(spec.op(*sample.args, **sample.kwargs), spec.expected(sample))


@each_operator
@given(data=st.data())
def test_gradient(spec, data):
    dtype = data.draw(st.sampled_from([torch.float32, torch.complex128]))
    sample = data.draw(getattr(strategies, spec.name)(dtype))
    sample = sample.map_argument(spec.values, lambda x: x.detach().requires_grad_())
    inputs = spec.value_tensors(sample)
    output, expected = (spec.as_function_of_values(f, sample)(*inputs) for f in (spec.op, spec.aten))
    cotangent = torch.randn_like(expected)
    assert_rounded_once(
        torch.autograd.grad(output, inputs, cotangent), torch.autograd.grad(expected, inputs, cotangent)
    )
