# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Exact compute and memory cost of neural networks, from a ``config.json`` alone.

>>> import llmcost
>>> model = llmcost.load("meta-llama/Llama-3.2-1B")
>>> model.count(batch=16, sequence=200, scope="attn").mult
579403776000
>>> model.memory(sequence=8192, device="h200").fits
True
"""

from ._answer import Answer, Picture, Record, Table
from ._functions import compare, devices, models, op
from ._errors import (
    CommandError,
    ConfigurationError,
    CountOverflowError,
    InputError,
    InternalError,
    LlmcostWarning,
    NetworkError,
    OutputError,
    UsageError,
)
from ._library import Result, run
from ._library import version as __version__
from ._model import Counts, Graph, Model, Node, load
from ._sweep import Sweep, sweep
from ._torch import from_torch

__all__ = [
    "Answer",
    "CommandError",
    "ConfigurationError",
    "CountOverflowError",
    "Counts",
    "Graph",
    "InputError",
    "InternalError",
    "LlmcostWarning",
    "Model",
    "NetworkError",
    "Node",
    "OutputError",
    "Picture",
    "Record",
    "Result",
    "Sweep",
    "Table",
    "UsageError",
    "__version__",
    "compare",
    "devices",
    "from_torch",
    "load",
    "models",
    "op",
    "run",
    "sweep",
]
