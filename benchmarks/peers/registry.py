"""What a competitor is, and the list of all of them."""

from collections.abc import Callable
from dataclasses import dataclass

from frameworks import Program
from record import OURS

LIBRARIES = (OURS, "torch", "torch_scatter", "tensorflow", "jax", "scipy", "numpy")


@dataclass(frozen=True)
class Peer:
    """One way to compute ``op``: ``program(*arguments of ours)``.

    ``complete`` is False where its result lacks something that ours has, as the order of a sparse matrix's entries.
    ``reference`` marks the one whose result in float64 everybody's is compared with.
    """

    name: str
    op: str
    library: str
    program: Callable[..., Program]
    complete: bool = True
    reference: bool = False


_PEERS: list[Peer] = []


def peer(op: str, name: str, library: str, **properties) -> Callable:
    """Register the decorated function as the ``program`` of a Peer."""

    def register(program: Callable[..., Program]) -> Callable[..., Program]:
        _PEERS.append(Peer(name, op, library, program, **properties))
        return program

    return register


def peers_of(op: str) -> list[Peer]:
    return [peer for peer in _PEERS if peer.op == op]


def reference_of(op: str) -> Peer:
    return next(peer for peer in peers_of(op) if peer.reference)
