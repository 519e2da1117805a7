// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/rank_memory.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
#include <llmcost/memory/sglang_memory.hpp>
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
        open_.push_back({path_.size(), layer_, m.module_role == role::experts, is_unquantized});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        if (m.module_role == role::experts) ++expert_depth_;
        if (is_unquantized) ++unquantized_depth_;
        if (m.index >= 0 && path_ == decoder_path_ + std::to_string(m.index)) layer_ = m.index;
    }
    void on_module_leave(const recorder&, const module_info&) override {
        const open_module& top = open_.back();
        if (top.is_experts) --expert_depth_;
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
                        .is_unquantized = expert_depth_ == 0 && unquantized_depth_ > 0});
    }

private:
    static constexpr std::int64_t outside_ = -1;
    struct open_module {
        std::size_t parent_path_length;
        std::int64_t outer_layer;
        bool is_experts;
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

/// Bytes that vLLM adds to a parameter, in the units of `rank_parameter::rank_bytes`.
[[nodiscard]] LLMCOST_INLINE count padding_bytes_of(const rank_parameter& p,
                                                    const std::vector<rank_parameter>& parameters, const model& m,
                                                    const inference_sharding& sharding,
                                                    const engine_memory_profile& engine) {
    if (is_key_without_value(p, parameters)) return p.rank_bytes;
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
    constexpr std::uint64_t bytes_per_element = 2, row_padding = 256, row_multiple = 512;
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

LLMCOST_INLINE rank_memory::rank_memory(const model& m, const workload& load, const engine_memory_profile& engine,
                                        const inference_sharding& sharding)
    : shard_(shard_of_rank(m, sharding.parallel, engine.vocabulary_multiple)),
      engine_(engine),
      sharding_(sharding),
      minimal_load_(minimal_workload(m)),
      vocab_size_(m.config.vocab_size),
      has_own_weights_(sharding.world_size() == 1) {
    const std::int64_t num_stages = sharding.pipeline_parallel_size;
    minimal_load_.weights = load.weights;
    minimal_load_.activations = load.activations;
    minimal_load_.cache = load.cache;
    if (load.encoder_sequence > 0) minimal_load_.encoder_sequence = load.encoder_sequence;
    if (num_stages > 1 && num_stages > m.config.num_hidden_layers)
        throw description_error("the pipeline has more stages than the model has layers");
    if (num_stages > 1 && detail::decoder_path_of(m, minimal_workload(m)).empty())
        throw description_error("a pipeline needs a model whose layers have a KV cache");
    const bool has_cache = detail::has_kv_cache_manager(m, engine);
    for (std::int64_t s = 0; s < num_stages; ++s) {
        const layer_range range = num_stages == 1 ? all_layers : layers(s);
        stages_.push_back(
            {.weight_bytes = {},
             .table_bytes = engine.has_rotary_tables ? engine_table_bytes(shard_, load, range)
                            : engine.has_token_pools ? sglang_table_bytes(shard_, load, range)
                                                     : count{},
             .padding_bytes = {},
             .layers = has_cache ? kv_cache_layers_of(shard_, load, range) : std::vector<kv_cache_layer>{},
             .pool = std::nullopt});
        update_pool(stages_.back());
    }
    if (stages_.front().pool)
        profile_peak_bytes_ = profile_peak_bytes_of(shard_, load, engine, rank_of(stages_.front()));
    if (has_own_weights_ && !engine.has_rotary_tables) return;
    const std::vector<rank_parameter> parameters = rank_parameters_of(m, shard_, load);
    set_padding(m, parameters);
    if (!has_own_weights_) set_weights(m, parameters, {});
}

LLMCOST_INLINE void rank_memory::set_padding(const model& m, const std::vector<rank_parameter>& parameters) {
    if (!engine_.has_rotary_tables) return;
    const std::vector<count> padding = stage_padding_bytes(parameters, m, sharding_, engine_);
    for (std::size_t s = 0; s < stages_.size(); ++s) stages_[s].padding_bytes = padding[s];
}

LLMCOST_INLINE rank_memory::rank_memory(const model& m, const workload& load, const engine_memory_profile& engine,
                                        const inference_sharding& sharding, const weight_element_bytes& element_bytes)
    : rank_memory(m, load, engine, sharding) {
    has_own_weights_ = false;
    std::vector<rank_parameter> parameters = rank_parameters_of(m, shard_, load);
    for (rank_parameter& p : parameters) {
        const double bytes_per_element = p.is_routed        ? element_bytes.routed
                                         : p.is_unquantized ? element_bytes.unquantized
                                                            : element_bytes.others;
        p.rank_bytes = count(
            static_cast<std::uint64_t>(std::llround(static_cast<double>(p.rank_elements.to_64()) * bytes_per_element)));
    }
    set_padding(m, parameters);
    set_weights(m, parameters, {});
}

LLMCOST_INLINE void rank_memory::update_pool(stage_state& s) const {
    if (!s.layers.empty()) s.pool = block_pool(s.layers, engine_.block_size, engine_.max_num_batched_tokens);
}

LLMCOST_INLINE void rank_memory::add_weights(count bytes_per_rank) {
    for (stage_state& s : stages_) s.added_bytes += bytes_per_rank / count(num_stages());
}

LLMCOST_INLINE void rank_memory::add_draft_model(const rank_memory& draft) {
    stage_state& last = stages_.back();
    const stage_state& added = draft.stages_.front();
    last.added_bytes += draft.weight_bytes(added) + added.added_bytes;
    last.layers.insert(last.layers.end(), added.layers.begin(), added.layers.end());
    update_pool(last);
    if (!added.pool) last.draft_cache = draft.uniform_cache().size;
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

LLMCOST_INLINE count rank_memory::weight_bytes(const stage_state& s) const {
    return has_own_weights_ ? count_model(shard_, minimal_load_).weight_bytes : s.weight_bytes;
}

LLMCOST_INLINE inference_rank rank_memory::rank_of(const stage_state& s) const {
    return {.weight_bytes = has_own_weights_ ? maybe<count>{} : maybe<count>{s.weight_bytes},
            .pool = &s.pool,
            .vocab_size = vocab_size_,
            .num_devices = sharding_.world_size(),
            .tensor_parallel_size = sharding_.parallel.tensor_parallel_size,
            .expert_tensor_parallel_size = sharding_.parallel.expert_tensor_parallel_size,
            .expert_parallel_size = sharding_.parallel.expert_parallel_size,
            .profile_peak_bytes = profile_peak_bytes_};
}

LLMCOST_INLINE inference_memory rank_memory::of_stage(const workload& load, std::int64_t stage) const {
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    inference_memory memory = inference_memory_of(shard_, load, engine_, rank_of(s));
    memory.weight_bytes += s.added_bytes;
    memory.table_bytes = s.table_bytes + s.padding_bytes;
    if (num_stages() > 1) {
        const count size(layers(stage).size), all(shard_.config.num_hidden_layers);
        memory.kv_cache_bytes = memory.kv_cache_bytes * size / all;
        if (!s.pool) memory.kv_cache_allocated_bytes = memory.kv_cache_allocated_bytes * size / all;
    }
    const bool has_encoder = shard_.config.encoder.num_hidden_layers > 0;
    if (engine_.has_token_pools && !has_encoder && memory.kv_cache_bytes != count{}) {
        memory.kv_cache_allocated_bytes =
            count(load.batch) *
            pool_layout(load, stage).request_bytes(load.past + load.sequence, engine_.max_num_batched_tokens);
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

LLMCOST_INLINE layer_range rank_memory::pool_layers(std::int64_t stage) const {
    return num_stages() == 1 ? all_layers : layers(stage);
}

LLMCOST_INLINE sglang_defaults rank_memory::token_pool_defaults(std::uint64_t device_bytes) const {
    return sglang_defaults_of(shard_, engine_.sglang, device_bytes, sharding_.parallel.tensor_parallel_size,
                              sharding_.pipeline_parallel_size);
}

LLMCOST_INLINE bool rank_memory::has_token_pools(std::int64_t stage) const {
    if (!engine_.has_token_pools || shard_.config.encoder.num_hidden_layers > 0) return false;
    const sglang_pool_layout layout = pool_layout(minimal_load_, stage);
    return layout.token_bytes() != count{} || layout.swa_token_bytes() != count{};
}

LLMCOST_INLINE sglang_pool_layout rank_memory::pool_layout(const workload& load, std::int64_t stage) const {
    sglang_pool_layout layout(shard_, load, engine_.sglang, pool_layers(stage));
    layout.add_draft_cache(stages_[static_cast<std::size_t>(stage)].draft_cache);
    return layout;
}

LLMCOST_INLINE sglang_pools rank_memory::token_pools(const workload& load, std::int64_t stage,
                                                     std::uint64_t device_bytes) const {
    const sglang_defaults defaults = token_pool_defaults(device_bytes);
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    const double free_bytes = static_cast<double>(device_bytes) - static_cast<double>(engine_.runtime_bytes);
    const double static_bytes = free_bytes * defaults.mem_fraction_static -
                                static_cast<double>(weight_bytes(s) + s.added_bytes + s.table_bytes);
    return pool_layout(load, stage)
        .pools_in(count(static_cast<std::uint64_t>(std::max(0.0, static_bytes))), load.past + load.sequence,
                  defaults.chunked_prefill_size);
}

LLMCOST_INLINE kv_cache_capacity rank_memory::capacity_of_token_pools(const workload& load, std::int64_t stage,
                                                                      std::uint64_t device_bytes) const {
    const sglang_pool_layout layout = pool_layout(load, stage);
    const sglang_pools pools = token_pools(load, stage, device_bytes);
    const std::int64_t num_tokens = load.past + load.sequence, page_size = engine_.sglang.page_size,
                       chunk = token_pool_defaults(device_bytes).chunked_prefill_size;
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    kv_cache_capacity capacity;
    capacity.bytes = pools.kv_bytes + pools.mamba_bytes;
    capacity.num_tokens = pools.max_total_num_tokens;
    capacity.num_groups = pools.swa_num_tokens > 0 ? 2 : 1;
    capacity.max_concurrency = pools.max_concurrency;
    capacity.max_num_seqs = pools.max_running_requests;
    capacity.memory_fraction = token_pool_defaults(device_bytes).mem_fraction_static;
    const bool is_limited_by_windows = layout.is_limited_by_windows(num_tokens, chunk);
    const std::int64_t max_tokens = is_limited_by_windows ? layout.max_window_tokens(chunk) : 0;
    capacity.num_blocks = (is_limited_by_windows ? pools.swa_num_tokens : pools.max_total_num_tokens) / page_size;
    capacity.block_bytes = (is_limited_by_windows ? layout.swa_token_bytes() : layout.token_bytes()) * count(page_size);
    capacity.blocks_of_request = blocks_of_all_tokens(page_size);
    capacity.blocks_of_request.kinds.front().max_tokens = max_tokens;
    capacity.request_bytes = layout.request_bytes(num_tokens, chunk);
    capacity.stage = stage;
    capacity.activation_bytes = step_peak_bytes_of(shard_, load, engine_, rank_of(s));
    capacity.used_bytes =
        weight_bytes(s) + s.added_bytes + s.table_bytes + capacity.activation_bytes + count(engine_.runtime_bytes);
    return capacity;
}

LLMCOST_INLINE const uniform_kv_cache& rank_memory::uniform_cache() const {
    if (!uniform_cache_) uniform_cache_ = uniform_kv_cache_of(shard_, minimal_load_, engine_);
    return *uniform_cache_;
}

LLMCOST_INLINE block_pool rank_memory::uniform_pool(std::int64_t stage) const {
    const uniform_kv_cache& all = uniform_cache();
    const count size(num_stages() > 1 ? layers(stage).size : 1),
        num_layers(num_stages() > 1 ? shard_.config.num_hidden_layers : 1);
    const kv_cache_size& draft = stages_[static_cast<std::size_t>(stage)].draft_cache;
    return {{.bytes_per_token = all.size.bytes_per_token * size / num_layers + draft.bytes_per_token,
             .bytes_per_sequence = all.size.bytes_per_sequence * size / num_layers + draft.bytes_per_sequence},
            all.window,
            engine_.block_size};
}

LLMCOST_INLINE bool rank_memory::has_cache(const stage_state& s) const {
    return s.pool || uniform_cache().size.bytes_per_token != count{} ||
           uniform_cache().size.bytes_per_sequence != count{};
}

LLMCOST_INLINE bool rank_memory::has_block_table(const stage_state& s) const {
    return s.pool || (engine_.has_paged_cache && !engine_.has_token_pools && uniform_cache().is_proportional);
}

LLMCOST_INLINE maybe<kv_cache_capacity> rank_memory::capacity_in(const workload& load, std::int64_t stage,
                                                                 count bytes) const {
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    if (!has_cache(s) || !has_block_table(s)) return {};
    engine_memory_profile all = engine_;
    all.gpu_memory_utilization = 1;
    return kv_cache_capacity_of(s.pool ? *s.pool : uniform_pool(stage), all, {}, bytes.to_64(),
                                load.past + load.sequence);
}

LLMCOST_INLINE maybe<kv_cache_capacity> rank_memory::capacity(const workload& load, std::int64_t stage,
                                                              std::uint64_t device_bytes) const {
    if (has_token_pools(stage)) return capacity_of_token_pools(load, stage, device_bytes);
    const stage_state& s = stages_[static_cast<std::size_t>(stage)];
    if (!has_cache(s)) return {};
    const maybe<count> profile_peak =
        profile_peak_bytes_ ? profile_peak_bytes_ : profile_peak_bytes_of(shard_, load, engine_, rank_of(s));
    const count activations = profile_peak ? *profile_peak : step_peak_bytes_of(shard_, load, engine_, rank_of(s));
    const count used_bytes =
        weight_bytes(s) + s.added_bytes + s.table_bytes + s.padding_bytes + activations + count(engine_.runtime_bytes) +
        communication_bytes_in(engine_, sharding_.world_size(), sharding_.parallel.tensor_parallel_size);
    kv_cache_capacity capacity = kv_cache_capacity_of(s.pool ? *s.pool : uniform_pool(stage), engine_, used_bytes,
                                                      device_bytes, load.past + load.sequence);
    capacity.stage = stage;
    capacity.activation_bytes = activations;
    capacity.has_block_table = has_block_table(s);
    return capacity;
}

LLMCOST_INLINE maybe<kv_cache_capacity> rank_memory::capacity(const workload& load, std::uint64_t device_bytes) const {
    maybe<kv_cache_capacity> tightest;
    for (std::int64_t s = 0; s < num_stages(); ++s) {
        const maybe<kv_cache_capacity> of_stage = capacity(load, s, device_bytes);
        if (of_stage && (!tightest || of_stage->max_concurrency < tightest->max_concurrency)) tightest = of_stage;
    }
    return tightest;
}

}  // namespace llmcost
