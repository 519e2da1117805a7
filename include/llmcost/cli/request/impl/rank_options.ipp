// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/rank_options.hpp>

#include <cstdint>
#include <string>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/json.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/sglang_options.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE inference_sharding parse_sharding(const arguments& args, const model& m) {
    const bool has_dp_attention = args.has(option::enable_dp_attention);
    const std::int64_t dp = args.number(option::dp, 1), ep = args.number(option::ep, 1);
    std::int64_t tp = args.number(option::tp, 1);
    if (has_dp_attention) {
        if (dp == 1) throw_usage(option::enable_dp_attention.name, "requires --dp");
        const model_config& c = m.config;
        if (tp % dp != 0)
            throw_usage(option::dp.name, std::to_string(dp) + " does not divide --tp, " + std::to_string(tp));
        if (c.intermediate_size % tp != 0 || c.moe.shared_intermediate_size % tp != 0)
            throw_usage(option::tp.name, quote(std::to_string(tp)) + ": does not divide the intermediate size");
        tp /= dp;
    }
    if (ep > 1 && m.config.moe.num_experts <= 1)
        throw_usage(option::ep.name, "not supported: this model has no routed experts");
    const parallel_config parallel = make_parallel_config(m, tp, dp, ep);
    if (parallel.world_size() % ep != 0)
        throw_usage(option::ep.name, std::to_string(ep) + " does not divide the number of devices, " +
                                         std::to_string(parallel.world_size()) + " (--tp and --dp)");
    if (parallel.world_size() > 1) require_valid_parallelism(m, parallel);
    const std::int64_t num_stages = args.number(option::pp, 1);
    require_stages(option::pp.name, m, num_stages);
    return {.parallel = parallel, .pipeline_parallel_size = num_stages, .has_dp_attention = has_dp_attention};
}

LLMCOST_INLINE rank_memory ranks_of(const model& m, const stored_model_weights& stored, const workload& load,
                                    const engine_memory_profile& engine, const inference_sharding& sharding) {
    if (!stored.is_applied) return {m, load, engine, sharding};
    engine_memory_profile with_format = engine;
    with_format.expert_weights = stored.expert_weights;
    return {m, load, with_format, sharding, stored.bytes.total, [&](const std::string& path) {
                return stored.bytes.parameter_bytes(path);
            }};
}

namespace detail {

LLMCOST_INLINE void set_vision_sizes(const config_document& document, sglang_options& options) {
    constexpr std::int64_t layers_without_key = 24;
    document.read_with([&](config_view root) {
        const maybe<config_view> vision = root.is_object() ? root.find("vision_config") : maybe<config_view>{};
        if (!vision || !vision->is_object()) return;
        if (!vision->contains("num_hidden_layers") && vision->contains("depth"))
            options.vision_layers = layers_without_key;
        if (const maybe<config_view> width = vision->find("hidden_size"); width && width->is_integer())
            options.vision_hidden_size = width->as_integer();
    });
}

}  // namespace detail

}  // namespace llmcost::cli
