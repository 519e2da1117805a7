#!/bin/sh
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Measures the GPU of this machine in ten minutes: kernels (llmcost-calibrate), then steps of PyTorch.
#
#     bench/measure_gpu.sh FOLDER [SECONDS]
#
# FOLDER gets measured/*.csv, calibrations/ and accuracy.md of llmcost-calibrate, and torch_runs.jsonl of
# tests/oracle/torch_gpu.py, if Python has PyTorch and Transformers. SECONDS (600) are for both; five minutes of them are
# for kernels. A second run continues the sweep of kernels. Programs: CALIBRATE, PYTHON in the environment.
set -eu
[ $# -ge 1 ] && [ $# -le 2 ] || { echo "usage: bench/measure_gpu.sh FOLDER [SECONDS]" >&2; exit 2; }
folder=$1 seconds=${2:-600}
root=$(cd "$(dirname "$0")/.." && pwd)
calibrate=${CALIBRATE:-$root/build/bench/llmcost-calibrate} python=${PYTHON:-python3}
[ -x "$calibrate" ] || { echo "measure_gpu: no $calibrate; run ./setup.sh --calibrate, which builds it" >&2; exit 2; }

start=$(date +%s)
mkdir -p "$folder"
"$calibrate" "$folder"
left=$((seconds - $(date +%s) + start))
if ! "$python" -c 'import torch, transformers' 2>/dev/null; then
    echo "measure_gpu: $python has no torch or no transformers; steps of PyTorch are left out" >&2
elif [ "$left" -lt 30 ]; then
    echo "measure_gpu: no time is left for steps of PyTorch" >&2
else
    "$python" "$root/tests/oracle/torch_gpu.py" "$folder/torch_runs.jsonl" "$left"
fi
