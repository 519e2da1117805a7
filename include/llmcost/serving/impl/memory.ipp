// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/memory.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/optimizer_primitives.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/sglang_memory.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/memory/vllm_kernels.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost {

/// Parameters on each device.
[[nodiscard]] LLMCOST_INLINE weight_parts parameters_of(const model& full_model, const execution& execution_config) {
    const model part = shard_model(full_model, execution_config.parallel);
    const workload sample_load = minimal_workload(part);
    const auto parameters = [&](scope_query query) {
        return static_cast<double>(count_model(part, sample_load, query).params.to_64());
    };
    const double unquantized = parameters(scope_query{role::embedding}) + parameters(scope_query{role::head});
    const double routed = parameters(scope_query{role::experts});
    const std::int64_t experts = full_model.config.moe.num_experts;
    const double copies = experts > 1 ? static_cast<double>(execution_config.parallel.num_expert_slots(experts)) /
                                            static_cast<double>(experts)
                                      : 1;
    return {unquantized,
            routed * copies /
                static_cast<double>(execution_config.parallel.expert_parallel_size *
                                    execution_config.parallel.expert_tensor_parallel_size),
            parameters({}) - unquantized - routed};
}

LLMCOST_INLINE double weight_bytes(const model& full_model, const execution& execution_config) {
    if (full_model.policy != nullptr) {
        model base_model = full_model;
        base_model.policy = nullptr;
        return weight_bytes(base_model, execution_config) +
               execution_config.unquantized_type()->weight_bytes * (parameters_of(full_model, execution_config).all() -
                                                                    parameters_of(base_model, execution_config).all());
    }
    const weight_parts n = parameters_of(full_model, execution_config);
    if (execution_config.stored_weight_bytes.all() > 0) {
        execution unsharded = execution_config;
        unsharded.parallel = {};
        const weight_parts all = parameters_of(full_model, unsharded);
        const auto share = [](double bytes, double part, double total) {
            return total > 0 ? bytes * (part / total) : 0;
        };
        const double bytes = share(execution_config.stored_weight_bytes.unquantized, n.unquantized, all.unquantized) +
                             share(execution_config.stored_weight_bytes.routed, n.routed, all.routed) +
                             share(execution_config.stored_weight_bytes.others, n.others, all.others);
        return static_cast<double>(static_cast<std::uint64_t>(bytes + 0.5));
    }
    return execution_config.unquantized_type()->weight_bytes * n.unquantized +
           execution_config.linear_type->weight_bytes * n.others +
           execution_config.expert_type->weight_bytes * n.routed;
}

LLMCOST_INLINE workload workload_of(const execution& execution_config) {
    workload load;
    load.weights = load.activations = dtype_from(execution_config.unquantized_type()->name);
    load.cache = execution_config.kv_cache_type->weight_bytes == 1 ? dtype::float8_e4m3fn
                                                                   : dtype_from(execution_config.kv_cache_type->name);
    load.head = logits::last;
    return load;
}

LLMCOST_INLINE engine_memory_profile memory_profile_of(const engine& serving_engine, const device& target_device) {
    const engine_memory_profile* known = find_engine_memory_profile(std::string_view(serving_engine.name));
    if (known == nullptr) known = find_engine_memory_profile("none");
    const auto device_bytes = static_cast<std::uint64_t>(target_device.memory_bytes());
    engine_memory_profile profile = *known;
    if (profile.has_token_pools)
        profile.max_num_batched_tokens = sglang_chunked_prefill_size(profile.sglang, device_bytes);
    return profile_with_defaults(profile, {}, device_bytes, std::string_view(target_device.names[0]),
                                 static_cast<std::int64_t>(target_device.num_compute_units));
}

namespace detail {

/// The format of routed experts with an operand type, by which vLLM selects kernels and padding.
[[nodiscard]] LLMCOST_INLINE expert_weight_format expert_weight_format_of(const operand_type& type) {
    const auto is_type = [&](literal name) { return &type == find_operand_type(name); };
    if (type.weight_bytes >= 2) return expert_weight_format::unquantized;
    if (is_type("fp8")) return expert_weight_format::float8_per_tensor;
    if (is_type("fp8_block")) return expert_weight_format::float8_blocks;
    if (is_type("w4a16_mxfp4") || is_type("w4a8_mxfp4_mxfp8")) return expert_weight_format::mxfp4;
    return expert_weight_format::other;
}

}  // namespace detail

LLMCOST_INLINE engine_memory_profile with_memory_share(engine_memory_profile profile, double share) {
    (profile.has_token_pools ? profile.sglang.mem_fraction_static : profile.gpu_memory_utilization) = share;
    return profile;
}

