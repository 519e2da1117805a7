// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/layers.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace aimv2_detail {

enum own : std::uint8_t { uses_head };
inline constexpr own_key keys[]{{"use_head", 1, own_value::boolean}};

struct layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const mlp<mlp_kind::gated> block{here.dims.hidden_size, here.dims.intermediate_size, here.dims.hidden_act,
                                         here.type("MLP"), here.dims.mlp_bias};
        const value middle = t.add(x, t.call("attention", attention_module{here}, normed(here, t, "rms_norm1", x)));
        return t.add(middle, t.call("ffn", block, normed(here, t, "rms_norm2", middle)));
    }
};

/// A learned query looks up all patches by `scaled_dot_product_attention`: (B, S, width) -> (B, width).
struct pooling_head {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AttentionPoolingHead"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, batch = x.dim(0);
        const linear project{width, width, here.dims.attention_bias};
        const value token = t.param("cls_token", {1, 1, width}).expand({batch, 1, width});
        const auto split = [&](const value& all) {
            return t.reshape(all, {batch, all.dim(1), heads, width / heads}).permute({0, 2, 1, 3});
        };
        const value k = split(t.call("k_proj", project, x)), v = split(t.call("v_proj", project, x)), q = split(token);
        const context all{.sequence = 1, .past = x.dim(1) - 1, .causal = false};
        const trace::dropout_guard keeps_all{t, {}};
        const bool fused = t.load().implementation == attention_implementation::sdpa;
        const value mixed =
            fused ? attention_heads_in_one_call(t, q, k, v, all, {}) : attention_heads_by_parts(t, q, k, v, all);
        const value joined = t.reshape(mixed.transpose(1, 2), {batch, 1, width});
        return t.call("output_proj", linear{width, width, true}, t.mean(joined, 1));
    }
};

constexpr value base(const site& here, trace& t) {
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(embeddings);
    const value patches = normed(here, t, "rms_norm", embed_patches(here, t, "patch_embed", true, pixels_of(here, t)));
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision), here.dims.hidden_size);
    value x = t.leave(embeddings, t.add(patches, places));
    const shared_values nothing;
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, layer{here.at(each, nothing)}, x);
    t.leave(encoder);
    x = normed(here, t, "rms_norm", x);
    if (here.dims.own[uses_head] == 0) return x;
    const recorder::off_loss_guard unread{t};
    (void)t.call("head", pooling_head{here}, x);
    return x;
}

constexpr void read(config_view config, sizes& s) {
    read_square_image(config, s, 224, 14);
    share_among_heads(config, s, {"num_attention_heads"});
    if (config.boolean("is_native", false))
        fail_unsupported(config, "is_native", "no row describes positions that are computed for images of any size");
    s.attention_bias = s.output_bias = config.boolean("qkv_bias", false);
}

}  // namespace aimv2_detail

// transformers/models/aimv2: `Aimv2VisionModel`, gated blocks behind RMS norms
inline constexpr architecture aimv2_vision_model = [](architecture a) {
    a.model_type = "aimv2_vision_model", a.prefix = "Aimv2", a.base = aimv2_detail::base, a.read = aimv2_detail::read;
    a.own = aimv2_detail::keys, a.drops = tower_dropout;
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 2816, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 8, a.defaults.hidden_act = activation::silu;
    return a;
}(shared_tower);

}  // namespace llmcost::arch
