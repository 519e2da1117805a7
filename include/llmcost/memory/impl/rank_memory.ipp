// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/rank_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/kv_cache_entries.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

/// Records the parameters of a model with their position relative to the decoder layers.
class rank_parameter_listener final : public listener {
public:
    /// `decoder_path`: path of the list of decoder layers, with a final dot.
    rank_parameter_listener(std::string decoder_path, std::int64_t num_layers, dtype type,
                            std::vector<rank_parameter>& out)
        : decoder_path_(std::move(decoder_path)), num_layers_(num_layers), type_(type), out_(out) {}

    void on_module_enter(const recorder&, const module_info& m) override {
        open_.push_back({path_.size(), layer_, m.module_role == role::experts});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        if (m.module_role == role::experts) ++expert_depth_;
        if (m.index >= 0 && path_ == decoder_path_ + std::to_string(m.index)) layer_ = m.index;
    }
    void on_module_leave(const recorder&, const module_info&) override {
        const open_module& top = open_.back();
        if (top.is_experts) --expert_depth_;
        if (top.outer_layer != layer_) layer_ = layer_ + 1 >= num_layers_ ? num_layers_ : outside_;
        path_.resize(top.parent_path_length);
        open_.pop_back();
    }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override {
        if (tied) return;
        out_.push_back({.path = path_.empty() ? std::string(name) : (path_ + '.').append(std::string_view(name)),
                        .elements = count(v.numel),
                        .rank_elements = count(v.numel),
                        .rank_bytes = bytes_of(count(v.numel), type_),
                        .layer = layer_,
                        .is_routed = expert_depth_ > 0});
    }

private:
    static constexpr std::int64_t outside_ = -1;
    struct open_module {
        std::size_t parent_path_length;
        std::int64_t outer_layer;
        bool is_experts;
    };
    std::string decoder_path_;
    std::int64_t num_layers_;
    dtype type_;
    std::vector<rank_parameter>& out_;
    std::vector<open_module> open_;
    std::string path_;
    std::int64_t layer_ = outside_;
    int expert_depth_ = 0;
};

/// The path of the list of decoder layers with a final dot, `model.layers.`; empty without a KV cache.
[[nodiscard]] LLMCOST_INLINE std::string decoder_path_of(const model& m, const workload& load) {
    const std::vector<kv_cache_entry> entries = list_kv_cache(m, load);
    if (entries.empty()) return {};
    const std::string& path = entries.front().path;
    return path.substr(0, path.rfind('.') + 1);
}

