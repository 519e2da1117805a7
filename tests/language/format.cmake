# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# cmake -DCLANG_FORMAT=clang-format-14 -DSOURCE_DIR=. -DLIST_FILE=files.txt -P format.cmake: fails and lists the files whose format differs.
cmake_minimum_required(VERSION 3.24)
set(files "")
foreach(folder IN ITEMS include tests bench examples)
  file(GLOB_RECURSE found ${SOURCE_DIR}/${folder}/*.hpp ${SOURCE_DIR}/${folder}/*.ipp ${SOURCE_DIR}/${folder}/*.cpp
       ${SOURCE_DIR}/${folder}/*.cu ${SOURCE_DIR}/${folder}/*.cuh)
  list(APPEND files ${found})
endforeach()
list(JOIN files "\n" lines)
file(WRITE ${LIST_FILE} "${lines}\n")
execute_process(COMMAND ${CLANG_FORMAT} --dry-run -Werror --files=${LIST_FILE} RESULT_VARIABLE status ERROR_VARIABLE messages)
if(NOT status EQUAL 0)
  string(REGEX MATCHALL "[^\n]*error: code should be clang-formatted[^\n]*" places "${messages}")
  list(JOIN places "\n" places)
  message(FATAL_ERROR "format differs; run clang-format-14 -i on:\n${places}")
endif()
