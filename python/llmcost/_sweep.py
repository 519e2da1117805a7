# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Millions of workloads as Arrow record batches."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import error_class_of
from ._library import _array, _library, warn
from ._model import Model, source_of
from ._options import option_arguments


class _Stream(ctypes.Structure):
    """ArrowArrayStream of the Arrow C stream interface."""


_Callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_Stream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    ("get_next", ctypes.c_void_p),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_library.llmcost_sweep.restype = ctypes.c_void_p
_library.llmcost_sweep.argtypes = [
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_char_p),
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.POINTER(_Stream),
]

_NAME = b"arrow_array_stream"
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_streams: dict[int, _Stream] = {}  # the memory of streams in capsules


def _release(stream: _Stream) -> None:
    if stream.release:
        _Callback(stream.release)(ctypes.byref(stream))


@_Destructor
def _release_capsule(capsule: int) -> None:
    stream = _streams.pop(_get_pointer(capsule, _NAME), None)
    if stream is not None:
        _release(stream)


class Sweep:
    """The rows of a sweep. They are computed when they are read, in batches, on all cores, without the GIL.

    Any library with the Arrow PyCapsule interface reads it: ``pyarrow.table(sweep)``, ``polars.DataFrame(sweep)``.
    """

    def __init__(self, arguments: list[str], input: str = ""):
        self._arguments, self._input = arguments, input
        stream, messages = self._open()  # reports errors of the arguments at once
        _release(stream)
        warn(messages)

    def _open(self) -> tuple[_Stream, str]:
        stream, typed = _Stream(), self._input.encode()
        result = _library.llmcost_sweep(len(self._arguments), _array(self._arguments), typed, len(typed), ctypes.byref(stream))
        if not result:
            raise MemoryError("llmcost: out of memory")
        try:
            code = _library.llmcost_exit_code(result)
            messages = ctypes.string_at(_library.llmcost_messages(result, None)).decode("utf-8", "replace").strip()
        finally:
            _library.llmcost_free(result)
        if code:
            raise error_class_of(code)(messages.removeprefix("llmcost: "))
        return stream, messages

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        stream, _ = self._open()
        _streams[ctypes.addressof(stream)] = stream
        return _new_capsule(ctypes.addressof(stream), _NAME, _release_capsule)

    def to_arrow(self):
        """The rows as a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_batches(self):
        """The rows as a ``pyarrow.RecordBatchReader``, which computes one batch at a time."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self)

    def to_pandas(self):
        """The rows as a ``pandas.DataFrame``."""
        return self.to_arrow().to_pandas()

    def to_polars(self):
        """The rows as a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self)

    def to_parquet(self, path: str | os.PathLike[str]) -> int:
        """Writes the rows to a Parquet file, batch by batch; returns their number.

        The file exists only when it is complete, so that an interrupted shard is computed again.
        """
        import pyarrow.parquet

        partial, rows = f"{os.fspath(path)}.partial", 0
        with self.to_batches() as batches, pyarrow.parquet.ParquetWriter(partial, batches.schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
                rows += len(batch)
        os.replace(partial, path)
        return rows

    def __repr__(self) -> str:
        import shlex

        return f"<llmcost.Sweep {shlex.join(self._arguments)}>"


def sweep(models: Any, metrics: str | Iterable[str] = (), scope: str | None = None, **options: Any) -> Sweep:
    """The counts of all combinations of models, devices and workloads; with ``device``, also the time of one step.

    ``models`` is what ``load`` accepts, a ``Model``, or a list of names. ``metrics`` are names such as ``"flops"``.
    Options: those of ``llmcost sweep``: ``batch``, ``sequence``, ``past``, ``device``, ``shard="3/64"``, ``threads``, ...

    >>> rows = sweep("openai-community/gpt2", "flops", batch=[1, 2], sequence=range(128, 1024, 128))
    >>> rows
    <llmcost.Sweep --model openai-community/gpt2 --batch 1,2 --sequence 128..896:+128 -- flops>
    """
    several = isinstance(models, Iterable) and not isinstance(models, (str, Mapping, os.PathLike))
    sources = [source_of(model) for model in (models if several else [models])]
    if len([input for _, input in sources if input]) > 1 or (len(sources) > 1 and any(input for _, input in sources)):
        raise ValueError("a sweep over several models takes names and paths; write configurations to files")
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    terms = [*names, *([] if scope is None else [scope])]
    arguments = [argument for source, _ in sources for argument in source]
    arguments += option_arguments(options) + (["--", *terms] if terms else [])
    return Sweep(arguments, next((input for _, input in sources if input), ""))

