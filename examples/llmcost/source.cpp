// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/each_source.hpp>
#include <llmcost/cli/source.hpp>

#include "parts.hpp"

llmcost::cli::read_subject parts::read(const llmcost::cli::arguments& given, const llmcost::cli::program& io) {
    return llmcost::cli::read_subject_of(given, io);
}
bool parts::read_each(const llmcost::cli::arguments& given, const llmcost::cli::program& io,
                      llmcost::cli::subject_sink& sink) {
    return llmcost::cli::read_each_subject(given, io, sink);
}
