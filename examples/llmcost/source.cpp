// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/request/config_lookup.hpp>
#include <llmcost/cli/request/for_each_model.hpp>

#include "parts.hpp"

llmcost::cli::parsed_model parts::read(const llmcost::cli::arguments& args, const llmcost::cli::program& io) {
    return llmcost::cli::parse_model(args, io);
}
bool parts::read_each(const llmcost::cli::arguments& args, const llmcost::cli::program& io,
                      llmcost::cli::model_sink& sink) {
    return llmcost::cli::read_each_subject(args, io, sink);
}
