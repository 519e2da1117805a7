// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/forward/decoder.hpp>

// Attention outputs scaled by sinks, and a rotary table per RoPE base (Granite SWA).
namespace llmcost {

/// Attention whose outputs are scaled by the share of the softmax that the sink leaves to the keys.
///
/// Returns (batch, sequence, heads · head_dim).
/// Source: transformers, modeling_granite_swa.py, `eager_attention_forward`.
constexpr tensor attention_with_sink_scale(const layer_context& ctx, trace& t, const query_key_value& qkv,
                                           const tensor& sinks) {
    const attention_inputs& s = *ctx.inputs;
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), s.pattern, qkv.key.dim(2))};
    const std::int64_t heads = qkv.query.dim(1), groups = heads / qkv.key.dim(1);
    const tensor keys = repeat_kv(t, qkv.key, groups), values = repeat_kv(t, qkv.value, groups);
    const bool sparse = s.pattern.is_causal && t.load().attention == attention_scores::causal;
    tensor scores = t.mul_scalar(t.matmul(qkv.query, keys.transpose(2, 3), sparse ? s.pattern.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const tensor distance = t.sub(t.logsumexp(scores, -1), sinks.view({1, heads, 1}));
    const tensor share = t.sigmoid(t.to(distance, dtype::float32)).unsqueeze(-1);
    const tensor probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), qkv.query.type);
    const tensor found = t.matmul(functional_dropout(t, probabilities, dropout_position::attention), values);
    const tensor mixed = t.mul(found, t.to(share, found.type));
    return t.reshape(t.contiguous(mixed.transpose(1, 2)), {mixed.dim(0), mixed.dim(2), -1});
}

/// Self-attention with sinks. Layers without a rotary table (`family_tag` 0) have no RoPE.
constexpr tensor sink_scaled_attention(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor sinks = t.param("sinks", {ctx.config.num_attention_heads});
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.layer.family_tag != 0) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, attention_with_sink_scale(ctx, t, qkv, sinks));
}

/// Maximum number of rotary tables per model.
inline constexpr std::int64_t max_rotary_tables = 32;

/// Traces a model with `num_tables` rotary tables. Each layer reads the table of its `family_tag`, from 1.
///
/// With `has_unused_table`, the module for one rotary table exists, too, but is not called.
constexpr tensor forward_with_rotary_tables(const layer_context& ctx, trace& t, std::int64_t num_tables,
                                            bool has_unused_table) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs shared = make_masks(ctx, t);
    if (has_unused_table) {
        const recorder::not_executed_guard not_called{t};
        compute_rotary_embeddings(ctx, t, shared.full);
    }
    const rotary_table table{ctx.config.rotary_dim, ctx.class_of(ctx.spec.names.rotary_class),
                             rotary_frequencies{ctx.config}};
    tensor_pair made[max_rotary_tables + 1]{};
    for (std::int64_t i = 0; i < num_tables; ++i) made[i + 1] = t.call({"rotary_embs", i}, table, t.load().sequence);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        attention_inputs read = shared.for_layer(layer_loop.layer());
        read.cos = made[layer_loop.layer().family_tag].first;
        read.sin = made[layer_loop.layer().family_tag].second;
        x = t.call({ctx.spec.names.layers, layer_loop.index()}, decoder_layer{ctx.for_layer(layer_loop, read)}, x);
    }
    return apply_norm(ctx, t, ctx.spec.names.norm, x);
}

/// The different RoPE bases of the layers (`layer_rope_theta`), except 0, which means no RoPE.
///
/// Throws: `config_error` if the list is too short, or has more than `limit` different bases.
class layer_rotary_bases {
public:
    constexpr layer_rotary_bases(config_view json, const model_config& config, std::int64_t limit, literal limit_text)
        : list_(json.optional_array("layer_rope_theta")) {
        if (!list_) return;
        for (const config_view entry : *list_) {
            const double base = entry.as_real();
            if (base == 0 || number_of(base) != 0) continue;
            if (count_ == limit) throw_invalid_value(json, "layer_rope_theta", limit_text);
            bases_[count_++] = base;
        }
        if (static_cast<std::int64_t>(list_->size()) < config.num_hidden_layers)
            throw_invalid_value(json, "layer_rope_theta", "a list with one number per hidden layer");
    }
    [[nodiscard]] constexpr std::int64_t count() const noexcept { return list_ ? count_ : 1; }
    /// Returns the `family_tag` of a layer: the number of its rotary table, from 1.
    [[nodiscard]] constexpr std::uint8_t family_tag_of(std::int64_t layer) const {
        return list_ ? number_of((*list_)[static_cast<std::size_t>(layer)].as_real()) : std::uint8_t{1};
    }

private:
    [[nodiscard]] constexpr std::uint8_t number_of(double base) const noexcept {
        for (std::uint8_t i = 0; i < count_; ++i)
            if (bases_[i] == base) return static_cast<std::uint8_t>(i + 1);
        return 0;
    }

    maybe<config_view> list_;
    double bases_[max_rotary_tables]{};
    std::int64_t count_ = 0;
};

/// The layer kind without a list: every fourth layer has full attention, from the first on.
constexpr token_mixer_kind default_swa_token_mixer(std::int64_t layer) noexcept {
    return layer % 4 == 0 ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention;
}

}  // namespace llmcost
