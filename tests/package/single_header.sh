#!/bin/sh
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# single_header.sh PYTHON COMPILER WORK_DIR SOURCE_DIR: makes llmcost_core.hpp and builds and runs a program with it.
set -eu
[ -x "$1" ] || exit 77
command -v "$2" >/dev/null || exit 77
mkdir -p "$3"
"$1" -B "$4/.ci/single_header.py" --output "$3/llmcost_core.hpp"
# alone in its folder: it includes nothing else of llmcost
! grep -q '#include <llmcost' "$3/llmcost_core.hpp"
"$2" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Werror -I"$3" "$4/tests/package/single_header/main.cpp" \
    "$4/tests/package/single_header/other.cpp" -o "$3/program"
"$3/program"
