# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""A model, and the commands that answer questions about it."""

from __future__ import annotations

import html
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from ._answer import Answer, Record, Table, parsed
from ._commands import ModelCommands
from ._errors import UsageError
from ._library import answer_of
from ._options import option_arguments


class Counts(Record):
    """The exact counts of a forward pass, or of one scope of it: ``add``, ``mult``, ``div``, ``sqrt``, ``flops``, ..."""


class Node(Record):
    """A module with its counts and its children."""

    def __init__(self, data: Mapping[str, Any], children: list[Node]):
        super().__init__(data)
        self.children = children

    def __iter__(self):
        return iter(self._data)

    def walk(self):
        """This module and all modules below it, in order of execution."""
        yield self
        for child in self.children:
            yield from child.walk()

    def __repr__(self) -> str:
        name = self._data["path"] or "model"
        return f"{name}: {self._data['class']}, {self._data['params']:,} parameters, {self._data['flops']:,} FLOPs"


class Graph(Answer):
    """The graph of a forward pass: modules or operations, and the tensors between them."""

    def to_networkx(self):
        """The graph as a ``networkx.DiGraph``; nodes and edges have the members of the JSON output."""
        import networkx

        graph = networkx.DiGraph(model=self._data["model"])
        for node in self._data["nodes"]:
            graph.add_node(node["id"], **{key: value for key, value in node.items() if key != "id"})
        for edge in self._data["edges"]:
            attributes = {key: value for key, value in edge.items() if key not in ("from", "to")}
            graph.add_edge(edge["from"], edge["to"], **attributes)
        return graph


class Model(ModelCommands):
    """A model that was read from a configuration. ``load`` makes it."""

    def __init__(self, source: list[str], input: str = ""):
        self._source, self._input = source, input
        document = json.loads(answer_of([*source, "--format", "json", "params"], input))
        self.name: str = document["model"]["name"]
        self.model_type: str = document["model"]["model_type"]
        self.architecture: str | None = document["model"]["architecture"]
        self.source: str = document["model"]["source"]
        self.params: int = document["totals"]["params"]

    def _answer(self, command: str, options: Mapping[str, Any]) -> Answer:
        return Answer([command, *self._source, *option_arguments(options)], self._input)

    def _page(self, options: Mapping[str, Any], *more: str) -> dict[str, Any]:
        return parsed(answer_of([*self._source, *option_arguments(options), "--format", "json", *more], self._input))

    def count(self, scope: str | None = None, **options: Any) -> Counts:
        """The exact counts of a forward pass, or of one of its scopes.

        ``scope`` is a role (``attn``), a class (``torch.nn.Linear``) or a module path (``model.layers.*.mlp``).
        Options: those of the command ``llmcost``, e.g. ``batch``, ``sequence``, ``past``, ``training``.

        >>> import llmcost
        >>> llmcost.load("meta-llama/Llama-3.2-1B").count(batch=16, sequence=200, scope="attn").mult
        579403776000
        """
        document = self._page(options, *([] if scope is None else ["--", scope]))
        if "rows" in document:
            raise UsageError("count() counts one workload; sweep() accepts lists")
        return Counts(document["totals"] if scope is None else document["query"]["figures"])

    def tree(self, **options: Any) -> Node:
        """The modules of the model with their counts; ``depth=N`` limits the levels."""
        document = self._page(options, "--tree")
        root = Node({"path": "", "class": self.architecture or self.model_type, **document["totals"]}, [])
        parents = {"": root}
        for row in document["scopes"]:
            path = row["path"]
            node = parents[path] = Node(row, [])
            prefix = path
            while prefix:
                prefix = prefix.rpartition(".")[0]
                if prefix in parents:
                    parents[prefix].children.append(node)
                    break
        return root

    def tensors(self) -> Table:
        """The parameters of the checkpoint: names, shapes, element types."""
        return Table(self._page({}, "--tensors")["tensors"])

    def graph(self, **options: Any) -> Graph:
        """The graph of a forward pass: modules, or operations with ``level="op"``.

        Options: those of ``llmcost graph``, e.g. ``batch``, ``sequence``, ``level``, ``split``, ``device``.
        """
        return Graph(["graph", *self._source, *option_arguments(options)], self._input)

    def report(self, path: str | os.PathLike[str], **options: Any) -> pathlib.Path:
        """Writes an HTML report of the model and a workload; returns its path.

        Options: those of ``llmcost report``, e.g. ``batch``, ``sequence``, ``device``.
        """
        answer_of(["report", *self._source, *option_arguments({**options, "html": path})], self._input)
        return pathlib.Path(path)

    def formula(self, *metrics: str, scope: str | None = None, **options: Any) -> Answer:
        """Metrics as polynomials in batch, sequence and past (``llmcost formula``)."""
        terms = [*metrics, *([] if scope is None else [scope])]
        return Answer(["formula", *self._source, *option_arguments(options), *terms], self._input)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(answer_of(self._source, self._input))}</pre>"

    def __repr__(self) -> str:
        return f"<llmcost.Model {self.name}: {self.model_type}, {self.params:,} parameters>"

    def __str__(self) -> str:
        return answer_of(self._source, self._input).rstrip("\n")


def source_of(model: Any) -> tuple[list[str], str]:
    """The options that select a model, and the standard input with its configuration, if it has no name."""
    if isinstance(model, Model):
        return model._source, model._input
    if not isinstance(model, Mapping) and callable(getattr(model, "to_dict", None)):
        model = model.to_dict()
    if isinstance(model, Mapping):
        return ["--config", "-"], json.dumps(model, default=str)
    name = os.fspath(model)
    if name.endswith(".gguf"):
        return ["--gguf", name], ""
    if name.endswith((".safetensors", ".safetensors.index.json")):
        return ["--safetensors", name], ""
    return ["--config" if isinstance(model, os.PathLike) else "--model", name], ""


def load(model: Any, **options: Any) -> Model:
    """Reads a model.

    ``model`` is one of:

    - a name on the Hugging Face Hub, e.g. ``"meta-llama/Llama-3.2-1B"``; bundled configurations need no network
    - the path of a ``config.json``, its directory, a GGUF file or a safetensors file
    - a configuration as a dictionary
    - a ``transformers.PretrainedConfig``

    Options: those of the section "Model" of the command, e.g. ``revision="main"``, ``part="text_config"``,
    ``set={"num_hidden_layers": 2}``, ``quantization="q4_k_m"``, ``offline=True``.

    Raises: ``ConfigurationError``, ``NetworkError``, ``UsageError``.

    >>> load("openai-community/gpt2")
    <llmcost.Model openai-community/gpt2: gpt2, 124,439,808 parameters>
    >>> load({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    ...       "intermediate_size": 128, "vocab_size": 1000}).params
    210240
    """
    source, input = source_of(model)
    return Model([*source, *option_arguments(options)], input)
