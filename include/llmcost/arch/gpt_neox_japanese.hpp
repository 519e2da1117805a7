// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace gpt_neox_japanese_detail {

/// The word of the last layer, whose attention has a bias for its output.
inline constexpr std::uint8_t last = 1;

/// Scores scaled inside of a product that adds zeros.
constexpr value look_up_on_zeros(const site& here, trace& t, const qkv& of) {
    const context& where = here.shared->where;
    const std::int64_t batch = of.q.dim(0), heads = of.q.dim(1), sequence = of.q.dim(2), length = of.k.dim(2);
    const recorder::fused_guard fused{t, fused_attention(of.q, heads, where, length)};
    const bool sparse = t.load().attention == attention_scores::causal;
    const std::int64_t d = here.dims.head_dim;
    const value rows = of.q.view({batch * heads, sequence, d}), columns = of.k.view({batch * heads, length, d});
    const op product = d == 1 ? op::batched_matmul_bias : op::batched_matmul_bias_scaled;
    value scores = t.bmm(product, rows, columns.transpose(1, 2), sparse ? where.visible_pairs() : 0);
    t.written(scores.elements);  // the zeros
    scores = scores.view({batch, heads, sequence, length});
    if (!sparse) scores = t.add(scores, here.shared->mask);
    const value probabilities = t.to(dropout(t, "attention_dropout", t.softmax(scores), dropout_of::attention), of.v.type);
    return t.contiguous(t.matmul(probabilities, of.v).transpose(1, 2));
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, d = dims.head_dim;
    if (here.kind.own == last) (void)t.param("dense_bias", {width});
    const value all =
        t.call("query_key_value", linear{width, 3 * width}, x).view({x.dim(0), x.dim(1), dims.num_attention_heads, 3 * d});
    qkv of;
    for (value* const each : {&of.q, &of.k, &of.v}) *each = t.slice(all, -1, d).transpose(1, 2);
    turn(here, t, of);
    remember(here, t, of);
    const value flat = look_up_on_zeros(here, t, of).view({x.dim(0), x.dim(1), width});
    return t.call("dense", linear{width, width}, flat);
}

/// The last layer adds its attention's bias in front of the residual.
constexpr value layer(const site& here, trace& t, const value& x) {
    value a = mixed(here, t, normed(here, t, "input_layernorm", x));
    if (here.kind.own == last) {
        value bias = dense({here.dims.hidden_size}, t.activation_type());
        bias.requires_grad = t.training();
        a = t.add(a, bias.expand({x.dim(0), x.dim(1), here.dims.hidden_size}));
    }
    const value middle = add_dropped_residual(here, t, x, a);
    const value f = here.row.feed(here, t, normed(here, t, "post_attention_layernorm", middle));
    return add_dropped_residual(here, t, middle, f);
}

/// The rotated part of a head: `partial_rotary_factor` of the rotary parameters, else `rotary_pct`, else all.
constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    const auto width = static_cast<double>(s.head_dim);  // of the tables, where a file has `head_dim`; heads do not read it
    share_among_heads(config, s, {"num_attention_heads"});
    if (width != static_cast<double>(s.head_dim))
        fail_value(config, "head_dim", "hidden_size / num_attention_heads, as heads are that wide");
    const auto rope = detail::rope_parameters(config);
    const bool stated = rope && rope->contains("partial_rotary_factor");
    const config_view place = stated ? *rope : config;
    const literal key = stated ? "partial_rotary_factor" : "rotary_pct";
    const double factor = detail::has_rope_type(config, "proportional") ? 1 : place.real(key, 1.0);
    if (!(factor > 0 && factor <= 1)) fail_value(place, key, "a part of a head above 0 and up to 1");
    s.rotary_dim = static_cast<std::int64_t>(width * factor);
    if (s.rotary_dim == 0 || s.rotary_dim % 2 != 0)
        fail_unsupported(place, key, "no row describes a rotated part that is no even number of elements");
    s.intermediate_size =
        checked_width(config, "intermediate_multiple_size", config.positive("intermediate_multiple_size", 4), s.hidden_size);
    const mixer_kind mixer = s.layers[0].mixer;
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{.mixer = mixer, .own = i + 1 == s.num_hidden_layers ? last : std::uint8_t{}};
    });
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout"},
                                             {dropout_of::attention, "attention_dropout", 0.1}};

}  // namespace gpt_neox_japanese_detail

// transformers/models/gpt_neox_japanese: configuration_gpt_neox_japanese.py, modeling_gpt_neox_japanese.py
inline constexpr architecture gpt_neox_japanese = [](architecture a) {
    a.model_type = "gpt_neox_japanese", a.prefix = "GPTNeoXJapanese", a.read = gpt_neox_japanese_detail::read;
    a.layer = gpt_neox_japanese_detail::layer, a.attend = gpt_neox_japanese_detail::attend;
    a.kinds.own = gpt_neox_japanese_detail::last, a.heads = language_heads;
    a.norm = norm_kind::layer, a.feed_forward = mlp_kind::plain, a.joins_rotated = true;
    a.names.base = "gpt_neox_japanese", a.names.lm_head = "embed_out", a.names.embed_tokens = "embed_in";
    a.names.norm = "final_layer_norm", a.names.attention = "attention", a.names.layer_type = "Layer";
    a.names.mlp = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"};
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 32000, a.defaults.hidden_size = 2560, a.defaults.num_hidden_layers = 32;
    a.defaults.num_attention_heads = 32, a.defaults.max_position_embeddings = 2048;
    a.defaults.hidden_act = activation::gelu, a.defaults.tie_word_embeddings = true;
    a.keys[2] = no_key_value_heads;
    a.drops = gpt_neox_japanese_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