[[nodiscard]] LLMCOST_INLINE std::vector<rank_parameter> parameters_of_trace(const model& m, const workload& load) {
    std::vector<rank_parameter> out;
    rank_parameter_listener listener(decoder_path_of(m, load), m.config.num_hidden_layers,
                                     storage_types_of(m, load).weights, out);
    trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
    m.trace_with_loss(t);
    return out;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE layer_range layers_of_stage(std::int64_t num_layers, std::int64_t num_stages, std::int64_t stage) {
    const std::int64_t quotient = num_layers / num_stages, remainder = num_layers % num_stages;
    const auto size_of = [&](std::int64_t s) {
        const std::int64_t from_end = num_stages - s;  // 1: the last stage
        return quotient + (from_end >= 2 && from_end < remainder + 2 ? 1 : 0);
    };
    layer_range range{.first = 0, .size = size_of(stage)};
    for (std::int64_t s = 0; s < stage; ++s) range.first += size_of(s);
    return range;
}

LLMCOST_INLINE model shard_of_rank(model m, const parallel_config& parallel, std::int64_t vocabulary_multiple) {
    m.config.vocab_size = (m.config.vocab_size + vocabulary_multiple - 1) / vocabulary_multiple * vocabulary_multiple;
    return shard_model(m, parallel);
}

LLMCOST_INLINE std::vector<rank_parameter> rank_parameters_of(const model& m, const model& shard,
                                                              const workload& load) {
    workload smallest = minimal_workload(m);
    smallest.weights = load.weights;
    smallest.activations = load.activations;
    std::vector<rank_parameter> parameters = detail::parameters_of_trace(shard, smallest);
    const std::vector<rank_parameter> undivided = detail::parameters_of_trace(m, smallest);
    for (std::size_t i = 0; i < parameters.size() && i < undivided.size(); ++i)
        parameters[i].elements = undivided[i].elements;
    return parameters;
}

LLMCOST_INLINE std::vector<count> stage_weight_bytes(const std::vector<rank_parameter>& parameters, const model& m,
                                                     const inference_sharding& sharding) {
    const std::int64_t num_stages = sharding.pipeline_parallel_size, num_layers = m.config.num_hidden_layers;
    const parallel_config& parallel = sharding.parallel;
    const std::int64_t experts = m.config.moe.num_experts;
    std::vector<count> stages(static_cast<std::size_t>(num_stages));
    std::vector<layer_range> ranges;
    for (std::int64_t s = 0; s < num_stages; ++s) ranges.push_back(layers_of_stage(num_layers, num_stages, s));
    for (const rank_parameter& p : parameters) {
        const count bytes =
            p.is_routed && experts > 1
                ? p.rank_bytes * count(parallel.num_expert_slots(experts)) /
                      count(experts * parallel.expert_parallel_size * parallel.expert_tensor_parallel_size)
                : p.rank_bytes;
        for (std::size_t s = 0; s < ranges.size(); ++s) {
            const bool is_first = p.layer < 0 && s == 0, is_last = p.layer >= num_layers && s + 1 == ranges.size();
            if (is_first || is_last || ranges[s].contains(p.layer)) stages[s] += bytes;
        }
    }
    return stages;
}

LLMCOST_INLINE count engine_table_bytes(const model& shard, const workload& load, layer_range layers) {
    constexpr std::int64_t video_headroom = 4;
    const model_config& config = shard.config;
    const dtype type = storage_types_of(shard, load).activations;
    const std::int64_t positions =
        config.num_position_axes > 1 ? video_headroom * config.max_position_embeddings : config.context_length();
    const count rotary = config.rotary_dim > 0 ? count(positions) * count(config.rotary_dim) : count{};
    const count num_layers(std::min(layers.size, config.num_hidden_layers));
    const count latent = num_layers * count(config.num_attention_heads) * count(config.mla.kv_lora_rank) *
                         count(config.mla.qk_nope_head_dim + config.mla.v_head_dim);
    return bytes_of(rotary + latent, type);
}

LLMCOST_INLINE rank_memory::rank_memory(const model& m, const workload& load, const engine_memory_profile& engine,
                                        const inference_sharding& sharding)
    : shard_(shard_of_rank(m, sharding.parallel, engine.vocabulary_multiple)),
      engine_(engine),
      sharding_(sharding),
      vocab_size_(m.config.vocab_size),
      has_own_weights_(sharding.world_size() == 1) {
    const std::int64_t num_stages = sharding.pipeline_parallel_size;
    if (num_stages > 1 && num_stages > m.config.num_hidden_layers)
        throw description_error("the pipeline has more stages than the model has layers");
    if (num_stages > 1 && detail::decoder_path_of(m, minimal_workload(m)).empty())
        throw description_error("a pipeline needs a model whose layers have a KV cache");
    for (std::int64_t s = 0; s < num_stages; ++s) {
        const layer_range range = num_stages == 1 ? all_layers : layers(s);
        stages_.push_back({.weight_bytes = {},
                           .table_bytes = engine.has_rotary_tables ? engine_table_bytes(shard_, load, range) : count{},
                           .pool = block_pool_of(shard_, load, engine, range)});
    }
    if (!has_own_weights_) set_weights(m, rank_parameters_of(m, shard_, load), {});
}

LLMCOST_INLINE void rank_memory::set_weights(const model& m, const std::vector<rank_parameter>& parameters,
                                             count without_parameter) {
    const std::vector<count> weights = stage_weight_bytes(parameters, m, sharding_);
    const count rest = without_parameter / count(sharding_.world_size());
    for (std::size_t s = 0; s < stages_.size(); ++s) stages_[s].weight_bytes = weights[s] + rest;
}

LLMCOST_INLINE layer_range rank_memory::layers(std::int64_t stage) const {
    return layers_of_stage(shard_.config.num_hidden_layers, sharding_.pipeline_parallel_size, stage);
}

LLMCOST_INLINE inference_memory rank_memory::of_stage(const workload& load, std::int64_t stage) const {
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    inference_memory memory =
        inference_memory_of(shard_, load, engine_,
                            {.weight_bytes = has_own_weights_ ? maybe<count>{} : maybe<count>{s.weight_bytes},
                             .pool = &s.pool,
                             .vocab_size = vocab_size_,
                             .num_devices = sharding_.world_size(),
                             .tensor_parallel_size = sharding_.parallel.tensor_parallel_size,
                             .expert_tensor_parallel_size = sharding_.parallel.expert_tensor_parallel_size,
                             .expert_parallel_size = sharding_.parallel.expert_parallel_size});
    memory.table_bytes = s.table_bytes;
    if (num_stages() > 1) {
        const count size(layers(stage).size), all(shard_.config.num_hidden_layers);
        memory.kv_cache_bytes = memory.kv_cache_bytes * size / all;
        if (!s.pool) memory.kv_cache_allocated_bytes = memory.kv_cache_allocated_bytes * size / all;
    }
    return memory;
}

LLMCOST_INLINE std::int64_t rank_memory::largest_stage(const workload& load) const {
    std::int64_t largest = 0;
    count largest_bytes;
    for (std::int64_t s = 0; s < num_stages() && num_stages() > 1; ++s) {
        const count bytes = of_stage(load, s).total_bytes();
        if (bytes <= largest_bytes) continue;
        largest_bytes = bytes;
        largest = s;
    }
    return largest;
}

LLMCOST_INLINE maybe<kv_cache_capacity> rank_memory::capacity(const workload& load, std::int64_t stage,
                                                              std::uint64_t device_bytes) const {
    return kv_cache_capacity_of(shard_, load, engine_, of_stage(load, stage), device_bytes,
                                &stages_[static_cast<std::size_t>(stage)].pool);
}

}  // namespace llmcost
