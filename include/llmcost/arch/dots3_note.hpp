// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

// The text model of dots3 note. Derived from Llama, with these differences:
//  - latent attention with sizes per layer kind;
//  - an indexer that selects keys.
//
// Source: transformers/models/dots3_note

namespace llmcost::arch {

namespace dots3_note_detail {

enum family_config_index : std::uint8_t {
    local_heads,
    local_q_rank,
    local_kv_rank,
    local_head_dim,
    local_nope,
    local_v_dim,
    local_rope,
    index_heads,
    index_width,
    index_picks
};
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed,
     .split = tensor_parallel_split::sharded},  // keys from here to `local_rope`: sliding-window layers
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {"index_n_heads", 64},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

/// `family_tag` of full-attention layers without an indexer.
inline constexpr std::uint8_t unpicked = 1;

/// Sizes of latent attention for one layer kind.
struct latent_sizes {
    std::int64_t heads, q_rank, rank, nope, rope, v;
};
constexpr latent_sizes sizes_of(const layer_context& ctx) noexcept {
    const model_config& config = ctx.config;
    const mla_config& m = config.mla;
    if (ctx.layer.token_mixer == token_mixer_kind::sliding_attention)
        return {config.family[local_heads], config.family[local_q_rank], config.family[local_kv_rank],
                config.family[local_nope],  config.family[local_rope],   config.family[local_v_dim]};
    return {config.num_attention_heads, m.q_lora_rank,      m.kv_lora_rank,
            m.qk_nope_head_dim,         m.qk_rope_head_dim, m.v_head_dim};
}

/// Selects the keys that each token attends to. Its small attention has keys in the KV cache, too.
struct indexer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextIndexer"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& latent) const {
        const trace::no_grad_guard quiet{t};
        const model_config& config = ctx.config;
        const attention_inputs& s = *ctx.inputs;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = config.family[index_heads];
        const std::int64_t d = config.family[index_width], rope = config.mla.qk_rope_head_dim,
                           length = s.pattern.key_length();
        const auto apply_rotary = [&](const tensor& h) {  // positions precede heads in this layout
            const tensor part = h.slice(-1, rope).transpose(1, 2);
            return rotate(t, rotary_style::interleaved_split, part, s.cos, s.sin).transpose(1, 2);
        };
        const tensor q =
            t.call("wq_b", linear{config.mla.q_lora_rank, heads * d}, latent).view({batch, sequence, heads, d});
        tensor k = t.call("wk", linear{config.hidden_size, d}, x);
        k = t.call("k_norm", norm_module{norm_kind::layer, d}, k).unsqueeze(2);
        const tensor q_rotated = apply_rotary(q), k_rotated = apply_rotary(k);
        const tensor queries = t.cat({q_rotated, q.slice(-1, d - rope)}, -1);
        k = t.cat({k_rotated, k.slice(-1, d - rope)}, -1).squeeze(2);
        if (!t.is_training()) {
            k = s.pattern.cached_length > 0 ? t.cat({trace::buffer({batch, s.pattern.cached_length, d}), k}, 1)
                                            : t.cat({k}, 1);
            t.add_to_cache(k);
        }
        const tensor scores = t.relu(t.mul_scalar(t.matmul(queries, k.transpose(-1, -2).unsqueeze(1))));
        const tensor weights = t.mul_scalar(t.call("weights_proj", linear{config.hidden_size, heads}, x));
        tensor found = t.matmul(weights.unsqueeze(-2), scores).squeeze(-2);
        found = t.add(found, s.mask.view({batch, sequence, length}));
        const std::int64_t picks = config.family[index_picks];
        t.add_region_edge(workload_axis::total, picks + 1);
        return t.topk(found, length < picks ? length : picks);
    }
};

/// Attention over keys and values expanded from latents (B, 1, T, rank) and rotary parts (B, 1, T, rope).
constexpr tensor expanded_latent_attention(const layer_context& ctx, trace& t, const latent_sizes& m, const tensor& q,
                                           const tensor& latent, const tensor& k_rope, bool picks) {
    const attention_pattern& pattern = ctx.inputs->pattern;
    const std::int64_t batch = q.dim(0), length = latent.dim(2);
    const linear expansion{m.rank, m.heads * (m.nope + m.v)};
    const tensor kv = t.call("kv_b_proj", expansion, latent).view({batch, length, m.heads, -1}).transpose(1, 2);
    tensor k = t.full({batch, m.heads, length, m.nope + m.rope}, q.type);
    t.copy_into_slice(k, kv.slice(-1, m.nope));
    t.copy_into_slice(k, k_rope.expand({batch, m.heads, length, m.rope}));
    const bool sparse = t.load().attention == attention_scores::causal;
    const tensor mask = picks && !sparse ? t.masked_fill(ctx.inputs->mask) : ctx.inputs->mask;
    return attention_forward(t, q, k, kv.slice(-1, m.v), pattern, {.mask = &mask});
}

