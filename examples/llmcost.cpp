// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/main.hpp>

int main(int argc, char** argv) { return llmcost::cli::run_main(argc, argv); }
