# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# No object of OBJECTS (@FILE: those that it lists) defines a symbol that two of them would define twice; BROKEN does, and is found.
cmake_minimum_required(VERSION 3.24)

# strong_symbols(RESULT OBJECTS...): what is global and neither weak nor unique
function(strong_symbols result)
  execute_process(COMMAND ${NM} -A -C --defined-only --extern-only ${ARGN} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [TDBRSGC] [^\n]*" found "${table}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

strong_symbols(seen ${BROKEN})
list(LENGTH seen count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "broken.cpp defines two symbols, found were: ${seen}")
endif()
strong_symbols(seen ${OBJECTS})
if(seen)
  list(JOIN seen "\n  " lines)
  message(FATAL_ERROR "not inline:\n  ${lines}")
endif()
