// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/inkling2.hpp>
#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/reading/image.hpp>

namespace llmcost::arch {

namespace inkling2_vision_detail {

using qwen2_vl_detail::patch, qwen2_vl_detail::channels, qwen2_vl_detail::merge;
enum seen_by : std::uint8_t { grid = qwen2_vl_detail::width, inner, out_width, biased };
inline constexpr own_key keys[]{
    {.otherwise = 20, .value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},  // a patch is of one frame
    {"num_channels", 3},
    {.otherwise = 2, .value = own_value::computed},
    {"posemb_grid_size", 32},
    {"projection_hidden_dim", 4096},
    {"text_hidden_size", 4608},
    {"projector_bias", 0, own_value::boolean},
};

/// A block whose branches are scaled by learned numbers: norm, attention within pictures, residual; norm, two layers,
/// residual.
struct encoder_layer {
    site here;
    const packed_context& made;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value attended(trace& t, const value& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1);
        const linear same{width, width, true};
        const module_info attention{.name = "self_attn", .type = here.type("VisionAttention"), .what = role::attn};
        t.enter(attention);
        const auto heads = [&](literal name) { return t.call(name, same, x).view({rows, here.dims.num_attention_heads, -1}); };
        const auto turned = [&](const value& part) {  // neighbours, not halves
            const value all = t.to(part, dtype::float32).unsqueeze(0);
            return t.to(rotate(t, rotation::interleaved, all, made.cos, made.sin), part.type).squeeze(0);
        };
        const value q = heads("q_proj"), k = heads("k_proj"), v = heads("v_proj");
        const value turned_q = turned(q), turned_k = turned(k);
        const value mixed = attend_packed(t, turned_q, turned_k, v, made.pictures.whole());
        return t.leave(attention, t.call("out_proj", same, mixed));
    }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(1);
        const norm<norm_kind::layer> layer_norm{width};
        const value first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        const value middle = t.add(x, t.mul(first, attended(t, t.call("layernorm_before", layer_norm, x))));
        const mlp<mlp_kind::plain> feed{width,
                                        here.dims.intermediate_size,
                                        here.dims.hidden_act,
                                        here.type("VisionMLP"),
                                        true,
                                        {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(middle, t.mul(second, t.call("mlp", feed, t.call("layernorm_after", layer_norm, middle))));
    }
};

/// Patches with learned positions, each picture's behind a class token: (S + pictures, width).
constexpr value embed(const site& here, trace& t, const packed_pictures& pictures) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, rows = pictures.patches();
    const std::int64_t pixels = own[channels] * own[patch] * own[patch];
    const std::int64_t side = own[patch] * own[merge];
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value token = t.param("class_embedding", {width}), place = t.param("cls_position_embedding", {width});
    const value squares = t.input({rows / own[merge] / own[merge], side, side, own[channels]});
    const value patches = t.copy(squares).view({rows, pixels});
    value x = t.call("patch_embedding", linear{pixels, width}, patches);
    x = t.add(x, t.to(resampled_middles(t, "position_embedding", own[grid] * own[grid], width, rows), x.type));
    const value classes = t.to(t.add(token, place), x.type);
    value all = t.copy(classes.unsqueeze(0).expand({rows + pictures.frames, width}));
    t.copy_into(all, x);
    return t.leave(embeddings, all);
}

/// Patches and class tokens, layers with rotary positions, several patches as one word.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, many = own[merge] * own[merge] * width;
    const packed_pictures shown = qwen2_vl_detail::grid_of(here, t);
    // runs of a picture's patches and its class token
    packed_context made{.pictures = {shown.frames, 1, shown.rows * shown.columns + 1}};
    value x = t.call("pre_layernorm", norm<norm_kind::layer>{width}, embed(here, t, shown));
    const packed_table table{width / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_emb", table, made.pictures.patches());
    made.cos = turns.first, made.sin = turns.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, encoder_layer{here, made}, x);
    const value patches = t.gather(x, {shown.patches(), width}).view({-1, many});
    const module_info merger{.name = "merger", .type = here.type("VisionMerger"), .what = role::projector};
    const bool bias = own[biased] != 0;
    t.enter(merger);
    x = t.call("act", activation_module{here.dims.hidden_act}, t.call("linear_1", linear{many, own[inner], bias}, patches));
    return t.leave(merger, t.call("linear_2", linear{own[inner], own[out_width], bias}, x));
}

/// Images are padded to whole squares of merged patches.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const own_sizes& tower = m.beside[0].dims.own;
    const std::int64_t side = tower[patch] * tower[merge];
    const std::int64_t rows = (load.image_height + side - 1) / side, columns = (load.image_width + side - 1) / side;
    return {.image = {.tokens = rows * columns, .height = rows * side, .width = columns * side}};
}

constexpr value see_and_read(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](value words) {
        look_at_pictures(here, t, [&] {
            const value joined = t.cat({describe_tower(here, t, 0, "vision_tower", role::vision)}, 0);
            if (!sees(t)) return;
            {
                const recorder::off_loss_guard unread{t};  // that there are as many places is counted among the words
                (void)t.gather(words, {joined.dim(0), joined.dim(1)});
            }
            words = t.masked_scatter(words, joined);
        });
        return words;
    });
}

constexpr void read_vision(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads"});
    s.intermediate_size = read_inner(config, s, "intermediate_size", "mlp_ratio", 4.0);
    s.own[patch] = config.positive(config.contains("native_patch_size") ? "native_patch_size" : "patch_size", 20);
    s.own[merge] =
        config.positive(config.contains("adapter_merge_size") ? "adapter_merge_size" : "spatial_merge_size", 2);
}

constexpr void read_whole(config_view config, model& m) {
    m.dims.tie_word_embeddings = false;  // the reference ties none
    if (m.beside[0].dims.own[out_width] == m.dims.hidden_size) return;
    const auto vision = config.optional_object("vision_config");
    fail_value(vision ? *vision : config, "text_hidden_size", "the text model's hidden_size");
}

}  // namespace inkling2_vision_detail

// transformers/models/inkling2, Inkling2VisionConfig
inline constexpr architecture inkling2_vision{
    .model_type = "inkling2_vision",
    .prefix = "Inkling2",
    .base = inkling2_vision_detail::see,
    .read = inkling2_vision_detail::read_vision,
    .own = inkling2_vision_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionModel"},
    .keys = {{"intermediate_size", "", key_rule::absent}},
    .defaults = {.hidden_size = 1024,
                 .intermediate_size = 4096,
                 .num_hidden_layers = 23,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu},
};

// transformers/models/inkling2
inline constexpr architecture inkling2 = [](architecture a) {
    a.model_type = "inkling2", a.prefix = "Inkling2", a.base = inkling2_vision_detail::see_and_read;
    a.media = inkling2_vision_detail::show, a.reads.images = true, a.read_whole = inkling2_vision_detail::read_whole;
    a.finish = inkling2_detail::finish;
    a.text = {.key = "text_config", .otherwise = &inkling2_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &inkling2_vision, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
