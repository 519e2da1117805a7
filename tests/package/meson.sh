#!/bin/sh
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# meson.sh PREFIX COMPILER WORK_DIR SOURCE_DIR: the consumers with Meson, from an installation and with llmcost as a subproject.
set -eu
prefix=$1 compiler=$2 work=$3 source=$4
command -v meson >/dev/null && command -v ninja >/dev/null && command -v pkg-config >/dev/null || exit 77
rm -rf "$work"
mkdir -p "$work/project/subprojects"
cp -R "$source/tests/package/meson_consumer/meson.build" "$source/tests/package/consumer" "$work/project"
ln -s "$source" "$work/project/subprojects/llmcost"
export CXX="$compiler"
consume() {
    build=$work/$1
    shift
    meson setup "$build" "$work/project" "$@" && meson test -C "$build" --print-errorlogs
}
consume installed --wrap-mode=nofallback --pkg-config-path="$prefix/share/pkgconfig"
consume subproject --force-fallback-for=llmcost,llmcost-json,llmcost-hub
