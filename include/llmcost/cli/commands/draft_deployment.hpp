// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/serving/draft_model.hpp>
#include <llmcost/serving/server.hpp>

// The draft model of speculative decoding in `llmcost serve` and `llmcost simulate`.
namespace llmcost::cli::detail {

/// A draft model on the devices of its target model. Without `--draft-model`, `config` has no server.
struct deployed_draft {
    std::unique_ptr<deployment> placed{};
    std::unique_ptr<server> draft_server{};
    draft_model_config config{};
};

/// Deploys the draft model or draft head on the devices of the target model, in the element types of its own
/// checkpoint.
///
/// Throws: `usage` if it is neither decoder-only nor a draft head, or a head for fewer draft tokens.
[[nodiscard]] deployed_draft deploy_draft_server(const arguments& args, const program& io,
                                                 std::int64_t num_draft_tokens);

/// Sets the fraction of device memory that the engine uses, by `--memory-share`.
void set_memory_share(server& target, const arguments& args);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/draft_deployment.ipp>  // IWYU pragma: export
#endif
