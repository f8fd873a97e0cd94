"""torch's own checks of custom operators: schema, autograd registration, fake kernels, AOT dispatch."""

import pytest
import torch
from torch.library import opcheck
from torch.testing._internal.optests import aot_autograd_check

from op_specs import each_sample


@each_sample(torch.float32, torch.int64)
@pytest.mark.parametrize("test", ["test_schema", "test_autograd_registration", "test_faketensor"])
def test_opcheck(spec, sample, test):
    sample = sample.map_argument(spec.values, lambda x: x.clone().requires_grad_(x.is_floating_point()))
    opcheck(spec.op, sample.args, sample.kwargs, test_utils=test)


REPRESENTATIVE = {
    "batched", "depth_0", "rank_1_indices_full_depth", "empty_batch", "ignored_indices", "int32_indices",
    "every_row", "chosen_rows", "segment_count_from_last_id", "no_rows_chosen", "rank_1",
    "columns", "one_input", "some_empty", "unsorted", "hybrid", "expanded",
}  # fmt: skip


@each_sample(torch.float32, names=REPRESENTATIVE)
def test_aot_dispatch(spec, sample):
    sample = sample.map_argument(spec.values, lambda x: x.clone().requires_grad_())
    if spec.output is None:
        opcheck(spec.op, sample.args, sample.kwargs, test_utils="test_aot_dispatch_dynamic")
    else:  # opcheck adds all results up in place, which fails where the first is integral
        aot_autograd_check(
            lambda *args, **kwargs: spec.op(*args, **kwargs)[spec.output], sample.args, sample.kwargs, True
        )