/// Latent attention with the sizes of the layer kind, scaled latents and one output gate per head.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const latent_sizes m = sizes_of(ctx);
    const attention_inputs& s = *ctx.inputs;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = ctx.config.hidden_size;
    tensor q_latent = apply_norm(ctx, t, "q_a_layernorm", m.q_rank, project(ctx, t, "q_a_proj", m.q_rank, x));
    q_latent = t.mul_scalar(q_latent);
    tensor q = t.call("q_b_proj", linear{m.q_rank, m.heads * (m.nope + m.rope)}, q_latent);
    q = q.view({batch, sequence, m.heads, m.nope + m.rope}).transpose(1, 2);
    const tensor compressed = project(ctx, t, "kv_a_proj_with_mqa", m.rank + m.rope, x);
    tensor latent = apply_norm(ctx, t, "kv_a_layernorm", m.rank, t.contiguous(compressed.slice(-1, m.rank)));
    latent = t.mul_scalar(latent.view({batch, 1, sequence, m.rank}));
    tensor k_rope = compressed.slice(-1, m.rope).view({batch, 1, sequence, m.rope});
    k_rope = apply_norm(ctx, t, "k_rope_only_layernorm", m.rope, k_rope);
    const tensor q_rope = t.to(rotate(t, rotary_style::interleaved_split, q.slice(-1, m.rope), s.cos, s.sin), q.type);
    k_rope = t.to(rotate(t, rotary_style::interleaved_split, k_rope, s.cos, s.sin), k_rope.type);
    latent = update_kv_cache(t, latent, s.pattern);
    k_rope = update_kv_cache(t, k_rope, s.pattern);
    q = t.cat({q.slice(-1, m.nope), q_rope}, -1);
    const bool picks = ctx.layer.token_mixer == token_mixer_kind::full_attention && ctx.layer.family_tag != unpicked;
    if (picks) (void)t.call("indexer", indexer{ctx}, x, q_latent);
    const tensor found = expanded_latent_attention(ctx, t, m, q, latent, k_rope, picks);
    const tensor gate = t.call("g_proj", linear{width, m.heads}, x).view({batch, sequence, m.heads, 1});
    return output_projection(ctx, t, t.reshape(t.mul(found, t.sigmoid(gate)), {batch, sequence, m.heads * m.v}));
}

/// Prepares the decoder inputs. Rotary tables of layers with an indexer stay in float32.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    const auto make = [&](attention_inputs& inputs, std::int64_t rotated, token_mixer_kind mixer, bool stays) {
        if (!ctx.config.layers.contains(mixer, ctx.config.num_hidden_layers)) return;
        const class_name named = ctx.class_of(ctx.spec.names.rotary_class);
        const rotary_table table{rotated, named, rotary_frequencies{ctx.config},
                                 stays ? rotary_style::rotate_half_float32 : rotary_style::interleaved_split};
        const auto tables = t.call(ctx.spec.names.rotary, table, t.load().sequence);
        inputs.cos = tables.first;
        inputs.sin = tables.second;
    };
    bool picks = false;
    for (int i = 0; i < ctx.config.layers.num_specs; ++i) {
        const layer_spec& k = ctx.config.layers.specs[i];
        picks = picks || (k.token_mixer == token_mixer_kind::full_attention && k.family_tag != unpicked);
    }
    make(c.full, ctx.config.mla.qk_rope_head_dim, token_mixer_kind::full_attention, picks);
    make(c.sliding, ctx.config.family[local_rope], token_mixer_kind::sliding_attention, false);
    return c;
}

