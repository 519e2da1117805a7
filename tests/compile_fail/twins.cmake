# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.24)
set(compile ${COMPILER} -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I${INCLUDE_DIR} ${SOURCE})

file(STRINGS ${SOURCE} reason REGEX "^// error: ")
string(REPLACE "// error: " "" reason "${reason}")
if(reason STREQUAL "")
  message(FATAL_ERROR "${SOURCE} has no line \"// error: TEXT\"")
endif()

execute_process(COMMAND ${compile} RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the twin does not compile:\n${said}")
endif()

execute_process(COMMAND ${compile} -DMISUSE RESULT_VARIABLE status ERROR_VARIABLE said)
string(FIND "${said}" "${reason}" at)
if(status EQUAL 0)
  message(FATAL_ERROR "the misuse compiles")
elseif(at EQUAL -1)
  message(FATAL_ERROR "the misuse fails, but not because of \"${reason}\":\n${said}")
endif()
