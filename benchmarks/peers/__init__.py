"""Every competitor, one file an operator: the fastest way that we know to write it in each library, ours among them.

A competitor takes our operator's arguments and returns a Program. What it converts or precomputes on the way (offsets,
lengths, CSR matrices) is not timed, to its advantage. What it refuses, the report says in its own words.
"""

from . import gather_nd, scatter_nd, segment_sum, sparse_concat
from .registry import LIBRARIES, OURS, Peer, peers_of, reference_of

__all__ = [
    "LIBRARIES",
    "OURS",
    "Peer",
    "gather_nd",
    "peers_of",
    "reference_of",
    "scatter_nd",
    "segment_sum",
    "sparse_concat",
]
