#!/bin/sh
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# compare.sh BASE: compares the configurations that differ between a commit and the working tree. Prints Markdown; nothing if
# none differ.
# LLMCOST: the program. LLMCOST_PATTERN: pathspecs of the files. LLMCOST_ARGUMENTS: workload and metrics.
set -eu
base=$1
llmcost=${LLMCOST:-llmcost}
arguments=${LLMCOST_ARGUMENTS:-params flops weight_bytes cache_bytes}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $llmcost in
    */*) llmcost=$(cd "$(dirname "$llmcost")" && pwd)/$(basename "$llmcost") ;;
esac
top=$(git rev-parse --show-toplevel)
cd "$top"

# runs llmcost and prints its table, or its message
table() {
    if (cd "$folder" && "$llmcost" "$@" --format markdown) >"$folder/out" 2>"$folder/messages"; then
        cat "$folder/out"
    else
        printf '```\n%s\n```\n' "$(cat "$folder/messages")"
    fi
}

set -f
# shellcheck disable=SC2086 # pathspecs and arguments are words
git diff --no-renames --name-only "$base" -- ${LLMCOST_PATTERN:-*config.json} >"$folder/files"
while IFS= read -r file; do
    rm -rf "$folder/base" "$folder/head"
    mkdir "$folder/base" "$folder/head"
    [ -s "$folder/title" ] || { echo '## Cost of changed configurations' | tee "$folder/title"; }
    printf '\n### %s\n\n' "$file"
    had=$(git cat-file -e "$base:$file" 2>/dev/null && echo yes || true)
    [ -z "$had" ] || git show "$base:$file" >"$folder/base/config.json"
    [ ! -f "$file" ] || cp "$file" "$folder/head/config.json"
    # shellcheck disable=SC2086
    if [ ! -f "$file" ]; then
        echo 'Removed.'
    elif [ -n "$had" ]; then
        table compare base/config.json head/config.json $arguments
    else
        table --config head/config.json $arguments
    fi
done <"$folder/files"
