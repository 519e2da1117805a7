# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Breaks every rule once in a copy of the headers; arrows.cmake must say so of each.
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${INCLUDE_DIR}/llmcost DESTINATION ${WORK_DIR})
set(complaints "")
# must_find(HEADER LINE COMPLAINT): what arrows.cmake says once the line is there
function(must_find header line complaint)
  file(APPEND ${WORK_DIR}/llmcost/${header} "\n${line}\n")
  set(complaints "${complaints};${complaint}" PARENT_SCOPE)
endfunction()

must_find(base/count.hpp "#include <llmcost/trace/trace.hpp>" "llmcost/base/count.hpp (base) may not include llmcost/trace/trace.hpp (trace)")
must_find(layers/norm.hpp "#include <llmcost/arch/llama.hpp>" "(layers) may not include llmcost/arch/llama.hpp (arch)")
must_find(llmcost.hpp "#include <llmcost/json.hpp>" "(llmcost) may not include llmcost/json.hpp (json)")
must_find(analysis/counts.hpp "#include <llmcost/registry.hpp>" "(analysis) may not include llmcost/registry.hpp (registry)")
must_find(kernels/kernel_library.hpp "#include <llmcost/cli/args/text.hpp>" "(kernels) may not include llmcost/cli/args/text.hpp (cli/args)")
must_find(cli/request/config_lookup.hpp "#include <llmcost/registry.hpp>" "(cli/request) may not include llmcost/registry.hpp (registry)")
must_find(serving/step.hpp "#include <llmcost/kernels/kernel_library.hpp>" "(serving) may not include llmcost/kernels/kernel_library.hpp (kernels)")
must_find(trace/tensor.hpp "  #  include <vector>" "llmcost/trace/tensor.hpp (trace) may not include vector")
must_find(trace/tensor.hpp "#include <nlohmann/json.hpp>" "llmcost/trace/tensor.hpp (trace) may not include nlohmann/json.hpp")
must_find(trace/tensor.hpp "#include \"count.hpp\"" "write <llmcost/...>")
must_find(trace/tensor.hpp "#include <llmcost/no_such_header.hpp>" "llmcost/no_such_header.hpp does not exist")
must_find(base/dtype.hpp "#include <llmcost/base/workload.hpp>" "a circle of includes goes through")
must_find(arch/forgotten.hpp "" "llmcost/arch/forgotten.hpp (arch) is not reached")
must_find(new_folder/odd.hpp "" "llmcost/new_folder/odd.hpp: belongs to no folder of the layering")

execute_process(COMMAND ${CMAKE_COMMAND} -DINCLUDE_DIR=${WORK_DIR} -P ${CMAKE_CURRENT_LIST_DIR}/arrows.cmake
                RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
list(REMOVE_ITEM complaints "")
foreach(complaint IN LISTS complaints)
  string(FIND "${said}" "${complaint}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(SEND_ERROR "not found: ${complaint}\n${said}")
  endif()
endforeach()
file(REMOVE_RECURSE ${WORK_DIR})
