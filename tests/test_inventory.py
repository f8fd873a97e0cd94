"""An operator is in every place where CONTRIBUTING.md puts one; what is missing is named."""

from pathlib import Path

import pytest
import torch

import torch_sparse_ops
from op_specs import OP_SPECS

ROOT = Path(__file__).parent.parent
NAMESPACE = "torch_sparse_ops::"
# The transpose of segment_sum shares its folder, and is measured as its gradient.
SHARED = {"segment_sum_backward": "segment_sum"}
# For sparse tensors of torch: made of sparse_concat, not an operator.
FUNCTIONS_WITHOUT_OPERATOR = {"sparse_cat"}


def registered() -> set[str]:
    names = torch._C._dispatch_get_all_op_names()
    return {name.removeprefix(NAMESPACE) for name in names if name.startswith(NAMESPACE)}


def folders() -> set[str]:
    found = {path.name for path in (ROOT / "csrc").iterdir() if path.is_dir() and path.name != "common"}
    return found | {operator for operator, owner in SHARED.items() if owner in found}


def modules() -> set[str]:
    directory = Path(torch_sparse_ops.__file__).parent
    return {path.stem for path in directory.glob("[!_]*.py")} - FUNCTIONS_WITHOUT_OPERATOR


def specs() -> set[str]:
    return {spec.name for spec in OP_SPECS}


def workloads() -> set[str]:
    directory = ROOT / "benchmarks"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(directory)
        from workloads import all_workloads
    found = {workload.op for workload in all_workloads()}
    return found | {operator for operator, owner in SHARED.items() if owner in found}


def public_functions() -> set[str]:
    public = {name for name in torch_sparse_ops.__all__ if hasattr(torch.ops.torch_sparse_ops, name)}
    return public | {operator for operator, owner in SHARED.items() if owner in public}


PLACES = [folders, modules, specs, workloads, public_functions]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_every_operator_is_among_the(place):
    missing, unknown = registered() - place(), place() - registered()
    assert not missing, f"registered with torch, but not among the {place.__name__}: {sorted(missing)}"
    assert not unknown, f"among the {place.__name__}, but not registered with torch: {sorted(unknown)}"


@pytest.mark.parametrize("operator", sorted(specs()))
@pytest.mark.parametrize("key", ["CPU", "Meta", "Autograd", "FuncTorchBatched", "CompositeExplicitAutograd"])
def test_every_operator_has_a_kernel_for(operator, key):
    assert torch._C._dispatch_has_kernel_for_dispatch_key(NAMESPACE + operator, key)


def test_schemas_are_the_documented_ones():
    schemas = {str(getattr(torch.ops.torch_sparse_ops, name).default._schema) for name in registered()}
    assert schemas == {
        "torch_sparse_ops::scatter_nd(Tensor indices, Tensor updates, SymInt[] shape, *, "
        'str bad_indices_policy="default") -> Tensor',
        'torch_sparse_ops::gather_nd(Tensor params, Tensor indices, *, str bad_indices_policy="default") -> Tensor',
        "torch_sparse_ops::segment_sum(Tensor data, Tensor? indices, Tensor segment_ids, SymInt? num_segments=None, "
        "bool sparse_gradient=False) -> Tensor",
        "torch_sparse_ops::segment_sum_backward(Tensor grad, Tensor? indices, Tensor segment_ids, SymInt num_rows)"
        " -> Tensor",
        "torch_sparse_ops::sparse_concat(Tensor[] indices, Tensor[] values, Tensor[] shapes, int concat_dim, "
        "bool expand_nonconcat_dims=False) -> (Tensor, Tensor, Tensor)",
    }
