# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""The package llmcost: models, answers, errors. Values are those of Transformers (tests/golden) or of published files."""

import doctest
import importlib
import pathlib
import threading
import warnings

import llmcost
import pytest

LLAMA = "meta-llama/Llama-3.2-1B"
SMALL = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "vocab_size": 1000,
    "tie_word_embeddings": False,
}


@pytest.mark.parametrize("name", ["_errors", "_functions", "_library", "_model", "_options", "_sweep", "__init__"])
def test_examples_in_docstrings(name):
    module = llmcost if name == "__init__" else importlib.import_module(f"llmcost.{name}")
    result = doctest.testmod(module)
    assert result.failed == 0


def test_counts_are_exact_integers():
    model = llmcost.load(LLAMA)
    assert model.params == 1_235_814_400  # published
    assert model.count(batch=16, sequence=200).torch_flops == 7_992_665_702_400  # FlopCounterMode
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the context length
        large = model.count(batch=20_000, sequence=100_000).flops
    assert isinstance(large, int) and large > 2**63


def test_sources_of_a_model(tmp_path):
    layer = 4 * 64 * 64 + 3 * 64 * 128 + 2 * 64  # four projections, three matrices, two norms
    params = 2 * 1000 * 64 + 2 * layer + 64  # embeddings and head, layers, the last norm
    assert llmcost.load(SMALL).params == params

    class Config:
        def to_dict(self):
            return SMALL

    assert llmcost.load(Config()).params == params
    path = tmp_path / "config.json"
    path.write_text(__import__("json").dumps(SMALL))
    assert llmcost.load(path).params == params
    assert llmcost.load(tmp_path).params == params
    assert llmcost.load(str(path)).params == params
    assert llmcost.load(SMALL, set={"num_hidden_layers": 1, "tie_word_embeddings": True}).params == 1000 * 64 + layer + 64


def test_tree_and_tensors_sum_to_the_model():
    model = llmcost.load(LLAMA)
    tree = model.tree()
    assert sum(child.params for child in tree.children) == model.params
    layer = next(node for node in tree.walk() if node.path == "model.layers.0")
    assert {child.path for child in layer.children} >= {"model.layers.0.self_attn", "model.layers.0.mlp"}
    sizes = 0
    for tensor in model.tensors():
        size = 1
        for n in tensor.shape:
            size *= n
        sizes += size
    assert sizes == model.params


def test_answers_have_members_text_and_chart():
    answer = llmcost.load(LLAMA).train(batch=4, sequence=512, precision="fp32", attention_implementation="eager")
    assert answer.peak.total == 27_159_495_504  # recorded in PyTorch: docs/memory.md
    assert answer["peak"] == answer.peak and "peak" in list(answer)
    assert "Peak" in str(answer) and answer._repr_html_().startswith("<pre>")
    assert "<svg" in answer.plot().svg
    assert answer.command.startswith("llmcost train --model meta-llama/Llama-3.2-1B --batch 4")
    with pytest.raises(AttributeError, match="members: "):
        answer.pek


def test_errors_name_the_nearest():
    with pytest.raises(llmcost.UsageError, match="nearest: attn") as caught:
        llmcost.load(LLAMA).count(scope="atn")
    assert caught.value.nearest == ["attn"]
    assert isinstance(caught.value, ValueError)
    with pytest.raises(llmcost.ConfigurationError, match="model_type"):
        llmcost.load({"model_type": "lama"})
    with pytest.raises(llmcost.NetworkError):
        llmcost.load("nobody/nothing-at-all", offline=True)
    with pytest.raises(llmcost.UsageError, match="batch"):
        llmcost.load(LLAMA).count(batch=-1)
    with pytest.raises(llmcost.UsageError):
        llmcost.load("a\0b")
    with pytest.raises(TypeError):
        llmcost.load(LLAMA).memory(bach=1)


def test_warnings_are_python_warnings():
    with pytest.warns(llmcost.LlmcostWarning, match="context length"):
        llmcost.load(LLAMA).count(sequence=200_000)


def test_a_model_that_does_not_fit_is_an_answer():
    answer = llmcost.load("meta-llama/Llama-3.1-70B").memory(device="rtx_4090")
    assert answer.fits is False


def test_lists_are_tables():
    model = llmcost.load(LLAMA)
    rows = model.memory(batch=[1, 2, 4]).rows
    assert [row.batch for row in rows] == [1, 2, 4]
    assert [row.cache for row in rows] == [model.memory(batch=n).cache for n in (1, 2, 4)]
    with pytest.raises(llmcost.UsageError, match="sweep"):
        model.count(batch=[1, 2])


def test_graph():
    networkx = pytest.importorskip("networkx")
    graph = llmcost.load("openai-community/gpt2").graph().to_networkx()
    assert networkx.is_directed_acyclic_graph(graph)
    assert any("h.0" in data["name"] or "h.*" in data["name"] for _, data in graph.nodes(data=True))


def test_report(tmp_path):
    path = llmcost.load("openai-community/gpt2").report(tmp_path / "out.html", batch=2)
    assert path.read_text().lstrip().lower().startswith("<!doctype html>")


def test_threads_give_the_same_answers():
    expected = [llmcost.load(LLAMA).count(batch=n).flops for n in range(1, 5)]
    found = [None] * 4

    def count(index):
        for _ in range(5):
            found[index] = llmcost.load(LLAMA).count(batch=index + 1).flops

    threads = [threading.Thread(target=count, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_memory_does_not_grow():
    status = pathlib.Path("/proc/self/statm")
    if not status.exists():
        pytest.skip("needs /proc")

    def resident():
        return int(status.read_text().split()[1]) * 4096

    model = llmcost.load(SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(50):
            model.count()
        before = resident()
        for _ in range(500):
            model.count()
    assert resident() - before < 2_000_000  # one leaked answer of 8 KB per call would be 4 MB


def test_torch_modules():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).eval()
    model = llmcost.from_torch(module, torch.randn(2, 64))
    assert model.params == sum(p.numel() for p in module.parameters())
    assert model.count(batch=2).torch_flops == 2 * 2 * (64 * 128 + 128 * 10)
