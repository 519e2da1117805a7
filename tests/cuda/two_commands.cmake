# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# cmake -DCALIBRATE=… -DLLMCOST=… -DFOLDER=… -P two_commands.cmake: from a GPU that nobody knows to the time per token on it.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../run_and_expect.cmake)
file(REMOVE_RECURSE ${FOLDER})
set(ENV{XDG_DATA_HOME} ${FOLDER})

set(serve ${LLMCOST} serve --device here --model meta-llama/Llama-3.2-1B --input 1000 --output 200 --concurrency 8)
run(2 said ${serve})
expect("${said}" "no measurements of this machine")

run(0 said ${CALIBRATE})
expect("${said}" "no datasheet of NVIDIA Simulation 1: the values of its driver are in ")
expect("${said}" "left out [0-9]+: moe cublas_grouped: a simulation has no experts")
expect("${said}" "llmcost serve --device here ")
run(0 said ${serve})
expect("${said}" "Llama-3.2-1B, NVIDIA Simulation 1")
expect("${said}" "TPOT +[0-9.]+ ms")

# what was measured is not measured again; what was measured of one model is what was predicted of it
run(0 said ${CALIBRATE})
expect("${said}" "measured 0, known [1-9][0-9][0-9]+")
foreach(execution IN ITEMS eager graph)
  run(0 said ${CALIBRATE} --model meta-llama/Llama-3.2-1B --batch 2 --sequence 1024 --execution ${execution})
  expect("${said}" "forward [0-9.]+ ms, predicted [0-9.]+ ms \\([+-][0-4]\\.[0-9] %\\)")
  expect("${said}" "self_attn.o_proj +gemm +simulated +2048 x 2048 x 2048 +16 ")
endforeach()
run(0 said ${LLMCOST} op gemm --device here --m 64 --n 4096 --k 4096)
expect("${said}" "Calibrated with cuda 13.0, cublasLt")
