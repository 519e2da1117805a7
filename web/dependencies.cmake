# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# What the libraries of this project need when they are compiled to WebAssembly. Packages of the host have headers of
# another C library next to them, so each dependency is a target with a directory of its own.
find_path(llmcost_nlohmann_dir nlohmann/json.hpp PATHS /usr/include /usr/local/include /opt/homebrew/include NO_CMAKE_FIND_ROOT_PATH)
if(NOT llmcost_nlohmann_dir)
  message(FATAL_ERROR "llmcost: nlohmann/json.hpp was not found (Debian: nlohmann-json3-dev)")
endif()
file(COPY ${llmcost_nlohmann_dir}/nlohmann DESTINATION ${PROJECT_BINARY_DIR}/dependencies)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
target_include_directories(nlohmann_json::nlohmann_json SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/dependencies)

# a page has no libcurl: the browser fetches configurations, and web/no_network.cpp has no library to load
add_library(CURL::libcurl INTERFACE IMPORTED GLOBAL)
target_include_directories(CURL::libcurl SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/web)

# one thread: threads need headers that a page opened from a file does not have
add_library(Threads::Threads INTERFACE IMPORTED GLOBAL)

add_compile_options(-fwasm-exceptions "SHELL:-include ${PROJECT_SOURCE_DIR}/web/standard_library.hpp")
