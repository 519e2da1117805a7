// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace ovis2_detail {

enum own : std::uint8_t { width, words };
inline constexpr own_key keys[]{{"hidden_size", 1536}, {"vocab_size", 151643}};

enum tower_own : std::uint8_t { hidden_stride, indicators };
inline constexpr own_key tower_keys[]{
    {"hidden_stride", 1},  // patches along a side that become one visual word
    {"num_visual_indicator_tokens", 5, own_value::non_negative},
};

/// Patches with learned positions, normed; Llama's layers without rotation; scores of visual words.
constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t features = here.dims.hidden_size, stride = here.dims.own[hidden_stride];
    const module_info transformer{.name = "transformer", .type = here.type("VisionTransformer")};
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(transformer), t.enter(embeddings);
    value patches = embed_patches(here, t, "patch_embedding", true, pixels_of(here, t));
    patches = normed(here, t, "rms_norm", patches);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision), features);
    value x = t.leave(embeddings, t.add(patches, places));
    const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
    t.enter(encoder);
    x = t.leave(encoder, describe_layers(here, t, {}, x));
    x = t.leave(transformer, normed(here, t, "rms_norm", x));
    const std::int64_t visual = here.dims.vocab_size - here.dims.own[indicators], square = stride * stride;
    if (stride > 1) x = t.constant({x.dim(0), (x.dim(1) + square - 1) / square, features * square}, x.type);
    x = t.call("head_linear", linear{features * square, visual}, x);
    return t.softmax(t.call("head_norm", norm<norm_kind::layer>{visual}, x));
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 14);
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = s.output_bias = config.boolean("qkv_bias", false);
    if (s.own[indicators] >= s.vocab_size) fail_value(config, "num_visual_indicator_tokens", "fewer than the visual words");
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Ovis2", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.layer = layer_normed_before, a.mix = mix_by_attention, a.feed = feed_forward;
    a.residual = add_residual;
    a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention";
    a.names.attention = "attention", a.names.feed_forward = "ffn";
    a.names.norm_before_attention = "rms_norm1", a.names.norm_before_feed_forward = "rms_norm2";
    a.defaults.vocab_size = 16384, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 2816;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 8;
    return a;
}(shared_tower);

/// A table of visual words, which patches are mixtures of.
struct visual_table : embedding {
    static constexpr role what = role::vision;
};

constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        const value mixtures = describe_tower(here, t, 0, "vision_tower", role::vision);
        const visual_table table{
            {here.whole.beside[0].dims.vocab_size, here.whole.own[width], false, here.type("VisualEmbeddingTable")}};
        (void)t.call("visual_embeddings_table", table, extents{mixtures.dim(0), mixtures.dim(1)});
    }
    return describe_text(here, t, "language_model");
}

/// Its head counts words by a key of its own, unless it shares the text model's.
constexpr value describe(const site& here, trace& t) {
    sizes outer = here.dims;
    if (!outer.tie_word_embeddings) outer.vocab_size = here.whole.own[words];
    return describe_decoder({here.whole, here.row, outer}, t);
}

}  // namespace ovis2_detail

// transformers/models/ovis2: AIMv2 makes mixtures of visual words in front of Qwen2
inline constexpr architecture ovis2 = [](architecture a) {
    a.model_type = "ovis2", a.prefix = "Ovis2", a.describe = ovis2_detail::describe, a.base = ovis2_detail::base;
    a.own = ovis2_detail::keys;
    a.text = {.key = "text_config", .otherwise = &qwen2};
    a.beside[0] = {.key = "vision_config", .otherwise = &ovis2_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