/// Parses the sizes of sliding-window layers, from their entry in `per_layer_config` or from separate keys.
constexpr void parse_local(config_view json, model_config& config) {
    const auto entries = json.optional_object("per_layer_config");
    maybe<config_view> entry;
    if (entries) {
        for (const config_view layer_entry : *entries) {
            std::int64_t i = 0;
            for (const char c : layer_entry.key()) i = i < max_input ? i * 10 + (c - '0') : i;
            if (i >= config.num_hidden_layers || config.layers[i].token_mixer != token_mixer_kind::sliding_attention)
                throw_unsupported(layer_entry, "sizes of a layer without a sliding window");
            if (!entry) entry = layer_entry;
        }
    }
    const auto size = [&](family_config_index index, literal key, literal written, std::int64_t inherited,
                          std::int64_t default_value) {
        config.family[index] = !entries ? json.positive(written, default_value)
                               : entry  ? entry->positive(key, inherited)
                                        : inherited;
        if (!entries) return;
        for (const config_view layer_entry : *entries)
            if (layer_entry.positive(key, inherited) != config.family[index])
                throw_unsupported(layer_entry, key, "different sizes of sliding-window layers are not supported");
    };
    size(local_heads, "num_attention_heads", "swa_num_attention_heads", config.num_attention_heads, 64);
    size(local_q_rank, "q_lora_rank", "swa_q_lora_rank", config.mla.q_lora_rank, 1024);
    size(local_kv_rank, "kv_lora_rank", "swa_kv_lora_rank", config.mla.kv_lora_rank, 1024);
    size(local_head_dim, "head_dim", "swa_head_dim", config.head_dim, 256);
    size(local_nope, "qk_nope_head_dim", "swa_qk_nope_head_dim", config.mla.qk_nope_head_dim, 192);
    size(local_v_dim, "v_head_dim", "swa_v_head_dim", config.mla.v_head_dim, 128);
    const std::int64_t rest = config.family[local_head_dim] - config.family[local_nope];
    if (rest < 2) throw_invalid_value(json, "swa_qk_nope_head_dim", "at least 2 less than swa_head_dim");
    size(local_rope, "qk_rope_head_dim", "swa_qk_rope_head_dim", config.mla.qk_rope_head_dim, rest);
    if (config.family[local_rope] != rest)
        throw_invalid_value(json, "swa_qk_rope_head_dim", "swa_head_dim - swa_qk_nope_head_dim");
    (void)checked_size(json, "swa_qk_nope_head_dim", config.family[local_heads], config.family[local_head_dim]);
    (void)checked_size(json, "swa_v_head_dim", config.family[local_heads],
                       config.family[local_nope] + config.family[local_v_dim]);
}

/// Checks that the share of rotary elements in a head, computed in floating point, gives the same number of elements.
constexpr void check_rotated(config_view json, std::int64_t rope, std::int64_t head_dim) {
    const double share = static_cast<double>(rope) / static_cast<double>(head_dim);
    if (rope % 2 != 0 || static_cast<std::int64_t>(static_cast<double>(head_dim) * share) != rope)
        throw_invalid_value(json, "qk_rope_head_dim",
                            "an even number that partial_rotary_factor * head_dim reproduces exactly");
    if (const auto rope_of = json.optional_object("rope_parameters"))
        for (const literal type : {"dynamic", "longrope", "proportional"})
            if (detail::has_type_of_rope(*rope_of, type))
                throw_unsupported(*rope_of, "rope_type", "unsupported RoPE type for this model type");
}

/// The layers with experts: one in every n after the dense ones, or as listed.
class dots_places {
public:
    constexpr dots_places(config_view json, const model_config& config)
        : sparse_(json, config, 0),
          has_layer_list_(json.optional_array("mlp_layer_types").has_value()),
          dense_(json.non_negative("first_k_dense_replace", 1)) {
        const auto moe_layer_freq = json.find("moe_layer_freq");
        if (moe_layer_freq && moe_layer_freq->is_array()) frequencies_ = *moe_layer_freq;
        if (frequencies_ && static_cast<std::int64_t>(frequencies_->size()) < config.num_hidden_layers)
            throw_invalid_value(json, "moe_layer_freq", "a list with one number per hidden layer");
        if (moe_layer_freq && !frequencies_) step_ = moe_layer_freq->as_positive();
    }
    [[nodiscard]] constexpr bool has(std::int64_t i) const {
        if (has_layer_list_) return sparse_.has(i);
        return i >= dense_ &&
               (frequencies_ ? (*frequencies_)[static_cast<std::uint32_t>(i)].as_integer() != 0 : i % step_ == 0);
    }

private:
    sparse_layer_selection sparse_;
    maybe<config_view> frequencies_{};
    bool has_layer_list_;
    std::int64_t dense_;
    std::int64_t step_ = 1;
};

