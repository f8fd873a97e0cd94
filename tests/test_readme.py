"""What README.md and CONTRIBUTING.md say exists, and the examples run."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def test_examples_run():
    results = doctest.testfile(str(PAGES[0]), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page):
    names = re.findall(r"`((?:csrc|tests|benchmarks|torch_sparse_ops|\.ci|\.github)/[\w./]+)`", page.read_text())
    assert [name for name in names if not (ROOT / name).exists()] == []
