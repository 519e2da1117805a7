# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of llmcost that need no model, or several."""

from __future__ import annotations

import json
from typing import Any

from ._answer import Answer, Record, Table
from ._library import answer_of
from ._model import Model
from ._options import option_arguments


def compare(*models: str | Model, **options: Any) -> Answer:
    """Compares models: differences and ratios of their counts.

    Options: those of ``llmcost compare``, e.g. ``batch``, ``sequence``, ``device``.

    >>> compare("openai-community/gpt2", "openai-community/gpt2-medium").command
    'llmcost compare openai-community/gpt2 openai-community/gpt2-medium'
    """
    names = [model.name if isinstance(model, Model) else model for model in models]
    return Answer(["compare", *names, *option_arguments(options)])


def models(pattern: str | None = None) -> Record:
    """The supported model types and bundled configurations whose names contain a pattern.

    >>> [row.name for row in models("gpt2-medium").bundled]
    ['openai-community/gpt2-medium']
    """
    return Record(json.loads(answer_of(["models", *([] if pattern is None else [pattern]), "--format", "json"])))


def devices(pattern: str | None = None) -> Table:
    """The datasheets of devices whose names contain a pattern.

    >>> "h200_sxm" in [row["name"] for row in devices("h200")]
    True
    """
    rows = json.loads(answer_of(["devices", "--format", "json"]))["devices"]
    searched = "" if pattern is None else pattern.lower()
    return Table([row for row in rows if searched in row["name"] or searched in row["title"].lower()])


def op(name: str, **options: Any) -> Answer:
    """The time of one operator, e.g. ``op("matmul", m=4096, n=4096, k=4096, device="h200")``.

    Options: those of ``llmcost op NAME``.
    """
    return Answer(["op", name, *option_arguments(options)])
