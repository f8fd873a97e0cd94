"""Settings that every test shares."""

import pytest
import torch
from hypothesis import settings

import torch_sparse_ops  # noqa: F401 (registers the operators)

settings.register_profile("default", max_examples=100, deadline=None, derandomize=True, database=None)
settings.load_profile("default")


@pytest.fixture(autouse=True)
def _same_random_numbers():
    torch.manual_seed(0)


@pytest.fixture
def num_threads():
    """``torch.set_num_threads``, undone after the test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
