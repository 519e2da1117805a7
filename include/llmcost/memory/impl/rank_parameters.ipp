// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/rank_parameters.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/kv_cache_entries.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/vllm_kernels.hpp>
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
        const bool is_unquantized = m.module_role == role::embedding || m.module_role == role::head;
        open_.push_back({path_.size(), layer_, m.module_role, is_unquantized});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        if (m.module_role == role::experts) ++expert_depth_;
        if (m.module_role == role::mlp) ++mlp_depth_;
        if (is_unquantized) ++unquantized_depth_;
        if (m.index >= 0 && path_ == decoder_path_ + std::to_string(m.index)) layer_ = m.index;
    }
    void on_module_leave(const recorder&, const module_info&) override {
        const open_module& top = open_.back();
        if (top.module_role == role::experts) --expert_depth_;
        if (top.module_role == role::mlp) --mlp_depth_;
        if (top.is_unquantized) --unquantized_depth_;
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
                        .is_routed = expert_depth_ > 0,
                        .is_unquantized = expert_depth_ == 0 && unquantized_depth_ > 0,
                        .is_embedding = !open_.empty() && open_.back().module_role == role::embedding,
                        .is_mlp = layer_ >= 0 && expert_depth_ == 0 && mlp_depth_ > 0,
                        .row_elements = v.rank > 1 ? v.size[v.rank - 1] : 0});
    }

private:
    static constexpr std::int64_t outside_ = -1;
    struct open_module {
        std::size_t parent_path_length;
        std::int64_t outer_layer;
        role module_role;
        bool is_unquantized;
    };
    std::string decoder_path_;
    std::int64_t num_layers_;
    dtype type_;
    std::vector<rank_parameter>& out_;
    std::vector<open_module> open_;
    std::string path_;
    std::int64_t layer_ = outside_;
    int expert_depth_ = 0;
    int mlp_depth_ = 0;
    int unquantized_depth_ = 0;
};

/// Sets the elements of the undivided parameters, which have the order of those of a rank.
class undivided_elements_listener final : public listener {
public:
    explicit undivided_elements_listener(std::vector<rank_parameter>& out) : out_(out) {}
    void on_parameter(const recorder&, literal, const tensor& v, bool tied) override {
        if (!tied && next_ < out_.size()) out_[next_++].elements = count(v.numel);
    }

private:
    std::vector<rank_parameter>& out_;
    std::size_t next_ = 0;
};

/// Collects the dimensions of the rotary modules of a decoder.
class rotary_dims_listener final : public listener {
public:
    void on_module_enter(const recorder&, const module_info& m) override { open_.push_back(m.module_role); }
    void on_module_leave(const recorder&, const module_info&) override { open_.pop_back(); }
    void on_buffer(const recorder&, count bytes) override {
        constexpr role encoders[]{role::vision, role::audio};
        if (open_.empty() || open_.back() != role::rotary ||
            std::find_first_of(open_.begin(), open_.end(), std::begin(encoders), std::end(encoders)) != open_.end())
            return;
        // Two float32 tensors of dims / 2 elements. Layers have equal modules, whose tables vLLM shares.
        constexpr std::uint64_t bytes_per_dim = 4;
        const bool is_of_layer = std::find(open_.begin(), open_.end(), role::attn) != open_.end();
        const auto dims = static_cast<std::int64_t>((bytes / count(bytes_per_dim)).to_64());
        if (is_of_layer)
            dims_of_layers_ = std::max(dims_of_layers_, dims);
        else
            dims_ += dims;
    }
    [[nodiscard]] std::int64_t dims() const { return dims_ + dims_of_layers_; }

private:
    std::vector<role> open_;
    std::int64_t dims_ = 0;
    std::int64_t dims_of_layers_ = 0;
};

[[nodiscard]] LLMCOST_INLINE std::int64_t rotary_dims_of(const model& m, const workload& load) {
    rotary_dims_listener listener;
    workload smallest = minimal_workload(m);
    smallest.weights = load.weights;
    smallest.activations = load.activations;
    trace t{with_storage_types(smallest, storage_types_of(m, smallest)), &listener};
    m.trace_with_loss(t);
    return listener.dims();
}

