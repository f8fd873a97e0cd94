"""Builds csrc/**/*.cpp into a library without Python in it, on LibTorch's stable ABI; cuda_build.py builds **/*.cu.

Read from the environment: MAX_JOBS (by torch: compilers at a time), DEBUG=1 (no optimisation, debug symbols), and what
cuda_build.py reads. Metadata is in pyproject.toml.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel


def stop(problem: str, remedy: str) -> None:
    sys.exit(f"\ntorch_sparse_ops cannot be built: {problem}. {remedy}\n")


try:
    import torch
    from torch.utils.cpp_extension import BuildExtension, CppExtension, get_cxx_compiler, is_ninja_available
except ImportError as error:
    stop(
        f"it needs the headers of torch, which cannot be imported here ({error})",
        "Leave out --no-build-isolation, so that pip brings a torch to build with, or install torch >= 2.11 first.",
    )

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # a build by pip does not look here

import cuda_build  # noqa: E402

DEBUG = os.environ.get("DEBUG") == "1"
DEFINES = [("TORCH_STABLE_ONLY", None), ("TORCH_TARGET_VERSION", "0x020b000000000000")]  # 2.11
OPTIMISE = ["-O0", "-g"] if DEBUG else ["-O3", "-g0"]
FLAGS = ["-std=c++20", "-fvisibility=hidden", "-ffp-contract=off", "-Wall", "-Wno-psabi", *OPTIMISE]


class Build(BuildExtension.with_options(no_python_abi_suffix=True)):
    """Says what is missing before it is missed."""

    def build_extensions(self) -> None:
        if torch.__version__ < "2.11":
            stop(
                f"it needs the headers of torch >= 2.11, and this is torch {torch.__version__}",
                "Upgrade torch, or leave out --no-build-isolation, so that pip brings one to build with.",
            )
        if not is_ninja_available():
            stop(
                "ninja is not on the PATH",
                "Run `pip install ninja`, or leave out --no-build-isolation, so that pip brings it.",
            )
        compiler = get_cxx_compiler().split()[0]
        if not shutil.which(compiler):
            stop(
                f"the C++ compiler {compiler!r} is not on the PATH",
                "Install GCC or Clang (Debian and Ubuntu: `apt-get install g++`, macOS: `xcode-select --install`), or "
                "name yours in the environment variable CXX. It must know C++20.",
            )
        super().build_extensions()

    def run(self) -> None:
        super().run()
        package = Path("torch_sparse_ops") if self.inplace else Path(self.build_lib, "torch_sparse_ops")
        try:
            cuda_build.build(package / "_cuda.so")
        except subprocess.CalledProcessError:
            stop(
                "nvcc failed, as it says above",
                "If it speaks of an unsupported compiler, nvcc is older than that: take a newer CUDA toolkit, or set "
                "NVCC_PREPEND_FLAGS='-ccbin g++-12' to name an older compiler. FORCE_CUDA=0 builds without CUDA.",
            )


class Wheel(bdist_wheel):
    """One wheel for every Python: the library does not know Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


def files(*suffixes: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for suffix in suffixes for path in ROOT.glob(f"csrc/**/*.{suffix}"))


def cpu_library() -> Extension:
    return CppExtension(
        "torch_sparse_ops._cpu",
        files("cpp"),
        depends=files("h", "inc"),
        define_macros=DEFINES,
        extra_compile_args=FLAGS,
        py_limited_api=True,
    )


setup(ext_modules=[cpu_library()], cmdclass={"build_ext": Build, "bdist_wheel": Wheel})
