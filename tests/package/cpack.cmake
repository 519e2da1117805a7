# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD_DIR=... -DCPACK=... -DWORK_DIR=... -P cpack.cmake: packs the installation, unpacks it elsewhere, and runs the program.
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
# with Ninja, cpack builds nothing: the build is complete already
execute_process(COMMAND ${CPACK} -G TGZ -B ${WORK_DIR} --config ${BUILD_DIR}/CPackConfig.cmake
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB archive ${WORK_DIR}/*.tar.gz)
file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${WORK_DIR}/root)
file(GLOB program ${WORK_DIR}/root/*/bin/llmcost)
cmake_path(GET program PARENT_PATH prefix)
cmake_path(GET prefix PARENT_PATH prefix)
foreach(file IN ITEMS share/man/man1/llmcost.1 share/bash-completion/completions/llmcost.bash share/zsh/site-functions/_llmcost
        share/fish/vendor_completions.d/llmcost.fish share/cmake/llmcost/llmcost-config.cmake share/pkgconfig/llmcost.pc
        include/llmcost/llmcost.hpp share/doc/llmcost/LICENSE)
  if(NOT EXISTS ${prefix}/${file})
    message(SEND_ERROR "${file} is not in the package")
  endif()
endforeach()
execute_process(COMMAND ${program} --offline --model meta-llama/Llama-3.2-1B --format csv params
                OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "1235814400")
  message(SEND_ERROR "the program of the package printed ${printed}")
endif()
# calibrations are found next to the program
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=LLMCOST_CALIBRATIONS ${program} latency --model Qwen/Qwen3-8B --device h200
                --engine vllm OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
