# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0

# runs a command; its output, and its end with a code
function(run code result)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE ended)
  if(NOT ended EQUAL code)
    message(FATAL_ERROR "${ARGN}\nended with ${ended}, not ${code}:\n${out}${err}")
  endif()
  set(${result} "${out}${err}" PARENT_SCOPE)
endfunction()

function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "expected ${pattern} in\n${text}")
  endif()
endfunction()
