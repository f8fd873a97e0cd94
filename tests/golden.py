"""TensorFlow's answers as GoldenCases: the arguments of our operator and what it must return or raise."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from op_specs import SCATTER_ND, SEGMENT_SUM, SPARSE_CONCAT
from specs.base import OpSpec, Sample

DATA = Path(__file__).parent / "data" / "tf_golden_dev.npz"

# TensorFlow refuses these, but they have one sensible meaning.
ACCEPTED_HERE = {
    53: "K = 0: every update is a whole output",
    57: "index 0 is inside a dimension of size 5, and its row is empty",
    60: "rank-1 indices are one index tuple",
    61: "rank-1 indices are one index tuple",
    169: "one sparse tensor, concatenated with nothing",
}
# TensorFlow returns indices outside the result's shape for these.
REFUSED_HERE = {164: IndexError, 165: IndexError}
# The other errors are RuntimeErrors: of shape, order or size.
INDEX_ERRORS = {48, 49, 50, 58, 105, 114, 115, 116, 118, 125}


@dataclass(frozen=True)
class GoldenCase:
    id: int
    spec: OpSpec
    sample: Sample
    outputs: list[torch.Tensor]
    error: type[Exception] | None
    grad_output: torch.Tensor | None = None
    grads: list[torch.Tensor] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.id}-{self.spec.name}"


def golden_cases() -> Iterator[GoldenCase]:
    with np.load(DATA) as arrays:
        for case in json.loads(bytes(arrays["meta.json"]))["cases"]:
            yield _golden_case(case, arrays)


def _golden_case(case: dict, arrays) -> GoldenCase:
    def load(ref):
        if isinstance(ref, list):
            return [load(item) for item in ref]
        array = torch.from_numpy(arrays[ref["key"]])
        return array.view(torch.bfloat16) if ref["dtype"] == "bfloat16" else array

    spec, sample = _our_call(case["op"], {name: load(ref) for name, ref in case["inputs"].items()}, case["attrs"])
    outputs = [load(ref) for ref in case["outputs"]]
    error = REFUSED_HERE.get(case["id"])
    if case["error"] and case["id"] not in ACCEPTED_HERE:
        error = IndexError if case["id"] in INDEX_ERRORS else RuntimeError
    if case["id"] in ACCEPTED_HERE:
        expected = spec.expected(sample)
        outputs = list(expected) if isinstance(expected, tuple) else [expected]
    refs = case["grads"] or {}
    # TensorFlow does not differentiate SparseConcat: its list of gradients holds nulls.
    grads = [load(ref) for name, ref in refs.items() if name != "_seed" and not isinstance(ref, list)]
    grad_output = load(refs["_seed"]) if grads else None
    return GoldenCase(case["id"], spec, sample, outputs, error, grad_output, grads)


def _our_call(op: str, inputs: dict, attrs: dict) -> tuple[OpSpec, Sample]:
    """TensorFlow's operator and arguments in our names and order."""
    if op == "scatter_nd":
        return SCATTER_ND, Sample(op, (inputs["indices"], inputs["updates"], attrs["shape"]))
    if op == "math_segment_sum":
        return SEGMENT_SUM, Sample(op, (inputs["data"], None, inputs["segment_ids"]))
    if op == "sparse_segment_sum":
        rows = inputs["data"], inputs["indices"], inputs["segment_ids"]
        return SEGMENT_SUM, Sample(op, (*rows, attrs["num_segments"]))
    return SPARSE_CONCAT, Sample(op, (inputs["indices"], inputs["values"], inputs["shapes"], attrs["concat_dim"]))
