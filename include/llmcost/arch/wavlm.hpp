// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>

namespace llmcost::arch {

namespace wavlm_detail {

using namespace wav2vec2_detail;

struct own_table {
    own_key keys[adapter_width + 1];

    constexpr own_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) keys[i] = wav2vec2_detail::keys[i];
        keys[further] = {"num_buckets", 320};
    }
};
inline constexpr own_table table{};

/// A number for each distance and head, (B · heads, S, S), which the first layer looks up for all.
///
/// Source: `WavLMAttention._relative_positions_bucket`: distances in logarithmic buckets.
constexpr value distances(const site& here, trace& t, std::int64_t batch, std::int64_t places) {
    const std::int64_t heads = here.dims.num_attention_heads;
    (void)t.add(t.mul(t.div(t.unary(op::log, t.div(t.constant({places, places}))))));
    const embedding buckets{.rows = here.dims.own[further], .width = heads, .makes_indices = true};
    const value each = t.call("rel_attn_embed", buckets, extents{places, places}).permute({2, 0, 1}).unsqueeze(0);
    return t.copy(each.expand({batch, heads, places, places})).view({batch * heads, places, places});
}

/// A projection whose weights are read beside its module, which is never called.
struct uncalled_linear {
    value weight;
    value bias;

    constexpr uncalled_linear(trace& t, literal name, std::int64_t width) {
        const module_info m{.name = name, .type = {"", "Linear"}, .leaf = true};
        t.enter(m);
        weight = t.param("weight", {width, width}), bias = t.param("bias", {width});
        t.leave(m);
    }
};

/// Scores of queries and keys and a bias of distances, which each query gates; `F.multi_head_attention_forward` does the
/// rest, and hands out the mean of the heads' probabilities, which nobody reads.
struct gated_attention {
    const site& here;
    value& bias;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
        const std::int64_t batch = x.dim(0), places = x.dim(1), all = batch * heads;
        const value constant = t.param("gru_rel_pos_const", {1, heads, 1, 1});
        const uncalled_linear q_proj{t, "q_proj", width}, k_proj{t, "k_proj", width}, v_proj{t, "v_proj", width},
            out_proj{t, "out_proj", width};
        if (bias.rank == 0) bias = distances(here, t, batch, places);
        const value split = x.view({batch, places, heads, d}).permute({0, 2, 1, 3});
        const value eight = t.call("gru_rel_pos_linear", linear{d, 8, true}, split);
        const value gates = t.sigmoid(t.sum(eight.view({batch, heads, places, 2, 4}), -1));
        const value a = gates.slice(-1, 1), b = gates.slice(-1, 1);
        const value gate = t.add(t.mul(a, t.add(t.mul(b, constant))));
        const value gated = t.mul(gate.view({all, places, 1}), bias);
        // F.multi_head_attention_forward
        const value biases = t.cat({q_proj.bias, k_proj.bias, v_proj.bias}, 0);
        const value from = x.transpose(0, 1), each = biases.slice(0, width);
        const auto project = [&](const uncalled_linear& by) {
            return t.linear(from, by.weight, &each).view({places, all, d}).transpose(0, 1);
        };
        const value q = project(q_proj), k = project(k_proj), v = project(v_proj);
        const value scores = t.softmax(t.bmm(op::batched_matmul_bias, t.mul(q), k.transpose(1, 2), 0, &gated));
        const value mixed = t.reshape(t.bmm(scores, v).transpose(0, 1), {places * batch, width});
        const value out = t.linear(mixed, out_proj.weight, &out_proj.bias).view({places, batch, width});
        {
            const recorder::off_loss_guard unread{t};
            (void)t.mean(scores.view({batch, heads, places, places}), 1);
        }
        return out.transpose(0, 1);
    }
};

constexpr value encode(const site& here, trace& t, const value& features) {
    const module_info encoder{.name = "encoder",
                              .type = here.type(is(here, stable) ? "EncoderStableLayerNorm" : "Encoder"),
                              .what = role::encoder};
    t.enter(encoder);
    value x = t.add(features, positions(here, t, features));
    if (!is(here, stable)) x = layer_norm(here, t, "layer_norm", x);
    x = dropout(t, "dropout", x);
    value bias;
    const auto layer = [&](const site& at, std::int64_t i) {
        return t.call({"layers", i}, layer_with<gated_attention>{at, gated_attention{at, bias}}, x);
    };
    const shared_values nothing;
    x = layer(here, 0);
    for (repetition each = t.repeat(here.dims.num_hidden_layers - 1, x, 1); each.next();)
        x = layer(here.at(each, nothing), each.index());
    return t.leave(encoder, is(here, stable) ? layer_norm(here, t, "layer_norm", x) : x);
}

constexpr void read(config_view config, sizes& s) {
    read_shared(config, s);
    read_adapter_layers(config, s);
}

}  // namespace wavlm_detail

// transformers/models/wavlm: distances add to scores, by gates
inline constexpr architecture wavlm = [](architecture a) {
    a.model_type = "wavlm", a.prefix = "WavLM", a.names.base = "wavlm";
    a.read = wavlm_detail::read, a.layer = wavlm_detail::encode, a.attend = nullptr, a.own = wavlm_detail::table.keys;
    return a;
}(wav2vec2);

}  // namespace llmcost::arch
