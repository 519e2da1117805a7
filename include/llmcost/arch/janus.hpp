// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/janus_vq.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace janus_detail {

enum tower_own : std::uint8_t { projection_width, depth, norms_queries, drops_projection };
inline constexpr own_key tower_keys[]{
    {"projection_dim", 2048},
    {"depth", 2},
    {"use_qk_norm", 0, own_value::boolean},
    {.value = own_value::computed},  // whether a dropout stands behind attention: else an identity
};

/// A norm over all heads together, or a module that does nothing.
constexpr value norm_or_not(const site& here, trace& t, literal name, const value& x) {
    if (here.dims.own[norms_queries] == 0) return t.call(name, identity{"Identity"}, x);
    return t.call(name, norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

/// CLIP's attention with norms of queries and keys, and a dropout behind it.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t batch = x.dim(0), n = x.dim(1), width = here.dims.hidden_size;
    const std::int64_t heads = here.dims.num_attention_heads, d = width / heads;
    const linear projection{width, width, here.dims.attention_bias};
    value q = t.call("q_proj", projection, x), k = t.call("k_proj", projection, x);
    const value v = t.call("v_proj", projection, x).view({batch, n, heads, d}).transpose(1, 2);
    q = norm_or_not(here, t, "q_norm", t.reshape(q, {-1, width}).view({batch, n, width}));
    k = norm_or_not(here, t, "k_norm", t.reshape(k, {-1, width}).view({batch, n, width}));
    q = q.view({batch, n, heads, d}).transpose(1, 2), k = k.view({batch, n, heads, d}).transpose(1, 2);
    const context all{.sequence = n, .causal = false};
    const value mixed = t.reshape(eager_attention(t, q, k, v, all, {}), {batch, n, width});
    const value out = t.call("projection_layer", linear{width, width, true}, mixed);
    return t.call("projection_dropout", identity{here.dims.own[drops_projection] != 0 ? "Dropout" : "Identity"}, out);
}

/// Two projections with a dropout behind each.
struct feed_forward_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionMLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        value h =
            t.call("activation_fn", activation_module{here.dims.hidden_act}, t.call("fc1", linear{width, inner, true}, x));
        h = t.call("fc2", linear{inner, width, true}, dropout(t, "dropout1", h));
        return dropout(t, "dropout2", h);
    }
};

struct layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{here.dims.hidden_size};
        const value middle = t.add(x, t.call("self_attn", attention_module{here}, t.call("layer_norm1", layer_norm, x)));
        return t.add(middle, t.call("mlp", feed_forward_block{here}, t.call("layer_norm2", layer_norm, middle)));
    }
};

/// SigLIP without its pool.
constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const value pixels = pixels_of(here, t);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision), width);
    value x = t.leave(embeddings, t.add(patches, places));
    const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, layer{here}, x);
    const norm<norm_kind::layer> last{width};
    x = t.call("post_layernorm", last, t.leave(encoder, x));
    const recorder::off_loss_guard unread{t};
    const recorder::called_again_guard again{t};  // of the first patch, once more
    (void)t.call("post_layernorm", last, t.select(x, 1));
    return x;
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 384, 16);
    share_among_heads(config, s, {"num_attention_heads"});
    s.intermediate_size = read_inner(config, s, "", "mlp_ratio", 4.0);
    s.own[drops_projection] = config.real("projection_dropout", 0.0) > 0;
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Janus", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {}, a.attend = attend;
    a.names.attention_type = "VisionAttention", a.keys[2] = {}, a.keys[3] = {"intermediate_size", "", key_rule::absent};
    a.defaults.hidden_size = 1024, a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16;
    a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

/// A projection to another width and some more of that width.
struct aligner {
    class_name named;
    std::int64_t width;
    std::int64_t layers;
    activation act;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.call("fc1", linear{x.dim(-1), width, true}, x);
        if (layers == 1) {
            const module_info nothing{.name = "hidden_layers", .type = {"", "ModuleList"}};
            t.enter(nothing), t.leave(nothing);
        }
        for (repetition each = t.repeat(layers - 1, h); each.next();) {
            h = t.call("activation_fn", activation_module{act}, h);  // one module, called in front of each
            h = t.call({"hidden_layers", each.index()}, linear{width, width, true}, h);
        }
        return layers == 1 ? t.call("activation_fn", activation_module{act}, h) : h;
    }
};

/// Scores of codes (`JanusVQVAEHead`).
struct code_head {
    const sizes& codes;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Janus", "VQVAEHead"}; }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = codes.own;
        value h = t.call("proj_out", linear{own[token_width], own[vq_projection_width], true}, x);
        h = t.call("activation_fn", activation_module{codes.hidden_act}, h);
        return t.call("vision_head", linear{own[vq_projection_width], own[num_embeddings], true}, h);
    }
};

/// What makes images by codes, which nothing calls that reads.
constexpr void declare_making(const site& here, trace& t) {
    const recorder::idle_guard unused{t};
    const sizes& codes = here.whole.beside[1].dims;
    (void)describe_tower(here, t, 1, "vqmodel", role::vision);
    const extents one{t.load().batch, 1};
    const value code = t.call("generation_embeddings", embedding{codes.own[num_embeddings], codes.own[embed_dim]}, one);
    const aligner makes{here.type("VQVAEAlignerMLP"), codes.own[vq_projection_width], codes.num_hidden_layers,
                        codes.hidden_act};
    (void)t.call("generation_aligner", makes, code);
    const value state = t.constant({t.load().batch, codes.own[token_width]}, code.type);
    (void)t.call("generation_head", code_head{codes}, state);
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        declare_making(here, t);
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const sizes& vision = here.whole.beside[0].dims;
        const aligner reads{here.type("VisionAlignerMLP"), vision.own[projection_width], vision.own[depth],
                            vision.hidden_act};
        const value states = describe_tower(here, t, 0, "vision_model", role::vision);
        return t.masked_scatter(words, t.call("aligner", reads, states));
    });
}

}  // namespace janus_detail

// transformers/models/janus: SigLIP in front of Llama, an autoencoder of images behind it
inline constexpr architecture janus = [](architecture a) {
    a.model_type = "janus", a.prefix = "Janus", a.base = janus_detail::base;
    a.media = patches_as_tokens, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &llama};
    a.beside[0] = {.key = "vision_config", .otherwise = &janus_detail::tower, .always = true};
    a.beside[1] = {.key = "vq_config", .otherwise = &janus_detail::vq, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
