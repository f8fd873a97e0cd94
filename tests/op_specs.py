"""Every operator's OpSpec, and what parametrises a test over them. To test a new operator, add its OpSpec here."""

from collections.abc import Callable, Iterable

import pytest
import torch

from specs.base import OpSpec, Sample
from specs.gather_nd import GATHER_ND
from specs.scatter_nd import SCATTER_ND
from specs.segment_sum import SEGMENT_SUM, SEGMENT_SUM_BACKWARD
from specs.sparse_concat import SPARSE_CONCAT

OP_SPECS = (SCATTER_ND, GATHER_ND, SEGMENT_SUM, SEGMENT_SUM_BACKWARD, SPARSE_CONCAT)


def each_operator(test: Callable) -> Callable:
    """Run ``test(spec)`` for every operator."""
    return pytest.mark.parametrize("spec", OP_SPECS, ids=lambda spec: spec.name)(test)


def each_sample(*dtypes: torch.dtype, names: Iterable[str] = (), operators: Iterable[OpSpec] = OP_SPECS) -> Callable:
    """Run ``test(spec, sample)`` for every operator, value dtype (default: all) and sample (default: all)."""
    cases = []
    for spec in operators:
        for dtype in dtypes or spec.dtypes:
            for sample in samples_of(spec, dtype):
                if not names or sample.name in names:
                    name = f"{spec.name}-{sample.name}-{str(dtype).removeprefix('torch.')}"
                    cases.append(pytest.param(spec, sample, id=name))
    return pytest.mark.parametrize("spec, sample", cases)


def samples_of(spec: OpSpec, dtype: torch.dtype) -> list[Sample]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return list(spec.samples(dtype))
