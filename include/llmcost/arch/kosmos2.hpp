// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/kosmos2_5.hpp>
#include <llmcost/reading/image.hpp>

namespace llmcost::arch {

namespace kosmos2_detail {

/// Words scaled, states of an image put among them in place, and sinusoidal positions, whose table grows with a text.
constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size;
    value found = t.call("embed_tokens", embedding{here.dims.vocab_size, width}, extents{load.batch, load.sequence});
    if (here.shared != nullptr && here.shared->own[0].rank > 0)
        t.copy_into(found, here.shared->own[0]), t.keep_encoded(here.shared->own[0]);
    const value words = t.mul(found);
    const module_info places{
        .name = "embed_positions", .type = here.type("TextSinusoidalPositionalEmbedding"), .leaf = true};
    t.enter(places);
    return t.add(words, t.leave(places, t.constant({load.batch, load.sequence, width}, t.activation_type())));
}

/// One mask for all texts, none for a single token (`_prepare_decoder_attention_mask`).
constexpr decoder_context prepare(const site&, trace& t) {
    decoder_context made;
    made.full.where = context_of(t, 0);
    const std::int64_t n = t.load().sequence, past = t.load().past;
    if (n == 1) return made;
    const value mask = t.constant({n, n}, t.activation_type());
    made.full.mask = past > 0 ? t.cat({t.constant({n, past}, t.activation_type()), mask}, -1) : mask;
    made.full.mask = made.full.mask.unsqueeze(0).unsqueeze(0).expand({t.load().batch, 1, n, past + n});
    return made;
}

/// Attention with a norm in front of its output projection.
struct attention {
    site here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Kosmos", "TextAttention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        qkv of;
        of.q = project(here, t, "q_proj", width, x);
        of.k = project(here, t, "k_proj", width, x), of.v = project(here, t, "v_proj", width, x);
        split_heads(here, of), heads_first(of);
        remember(here, t, of);
        const value& mask = here.shared->mask;
        const value mixed =
            eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = mask.rank > 0 ? &mask : nullptr});
        const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
        return join(here, t, t.call("inner_attn_ln", norm<norm_kind::layer>{width}, joined));
    }
};
constexpr value mix(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.attention, attention{here}, x);
}

inline constexpr architecture text = [](architecture a) {
    a.prefix = "Kosmos2", a.embed = embed, a.prepare = prepare, a.mix = mix;
    a.defaults.vocab_size = 65037, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 8192;
    a.defaults.num_attention_heads = 32, a.defaults.max_position_embeddings = 2048;
    return a;
}(kosmos2_5_detail::text);

/// CLIP's patches and layers; the class token behind a norm is what pools, beside them.
constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const value pixels = pixels_of(here, t);
    const module_info inner{.name = "model", .type = here.type("VisionTransformer")};
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const norm<norm_kind::layer> layer_norm{width};
    t.enter(inner);
    t.enter(embeddings);
    const value token = t.param("class_embedding", {width});
    const value patches = embed_patches(here, t, "patch_embedding", false, pixels);
    const value with = t.cat({token.view({1, 1, width}).expand({pixels.dim(0), 1, width}), patches}, 1);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision) + 1, width);
    value x = t.leave(embeddings, t.add(with, places));
    x = encode(here, t, t.call("pre_layrnorm", layer_norm, x), "VisionEncoder");
    const recorder::off_loss_guard unread{t};
    (void)t.call("post_layernorm", layer_norm, t.select(x, 1));
    return t.leave(inner, x);
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 14);
    share_among_heads(config, s, {"num_attention_heads"});
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Kosmos2", a.base = tower_base, a.read = read_tower, a.heads = {};
    a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::quick_gelu;
    return a;
}(shared_tower);

/// The tower's states behind its last norm, over their length, and what learned queries find in them.
constexpr value look(const site& here, trace& t) {
    const recorder::idle_guard no_pixels{t, !sees_images(t)};
    const site there = here.component(0);
    const module_info model{.name = "vision_model", .type = there.type("VisionModel"), .what = role::vision};
    const module_info inner{.name = "model", .type = there.type("VisionTransformer")};
    value x = describe_within(model, there.row.base, there, t);
    {
        const recorder::called_again_guard again{t};
        t.enter(model), t.enter(inner);
        x = t.call("post_layernorm", norm<norm_kind::layer>{there.dims.hidden_size}, x);
        t.leave(inner, x), t.leave(model, x);
    }
    const kosmos2_5_detail::image_to_text resampler{here, {"Kosmos", "TextAttention"}, false};
    return t.call("image_to_text_projection", resampler, kosmos2_5_detail::over_length(t, x));
}

inline constexpr own_key keys[]{{"latent_query_num", 64}};

}  // namespace kosmos2_detail

// transformers/models/kosmos2: a decoder with norms inside of its blocks and its attention, CLIP's tower
inline constexpr architecture kosmos_2 = [](architecture a) {
    a.model_type = "kosmos-2", a.prefix = "Kosmos2", a.own = kosmos2_detail::keys;
    a.describe = kosmos2_5_detail::describe<kosmos2_detail::look>;
    a.text.otherwise = &kosmos2_detail::text, a.beside[0].otherwise = &kosmos2_detail::tower;
    return a;
}(kosmos_2_5);

}  // namespace llmcost::arch
