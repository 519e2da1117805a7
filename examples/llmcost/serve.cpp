// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/serve.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::serve = llmcost::cli::serve_command;
