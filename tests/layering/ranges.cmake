# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Functions of C++20 in the sources (std::ranges, bit_cast) that web/standard_library.hpp does not define: the web page would
# not compile.
cmake_minimum_required(VERSION 3.24)

file(READ ${PROJECT_DIR}/web/standard_library.hpp replacements)
set(known " begin end size greater less ")  # of libc++ 13
string(REGEX MATCHALL "[a-z_]+\\((R&&|A&&|I |const From&) " definitions "${replacements}")
foreach(definition IN LISTS definitions)
  string(REGEX REPLACE "\\(.*" "" name "${definition}")
  string(APPEND known "${name} ")
endforeach()

file(GLOB_RECURSE sources ${PROJECT_DIR}/include/*.hpp ${PROJECT_DIR}/include/*.ipp ${PROJECT_DIR}/examples/llmcost/*)
foreach(source IN LISTS sources)
  file(STRINGS ${source} lines REGEX "std::(ranges::|bit_cast)")
  string(REGEX MATCHALL "std::(ranges::[a-z_]+|bit_cast)" uses "${lines}")
  foreach(use IN LISTS uses)
    string(REGEX REPLACE "std::(ranges::)?" "" name ${use})
    if(NOT known MATCHES " ${name} ")
      message(SEND_ERROR "${source}: ${use} is not in web/standard_library.hpp")
    endif()
  endforeach()
endforeach()