LLMCOST_INLINE rank_memory ranks_of_execution(const model& full_model, const execution& execution_config,
                                              const engine_memory_profile& profile, std::int64_t pipeline) {
    engine_memory_profile engine = profile;
    engine.sglang.vision_layers = execution_config.sglang_vision.vision_layers;
    engine.sglang.vision_hidden_size = execution_config.sglang_vision.vision_hidden_size;
    engine.expert_weights = detail::expert_weight_format_of(*execution_config.expert_type);
    model base_model = full_model;
    base_model.policy = nullptr;
    const workload load = workload_of(execution_config);
    const inference_sharding sharding{.parallel = execution_config.parallel, .pipeline_parallel_size = pipeline};
    const double unquantized = execution_config.unquantized_type()->weight_bytes;
    const auto ranks_of_base = [&]() -> rank_memory {
        if (const stored_bytes* stored = execution_config.stored_parameters) {
            engine_memory_profile with_format = engine;
            with_format.expert_weights = execution_config.stored_expert_format;
            return {base_model,    load,
                    with_format,   sharding,
                    stored->total, [stored](const std::string& path) { return stored->parameter_bytes(path); }};
        }
        weight_element_bytes bytes{.unquantized = unquantized,
                                   .routed = execution_config.expert_type->weight_bytes,
                                   .others = execution_config.linear_type->weight_bytes};
        if (execution_config.stored_weight_bytes.all() > 0) {
            execution undivided = execution_config;
            undivided.parallel = {};
            const weight_parts n = parameters_of(base_model, undivided), stored = execution_config.stored_weight_bytes;
            bytes = {.unquantized = n.unquantized > 0 ? stored.unquantized / n.unquantized : 0,
                     .routed = n.routed > 0 ? stored.routed / n.routed : 0,
                     .others = n.others > 0 ? stored.others / n.others : 0};
        }
        if (bytes.routed == unquantized && bytes.others == unquantized) return {base_model, load, engine, sharding};
        return {base_model, load, engine, sharding, bytes};
    };
    rank_memory ranks = ranks_of_base();
    if (full_model.policy != nullptr) {
        const double num_added =
            parameters_of(full_model, execution_config).all() - parameters_of(base_model, execution_config).all();
        ranks.add_weights(count(static_cast<std::uint64_t>(unquantized * num_added)));
    }
    return ranks;
}

LLMCOST_INLINE double cache_bytes(const model& full_model, const workload& load, const execution& execution_config) {
    return execution_config.kv_cache_type->weight_bytes *
           static_cast<double>(
               count_model(shard_model(full_model, execution_config.parallel), load).cache_elements.to_64());
}

LLMCOST_INLINE inference_memory inference_memory_per_device(const model& full_model,
                                                            const std::vector<workload>& groups,
                                                            const execution& execution_config,
                                                            const engine_memory_profile& engine, double weights) {
    inference_memory all;
    const model part = shard_of_rank(full_model, execution_config.parallel, engine.vocabulary_multiple);
    for (workload load : groups) {
        const workload types = workload_of(execution_config);
        load.weights = load.activations = types.weights;
        load.cache = types.cache;
        const inference_memory one =
            inference_memory_of(part, load, engine,
                                {.weight_bytes = count{},
                                 .vocab_size = full_model.config.vocab_size,
                                 .num_devices = execution_config.parallel.world_size(),
                                 .tensor_parallel_size = execution_config.parallel.tensor_parallel_size,
                                 .expert_tensor_parallel_size = execution_config.parallel.expert_tensor_parallel_size,
                                 .expert_parallel_size = execution_config.parallel.expert_parallel_size});
        if (engine.has_rotary_tables) all.table_bytes = engine_table_bytes(part, load);
        all.kv_cache_bytes += one.kv_cache_bytes;
        all.kv_cache_allocated_bytes += one.kv_cache_allocated_bytes;
        all.peak_activation_bytes += one.peak_activation_bytes;
        all.runtime_bytes = one.runtime_bytes;
        all.communication_bytes = one.communication_bytes;
    }
    all.weight_bytes = count(static_cast<std::uint64_t>(weights));
    return all;
}

LLMCOST_INLINE training_memory training_memory_per_device(const model& full_model, workload load,
                                                          const execution& execution_config,
                                                          const training_plan& plan) {
    using category = memory_category;
    model base_model = full_model;
    base_model.policy = nullptr;  // the plan contains the adapter
    const model part = shard_model(base_model, execution_config.parallel);
    load.autocast = true;
    load.uses_cpu_kernels = true;
    load.weights = load.activations = dtype::float32;
    const auto played = [&](attention_implementation implementation) {
        load.implementation = implementation;
        return train(part, load, plan).memory;
    };
    memory_timeline all;
    try {
        all = played(execution_config.launch == launch_mode::eager ? attention_implementation::eager
                                                                   : attention_implementation::sdpa);
    } catch (const description_error&) {  // the model does not support SDPA
        all = played(attention_implementation::eager);
    }
    const double device_fraction =
        parameters_of(base_model, execution_config).all() / parameters_of(part, execution{}).all();
    training_memory out{.peak = all.peak.bytes, .saved = all.saved_bytes, .share = std::min(device_fraction, 1.0)};
    const auto shared = [&](std::uint64_t bytes) {
        return device_fraction < 1 ? static_cast<std::uint64_t>(device_fraction * static_cast<double>(bytes)) : bytes;
    };
    for (const category c : {category::parameters, category::gradients, category::optimizer}) {
        const std::uint64_t bytes = out.peak[c];
        out.peak.subtract(c, bytes - shared(bytes));
        out.states += shared(all.peak_by_category[c]);
    }
    const std::uint64_t passing = all.peak_by_category[category::optimizer] - all.after_step[category::optimizer];
    out.states -= shared(passing);
    // A gradient is read. A weight and its optimizer state are read and written. The host counts steps
    // (torch/optim/adam.py, `_init_group`).
    const std::uint64_t weights = 4 * all.num_trainable,
                        optimizer_state = all.after_step[category::optimizer] - all.step_counter_bytes;
    if (plan.schedule.optimizer != find_optimizer("none")) out.updated = shared(3 * weights + 2 * optimizer_state);
    out.trained = shared(all.num_trainable);
    out.products = all.optimizer_products;
    out.update = all.optimizer_step;
    const primitives<count> in_products = llmcost::detail::primitives_of(out.products);
    out.update.mult -= in_products.mult;
    out.update.add -= in_products.add;
    return out;
}

}  // namespace llmcost
