// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/model_source.hpp>

// Parses the options of a deployment.
namespace llmcost::cli {

/// The deployment of a model that was read. Throws: `usage`.
deployment deployment_of(const arguments& args, const parsed_model& read, const program& io);

/// Reads the model of a command line and its deployment. Throws: `usage`, and the errors of the model.
deployment parse_deployment(const arguments& args, const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/parse_deployment.ipp>  // IWYU pragma: export
#endif
