# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# cmake -DTYPES="llama;qwen3" -DINCLUDE_DIR=include -DGOLDEN_DIR=tests/golden -DOUTPUT=registry.cpp -P registry.cmake
#
# Writes a registry of these model types, and of the types that their recorded configurations name.
cmake_minimum_required(VERSION 3.24)

file(GLOB recordings ${GOLDEN_DIR}/*.json ${GOLDEN_DIR}/media/*.json)
set(names ${TYPES})
foreach(recording IN LISTS recordings)
  file(STRINGS ${recording} lines REGEX "\"model_type\": *\"")
  string(REGEX MATCHALL "\"model_type\": *\"[^\"]+\"" found "${lines}")
  list(TRANSFORM found REPLACE "\"model_type\": *\"([^\"]+)\"" "\\1")
  foreach(type IN LISTS TYPES)
    if(type IN_LIST found)
      list(APPEND names ${found})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES names)
list(SORT names)

file(STRINGS ${INCLUDE_DIR}/llmcost/generated/model_specs.hpp table REGEX "&arch::")
string(REGEX MATCHALL "[a-z0-9_]+," registered "${table}")
set(includes "")
set(entries "")
file(GLOB headers RELATIVE ${INCLUDE_DIR} ${INCLUDE_DIR}/llmcost/arch/*.hpp)
foreach(header IN LISTS headers)
  file(READ ${INCLUDE_DIR}/${header} text)
  string(REPLACE ";" " " text "${text}")
  string(REGEX MATCHALL "\ninline constexpr (sub)?model_spec [a-z0-9_]+|model_type = \"[^\"]+\"" tokens "${text}")
  set(spec "")
  foreach(token IN LISTS tokens)
    if(token MATCHES "model_spec ([a-z0-9_]+)$")
      set(spec ${CMAKE_MATCH_1})
      if(token MATCHES "submodel_spec" OR NOT "${spec}," IN_LIST registered)
        set(spec "")
      endif()
    elseif(spec AND token MATCHES "\"(.+)\"" AND CMAKE_MATCH_1 IN_LIST names)
      list(APPEND includes "#include <${header}>")
      list(APPEND entries "${CMAKE_MATCH_1} &llmcost::arch::${spec},")
      list(REMOVE_ITEM TYPES ${CMAKE_MATCH_1})
      set(spec "")
    else()
      set(spec "")
    endif()
  endforeach()
endforeach()
if(TYPES)
  message(FATAL_ERROR "no model spec has the type ${TYPES}: include/llmcost/arch/*.hpp")
endif()
list(SORT entries)
list(TRANSFORM entries REPLACE "^[^ ]+ " "    ")
list(REMOVE_DUPLICATES includes)
list(JOIN includes "\n" includes)
list(JOIN entries "\n" entries)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include <llmcost/compiled_registry.hpp>

@includes@
#include <llmcost/config/read_model.hpp>

namespace {
constexpr llmcost::model_registry_entry entries[]{
@entries@
};
}  // namespace

const llmcost::model_registry llmcost::compiled::registry{entries, sizeof entries / sizeof *entries,
                                                          llmcost::parse_model_among, llmcost::parse_model_of};
]])
