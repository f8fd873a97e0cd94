"""Inputs of any strides are accepted and left alone; results are fresh and contiguous."""

import pytest
import torch

from numerics import as_tuple, assert_rounded_once
from op_specs import each_sample
from specs.base import COMPLEX


def column_major(x):
    axes = tuple(reversed(range(x.dim())))
    return x.permute(axes).contiguous().permute(axes)


def offset(x):
    """One element past an aligned address."""
    return torch.cat([x.new_zeros(1), x.reshape(-1)])[1:].view(x.shape)


def every_other(x):
    return torch.stack([x, torch.zeros_like(x)], -1)[..., 0]


def column_of_wider(x):
    return torch.cat([x, x], -1)[..., : x.shape[-1]] if x.dim() else x


def expanded(x):
    """The first row, repeated without copies."""
    return x[:1].expand_as(x) if x.dim() and len(x) else x


def expanded_columns(x):
    return x[..., :1].expand_as(x) if x.dim() and x.shape[-1] else x


def negated(x):
    return torch._neg_view(x)


def conjugated(x):
    return x.conj()


SAME_VALUES = [column_major, offset, every_other, column_of_wider]


@each_sample(torch.float32, torch.bool)
@pytest.mark.parametrize("layout", SAME_VALUES, ids=lambda layout: layout.__name__)
def test_any_layout_of_all_arguments(spec, sample, layout):
    laid_out = sample.map_tensors(layout)
    assert_rounded_once(spec.op(*laid_out.args, **laid_out.kwargs), spec.expected(sample))


@each_sample(torch.float32, torch.bfloat16, torch.complex64)
@pytest.mark.parametrize("layout", [expanded, expanded_columns, negated], ids=lambda layout: layout.__name__)
def test_any_layout_of_values(spec, sample, layout):
    sample = sample.map_argument(spec.values, layout)
    assert_rounded_once(spec.op(*sample.args, **sample.kwargs), spec.expected(sample))


@each_sample(*COMPLEX)
def test_conjugated_values(spec, sample):
    sample = sample.map_argument(spec.values, conjugated)
    assert_rounded_once(spec.op(*sample.args, **sample.kwargs), spec.expected(sample))


@each_sample(torch.float32)
def test_stride_0_indices(spec, sample):
    for position in spec.indices:
        sample = sample.map_argument(position, expanded)
    assert_rounded_once(spec.op(*sample.args, **sample.kwargs), spec.expected(sample))


@each_sample(torch.float32, torch.complex64)
def test_results_are_fresh_and_contiguous(spec, sample):
    storages = set()
    sample.map_tensors(lambda x: storages.add(x.untyped_storage().data_ptr()) or x)
    for result in as_tuple(spec.op(*sample.args, **sample.kwargs)):
        assert result.is_contiguous()
        assert not result._is_view() and not result.is_conj() and not result.is_neg()
        assert result.numel() == 0 or result.untyped_storage().data_ptr() not in storages


@each_sample(torch.float32)
def test_inputs_are_left_alone(spec, sample):
    before = sample.map_tensors(torch.clone)
    spec.op(*sample.args, **sample.kwargs)
    torch.testing.assert_close(sample.args, before.args, rtol=0, atol=0)
