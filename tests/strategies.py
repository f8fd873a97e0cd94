"""Hypothesis strategies of valid arguments: any dtype, rank, sizes (0 too), duplicates, layout."""

import torch
from hypothesis import strategies as st
from torch.testing import make_tensor

from specs.base import Sample
from test_layouts import SAME_VALUES

layouts = st.sampled_from([torch.clone, *SAME_VALUES])
sizes = st.integers(0, 4)
index_dtypes = st.sampled_from([torch.int32, torch.int64])


@st.composite
def values(draw, dtype, *shape):
    torch.manual_seed(draw(st.integers(0, 2**16)))
    return draw(layouts)(make_tensor(shape, dtype=dtype, device="cpu"))


@st.composite
def index_tuples(draw, batch, bounds, margin=0):
    """``[*batch, len(bounds)]``; entries up to ``margin`` outside the bounds."""
    count = torch.Size(batch).numel()
    index = st.tuples(*(st.integers(-margin, size - 1 + margin) for size in bounds)) if count else st.nothing()
    rows = draw(st.lists(index, min_size=count, max_size=count))
    tensor = torch.tensor(rows, dtype=draw(index_dtypes)).reshape(*batch, len(bounds))
    return draw(layouts)(tensor)


@st.composite
def index_vector(draw, count, bound, ascending=False):
    entries = draw(st.lists(st.integers(0, bound - 1), min_size=count, max_size=count)) if count else []
    return draw(layouts)(torch.tensor(sorted(entries) if ascending else entries, dtype=draw(index_dtypes)))


@st.composite
def shape_batch_and_policy(draw):
    """A shape, the depth of indices into it, their batch, and whether they may lie outside."""
    shape = draw(st.lists(sizes, max_size=4))
    depth = draw(st.integers(0, len(shape)))
    ignore = draw(st.booleans())
    batch = draw(st.lists(sizes, max_size=3))
    if 0 in shape[:depth] and not ignore:  # nothing to point at
        batch = [*batch, 0]
    return shape, depth, batch, {"bad_indices_policy": "ignore"} if ignore else {}


@st.composite
def scatter_nd(draw, dtype):
    shape, depth, batch, policy = draw(shape_batch_and_policy())
    indices = draw(index_tuples(batch, shape[:depth], margin=len(policy)))
    return Sample("drawn", (indices, draw(values(dtype, *batch, *shape[depth:])), shape), policy)


@st.composite
def gather_nd(draw, dtype):
    shape, depth, batch, policy = draw(shape_batch_and_policy())
    indices = draw(index_tuples(batch, shape[:depth], margin=len(policy)))
    return Sample("drawn", (draw(values(dtype, *shape)), indices), policy)


@st.composite
def rows_and_segments(draw):
    """Numbers of rows and segments, and the index vectors between them."""
    num_rows, num_segments = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    count = draw(st.integers(0, 12)) if num_rows and num_segments else 0
    indices = draw(index_vector(count, num_rows))
    if draw(st.booleans()) and (num_segments or not num_rows):
        indices, count = None, num_rows
    return num_rows, num_segments, indices, draw(index_vector(count, num_segments, ascending=True))


@st.composite
def segment_sum(draw, dtype):
    num_rows, num_segments, indices, segment_ids = draw(rows_and_segments())
    data = draw(values(dtype, num_rows, *draw(st.lists(sizes, max_size=3))))
    return Sample("drawn", (data, indices, segment_ids, draw(st.sampled_from([num_segments, None]))))


@st.composite
def segment_sum_backward(draw, dtype):
    num_rows, num_segments, indices, segment_ids = draw(rows_and_segments())
    grad = draw(values(dtype, num_segments, *draw(st.lists(sizes, max_size=3))))
    return Sample("drawn", (grad, indices, segment_ids, num_rows))


@st.composite
def sparse_concat(draw, dtype):
    rank, inputs = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    dim, expand = draw(st.integers(-rank, rank - 1)), draw(st.booleans())
    common = draw(st.lists(sizes, min_size=rank, max_size=rank))
    dense = draw(st.lists(sizes, max_size=2))
    indices, some_values, shapes = [], [], []
    for _ in range(inputs):
        shape = draw(st.lists(sizes, min_size=rank, max_size=rank)) if expand else list(common)
        shape[dim] = draw(sizes)
        nnz = draw(st.integers(0, 8)) if 0 not in shape else 0
        some_indices = draw(index_tuples([nnz], shape)).long()
        if draw(st.booleans()):
            some_indices = torch.tensor(sorted(some_indices.tolist())).long().reshape(nnz, rank)
        indices.append(draw(layouts)(some_indices))
        some_values.append(draw(values(dtype, nnz, *dense)))
        shapes.append(draw(layouts)(torch.tensor(shape)))
    return Sample("drawn", (indices, some_values, shapes, dim, expand))
