# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""The answers of the package are those of the command: 50 bundled models, several commands."""

import json
import os
import subprocess

import llmcost
import pytest

PROGRAM = os.environ.get("LLMCOST_PROGRAM")
NAMES = [row.name for row in llmcost.models().bundled][::9][:50]
pytestmark = pytest.mark.skipif(not PROGRAM, reason="LLMCOST_PROGRAM is not set")


def command(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


def test_there_are_fifty_models():
    assert len(NAMES) >= 45


@pytest.mark.parametrize("name", NAMES)
def test_counts(name):
    printed = json.loads(command("--model", name, "--offline", "--batch", "2", "--format", "json").stdout)["totals"]
    assert llmcost.load(name, offline=True).count(batch=2).to_dict() == printed


@pytest.mark.parametrize("name", NAMES[::5])
@pytest.mark.parametrize("method", ["memory", "train", "latency", "ops", "levels"])
def test_commands(name, method):
    options = {"device": "h200"} if method in ("memory", "latency") else {}
    arguments = [method, "--model", name, "--offline"] + [word for key, value in options.items() for word in ("--" + key, value)]
    done = command(*arguments, "--format", "json")
    model = llmcost.load(name, offline=True)
    if done.returncode not in (0, 8):
        with pytest.raises(llmcost.CommandError) as caught:
            getattr(model, method)(**options)
        assert caught.value.exit_code == done.returncode and str(caught.value) in done.stderr
    else:
        assert getattr(model, method)(**options).to_dict() == json.loads(done.stdout)
