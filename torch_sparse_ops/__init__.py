"""scatter_nd, gather_nd, segment_sum and sparse_concat as differentiable torch operators."""

from . import _library

_library.load()

from ._library import instruction_set, library_path  # noqa: E402
from ._version import __version__  # noqa: E402
from .gather_nd import gather_nd  # noqa: E402
from .scatter_nd import scatter_nd  # noqa: E402
from .segment_sum import segment_sum  # noqa: E402
from .sparse_cat import sparse_cat  # noqa: E402
from .sparse_concat import sparse_concat  # noqa: E402

__all__ = [
    "__version__",
    "gather_nd",
    "instruction_set",
    "library_path",
    "scatter_nd",
    "segment_sum",
    "sparse_cat",
    "sparse_concat",
]
