# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""llmcost.sweep: rows as Arrow batches, equal to single answers; shards; errors."""

import gc

import llmcost
import pytest

pyarrow = pytest.importorskip("pyarrow")
GPT2 = "openai-community/gpt2"


def test_rows_are_the_counts_of_single_calls():
    table = llmcost.sweep([GPT2, "Qwen/Qwen3-0.6B"], ["flops", "cache_bytes"], batch=[1, 3], sequence=[7, 100], past=[0, 64]).to_arrow()
    assert table.num_rows == 16
    models = {GPT2: llmcost.load(GPT2), "Qwen/Qwen3-0.6B": llmcost.load("Qwen/Qwen3-0.6B")}
    for row in table.to_pylist():
        counts = models[row["name"]].count(batch=row["batch"], sequence=row["sequence"], past=row["past"])
        assert (row["flops"], row["cache_bytes"], row["error"]) == (counts.flops, counts.cache_bytes, None)


def test_a_scope():
    (row,) = llmcost.sweep(GPT2, "mult", scope="attn", sequence=128).to_arrow().to_pylist()
    assert row["mult"] == llmcost.load(GPT2).count(sequence=128, scope="attn").mult


def test_counts_above_64_bits_are_decimals():
    model = llmcost.load("meta-llama/Llama-3.1-70B")
    table = llmcost.sweep(model, "flops", batch=4096, sequence=131072).to_arrow()
    assert pyarrow.types.is_decimal128(table.schema.field("flops").type)
    assert int(table["flops"][0].as_py()) == model.count(batch=4096, sequence=131072).flops > 2**63


def test_devices_have_the_time_of_latency():
    (row,) = llmcost.sweep(GPT2, "flops", batch=4, sequence=128, device="h200").to_arrow().to_pylist()
    answer = llmcost.load(GPT2).latency(batch=4, sequence=128, device="h200")
    assert row["seconds"] == answer.seconds and row["fits"] is True


def test_shards_are_a_partition():
    def rows(**options):
        return llmcost.sweep(GPT2, "flops", batch=range(1, 8), sequence=[1, 2, 4], **options).to_arrow().to_pylist()

    parts = [rows(shard=f"{k}/4") for k in range(4)]
    assert [row for part in parts for row in part] == rows()
    assert {len(part) for part in parts} == {5, 6}


def test_threads_do_not_change_rows():
    one = llmcost.sweep(GPT2, "flops", batch=range(1, 101), sequence=range(1, 101), threads=1).to_arrow()
    assert one.equals(llmcost.sweep(GPT2, "flops", batch=range(1, 101), sequence=range(1, 101), threads=3).to_arrow())


def test_errors():
    with pytest.raises(llmcost.UsageError, match="shard"):
        llmcost.sweep(GPT2, shard="4/4")
    with pytest.raises(llmcost.UsageError, match="nearest"):
        llmcost.sweep(GPT2, "flos")
    with pytest.raises(ValueError):
        llmcost.sweep([{"model_type": "gpt2"}, GPT2])


def test_a_model_that_cannot_be_read_is_skipped_with_a_warning():
    with pytest.warns(llmcost.LlmcostWarning, match="nobody/nothing is skipped"):
        sweep = llmcost.sweep(["nobody/nothing", GPT2], "flops", offline=True)
    assert sweep.to_arrow()["name"].to_pylist() == [GPT2]


def test_a_stream_may_be_dropped():
    sweep = llmcost.sweep(GPT2, "flops", batch=range(1, 1001), sequence=range(1, 1001))
    for _ in range(3):
        capsule = sweep.__arrow_c_stream__()
        del capsule
    reader = sweep.to_batches()
    assert len(reader.read_next_batch()) > 0
    del reader
    gc.collect()


def test_parquet_appears_when_it_is_complete(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "part.parquet"
    assert llmcost.sweep(GPT2, "flops", batch=range(1, 11)).to_parquet(path) == 10
    assert parquet.read_table(path).num_rows == 10 and list(tmp_path.iterdir()) == [path]


def test_pandas_and_polars():
    sweep = llmcost.sweep(GPT2, "flops", batch=[1, 2])
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert isinstance(sweep.to_pandas(), pandas.DataFrame) and isinstance(sweep.to_polars(), polars.DataFrame)
