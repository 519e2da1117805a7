# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ library, loaded with ctypes: one binary for every Python version, and no lock is held while it computes."""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from ._errors import CommandError, LlmcostWarning, error_class_of

_DIRECTORY = pathlib.Path(__file__).parent
_NAMES = {"darwin": "libllmcost_c.dylib", "win32": "llmcost_c.dll"}


def _load() -> ctypes.CDLL:
    path = os.environ.get("LLMCOST_LIBRARY") or _DIRECTORY / _NAMES.get(sys.platform, "libllmcost_c.so")
    library = ctypes.CDLL(os.fspath(path))
    text, size, result = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
    arguments = ctypes.POINTER(ctypes.c_char_p)
    for name, returned, parameters in (
        ("version", text, []),
        ("set_calibrations", None, [text]),
        ("run", result, [size, arguments, text, size]),
        ("exit_code", ctypes.c_int, [result]),
        ("output", result, [result, ctypes.POINTER(size)]),
        ("messages", result, [result, ctypes.POINTER(size)]),
        ("free", None, [result]),
        ("main", ctypes.c_int, [size, arguments]),
    ):
        function = getattr(library, f"llmcost_{name}")
        function.restype, function.argtypes = returned, parameters
    calibrations = _DIRECTORY / "calibrations"
    if calibrations.is_dir():
        library.llmcost_set_calibrations(os.fsencode(calibrations))
    return library


_library = _load()
version: str = _library.llmcost_version().decode()


def _array(arguments: Sequence[str]) -> ctypes.Array:
    encoded = [os.fsencode(argument) for argument in arguments]
    if any(b"\0" in argument for argument in encoded):
        raise error_class_of(2)("an argument contains a null character")
    return (ctypes.c_char_p * len(encoded))(*encoded)


@dataclass(frozen=True)
class Result:
    """The output of a command line."""

    exit_code: int
    output: str
    messages: str  # warnings and errors, one per line


def run(arguments: Sequence[str], input: str = "") -> Result:
    """Runs a command line without the program name.

    ``input`` is its standard input, which ``--config -`` reads.

    >>> run(["--model", "openai-community/gpt2", "params"]).exit_code
    0
    """
    typed = input.encode("utf-8", "surrogateescape")
    result = _library.llmcost_run(len(arguments), _array(arguments), typed, len(typed))
    if not result:
        raise MemoryError("llmcost: out of memory")
    try:
        size = ctypes.c_size_t()

        def text(function) -> str:
            start = function(result, ctypes.byref(size))
            return ctypes.string_at(start, size.value).decode("utf-8", "replace")

        return Result(_library.llmcost_exit_code(result), text(_library.llmcost_output), text(_library.llmcost_messages))
    finally:
        _library.llmcost_free(result)


# with these exit codes, a command prints its answer: rows without a result, does not fit, mismatch
_ANSWERED = (0, 7, 8, 9)


def answer_of(arguments: Sequence[str], input: str = "") -> str:
    """The standard output of a command line. Its warnings are Python warnings.

    Raises: the exception of the exit code (``CommandError``).
    """
    result = run(arguments, input)
    if result.exit_code not in _ANSWERED or not result.output:
        message = result.messages.strip()
        raise error_class_of(result.exit_code)(message.removeprefix("llmcost: "))
    warn(result.messages)
    return result.output


def warn(messages: str) -> None:
    """The warnings of a command as Python warnings."""
    for line in messages.splitlines():
        warnings.warn(line.removeprefix("llmcost: ").removeprefix("warning: "), LlmcostWarning, stacklevel=5)


def run_program(arguments: Sequence[str]) -> int:
    """Runs a command line with the streams of this process; returns the exit code."""
    return _library.llmcost_main(len(arguments), _array(arguments))


__all__ = ["CommandError", "Result", "answer_of", "run", "run_program", "version"]
