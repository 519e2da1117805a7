// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace git_detail {

enum own : std::uint8_t { frames };
inline constexpr own_key keys[]{{.value = own_value::computed}};  // images of a video with places of their own; 0: none

/// How the images of a video are called.
inline constexpr literal frame_names[]{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"};
inline constexpr std::int64_t most_frames = sizeof frame_names / sizeof *frame_names;

/// States in front of a text for what it shows, in the first pass or among what the cache holds.
[[nodiscard]] constexpr std::int64_t states_ahead(const site& here, const trace& t) {
    return t.load().images * (patches_of(here.component(0).dims.vision) + 1);
}

/// Words and learned positions, added in place, normed.
struct embeddings {
    site here;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Embeddings"); }
    constexpr value describe(trace& t) const {
        const workload& load = t.load();
        const std::int64_t width = here.dims.hidden_size, places = here.dims.max_position_embeddings;
        value x = t.call("word_embeddings", embedding{here.dims.vocab_size, width}, extents{load.batch, load.sequence});
        t.positions(places, load.past + load.sequence + (load.past > 0 ? states_ahead(here, t) : 0));
        const value where = t.call("position_embeddings", embedding{places, width}, extents{1, load.sequence});
        t.in_place(op::add, x, where);
        return dropout(t, "dropout", t.call("LayerNorm", norm<norm_kind::layer>{width}, x));
    }
};

/// A projection, dropout, and a norm of the sum with what came in.
struct output_block {
    std::int64_t in;
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& h, const value& x) const {
        const value out = dropout(t, "dropout", t.call("dense", linear{in, x.dim(-1), true}, h));
        return t.call("LayerNorm", norm<norm_kind::layer>{x.dim(-1)}, t.add(out, x));
    }
};

/// The second half of the feed-forward block.
struct feed_forward_output : output_block {
    static constexpr role what = role::mlp;
};

/// Scores divided instead of scaled, with a dropout that is called.
struct self_attention {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        qkv of = project_qkv(here, t, x);
        split_heads(here, of), heads_first(of);
        remember(here, t, of);
        const context& where = here.shared->where;
        const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), where, of.k.dim(2))};
        const bool sparse = t.load().attention == attention_scores::causal;
        value scores = t.div(t.matmul(of.q, of.k.transpose(2, 3), sparse ? where.visible_pairs() : 0));
        if (!sparse) scores = t.add(scores, here.shared->mask);
        const value mixed =
            t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_of::attention), of.v).permute({0, 2, 1, 3});
        return t.contiguous(mixed).view({x.dim(0), x.dim(1), here.dims.hidden_size});
    }
};

constexpr value attend(const site& here, trace& t, const value& x) {
    const output_block out{here.dims.hidden_size, here.type("SelfOutput")};
    return t.call("output", out, t.call("self", self_attention{here}, x), x);
}

/// Attention and feed-forward, each followed by residual and norm.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value a = t.call("attention", attention_module{here}, x);
    const module_info wide{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
    t.enter(wide);
    value h = t.call("dense", linear{here.dims.hidden_size, here.dims.intermediate_size, true}, a);
    h = t.leave(wide, t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h));
    return t.call("output", feed_forward_output{{here.dims.intermediate_size, here.type("Output")}}, h, a);
}

/// CLIP's tower in a module of its own, all states of which are normed.
constexpr value describe_patches(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const value pixels = pixels_of(here, t);
    const module_info patches{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(patches);
    const value token = t.param("class_embedding", {width}).view({1, 1, width}).expand({pixels.dim(0), 1, width});
    const value with = t.cat({token, embed_patches(here, t, "patch_embedding", false, pixels)}, 1);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision) + 1, width);
    const value x = t.leave(patches, t.add(with, places));
    const norm<norm_kind::layer> layer_norm{width};
    return t.call("post_layernorm", layer_norm, encode(here, t, t.call("pre_layrnorm", layer_norm, x), "VisionEncoder"));
}
constexpr value tower_base(const site& here, trace& t) {
    return describe_within({.name = "vision_model", .type = here.type("VisionTransformer")}, describe_patches, here, t);
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 16);
    share_among_heads(config, s, {"num_attention_heads"});
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob", 0.1},
                                             {dropout_of::attention, "attention_probs_dropout_prob", 0.1}};

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Git", a.base = tower_base, a.read = read_tower, a.heads = {};
    a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_act = activation::quick_gelu, a.drops = tower_dropout;
    return a;
}(shared_tower);