/// The path of the list of decoder layers with a final dot, `model.layers.`; empty without a KV cache.
[[nodiscard]] LLMCOST_INLINE std::string decoder_path_of(const model& m, const workload& load) {
    const std::vector<kv_cache_entry> entries = list_kv_cache(m, load);
    if (entries.empty()) return {};
    const std::string& path = entries.front().path;
    return path.substr(0, path.rfind('.') + 1);
}

[[nodiscard]] LLMCOST_INLINE std::vector<rank_parameter> parameters_of_trace(const model& m, const workload& load) {
    constexpr std::size_t parameters_of_layer = 24;  // about as many as a layer of a mixture of experts has
    std::vector<rank_parameter> out;
    out.reserve(static_cast<std::size_t>(std::max<std::int64_t>(m.config.num_hidden_layers, 1)) * parameters_of_layer);
    rank_parameter_listener listener(decoder_path_of(m, load), m.config.num_hidden_layers,
                                     storage_types_of(m, load).weights, out);
    trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
    m.trace_with_loss(t);
    return out;
}

/// Whether a parameter is a key projection of a module without a value projection.
[[nodiscard]] LLMCOST_INLINE bool is_key_without_value(const rank_parameter& p,
                                                       const std::vector<rank_parameter>& parameters) {
    constexpr std::string_view key = "k_proj.weight", value = "v_proj.weight";
    if (!std::string_view(p.path).ends_with(key)) return false;
    const std::string sibling = p.path.substr(0, p.path.size() - key.size()).append(value);
    return std::none_of(parameters.begin(), parameters.end(),
                        [&](const rank_parameter& other) { return other.path == sibling; });
}

/// Whether vLLM pads a linear layer on ROCm: 8 bits with one scale per tensor or per block, and rows of a multiple of
/// 512 bytes.
[[nodiscard]] LLMCOST_INLINE bool has_padded_float8_rows(const rank_parameter& p, const engine_memory_profile& engine) {
    constexpr std::int64_t row_multiple = 512;
    const bool has_format = engine.expert_weights == expert_weight_format::float8_per_tensor ||
                            engine.expert_weights == expert_weight_format::float8_blocks;
    return engine.architecture == gpu_architecture::rocm && has_format && !p.is_routed && p.row_elements > 0 &&
           p.row_elements % row_multiple == 0 && p.rank_bytes >= p.rank_elements &&
           p.rank_bytes < p.rank_elements * count(2);
}

/// Bytes that vLLM adds to a parameter, in the units of `rank_parameter::rank_bytes`.
[[nodiscard]] LLMCOST_INLINE count padding_bytes_of(const rank_parameter& p,
                                                    const std::vector<rank_parameter>& parameters, const model& m,
                                                    const inference_sharding& sharding,
                                                    const engine_memory_profile& engine) {
    if (is_key_without_value(p, parameters)) return p.rank_bytes;
    constexpr std::uint64_t row_padding = 256;
    if (has_padded_float8_rows(p, engine)) return p.rank_elements / count(p.row_elements) * count(row_padding);
    const moe_config& moe = m.config.moe;
    const count hidden(m.config.hidden_size), experts(moe.num_experts), intermediate(moe.intermediate_size);
    const count down_elements = experts * hidden * intermediate;
    const bool is_up = p.elements == count(2) * down_elements, is_down = p.elements == down_elements;
    if (!p.is_routed || (!is_up && !is_down)) return {};
    const bool is_gated = std::any_of(parameters.begin(), parameters.end(), [&](const rank_parameter& other) {
        return other.is_routed && other.elements == count(2) * down_elements;
    });
    const parallel_config& parallel = sharding.parallel;
    const count ranks_per_expert(parallel.expert_tensor_parallel_size);
    if (engine.expert_weights == expert_weight_format::mxfp4) {
        const expert_size_multiples multiples = mxfp4_multiples_of(engine.architecture);
        const auto padded = [](count size, std::int64_t multiple) {
            return (size + count(multiple - 1)) / count(multiple) * count(multiple);
        };
        const count share = intermediate / ranks_per_expert, size = hidden * share,
                    padded_size = padded(hidden, multiples.hidden_size) * padded(share, multiples.intermediate_size);
        return p.rank_bytes * (padded_size - size) / size;
    }
    const expert_kernel kernel = expert_kernel_of(engine.version, engine.expert_weights, engine.architecture,
                                                  parallel.tensor_parallel_size, parallel.expert_parallel_size);
    if (kernel == expert_kernel::flashinfer && engine.expert_weights == expert_weight_format::float8_per_tensor) {
        constexpr engine_version wider{0, 17, 0};
        const count alignment(is_gated || engine.version < wider ? 16 : 128), share = intermediate / ranks_per_expert;
        const count aligned = (share + alignment - count(1)) / alignment * alignment;
        return p.elements * (aligned - share) / share;
    }
    if (engine.architecture != gpu_architecture::rocm || engine.expert_weights != expert_weight_format::unquantized)
        return {};
    constexpr std::uint64_t bytes_per_element = 2, row_multiple = 512;
    const auto is_padded = [&](std::int64_t row_elements) {
        return static_cast<std::uint64_t>(row_elements) * bytes_per_element % row_multiple == 0;
    };
    const bool pads_up = is_padded(m.config.hidden_size),
               pads_down = is_padded(moe.intermediate_size / parallel.expert_tensor_parallel_size);
    if (is_up) return pads_up ? p.elements / hidden * count(row_padding) : count{};
    if (!pads_down) return {};
    const count padding = experts * hidden * ranks_per_expert * count(row_padding);
    const count down_bytes = down_elements * count(bytes_per_element) + padding,
                up_bytes = count(is_gated ? 2 : 1) * down_elements * count(bytes_per_element);
    return pads_up && up_bytes > down_bytes ? padding + up_bytes - down_bytes : padding;
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
    detail::undivided_elements_listener listener(parameters);
    trace t{with_storage_types(smallest, storage_types_of(m, smallest)), &listener};
    m.trace_with_loss(t);
    return parameters;
}

