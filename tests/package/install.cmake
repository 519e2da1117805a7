# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty folder, moves it (so that nothing in it knows where it was), and looks for every header.
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}-first)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${PREFIX}-first RESULT_VARIABLE status OUTPUT_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the installation failed")
endif()
file(RENAME ${PREFIX}-first ${PREFIX})
file(GLOB_RECURSE headers RELATIVE ${INCLUDE_DIR} ${INCLUDE_DIR}/llmcost/*.hpp ${INCLUDE_DIR}/llmcost/*.ipp)
foreach(header IN LISTS headers)
  if(NOT EXISTS ${PREFIX}/include/${header})
    message(SEND_ERROR "${header} was not installed")
  endif()
endforeach()
