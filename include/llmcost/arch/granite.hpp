// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace granite_detail {

enum family_config_index : std::uint8_t { rotary_tables };
inline constexpr family_key family_keys[]{
    {.default_value = 1, .type = family_key_type::computed},  // number of different RoPE bases of the layers
};

/// `family_tag` is the number of the layer's rotary table, from 1; `unrotated` for layers without RoPE.
inline constexpr std::uint8_t unrotated = 0;
inline constexpr std::int64_t max_tables = 32;

/// Attention with sinks: scales the output of each head by 1 minus the sink's share of the softmax. Returns (B, S,
/// heads, d).
constexpr tensor attention_with_sinks(const layer_context& ctx, trace& t, const query_key_value& qkv,
                                      const tensor& sinks) {
    const attention_inputs& s = *ctx.inputs;
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), s.pattern, qkv.key.dim(2))};
    const std::int64_t heads = qkv.query.dim(1), groups = heads / qkv.key.dim(1);
    const tensor family_keys = repeat_kv(t, qkv.key, groups), values = repeat_kv(t, qkv.value, groups);
    const bool sparse = t.load().attention == attention_scores::causal;
    tensor scores =
        t.mul_scalar(t.matmul(qkv.query, family_keys.transpose(2, 3), sparse ? s.pattern.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const tensor left = t.sub(t.logsumexp(scores, -1), sinks.view({1, heads, 1}));
    const tensor scale = t.sigmoid(t.to(left, dtype::float32)).unsqueeze(-1);
    const tensor probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), qkv.query.type);
    const tensor found = t.matmul(functional_dropout(t, probabilities, dropout_position::attention), values);
    return t.contiguous(t.mul(found, t.to(scale, found.type)).transpose(1, 2));
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor sinks = t.param("sinks", {ctx.config.num_attention_heads});
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.layer.family_tag != unrotated) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor found = attention_with_sinks(ctx, t, qkv, sinks);
    return output_projection(ctx, t, t.reshape(found, {x.dim(0), x.dim(1), -1}));
}

/// Traces the model with one rotary table per RoPE base. Each layer reads its own table. The rotary module is not
/// called.
constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs shared = make_masks(ctx, t);
    {
        const recorder::not_executed_guard not_called{t};
        compute_rotary_embeddings(ctx, t, shared.full);
    }
    const rotary_table table{ctx.config.rotary_dim, ctx.class_of(ctx.spec.names.rotary_class),
                             rotary_frequencies{ctx.config}};
    tensor_pair made[max_tables + 1]{};
    for (std::int64_t i = 0; i < ctx.config.family[rotary_tables]; ++i)
        made[i + 1] = t.call({"rotary_embs", i}, table, t.load().sequence);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        attention_inputs read = shared.for_layer(layer_loop.layer());
        read.cos = made[layer_loop.layer().family_tag].first;
        read.sin = made[layer_loop.layer().family_tag].second;
        x = t.call({ctx.spec.names.layers, layer_loop.index()}, decoder_layer{ctx.for_layer(layer_loop, read)}, x);
    }
    return apply_norm(ctx, t, ctx.spec.names.norm, x);
}

/// The different RoPE bases of the layers, except 0.
class rotary_bases {
public:
    constexpr explicit rotary_bases(config_view json) : list_(json.optional_array("layer_rope_theta")) {
        for (std::size_t i = 0; list_ && i < list_->size(); ++i) {
            const double base = (*list_)[i].as_real();
            if (base == 0 || number_of(base) != 0) continue;
            if (count_ == max_tables) throw_invalid_value(json, "layer_rope_theta", "at most 32 different numbers");
            different_[count_++] = base;
        }
    }
    [[nodiscard]] constexpr std::int64_t count() const noexcept { return list_ ? count_ : 1; }
    [[nodiscard]] constexpr bool reach(std::int64_t layers) const {
        return !list_ || static_cast<std::int64_t>(list_->size()) >= layers;
    }
    /// Returns the `family_tag` of a layer.
    [[nodiscard]] constexpr std::uint8_t family_tag_of(std::int64_t layer) const {
        return list_ ? number_of((*list_)[static_cast<std::size_t>(layer)].as_real()) : std::uint8_t{1};
    }

private:
    [[nodiscard]] constexpr std::uint8_t number_of(double base) const noexcept {
        for (std::uint8_t k = 0; k < count_; ++k)
            if (different_[k] == base) return static_cast<std::uint8_t>(k + 1);
        return unrotated;
    }

    maybe<config_view> list_;
    double different_[max_tables]{};
    std::int64_t count_ = 0;
};

/// Parses Granite SWA. The first and then every fourth layer has full attention. Each layer has its RoPE base; 0 means
/// no RoPE.
constexpr void parse_swa(config_view json, model_config& config) {
    require_sliding_window(json);
    const rotary_bases bases(json);
    if (!bases.reach(config.num_hidden_layers))
        throw_invalid_value(json, "layer_rope_theta", "a list with one number per hidden layer");
    config.family[rotary_tables] = bases.count();
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind default_token_mixer =
            i % 4 == 0 ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention;
        return layer_spec{.token_mixer = listed ? listed_layers[i].token_mixer : default_token_mixer,
                          .family_tag = bases.family_tag_of(i)};
    });
}

/// Traces the text model. `place` inserts features into the token embeddings before they are scaled; `layer` calls one
/// layer.
template <class Place, class Layer>
constexpr tensor forward_language_model(const layer_context& ctx, trace& t, literal name, const Place& place,
                                        const Layer& layer) {
    const layer_context text = ctx.text_model();
    const module_info m{.name = name, .class_of_module = text.class_of(text.spec.names.model_class)};
    t.enter(m);
    tensor x = t.leave(m, embed_tokens(text, t));
    x = place(x);
    t.enter(m);
    x = t.mul_scalar(x);
    const decoder_inputs shared = text.spec.prepare_inputs(text, t);
    for (loop layer_loop = t.loop_modules(text.config.num_hidden_layers, text.config.layers, x); layer_loop.next();)
        x = layer(text.for_layer(layer_loop, shared.for_layer(layer_loop.layer())), x);
    return t.leave(m, apply_norm(text, t, text.spec.names.norm, x));
}

}  // namespace granite_detail

// Granite. Derived from Llama, with multipliers for embeddings, residuals and logits.
//
// Source: transformers/models/granite
inline constexpr model_spec granite = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "granite";
    spec.class_prefix = "Granite";
    spec.embed_tokens = embed_tokens_scaled;
    spec.add_residual = add_scaled_residual;
    spec.process_logits = divide_logits_by_scale;
    return spec;
}(llama);

// Granite SWA. Derived from Granite, with these differences:
//  - one full-attention layer per three sliding-window layers;
//  - attention sinks, and a RoPE base per layer.
//
// Source: transformers/models/granite_swa
inline constexpr model_spec granite_swa = [](model_spec spec) {
    spec.model_type = "granite_swa";
    spec.class_prefix = "GraniteSWA";
    spec.parse_config = granite_detail::parse_swa;
    spec.family_keys = granite_detail::family_keys;
    spec.base_model = granite_detail::base;
    spec.attention = granite_detail::attention;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = granite_detail::max_tables;
    spec.defaults.vocab_size = 100352;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 20;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.sliding_window = 128;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(granite);

}  // namespace llmcost::arch
