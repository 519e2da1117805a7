# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of commands: their JSON output with attributes, and the text and the chart that the command prints."""

from __future__ import annotations

import html
import json
import pathlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._library import answer_of


class Record(Mapping):
    """A JSON object. Its members are attributes, too; integers are exact Python integers."""

    def __init__(self, data: Mapping[str, Any]):
        self._data = dict(data)

    def __getitem__(self, key: str) -> Any:
        return wrapped(self._data[key])

    def __getattr__(self, name: str) -> Any:
        data = self.__dict__.get("_data", {})
        if name in data:
            return wrapped(data[name])
        known = ", ".join(data)
        raise AttributeError(f"no member {name!r}; members: {known}", name=name, obj=self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __eq__(self, other: object) -> bool:
        return self._data == (other._data if isinstance(other, Record) else other)

    __hash__ = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._data!r})"

    def _repr_html_(self) -> str:
        rows = ((html.escape(key), _cell(value)) for key, value in self._data.items())
        return "<table>" + "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in rows) + "</table>"

    def to_dict(self) -> dict[str, Any]:
        """The object as plain dictionaries and lists."""
        return self._data


class Table(Sequence):
    """A list of JSON objects: the rows of a table."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]):
        self._rows = list(rows)

    def __getitem__(self, index):
        return Table(self._rows[index]) if isinstance(index, slice) else Record(self._rows[index])

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return self._rows == (other._rows if isinstance(other, Table) else other)

    __hash__ = None

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(key for row in self._rows for key in row))

    def to_list(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries."""
        return self._rows

    def to_pandas(self):
        """The rows as a ``pandas.DataFrame``; integers above 64 bits remain Python integers."""
        import pandas

        return pandas.DataFrame(self._rows, columns=self.columns)

    def to_polars(self):
        """The rows as a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self._rows, infer_schema_length=None)

    def __repr__(self) -> str:
        shown = "\n".join(f"  {row!r}" for row in self._rows[:10])
        more = f"\n  ... {len(self._rows) - 10} more" if len(self._rows) > 10 else ""
        return f"Table of {len(self._rows)} rows:\n{shown}{more}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(row.get(name))}</td>" for name in self.columns) + "</tr>"
            for row in self._rows[:100]
        )
        more = f"<p>{len(self._rows) - 100:,} more rows</p>" if len(self._rows) > 100 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class Picture:
    """An SVG picture, which notebooks show."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | pathlib.Path) -> None:
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<SVG picture, {len(self.svg):,} bytes; save(path) writes it>"


class Answer(Record):
    """The answer of a command: the JSON output, whose members are attributes. With lists, ``rows`` is a table.

    ``print(answer)`` shows the text that the command prints in a terminal.
    """

    def __init__(self, arguments: Sequence[str], input: str = ""):
        self._arguments, self._input = list(arguments), input
        super().__init__(parsed(answer_of([*arguments, "--format", "json"], input)))

    @property
    def command(self) -> str:
        """The command line that gives the same answer."""
        import shlex

        return shlex.join(["llmcost", *self._arguments])

    def _text(self) -> str:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return answer_of(self._arguments, self._input).rstrip("\n")

    def __repr__(self) -> str:
        return self._text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text())}</pre>"

    def plot(self) -> Picture:
        """The chart that the command draws (``--plot``). Raises ``UsageError`` if it draws none."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "plot.svg")
            answer_of([*self._arguments, "--plot", str(path)], self._input)
            return Picture(path.read_text(encoding="utf-8"))


def parsed(output: str) -> dict[str, Any]:
    """A JSON document; of several objects, one per line, a document with the member ``rows``."""
    try:
        return json.loads(output)
    except json.JSONDecodeError:
        return {"rows": [json.loads(line) for line in output.splitlines()]}


def wrapped(value: Any) -> Any:
    """Objects as records, lists of objects as tables, other values as they are."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return Table(value)
    return value


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return html.escape(str(value))
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (dict, list)):
        value = json.dumps(value)
        value = value if len(value) <= 80 else value[:77] + "..."
    return html.escape(str(value))
