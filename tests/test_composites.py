"""The compositions of aten operators, which serve devices without a kernel, mean the same as the kernels."""

import importlib

import pytest
import torch

from numerics import assert_rounded_once
from op_specs import each_sample
from test_errors import assert_raises, each_error


def composite(spec):
    return importlib.import_module(f"torch_sparse_ops.{spec.name}").composite


@each_sample()
def test_value(spec, sample):
    assert_rounded_once(composite(spec)(*sample.args, **sample.kwargs), spec.expected(sample))


@each_error
def test_error(spec, case):
    if case.name in ("indices_that_require_grad", "devices"):
        pytest.skip("the dispatcher's to refuse")
    assert_raises(spec, case, composite(spec), case.args)


@each_sample(torch.float32)
def test_shapes_and_dtypes_on_the_meta_device(spec, sample):
    if spec.name == "segment_sum" and len(sample.args) == 3:
        pytest.skip("the number of segments depends on values")
    on_meta = sample.map_tensors(lambda tensor: tensor.to("meta"))
    actual, expected = spec.op(*on_meta.args, **on_meta.kwargs), spec.op(*sample.args, **sample.kwargs)
    for meta, real in zip(*((x,) if isinstance(x, torch.Tensor) else x for x in (actual, expected)), strict=True):
        assert (meta.shape, meta.dtype, meta.stride()) == (real.shape, real.dtype, real.stride())
        assert meta.device.type == "meta"
