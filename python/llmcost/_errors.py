# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions, one class per exit code of the command."""

from __future__ import annotations

import re


class LlmcostWarning(UserWarning):
    """A warning of a command."""


class CommandError(Exception):
    """A command has no answer. The message names the file, the JSON pointer and what was expected."""

    exit_code = 70

    @property
    def nearest(self) -> list[str]:
        """Known names that are similar to an unknown one.

        >>> import llmcost
        >>> try:
        ...     llmcost.load("openai-community/gpt2").count(scope="atn")
        ... except llmcost.UsageError as error:
        ...     "attn" in error.nearest
        True
        """
        match = re.search(r"nearest(?: [a-z ]+)?: ([^;(\n]+)", str(self))
        return [name.strip().strip("'\"") for name in match.group(1).split(",")] if match else []


class OutputError(CommandError, OSError):
    """A file could not be written."""

    exit_code = 1


class UsageError(CommandError, ValueError):
    """An unknown option, metric or scope, or a value out of range."""

    exit_code = 2


class ConfigurationError(CommandError, ValueError):
    """The configuration is missing, unreadable, invalid or not supported."""

    exit_code = 3


class NetworkError(CommandError, ConnectionError):
    """The Hub did not respond, or its response was invalid."""

    exit_code = 4


class CountOverflowError(CommandError, OverflowError):
    """A count above 128 bits, too many layers, or out of memory."""

    exit_code = 5


class InputError(CommandError, OSError):
    """The input ended with a read error."""

    exit_code = 6


class InternalError(CommandError, RuntimeError):
    """A bug in llmcost."""


_BY_EXIT_CODE = {
    error.exit_code: error
    for error in (OutputError, UsageError, ConfigurationError, NetworkError, CountOverflowError, InputError)
}


def error_class_of(exit_code: int) -> type[CommandError]:
    return _BY_EXIT_CODE.get(exit_code, InternalError)
