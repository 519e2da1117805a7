#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Records the pipeline schedules of PyTorch, and writes tests/distributed/pipeline_schedules.txt.

    pip install torch==2.15.0
    python tests/oracle/pipeline_schedules.py tests/distributed/pipeline_schedules.txt

The classes of torch.distributed.pipelining create their tables without GPUs, in a fake process group. A few tables are
recorded completely. All others are recorded as hashes of their text, so that many sizes need little space.
"""

import argparse
import logging
import sys

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, schedules
from torch.testing._internal.distributed.fake_pg import FakeStore

NAMES = ["GPipe", "1F1B", "Interleaved1F1B", "LoopedBFS", "InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV"]
STAGES_PER_RANK = {"GPipe": [1], "1F1B": [1], "ZBVZeroBubble": [2], "DualPipeV": [2]}
RANKS = range(1, 9)
MICROBATCHES = range(1, 33)
DEFERRED = {"max_active_stages": 2, "defer_reduce_grad_wait": True, "defer_pp_recv": True}
DEFERRED_MICROBATCHES = range(1, 17)
COMPLETE = [("GPipe", 2, 1, 3), ("1F1B", 4, 1, 5), ("Interleaved1F1B", 2, 2, 4), ("Interleaved1F1B", 3, 2, 5),
            ("LoopedBFS", 2, 4, 3), ("InterleavedZeroBubble", 4, 1, 4), ("InterleavedZeroBubble", 2, 2, 4),
            ("ZBVZeroBubble", 2, 2, 4), ("ZBVZeroBubble", 3, 2, 3), ("DualPipeV", 2, 2, 4), ("DualPipeV", 3, 2, 7)]
TIMED = [(name, ranks, stages, microbatches) for name in NAMES for ranks in (1, 2, 4, 7)
         for stages in STAGES_PER_RANK.get(name, [1, 3]) for microbatches in (2 * ranks, 28)]


def make_table(name, ranks, stages_per_rank, microbatches, **options):
    """The table of one schedule: by rank its order, communication, stages and activations. A text if PyTorch refuses."""
    kind = schedules.get_schedule_class(name)
    is_single = issubclass(kind, schedules.PipelineScheduleSingle)
    first = [0, 2 * ranks - 1] if name in ("ZBVZeroBubble", "DualPipeV") else range(0, ranks * stages_per_rank, ranks)
    stages = [PipelineStage(torch.nn.Identity(), s, ranks * stages_per_rank, torch.device("cpu")) for s in first]
    try:
        schedule = kind(stages[0] if is_single else stages, microbatches, **options)
    except (ValueError, AssertionError) as error:
        return str(error)
    order = schedule.pipeline_order
    table = []
    for rank in range(ranks):
        row = {"order": order[rank]}
        if not is_single:
            row["communication"] = schedule.pipeline_order_with_comms[rank]
            row["stages"] = sorted(s for s, owner in schedule.stage_index_to_group_rank.items() if owner == rank)
            row["alive"] = schedules.analyze_pipeline_activation_liveness(
                schedule, pp_rank=rank, stage_indices=row["stages"], granularity="stage_microbatch").num_slots
        table.append(row)
    return table


def text_of(row):
    """Lines of one rank."""
    lines = ["order " + " ".join("-" if a is None else str(a) for a in row["order"])]
    if "communication" in row:
        lines.append("communication " + " ".join(map(str, row["communication"])))
        lines.append("stages " + " ".join(map(str, row["stages"])))
        lines.append(f"alive {row['alive']}")
    return "".join(line + "\n" for line in lines)


def hash_of(text):
    """FNV-1a with 32 bits."""
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return f"{value:08x}"


# Times in units that have no meaning. tests/distributed/schedule_simulation_test.cpp has the same ones.
def duration(action):
    if action.sub_actions:
        return sum(map(duration, action.sub_actions))
    stage, kind = action.stage_index, action.computation_type
    forward, inputs, weights = 10 + stage % 3, 7 + stage % 2, 5 + stage % 4
    return {"F": forward, "I": inputs, "W": weights, "B": inputs + weights + 1}.get(kind.value, 0)


TRANSFER = {"F": 2, "B": 3}


def step_time(table, name, num_stages):
    """End of the last action of the orders without communication: the longest path, by repeated relaxation."""
    rank_of = {}
    for rank, row in enumerate(table):
        for action in row["order"]:
            for part in (action.sub_actions or [action]) if action else []:
                rank_of[part.stage_index] = rank
    if name == "1F1B":  # the last rank's forwards are numbered from 1 in the table, and executed from 0
        table[-1]["order"] = [a._replace(microbatch_index=a.microbatch_index - 1) if a.computation_type.value == "F" else a
                              for a in table[-1]["order"]]
    ends = {}  # (direction, stage, microbatch): end of the action that computes the output
    while True:
        before, last = dict(ends), 0
        for rank, row in enumerate(table):
            now = 0
            for action in filter(None, row["order"]):
                parts = action.sub_actions or [action]
                for part in parts:
                    stage, microbatch = part.stage_index, part.microbatch_index
                    kind = part.computation_type.value
                    source = {"F": ("F", stage - 1), "B": ("B", stage + 1), "I": ("B", stage + 1)}.get(kind)
                    if source and 0 <= source[1] < num_stages:
                        transfer = TRANSFER[source[0]] if rank_of[source[1]] != rank else 0
                        now = max(now, ends.get((*source, microbatch), 0) + transfer)
                now += duration(action)
                for part in parts:
                    kind = part.computation_type.value
                    if kind in "FBI":
                        ends["F" if kind == "F" else "B", part.stage_index, part.microbatch_index] = now
            last = max(last, now)
        if ends == before:
            return last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    tables, hashes, deferred, times = [], [], [], []
    for ranks in RANKS:
        dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())
        for name in NAMES:
            for stages in STAGES_PER_RANK.get(name, [1, 2, 3, 4]):
                found = []
                for microbatches in MICROBATCHES:
                    table = make_table(name, ranks, stages, microbatches)
                    if isinstance(table, str):
                        found.append("refused")
                        continue
                    found.append(hash_of("".join(map(text_of, table))))
                    size = (name, ranks, stages, microbatches)
                    if size in COMPLETE:
                        tables.append(f"table {name} {ranks} {stages} {microbatches}\n" + "".join(map(text_of, table)))
                    if size in TIMED:
                        step = step_time(table, name, ranks * stages)
                        times.append(f"time {name} {ranks} {stages} {microbatches} {step}\n")
                hashes.append(f"hashes {name} {ranks} {stages} " + " ".join(found) + "\n")
                if name in ("GPipe", "1F1B"):
                    continue
                found = [make_table(name, ranks, stages, m, **DEFERRED) for m in DEFERRED_MICROBATCHES]
                found = ["refused" if isinstance(table, str) else hash_of("".join(map(text_of, table))) for table in found]
                deferred.append(f"deferred {name} {ranks} {stages} " + " ".join(found) + "\n")
        dist.destroy_process_group()
        print(f"{ranks} ranks", file=sys.stderr)
    with open(arguments.output, "w") as out:
        out.write(f"""# Recorded by tests/oracle/pipeline_schedules.py from torch {torch.__version__.split('+')[0]}; do not edit.
#
# table NAME RANKS STAGES_PER_RANK MICROBATCHES: complete; lines of each rank follow. `stages` of the rank, `alive`: slots of
# its activations. Schedules with one stage per rank only have `order`.
# hashes NAME RANKS STAGES_PER_RANK: of the lines of all ranks (FNV-1a, 32 bits), for {MICROBATCHES.start} to {MICROBATCHES.stop - 1} microbatches; `refused`: PyTorch raises
# deferred NAME RANKS STAGES_PER_RANK: hashes with {", ".join(f"{k}={v}" for k, v in DEFERRED.items())},
# for {DEFERRED_MICROBATCHES.start} to {DEFERRED_MICROBATCHES.stop - 1} microbatches
# time NAME RANKS STAGES_PER_RANK MICROBATCHES STEP: end of the last action, with the durations of the recorder

""")
        for lines in (sorted(tables, key=lambda t: NAMES.index(t.split()[1])), hashes, deferred, times):
            out.write("".join(lines) + "\n")


if __name__ == "__main__":
    main()
