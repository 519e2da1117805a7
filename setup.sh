#!/bin/sh
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing (Debian packages), builds build/llmcost and asks it what Llama-3.2-1B costs. Run it as often as you like.
# --calibrate: then measures the GPU at hand, which `--device here` names from then on (five minutes; needs the CUDA Toolkit).
set -eu
case ${1-} in
    '') calibrate= ;;
    --calibrate) calibrate=yes ;;
    *) echo "usage: ./setup.sh [--calibrate]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")"

# compiler and build; libraries; tests, benchmarks and the consumers that the tests play; certificates for the hub
packages='g++ cmake ninja-build
    nlohmann-json3-dev libcurl4-openssl-dev
    doctest-dev libbenchmark-dev pkg-config meson
    ca-certificates'
# what a few answers and tests need and all else does without: Chakra traces; pictures of graphs
optional='protobuf-compiler libprotobuf-dev graphviz'

say() { printf '%s\n' "setup: $*" >&2; }
fail() { say "$@"; exit 1; }

# runs a command and shows what it said only where it fails
quietly() {
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        rm -f "$log"
    else
        cat "$log" >&2
        rm -f "$log"
        fail "failed: $*"
    fi
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    # the words among its arguments that are no installed packages
    missing_of() {
        for package in "$@"; do
            case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true) in
                *' installed') ;;
                *) printf ' %s' "$package" ;;
            esac
        done
    }
    # shellcheck disable=SC2086 # words are packages
    missing=$(missing_of $packages) wanted=$(missing_of $optional)
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    if [ -n "$missing" ]; then
        [ -z "$as_root" ] || command -v sudo >/dev/null || fail "as root, run: apt-get install$missing"
        say "installing$missing"
        export DEBIAN_FRONTEND=noninteractive
        quietly $as_root apt-get update -q
        # shellcheck disable=SC2086 # words are packages
        quietly $as_root apt-get install -q -y --no-install-recommends $missing
    fi
    if [ -n "$wanted" ]; then
        [ -z "$as_root" ] || as_root='sudo -n'
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086 # words are packages
        { $as_root apt-get update -q && $as_root apt-get install -q -y --no-install-recommends $wanted; } >/dev/null 2>&1 ||
            say "going on without$wanted"
    fi
else
    say "no apt-get here: a C++20 compiler, CMake 3.25, Ninja, nlohmann_json, libcurl, doctest must be there already"
fi

say "building build/llmcost"
quietly cmake --preset default
quietly cmake --build --preset default --target llmcost_program
if [ -z "$calibrate" ]; then
    exec build/llmcost --model meta-llama/Llama-3.2-1B
fi
say "building build/bench/llmcost-calibrate"
cmake --build --preset default --target help | grep -q '^llmcost_calibrate:' ||
    fail "no CUDA compiler or no cuBLAS: install the CUDA Toolkit, remove build/CMakeCache.txt, and run this again"
quietly cmake --build --preset default --target llmcost_calibrate
exec build/bench/llmcost-calibrate
