#!/bin/sh
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# pre_commit.sh FILE...: fails if llmcost cannot compute the cost of one of the configurations; prints their parameters and FLOPs.
set -u
llmcost=${LLMCOST:-llmcost}
command -v "$llmcost" >/dev/null || { echo "$llmcost is not installed" >&2; exit 1; }
status=0
for file in "$@"; do
    "$llmcost" --offline --config "$file" params flops || status=1
done
exit $status
