# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE_DIR=... -DVERSION=... -P recipes.cmake: the recipes that must state a version have that of version.hpp.
cmake_minimum_required(VERSION 3.24)
foreach(recipe IN ITEMS "vcpkg/vcpkg.json|\"version\": \"@\"" "conda/recipe.yaml|version: \"@\"" "homebrew/llmcost.rb|/v@.tar.gz")
  string(REGEX REPLACE "\\|.*" "" file ${recipe})
  string(REGEX REPLACE "^[^|]*\\|" "" text ${recipe})
  string(REPLACE "@" ${VERSION} text ${text})
  file(READ ${SOURCE_DIR}/.ci/packaging/${file} content)
  string(FIND "${content}" "${text}" position)
  if(position EQUAL -1)
    message(SEND_ERROR "${file}: expected ${text}")
  endif()
endforeach()
file(READ ${SOURCE_DIR}/.ci/packaging/vcpkg/vcpkg.json manifest)
string(JSON name GET "${manifest}" name)
