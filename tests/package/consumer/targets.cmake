# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# What consumers build and run, whichever way they found the library.
function(consume part library)
  add_executable(consumer_${part} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${part}.cpp)
  target_link_libraries(consumer_${part} PRIVATE ${library})
  add_test(NAME ${part} COMMAND consumer_${part})
endfunction()