LLMCOST_INLINE std::vector<rank_parameter> dp_attention_parameters_of(const model& m, const model& shard,
                                                                      const workload& load,
                                                                      const parallel_config& parallel,
                                                                      std::int64_t vocabulary_multiple) {
    std::vector<rank_parameter> parameters = rank_parameters_of(m, shard, load);
    model divided = m;
    const std::int64_t ranks = parallel.world_size();
    model_config& config = divided.config;
    config.vocab_size = (config.vocab_size + vocabulary_multiple - 1) / vocabulary_multiple * vocabulary_multiple;
    config.vocab_size = (config.vocab_size + ranks - 1) / ranks;
    config.intermediate_size /= ranks;
    config.moe.shared_intermediate_size /= ranks;
    for (int i = 0; i < config.layers.num_specs; ++i)
        config.layers.specs[i].intermediate_size /= static_cast<std::int32_t>(ranks);
    const std::vector<rank_parameter> of_all_ranks = rank_parameters_of(m, divided, load);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        rank_parameter& p = parameters[i];
        if (p.is_embedding) {
            p.rank_bytes = p.rank_bytes * p.elements / p.rank_elements;
            p.rank_elements = p.elements;
        } else if (p.is_mlp || p.is_unquantized) {
            p = of_all_ranks[i];
        }
    }
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
    const count rotary = count(positions) * count(detail::rotary_dims_of(shard, load));
    const count num_layers(std::min(layers.size, config.num_hidden_layers));
    const count latent = num_layers * count(config.num_attention_heads) * count(config.mla.kv_lora_rank) *
                         count(config.mla.qk_nope_head_dim + config.mla.v_head_dim);
    return bytes_of(rotary + latent, type);
}

LLMCOST_INLINE std::vector<count> stage_padding_bytes(const std::vector<rank_parameter>& parameters, const model& m,
                                                      const inference_sharding& sharding,
                                                      const engine_memory_profile& engine) {
    std::vector<rank_parameter> padding;
    for (const rank_parameter& p : parameters) {
        rank_parameter added = p;
        added.rank_bytes = detail::padding_bytes_of(p, parameters, m, sharding, engine);
        if (added.rank_bytes != count{}) padding.push_back(added);
    }
    std::vector<count> stages = stage_weight_bytes(padding, m, sharding);
    constexpr std::uint64_t driver_bytes = 666 * detail::MiB;
    if (engine.architecture == gpu_architecture::rocm)
        for (count& bytes : stages) bytes += count(driver_bytes);
    return stages;
}

}  // namespace llmcost
