# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments as options of a command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any


def _text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, range) and len(value) > 2:
        # a range may have many more values than a list on a command line
        if value.step > 0:
            return f"{value[0]}..{value[-1]}:+{value.step}"
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_text(item)}" for key, item in value.items())
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        items = [_text(item) for item in value]
        if re.fullmatch(r"\d{1,3}(,\d{3})+", ",".join(items)):
            items[0] = f"{items[0]}..{items[0]}:+1"  # 8,192 could be a number
        return ",".join(items)
    return str(value)


def option_arguments(options: Mapping[str, Any]) -> list[str]:
    """The options of keyword arguments: ``cache_dtype="fp8"`` is ``--cache-dtype fp8``.

    ``None`` and ``False`` omit an option, ``True`` gives it without a value. Lists and ranges are lists of the command line.
    ``set`` is a dictionary of configuration keys.

    >>> option_arguments({"batch": 8, "sequence": range(128, 1024, 128), "offline": True, "device": None})
    ['--batch', '8', '--sequence', '128..896:+128', '--offline']
    >>> option_arguments({"batch": [8, 192]})
    ['--batch', '8..8:+1,192']
    """
    arguments: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        option = "--" + name.rstrip("_").replace("_", "-")
        if name == "set":
            for key, item in value.items():
                item = {True: "true", False: "false", None: "null"}.get(item, item) if isinstance(item, (bool, type(None))) else item
                arguments += [option, f"{key}={item}"]
        elif value is True:
            arguments.append(option)
        else:
            arguments += [option, _text(value)]
    return arguments
