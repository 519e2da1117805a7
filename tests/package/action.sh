#!/bin/sh
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# action.sh PROGRAM WORK_DIR SOURCE_DIR: the script of the GitHub Action and the pre-commit hook, in a repository of their own.
set -eu
command -v git >/dev/null || exit 77
program=$1 source=$3
rm -rf "$2"
mkdir -p "$2/model a"
cd "$2"
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
git init -q .
cp "$source/tests/golden/meta-llama__Llama-3.2-1B.json" "model a/config.json"
cp "model a/config.json" gone_config.json
git add -A
git -c user.name=test -c user.email=test@example.org commit -qm first
LLMCOST=$program
export LLMCOST
test -z "$("$source/.ci/action/compare.sh" HEAD)"

sed 's/"num_hidden_layers": 16/"num_hidden_layers": 12/' "model a/config.json" >changed
mv changed "model a/config.json"
git rm -q gone_config.json
mkdir new
cp "$source/tests/golden/openai-community__gpt2.json" new/config.json
echo '{"model_type": "no_such_type"}' >new/bad_config.json
git add -A
"$source/.ci/action/compare.sh" HEAD >table.md
# 16 layers of 60,821,504 parameters: 32 heads and 8 key heads of 64, an MLP of 8,192, and two norms of 2,048
for text in '### model a/config.json' '| params | 1,235,814,400 | 992,528,384 | -243,286,016 |' '### gone_config.json' 'Removed.' \
    '| all | 124,439,808 |' '"no_such_type" is not supported'; do
    grep -qF -- "$text" table.md || { echo "missing: $text"; cat table.md; exit 1; }
done

"$source/.ci/pre_commit.sh" "model a/config.json" new/config.json | grep -q PARAMS
if "$source/.ci/pre_commit.sh" "model a/config.json" new/bad_config.json >/dev/null 2>messages; then
    echo "the hook accepts an unsupported configuration"
    exit 1
fi
grep -q 'no_such_type' messages
