# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMPILER=g++ -DINCLUDE_DIR=include -P older_standard.cmake: C++17 is told what is missing, in a few lines.
cmake_minimum_required(VERSION 3.24)
set(source ${CMAKE_CURRENT_BINARY_DIR}/older_standard.cpp)
foreach(header IN ITEMS llmcost presets registry base/count devices/all analysis/evaluator)
  file(WRITE ${source} "#include <llmcost/${header}.hpp>\n")
  execute_process(COMMAND ${COMPILER} -std=c++17 -fsyntax-only -I${INCLUDE_DIR} ${source} RESULT_VARIABLE status ERROR_VARIABLE said)
  string(REGEX MATCHALL "\n" lines "${said}")
  list(LENGTH lines how_many)
  string(FIND "${said}" "llmcost needs C++20: compile with -std=c++20" at)
  if(status EQUAL 0 OR at EQUAL -1 OR how_many GREATER 20)
    message(FATAL_ERROR "${header}.hpp in C++17 says, in ${how_many} lines:\n${said}")
  endif()
endforeach()
