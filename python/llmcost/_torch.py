# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch as models."""

from __future__ import annotations

import json
from typing import Any

from ._model import Model


def from_torch(module: Any, *inputs: Any) -> Model:
    """Reads a ``torch.nn.Module`` through ``torch.export``. The first dimension of each input is the batch.

    Raises: ``ValueError`` for an operation that has no description, with its name.
    """
    try:
        from . import describe_module  # installed beside this module
    except ImportError:
        import describe_module  # in examples/ of the repository

    description = describe_module.describe(module, inputs)
    return Model(["--config", "-"], description if isinstance(description, str) else json.dumps(description))
