# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""A sweep on a Dask cluster: each task computes one shard and writes a Parquet file.

    python3 dask_sweep.py OUT [--scheduler ADDRESS] [--shards N] [--points N]

Without an address, the cluster is two processes on this machine. A worker that dies loses nothing: Dask runs its task again, and
files of complete shards remain. Needs the packages llmcost, dask, distributed and pyarrow.
"""

import argparse
import pathlib

import llmcost
from dask.distributed import Client, LocalCluster, as_completed


def compute_shard(index: int, num_shards: int, batches: int, directory: str) -> int:
    """Writes one shard; returns its number of rows. A file that exists is complete."""
    import pyarrow.parquet

    path = pathlib.Path(directory, f"part-{index:05}-of-{num_shards:05}.parquet")
    if path.exists():
        return pyarrow.parquet.read_metadata(path).num_rows
    rows = llmcost.sweep(
        ["Qwen/Qwen3-8B"],
        ["flops", "cache_bytes"],
        batch=range(1, batches + 1),
        sequence=range(1, 1001),
        shard=f"{index}/{num_shards}",
        threads=1,
    )
    return rows.to_parquet(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="output directory, which all workers see")
    parser.add_argument("--scheduler", help="address of a Dask scheduler (default: two processes on this machine)")
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--points", type=int, default=10_000_000, help="number of rows, a multiple of 1,000")
    parser.add_argument("--workers", type=int, default=2, help="processes on this machine")
    options = parser.parse_args()
    pathlib.Path(options.directory).mkdir(parents=True, exist_ok=True)
    cluster = options.scheduler or LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        tasks = [
            client.submit(compute_shard, index, options.shards, options.points // 1000, options.directory, pure=False)
            for index in range(options.shards)
        ]
        rows = sum(task.result() for task in as_completed(tasks))
    print(f"{rows:,} rows in {options.directory}")


if __name__ == "__main__":
    main()
