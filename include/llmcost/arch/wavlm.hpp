// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

namespace llmcost::arch {

namespace wavlm_detail {

using namespace wav2vec2_encoder;

struct config_key_table {
    family_key family_keys[adapter_width + 1];

    constexpr config_key_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) family_keys[i] = wav2vec2_encoder::family_keys[i];
        family_keys[extra_size] = {"num_buckets", 320};
    }
};

inline constexpr config_key_table table{};

/// A number for each distance and head, (B · heads, S, S), which the first layer looks up for all.
///
/// Source: `WavLMAttention._relative_positions_bucket`: distances in logarithmic buckets.
constexpr tensor distances(const layer_context& ctx, trace& t, std::int64_t batch, std::int64_t places) {
    const std::int64_t heads = ctx.config.num_attention_heads;
    (void)t.add_scalar(t.mul_scalar(t.div_scalar(t.log(t.div_scalar(t.full({places, places}))))));
    const embedding buckets{
        .num_embeddings = ctx.config.family[extra_size], .embedding_dim = heads, .creates_indices = true};
    const tensor x = t.call("rel_attn_embed", buckets, shape{places, places}).permute({2, 0, 1}).unsqueeze(0);
    return t.copy(x.expand({batch, heads, places, places})).view({batch * heads, places, places});
}

/// A projection whose weights are read directly; its module is never called.
struct uncalled_linear {
    tensor weight;
    tensor bias;

    constexpr uncalled_linear(trace& t, literal name, std::int64_t width) {
        const module_info m{.name = name, .class_of_module = {"", "Linear"}, .is_leaf = true};
        t.enter(m);
        weight = t.param("weight", {width, width});
        bias = t.param("bias", {width});
        t.leave(m);
    }
};

/// Attention whose scores include a relative position bias, gated by each query. `F.multi_head_attention_forward`
/// computes the output, and also returns the unused mean of the heads' probabilities.
struct gated_attention {
    const layer_context& ctx;
    tensor& bias;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
        const std::int64_t batch = x.dim(0), places = x.dim(1), all = batch * heads;
        const tensor constant = t.param("gru_rel_pos_const", {1, heads, 1, 1});
        const uncalled_linear q_proj{t, "q_proj", width}, k_proj{t, "k_proj", width}, v_proj{t, "v_proj", width},
            out_proj{t, "out_proj", width};
        if (bias.rank == 0) bias = distances(ctx, t, batch, places);
        const tensor split = x.view({batch, places, heads, d}).permute({0, 2, 1, 3});
        const tensor eight = t.call("gru_rel_pos_linear", linear{d, 8, true}, split);
        const tensor gates = t.sigmoid(t.sum(eight.view({batch, heads, places, 2, 4}), -1));
        const tensor a = gates.slice(-1, 1), b = gates.slice(-1, 1);
        const tensor gate = t.add_scalar(t.mul(a, t.add_scalar(t.mul(b, constant))));
        const tensor gated = t.mul(gate.view({all, places, 1}), bias);
        // F.multi_head_attention_forward
        const tensor biases = t.cat({q_proj.bias, k_proj.bias, v_proj.bias}, 0);
        const tensor states = x.transpose(0, 1), operand = biases.slice(0, width);
        const auto project = [&](const uncalled_linear& projection) {
            return t.linear(states, projection.weight, &operand).view({places, all, d}).transpose(0, 1);
        };
        const tensor q = project(q_proj), k = project(k_proj), v = project(v_proj);
        const tensor scores = t.softmax(t.bmm(op::batched_matmul_bias, t.mul_scalar(q), k.transpose(1, 2), 0, &gated));
        const tensor mixed = t.reshape(t.bmm(scores, v).transpose(0, 1), {places * batch, width});
        const tensor out = t.linear(mixed, out_proj.weight, &out_proj.bias).view({places, batch, width});
        {
            const recorder::detach_guard unread{t};
            (void)t.mean(scores.view({batch, heads, places, places}), 1);
        }
        return out.transpose(0, 1);
    }
};

constexpr tensor encode(const layer_context& ctx, trace& t, const tensor& features) {
    const module_info encoder{.name = "encoder",
                              .class_of_module = ctx.class_of(is(ctx, stable) ? "EncoderStableLayerNorm" : "Encoder"),
                              .module_role = role::encoder};
    t.enter(encoder);
    tensor x = t.add(features, positions(ctx, t, features));
    if (!is(ctx, stable)) x = layer_norm(ctx, t, "layer_norm", x);
    x = dropout(t, "dropout", x);
    tensor bias;
    const auto decoder_layer = [&](const layer_context& layer_ctx, std::int64_t i) {
        return t.call({"layers", i}, layer_with<gated_attention>{layer_ctx, gated_attention{layer_ctx, bias}}, x);
    };
    const attention_inputs no_inputs;
    x = decoder_layer(ctx, 0);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers - 1, x, 1); layer_loop.next();)
        x = decoder_layer(ctx.for_layer(layer_loop, no_inputs), layer_loop.index());
    return t.leave(encoder, is(ctx, stable) ? layer_norm(ctx, t, "layer_norm", x) : x);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_shared(json, config);
    parse_adapter_layers(json, config);
}

}  // namespace wavlm_detail

// transformers/models/wavlm: distances add to scores, by gates
inline constexpr model_spec wavlm = [](model_spec spec) {
    spec.model_type = "wavlm";
    spec.class_prefix = "WavLM";
    spec.names.base_model = "wavlm";
    spec.parse_config = wavlm_detail::parse_config;
    spec.decoder_layer = wavlm_detail::encode;
    spec.attention = nullptr;
    spec.family_keys = wavlm_detail::table.family_keys;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
