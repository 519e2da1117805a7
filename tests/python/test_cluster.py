# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""examples/dask_sweep.py on a local cluster: a worker that is killed loses nothing. Without Dask, the test is skipped."""

import os
import pathlib
import signal
import sys
import time

import pytest

pytest.importorskip("pyarrow")
distributed = pytest.importorskip("distributed")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))


def test_a_killed_worker_loses_nothing(tmp_path):
    import dask_sweep
    import pyarrow.parquet

    shards, batches = 16, 50  # 50,000 rows
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            tasks = [client.submit(dask_sweep.compute_shard, k, shards, batches, str(tmp_path), pure=False) for k in range(shards)]
            while not list(tmp_path.glob("*.parquet")):
                time.sleep(0.01)
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
            rows = sum(client.gather(tasks))
    assert rows == 1000 * batches
    table = pyarrow.parquet.read_table(tmp_path)
    assert table.num_rows == rows
    assert table.group_by(["batch", "sequence"]).aggregate([]).num_rows == rows  # each point once
