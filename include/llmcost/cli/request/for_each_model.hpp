// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/model_source.hpp>

// Command lines with several models.
namespace llmcost::cli {

/// The names of `--model` and `--config`, as typed; a directory with several configurations is replaced by these.
[[nodiscard]] std::vector<std::string> names_of_sources(const arguments& args);

/// Reads each model of a command line with several models and passes it to `sink`; returns false for fewer than two.
///
/// Throws: the first usage error if all models failed.
[[nodiscard]] bool read_each_subject(const arguments& args, const program& io, model_sink& sink);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/for_each_model.ipp>  // IWYU pragma: export
#endif
