"""One wheel beside every torch and every Python: a script, not part of the suite.

    python tests/matrix.py                                    this Python, every torch
    python tests/matrix.py --python python3.10 python3.13 --torch 2.11.0 2.14.1

Builds the wheel once. Each Python gets an environment with that wheel, in which torch is upgraded in place from
version to version; beside each, ``python -m torch_sparse_ops`` and the core tests run. Prints a Markdown table. The
environments (several GB each: plain versions of torch bring CUDA) are made one after another in a temporary folder,
and deleted.
"""

import argparse
import datetime
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCHES = ("2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0")
CORE_TESTS = ("golden", "values", "errors", "layouts", "functorch", "loading")
OPTIONS = ("--tb=short", "-p", "no:cacheprovider", "-k", "not large")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="interpreters")
    parser.add_argument("--torch", nargs="+", default=TORCHES, help="versions, oldest first")
    parser.add_argument("--wheel", type=Path, help="test this one instead of building it")
    arguments = parser.parse_args()
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder:
        wheel = arguments.wheel.resolve() if arguments.wheel else build_wheel(Path(folder))
        for python in arguments.python:
            for torch, outcome in outcomes_on(python, arguments.torch, wheel):
                outcomes[version_of(python), torch] = outcome
                print(f"Python {version_of(python)}, torch {torch}: {outcome}", flush=True)
    print("\n" + table(wheel.name, outcomes))
    return 0 if all(outcome.startswith("ok") for outcome in outcomes.values()) else 1


def build_wheel(folder: Path) -> Path:
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def outcomes_on(python: str, torches: list[str], wheel: Path):
    """Yields (torch version, outcome), with torch replaced under the installed package each time."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", folder)
        environment_python = Path(folder) / ("Scripts" if platform.system() == "Windows" else "bin") / "python"
        package = f"torch_sparse_ops[test] @ {wheel.as_uri()}"
        for torch in torches:
            try:
                run(environment_python, "-m", "pip", "install", "--quiet", f"torch=={torch}", package, cwd=folder)
            except subprocess.CalledProcessError as error:
                yield torch, f"torch not to be had: {last_line(error.stderr)}"
                continue
            package = "torch_sparse_ops"  # installed: from now on pip leaves it as it is
            yield torch, run_tests(environment_python, folder)


def run_tests(python: Path, folder: str) -> str:
    """Away from the checkout, so that the installed package is the one imported."""
    tests = [ROOT / "tests" / f"test_{name}.py" for name in CORE_TESTS]
    try:
        run(python, "-m", "torch_sparse_ops", cwd=folder)
        return f"ok: {passed(run(python, '-m', 'pytest', *OPTIONS, *tests, cwd=folder))}"
    except subprocess.CalledProcessError as error:
        print(error.stdout, error.stderr, sep="\n", file=sys.stderr)
        return f"FAILED: {last_line(error.stdout)}"


def run(*command: object, cwd: str | None = None) -> str:
    arguments = [str(argument) for argument in command]
    return subprocess.run(arguments, cwd=cwd, check=True, capture_output=True, text=True).stdout


def passed(output: str) -> str:
    found = re.search(r"\d+ passed", output)
    return found.group() if found else last_line(output)


def last_line(output: str) -> str:
    return output.strip().rpartition("\n")[2]


def version_of(python: str) -> str:
    return run(python, "-c", "import platform; print('.'.join(platform.python_version_tuple()[:2]))").strip()


def table(wheel: str, outcomes: dict[tuple[str, str], str]) -> str:
    pythons, torches = (list(dict.fromkeys(keys)) for keys in zip(*outcomes))
    rows = [[f"torch {torch}", *(outcomes.get((python, torch), "") for python in pythons)] for torch in torches]
    lines = [["", *(f"Python {python}" for python in pythons)], ["---"] * (len(pythons) + 1), *rows]
    heading = f"`{wheel}` on {platform.machine()}, {datetime.date.today()}:\n\n"
    return heading + "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
