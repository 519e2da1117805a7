# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""A sweep with Ray: each task computes one shard and writes a Parquet file.

    python3 ray_sweep.py OUT [--address ADDRESS] [--shards N]

Ray runs the tasks of a node that fails again. Needs the packages llmcost, ray and pyarrow.
"""

import argparse
import pathlib

import ray


@ray.remote(num_cpus=1, max_retries=3)
def compute_shard(index: int, num_shards: int, directory: str) -> int:
    """Writes one shard; returns its number of rows. A file that exists is complete."""
    import llmcost
    import pyarrow.parquet

    path = pathlib.Path(directory, f"part-{index:05}-of-{num_shards:05}.parquet")
    if path.exists():
        return pyarrow.parquet.read_metadata(path).num_rows
    rows = llmcost.sweep(
        "Qwen/Qwen3-8B",
        ["flops", "cache_bytes"],
        batch=range(1, 1001),
        sequence=range(1, 1001),
        shard=f"{index}/{num_shards}",
        threads=1,
    )
    return rows.to_parquet(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="output directory, which all nodes see")
    parser.add_argument("--address", help="address of a Ray cluster (default: this machine)")
    parser.add_argument("--shards", type=int, default=64)
    options = parser.parse_args()
    pathlib.Path(options.directory).mkdir(parents=True, exist_ok=True)
    ray.init(address=options.address)
    rows = sum(ray.get([compute_shard.remote(index, options.shards, options.directory) for index in range(options.shards)]))
    print(f"{rows:,} rows in {options.directory}")


if __name__ == "__main__":
    main()
