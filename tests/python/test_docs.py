# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""The Python code of the documentation runs and prints what its comments say."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_code(page, capsys):
    pytest.importorskip("pyarrow")
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    namespace = {}
    for block in blocks:
        expected = re.findall(r"^\s*print\(.*\)\s+# (.*)$", block, re.MULTILINE)
        exec(compile(block, page, "exec"), namespace)
        assert capsys.readouterr().out.splitlines() == expected
