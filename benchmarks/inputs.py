"""Random arguments of each operator, exactly as torch_sparse_ops takes them. Seeded: two calls give equal tensors."""

import math

import torch


def scatter_nd(rows, sizes, width=None, *, spread="uniform", dtype=torch.float32, index_dtype=torch.int64):
    """``rows`` scalars, or slices of ``width``, into a result of ``sizes``, or of ``[*sizes, width]``."""
    generator = torch.Generator().manual_seed(0)
    indices = _index_tuples(rows, sizes, spread, generator).to(index_dtype)
    slices = [] if width is None else [width]
    return indices, _values([rows, *slices], dtype, generator), [*sizes, *slices]


def gather_nd(rows, sizes, width=None, *, spread="uniform", dtype=torch.float32, index_dtype=torch.int64):
    """The transpose of the scatter_nd of the same numbers."""
    indices, _, shape = scatter_nd(rows, sizes, width, spread=spread, dtype=dtype, index_dtype=index_dtype)
    return _values(shape, dtype, torch.Generator().manual_seed(1)), indices


def segment_sum(rows, segments, width, table=None, *, spread="uniform", dtype=torch.float32, index_dtype=torch.int64):
    """``rows`` rows into ``segments``; with ``table``, they are drawn from that many rows of data."""
    generator = torch.Generator().manual_seed(0)
    segment_ids = draw(rows, segments, spread, generator).sort().values.to(index_dtype)
    segment_ids[-1] = segments - 1  # some peers infer the number of segments from it
    indices = None if table is None else draw(rows, table, spread, generator).to(index_dtype)
    data = _values([rows if table is None else table, width], dtype, generator)
    return data, indices, segment_ids, segments


def sparse_concat(count, nnz, sizes, dim, *, spread="uniform", dtype=torch.float32):
    """``count`` sorted matrices of ``sizes`` with ``nnz`` entries on average, nearly so where the rows are skewed."""
    generator = torch.Generator().manual_seed(0)
    half = spread == "half"  # the first input holds half of all entries, the others share the rest
    total = count * nnz
    counts = [total // 2] + [total // 2 // (count - 1)] * (count - 1) if half else [nnz] * count
    indices = [_sorted_entries(n, sizes, "uniform" if half else spread, generator) for n in counts]
    values = [_values([len(entries)], dtype, generator) for entries in indices]
    return indices, values, [torch.tensor(sizes)] * count, dim


def draw(count, targets, spread, generator):
    """``count`` integers in ``[0, targets)``: "uniform", "zipf" (exponent 1.1), or "half" of them equal."""
    uniform = torch.randint(targets, (count,), generator=generator)
    if spread == "uniform":
        return uniform
    if spread == "half":
        hit = torch.rand(count, generator=generator) < 0.5
        return uniform.masked_fill_(hit, targets // 2)
    cumulative = torch.arange(1, targets + 1, dtype=torch.float64).pow_(-1.1).cumsum_(0)
    threshold = torch.rand(count, dtype=torch.float64, generator=generator) * cumulative[-1]
    rank = torch.searchsorted(cumulative, threshold).clamp_(max=targets - 1)
    return torch.randperm(targets, generator=generator)[rank]  # frequent targets lie anywhere, as hashed ids do


def _index_tuples(rows, sizes, spread, generator):
    linear = draw(rows, math.prod(sizes), spread, generator)
    return torch.stack(torch.unravel_index(linear, sizes), dim=1)


def _sorted_entries(nnz, sizes, spread, generator):
    drawn = nnz + nnz // 4  # some repeat
    row = draw(drawn, sizes[0], spread, generator)
    linear = (row * sizes[1] + draw(drawn, sizes[1], "uniform", generator)).unique()
    kept = torch.randperm(len(linear), generator=generator)[:nnz].sort().values
    return torch.stack(torch.unravel_index(linear[kept], sizes), dim=1)


def _values(shape, dtype, generator):
    drawn_as = torch.float64 if dtype == torch.float64 else torch.float32
    return torch.randn(shape, dtype=drawn_as, generator=generator).to(dtype)
