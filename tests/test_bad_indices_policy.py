"""bad_indices_policy: "default" raises on the CPU, as "error" does; "ignore" leaves entries out."""

import pytest
import torch

from op_specs import GATHER_ND, SCATTER_ND

INDICES = torch.tensor([[0, 1], [3, 0], [-1, 2], [2, 2], [0, 4]])  # of a 3 x 4 tensor: the 1st and the 4th are good
GOOD = torch.tensor([True, False, False, True, False])
PARAMS = torch.arange(24.0).reshape(3, 4, 2)
UPDATES = torch.arange(1.0, 11.0).reshape(5, 2)


def scatter(indices, updates, policy):
    return SCATTER_ND.op(indices, updates, (3, 4, 2), bad_indices_policy=policy)


def gather(indices, params, policy):
    return GATHER_ND.op(params, indices, bad_indices_policy=policy)


both = pytest.mark.parametrize("call, values", [(scatter, UPDATES), (gather, PARAMS)], ids=["scatter_nd", "gather_nd"])


@both
@pytest.mark.parametrize("policy", ["default", "error"])
def test_a_bad_index_raises(call, values, policy):
    with pytest.raises(IndexError, match=r"indices\[1\] = \(3, 0\) is outside shape \(3, 4\)"):
        call(INDICES, values, policy)


@pytest.mark.parametrize("policy", ["default", "error", "ignore"])
def test_good_indices_mean_the_same_under_every_policy(policy):
    expected = torch.zeros(3, 4, 2)
    expected[0, 1], expected[2, 2] = UPDATES[0], UPDATES[3]
    assert torch.equal(scatter(INDICES[GOOD], UPDATES[GOOD], policy), expected)
    assert torch.equal(gather(INDICES[GOOD], PARAMS, policy), torch.stack([PARAMS[0, 1], PARAMS[2, 2]]))


def test_ignored_updates_add_nothing():
    expected = scatter(INDICES[GOOD], UPDATES[GOOD], "error")
    assert torch.equal(scatter(INDICES, UPDATES, "ignore"), expected)
    assert torch.equal(scatter(INDICES[~GOOD], UPDATES[~GOOD] + torch.inf, "ignore"), torch.zeros(3, 4, 2))


def test_ignored_indices_gather_zeros():
    expected = torch.zeros(5, 2)
    expected[GOOD] = gather(INDICES[GOOD], PARAMS, "error")
    assert torch.equal(gather(INDICES, PARAMS + torch.inf, "ignore").isinf(), expected != 0)
    assert torch.equal(gather(INDICES, PARAMS, "ignore"), expected)


def test_ignored_entries_have_zero_gradients():
    updates = UPDATES.clone().requires_grad_()
    scatter(INDICES, updates, "ignore").sum().backward()
    assert torch.equal(updates.grad, GOOD[:, None].float().expand(5, 2))
    params = PARAMS.clone().requires_grad_()
    gather(INDICES, params, "ignore").sum().backward()
    assert torch.equal(params.grad, scatter(INDICES[GOOD], torch.ones(2, 2), "error"))


@both
@pytest.mark.parametrize("extreme", [2**63 - 1, -(2**63), 2**31, -(2**31) - 1, 2**62])
def test_extreme_indices_are_ignored(call, values, extreme):
    indices = INDICES.clone()
    indices[1:3, 0] = extreme
    assert torch.equal(call(indices, values, "ignore"), call(INDICES, values, "ignore"))


@both
def test_large_calls_ignore_too(call, values):
    repeats = 100_000
    indices = INDICES.repeat(repeats, 1)
    if call is gather:
        assert torch.equal(call(indices, values, "ignore"), call(INDICES, values, "ignore").repeat(repeats, 1))
    else:
        exact = repeats * call(INDICES, values.double(), "ignore")
        assert torch.equal(call(indices, values.double().repeat(repeats, 1), "ignore"), exact)
