#!/bin/sh
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# pkg_config.sh PREFIX COMPILER WORK_DIR: compiles the consumers with nothing but what pkg-config says.
set -eu
prefix=$1 compiler=$2 work=$3
sources=$(dirname "$0")/consumer
command -v pkg-config >/dev/null || exit 77
mkdir -p "$work"
export PKG_CONFIG_PATH="$prefix/share/pkgconfig"
pkg-config --atleast-version=0.1 llmcost
for part in core json hub; do
    module=llmcost
    [ "$part" = core ] || module=llmcost-$part
    # shellcheck disable=SC2046 # flags are words
    "$compiler" -std=c++20 -Wall -Wextra -Werror "$sources/$part.cpp" -o "$work/$part" $(pkg-config --cflags --libs "$module")
    "$work/$part"
done
pkg-config --exists llmcost-cli
# the core needs nobody
[ -z "$(pkg-config --print-requires llmcost)$(pkg-config --libs llmcost)" ]