/// Sets the layers. The first two and every fourth use an indexer, the others sliding windows.
constexpr void plan(config_view json, model_config& config) {
    const auto types = json.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    const auto uses_dsa = json.optional_boolean("use_dsa");
    const bool renames = uses_dsa.has_value() || !json.contains("per_layer_config"), picks = uses_dsa.value_or(true);
    const bool windows = json.boolean("use_sliding_window", true);
    const dots_places experts(json, config);
    set_layers(json, config, [&](std::int64_t i) {
        bool slides = windows && i >= 2 && i % 4 != 1, picked = picks;
        if (types) {
            const string_ref name = (*types)[static_cast<std::uint32_t>(i)].as_string();
            slides = name == "sliding_attention";
            if (!slides && name != "indexed_attention" && name != "full_attention")
                throw_unsupported(json, "layer_types", "unsupported layer type");
            if (!renames) picked = name == "indexed_attention";
        }
        return layer_spec{slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention,
                          experts.has(i), slides || picked ? std::uint8_t{} : unpicked};
    });
}

constexpr void parse_config(config_view json, model_config& config) {
    config.mla = {json.positive("q_lora_rank", 1024), json.positive("kv_lora_rank", 512),
                  json.positive("qk_nope_head_dim", 128), json.positive("qk_rope_head_dim", 64),
                  json.positive("v_head_dim", 128)};
    (void)checked_size(json, "qk_nope_head_dim", config.num_attention_heads,
                       config.mla.qk_nope_head_dim + config.mla.v_head_dim);
    (void)checked_size(json, "index_head_dim", config.family[index_heads], config.family[index_width]);
    parse_grouped_experts(json, config, {.shared = 1});
    const literal shared = json.contains("moe_shared_expert_intermediate_size") ? "moe_shared_expert_intermediate_size"
                                                                                : "shared_experts_intermediate_size";
    config.moe.shared_intermediate_size =
        checked_size(json, shared, json.positive(shared, 1536), json.positive("n_shared_experts", 1));
    if (config.sliding_window == 0) config.sliding_window = json.positive("sliding_window_size", 512);
    plan(json, config);
    const bool has_full_attention = config.layers.contains(token_mixer_kind::full_attention, config.num_hidden_layers);
    if (has_full_attention &&
        config.num_key_value_heads != config.num_attention_heads)  // the other layer kind has separate numbers
        throw_invalid_value(json, "num_key_value_heads", "num_attention_heads, because all heads share the latents");
    check_rotated(json, config.mla.qk_rope_head_dim, config.head_dim);
    if (has_full_attention && config.mla.qk_rope_head_dim > config.family[index_width])
        throw_invalid_value(json, "qk_rope_head_dim", "at most index_head_dim");
    if (!config.layers.contains(token_mixer_kind::sliding_attention, config.num_hidden_layers)) return;
    parse_local(json, config);
    check_rotated(json, config.family[local_rope], config.family[local_head_dim]);
}

}  // namespace dots3_note_detail

inline constexpr model_spec dots3_note_text = [](model_spec spec) {
    spec.model_type = "dots3_note_text";
    spec.class_prefix = "Dots3Note";
    spec.parse_config = dots3_note_detail::parse_config;
    spec.family_keys = dots3_note_detail::family_keys;
    spec.mask_policy = mask_kind::present;
    spec.supported_layers.max_family_tag = dots3_note_detail::unpicked;
    spec.supported_heads = language_heads;
    spec.prepare_inputs = dots3_note_detail::prepare_inputs;
    spec.attention = dots3_note_detail::attention;
    spec.rotary = rotary_style::none;
    spec.router = router_kind::sigmoid_grouped;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.names.mlp_class = "TextMLP";
    spec.names.moe_class = "TextMoE";
    spec.names.router_class = "TextTopkRouter";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 152064;
    spec.defaults.hidden_size = 5120;
    spec.defaults.intermediate_size = 13824;
    spec.defaults.num_hidden_layers = 46;
    spec.defaults.num_attention_heads = 128;
    spec.defaults.num_key_value_heads = 128;
    spec.defaults.head_dim = 256;
    spec.defaults.max_position_embeddings = 524288;
    spec.defaults.moe = {
        .num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 1536, .norm_topk_prob = true};
    spec.defaults.moe.has_float32_correction = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