/// States of the images, each behind the one before; those of a video's images have something added in place.
constexpr value see(const site& here, trace& t) {
    const std::int64_t shown = t.load().images > 1 ? t.load().images : 1, own = here.dims.own[frames];
    value each[most_frames];
    {
        const recorder::workload_guard pictures_of_one{t, pictures(t.load(), t.load().batch, 0, 0)};
        const trace::dropout_guard own_rates{t, here.component(0).dims.drops};
        for (std::int64_t i = 0; i < shown; ++i) {
            const recorder::called_again_guard again{t, i > 0};
            each[i] = describe_tower(here, t, 0, "image_encoder", role::vision);
        }
    }
    if (own == 0) return each[0];
    const module_info list{.name = "img_temporal_embedding", .type = {"", "ParameterList"}};
    t.enter(list);
    for (std::int64_t i = 0; i < own; ++i) {
        const recorder::idle_guard unused{t, i >= shown || shown == 1};
        const value added = t.param(frame_names[i], {1, 1, each[0].dim(2)});
        if (i < shown) t.in_place(op::add, each[i], added);
    }
    t.leave(list);
    return shown == 1 ? each[0] : t.cat(each, static_cast<int>(shown), 1);
}

/// Images in front of a text are projected, and see each other; a text alone runs layers only.
constexpr value base(const site& here, trace& t) {
    value x = t.call("embeddings", embeddings{here});
    workload with = t.load();
    {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const value seen = see(here, t);
        const module_info outer{.name = "visual_projection", .type = here.type("Projection"), .what = role::projector};
        const module_info steps{.name = "visual_projection", .type = {"", "Sequential"}, .what = role::projector};
        const std::int64_t width = here.dims.hidden_size;
        t.enter(outer), t.enter(steps);
        const value h = t.call("0", linear{seen.dim(-1), width, true}, seen);
        const value projected = t.leave(outer, t.leave(steps, t.call("1", norm<norm_kind::layer>{width}, h)));
        if (sees_images(t)) x = t.cat({t.copy(projected), x}, 1);
    }
    (with.past > 0 ? with.past : with.sequence) += states_ahead(here, t);
    const recorder::workload_guard all{t, with};
    const decoder_context shared = here.row.prepare(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    return t.leave(encoder, describe_layers(here, t, shared, x));
}

/// Every image is made as large as the tower's own; its states are no tokens, but stand in front of them.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images > 1 && load.images > m.dims.own[frames])
        report_description("no place is learned for so many images of a video");
    const vision_sizes& image = m.beside[0].dims.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

constexpr void read(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = s.output_bias = s.head_bias = true;
    s.layers.set_all({mixer_kind::full_attention});
    const auto given = config.find("num_image_with_embedding");
    if (!given || given->is_null()) return;
    s.own[frames] = given->as_positive();
    if (s.own[frames] > most_frames)
        fail_unsupported(config, "num_image_with_embedding", "no row names more than 16 images");
}

}  // namespace git_detail

// transformers/models/git: BERT's layers behind a causal mask, CLIP's tower beside them
inline constexpr architecture git = [](architecture a) {
    a.model_type = "git", a.prefix = "Git", a.base = git_detail::base, a.read = git_detail::read;
    a.own = git_detail::keys, a.layer = git_detail::layer, a.attend = git_detail::attend;
    a.rotated = rotation::none, a.heads = language_heads, a.media = git_detail::show, a.reads.images = true;
    a.beside[0] = {.key = "vision_config", .otherwise = &git_detail::tower, .always = true};
    a.names.base = "git", a.names.layers = "layer", a.names.layer_type = "Layer", a.names.lm_head = "output";
    a.names.q = "query", a.names.k = "key", a.names.v = "value";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias, a.keys[2] = {"sliding_window", "", key_rule::absent};
    a.keys[3] = {"num_key_value_heads", "", key_rule::absent}, a.keys[4] = {"head_dim", "", key_rule::absent};
    a.defaults.vocab_size = 30522, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = 6, a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 1024;
    a.defaults.hidden_act = activation::gelu;
    a.keys[5] = no_key_value_heads;
    a.drops = git_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
