# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# cmake -DCALIBRATE=… -DFOLDER=… -P calibrate.cmake: a sweep that is cut, goes on and ends; GPT-3's operators, one by one.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../../run_and_expect.cmake)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
set(ENV{XDG_DATA_HOME} ${FOLDER})

execute_process(COMMAND ${CALIBRATE} TIMEOUT 2 OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE ended)
expect("${ended}" "timeout")
run(0 said ${CALIBRATE})
expect("${said}" "no datasheet of NVIDIA Virtual 1: the values of its driver are in ")
expect("${said}" "measured [1-9][0-9]*, known [1-9]")
expect("${said}" "held; 0 complaints")
if(said MATCHES "left out [^\n]*")
  message(FATAL_ERROR "an operator was refused: ${CMAKE_MATCH_0}")
endif()
run(0 said ${CALIBRATE})
expect("${said}" "measured 0, known [1-9][0-9][0-9]+")

# a model of 175 billion parameters, whose tensors are 350 GB
file(WRITE ${FOLDER}/gpt3.json [[{"model_type": "gpt2", "n_embd": 12288, "n_layer": 96, "n_head": 96, "n_positions": 2048,
  "vocab_size": 50257, "torch_dtype": "bfloat16"}]])
foreach(sequence IN ITEMS 1 2048)
  run(0 said ${CALIBRATE} --config ${FOLDER}/gpt3.json --batch 1 --sequence ${sequence})
  expect("${said}" "c_fc +gemm +cublasLt +${sequence} x 49152 x 12288 +96 ")
  expect("${said}" "distinct operators measured separately; peak device memory [0-2]\\.")
  if(NOT said MATCHES "at most ([0-9.]+) GB were held; 0 complaints" OR CMAKE_MATCH_1 GREATER_EQUAL 2.5)
    message(FATAL_ERROR "more than 2.5 GB were held at once, or there were complaints:\n${said}")
  endif()
endforeach()
