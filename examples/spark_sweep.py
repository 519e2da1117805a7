# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""A sweep with Spark: an Arrow function makes the rows of each shard.

    spark-submit spark_sweep.py OUT [--shards N]

Needs the packages llmcost, pyspark, pandas and pyarrow on all nodes.
"""

import argparse
from collections.abc import Iterator

import pyarrow
from pyspark.sql import SparkSession

MODEL = "Qwen/Qwen3-8B"
METRICS = ["flops", "cache_bytes"]
SCHEMA = "name string, batch long, sequence long, past long, flops decimal(38,0), cache_bytes decimal(38,0), error string"


def compute_shards(batches: Iterator[pyarrow.RecordBatch], num_shards: int) -> Iterator[pyarrow.RecordBatch]:
    """The rows of the shards in a column of shard numbers."""
    import llmcost

    decimal = pyarrow.decimal128(38, 0)
    for batch in batches:
        for index in batch.column("id").to_pylist():
            rows = llmcost.sweep(
                MODEL, METRICS, batch=range(1, 1001), sequence=range(1, 1001), shard=f"{index}/{num_shards}", threads=1
            )
            for part in rows.to_batches():
                table = pyarrow.Table.from_batches([part])
                types = [decimal if name in METRICS else field.type for name, field in zip(table.column_names, table.schema)]
                types[0] = pyarrow.string()  # Spark has no dictionaries
                yield from table.cast(pyarrow.schema(list(zip(table.column_names, types)))).to_batches()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="output directory")
    parser.add_argument("--shards", type=int, default=64)
    options = parser.parse_args()
    spark = SparkSession.builder.appName("llmcost sweep").getOrCreate()
    shards = spark.range(0, options.shards, 1, options.shards)
    rows = shards.mapInArrow(lambda batches: compute_shards(batches, options.shards), SCHEMA)
    rows.write.mode("overwrite").parquet(options.directory)


if __name__ == "__main__":
    main()
