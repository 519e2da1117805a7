// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/draft_deployment.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/draft_model.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// The deployment of `--draft-model`.
LLMCOST_INLINE deployment deploy_draft_model(arguments args, const program& io, std::int64_t num_draft_tokens) {
    for (const option_spec& o :
         {option::config, option::gguf, option::safetensors, option::nested_config, option::read_as_type,
          option::read_as_class, option::set, option::revision, option::quantization, option::linear_dtype,
          option::experts_dtype, option::kv_cache_dtype, option::routing, option::ep})
        args.remove(o);
    const std::string_view name = args.text(option::proposes);
    if (name.ends_with(".json")) {
        args.remove(option::model);
        args.replace(option::config, name);
    } else
        args.replace(option::model, name);
    deployment p = io.place(args, io);
    if (draft_kind_of(p.model) == draft_kind::none) {
        require_autoregressive(p.model);
        return p;
    }
    std::int64_t& available = p.model.config.num_draft_tokens;
    if (available > 0 && num_draft_tokens > available)
        throw_usage("--draft", "expected at most the " + std::to_string(available) + " tokens of the draft head");
    if (draft_kind_of(p.model) == draft_kind::one_per_query) available = num_draft_tokens;  // a smaller block
    return p;
}

LLMCOST_INLINE deployed_draft deploy_draft_server(const arguments& args, const program& io,
                                                  std::int64_t num_draft_tokens) {
    deployed_draft out;
    if (!args.has(option::proposes)) return out;
    out.placed = std::make_unique<deployment>(deploy_draft_model(args, io, num_draft_tokens));
    const deployment& p = *out.placed;
    out.draft_server = std::make_unique<server>(p.model, p.execution, p.engine, *p.device, *p.kernels);
    out.config = {
        .num_draft_tokens = num_draft_tokens, .draft_server = out.draft_server.get(), .kind = draft_kind_of(p.model)};
    return out;
}

LLMCOST_INLINE void set_memory_share(server& target, const arguments& args) {
    if (!args.has(option::memory_share)) return;
    target.set_memory_profile(with_memory_share(target.memory_profile(), args.real(option::memory_share, 1, 0.01, 1)));
}

}  // namespace llmcost::cli::detail
