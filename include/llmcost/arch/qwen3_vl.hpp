// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/arch/qwen3.hpp>

namespace llmcost::arch {

namespace qwen3_vl_detail {

enum own : std::uint8_t { patch, frames, channels, merge, out_width, places, deep };
inline constexpr own_key keys[]{
    {"patch_size", 16},
    {"temporal_patch_size", 2},
    {"in_channels", 3},
    {"spatial_merge_size", 2},
    {"out_hidden_size", 3584},
    {"num_position_embeddings", 2304},
    {.otherwise = 3, .value = own_value::computed},  // layers that hand something to the text model's first layers
};

// of the whole: bounds of an image's pixels, and of a video's, all frames together
inline constexpr own_key bound_keys[]{
    {.otherwise = 56 * 56, .value = own_value::computed},
    {.otherwise = 28 * 28 * 1280, .value = own_value::computed},
    {.otherwise = 128 * 32 * 32, .value = own_value::computed},
    {.otherwise = 32 * 32 * 768, .value = own_value::computed},
};

/// What processors make of images and videos: Qwen2-VL's of the former, one of its own of the latter.
constexpr media_shapes show(const model& m, const workload& load) {
    return qwen2_vl_detail::show_within(m, load, {.all_frames = true});
}

/// Several patches as one: two layers with a norm in front, over a patch or over all of them.
struct merger {
    site here;
    bool over_all;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionPatchMerger"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.dims.own;
        const std::int64_t in = here.dims.hidden_size, all = in * own[merge] * own[merge];
        const value h = t.call("norm", norm<norm_kind::layer>{over_all ? all : in}, over_all ? x.view({-1, all}) : x);
        const value wide = t.call("linear_fc1", linear{all, all, true}, h.view({-1, all}));
        return t.call("linear_fc2", linear{all, own[out_width], true},
                      t.call("act_fn", gelu_module{}, wide));
    }
};

/// A block: norm, attention, residual; norm, feed-forward, residual.
struct block {
    site here;
    const packed_context& made;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = here.dims.hidden_size;
        const norm<norm_kind::layer> layer_norm{in};
        const packed_attention attention{
            here.type("VisionAttention"), here.dims.num_attention_heads, made, made.pictures.whole()};
        const value middle = t.add(x, t.call("attn", attention, t.call("norm1", layer_norm, x)));
        const mlp<mlp_kind::plain> feed{in, here.dims.intermediate_size, here.dims.hidden_act, here.type("VisionMLP"), true,
                                        {.up = "linear_fc1", .down = "linear_fc2", .act = "act_fn"}};
        return t.add(middle, t.call("mlp", feed, t.call("norm2", layer_norm, middle)));
    }
};

/// What a layer's kind says of itself: it hands something to the text model, or adds it there.
constexpr std::uint8_t deep_layer = 1;

/// What a tower hands to a text model: merged patches, and those of `deep` layers.
struct seen {
    value last{};
    value deep[3]{};  ///< those of later layers stand for further ones
};

/// The place of a layer among those that hand something on.
[[nodiscard]] constexpr std::int64_t deep_place(const sizes& dims, std::int64_t layer) noexcept {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < layer; ++i) n += dims.layers[i].own == deep_layer ? 1 : 0;
    return n;
}

/// Patches of several frames with learned and rotary positions, mergers; the last one and those of `deep` layers.
constexpr seen see_deep(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const sizes& dims = here.dims;
    packed_context made{.pictures = qwen2_vl_detail::grid_of(here, t)};
    const std::int64_t in = dims.hidden_size, rows = made.pictures.patches();
    const qwen2_vl_detail::patch_embed embed{here, here.type("VisionPatchEmbed"), in, true};
    value x = t.call("patch_embed", embed, qwen2_vl_detail::patches_in(here, t, made.pictures));
    x = t.add(x, resampled_positions(t, "pos_embed", own[places], in, rows));
    const packed_table table{in / dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, rows);
    made.cos = turns.first, made.sin = turns.second;
    const shared_values none{};
    seen out;
    for (repetition each = t.repeat(dims.num_hidden_layers, dims.layers, x); each.next();) {
        x = t.call({"blocks", each.index()}, block{here.at(each, none), made}, x);
        if (each.kind().own != deep_layer) continue;
        const std::int64_t place = deep_place(dims, each.index());
        out.deep[place < 3 ? place : 2] = t.call({"deepstack_merger_list", place}, merger{here, true}, x);
    }
    out.last = t.call("merger", merger{here, false}, x);
    return out;
}
constexpr value see(const site& here, trace& t) { return see_deep(here, t).last; }

constexpr void read_vision(config_view config, sizes& s) {
    const auto layers = config.optional_array("deepstack_visual_indexes");
    if (layers) s.own[deep] = static_cast<std::int64_t>(layers->size());
    const auto hands_on = [&](std::int64_t layer) {
        if (!layers) return layer == 8 || layer == 16 || layer == 24;
        for (const config_view each : *layers)
            if (each.as_non_negative() == layer) return true;
        return false;
    };
    plan_one_mask(config, s);
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i)
        (void)s.layers.set(i, {.own = hands_on(i) ? deep_layer : std::uint8_t{0}});
}

/// The text model's first layers, one for each that hands something on, add it.
constexpr void read_whole(config_view, model& m) {
    const layer_plan given = m.dims.layers;
    for (std::int64_t i = 0; i < m.dims.num_hidden_layers; ++i) {
        layer_kind kind = given[i];
        if (i < m.beside[0].dims.own[deep]) kind.own = deep_layer;
        (void)m.dims.layers.set(i, kind);
    }
}

/// The states of words that stand for pictures and what a tower handed on, added: into a copy (`_deepstack_process`).
constexpr value add_deep(trace& t, const value& x, const value& features) {
    value out = t.copy(x);
    const value some = t.gather(out.view({-1, x.dim(-1)}), {features.dim(0), features.dim(1)});
    t.copy_into(out, t.add(some, features));
    t.keep_encoded(features);
    return out;
}

/// A text model whose first layers add what a tower handed on.
constexpr value read_base(const site& here, trace& t) {
    value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        x = t.call({here.row.names.layers, each.index()}, decoder_layer{here.at(each, shared.of(each.kind()))}, x);
        if (each.kind().own == deep_layer && here.shared != nullptr)
            x = add_deep(t, x, here.shared->own[each.index() < 3 ? each.index() + 1 : 3]);
    }
    return normed(here, t, here.row.names.norm, x);
}

/// What one layer's merger made of images and videos, joined where both are seen.
constexpr value join_seen(trace& t, const value& images, const value& videos) {
    const value first = t.cat({images}, 0);
    if (videos.rank == 0) return first;
    const value second = t.cat({videos}, 0);
    value both = t.constant({first.dim(0) + second.dim(0), first.dim(1)}, first.type);
    t.copy_into(both, first), t.copy_into(both, second);
    return both;
}

/// What sees, and what reads.
constexpr value see_and_read(const site& here, trace& t) {
    return describe_text_with(here, t, "language_model", [&](shared_values& placed) {
        const site tower = here.component(0);
        const module_info visual{.name = "visual", .type = tower.type(tower.row.names.model_type), .what = role::vision};
        seen found[2];
        int n = 0;
        look_at_pictures(here, t, [&] {
            seen& now = found[n++];
            t.enter(visual);
            now = see_deep(tower, t);
            placed.own[0] = t.masked_scatter(placed.own[0], t.cat({t.leave(visual, now.last)}, 0));
        });
        qwen2_vl_detail::place_in_time(here, t);
        const std::int64_t layers = sees(t) ? tower.dims.own[deep] : 0;
        for (std::int64_t i = 0; i < layers; ++i) {
            const std::int64_t from = i < 3 && found[0].deep[i].rank > 0 ? i : 0;
            placed.own[i < 3 ? i + 1 : 3] = join_seen(t, found[0].deep[from], found[1].deep[from]);
        }
    });
}

}  // namespace qwen3_vl_detail

/// Of `mrope_section` the second and the third entry are looked up.
constexpr void check_three_axes(config_view config) {
    if (read_sections(config, {3, 32}).axes < 3) fail_sections(config, "frequencies of three axes");
}

constexpr void read_qwen3_vl(config_view config, sizes& s) {
    check_three_axes(config);
    plan_one_mask(config, s);
}

/// Routers always norm their weights.
constexpr void read_qwen3_vl_moe(config_view config, sizes& s) {
    check_three_axes(config);
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    s.moe.norm_topk_prob = true;
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    const expert_places experts(config, s);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, experts.has(i)}; });
}

// transformers/models/qwen3_vl: Qwen3 with positions of three axes
inline constexpr architecture qwen3_vl_text = [](architecture a) {
    a.model_type = "qwen3_vl_text", a.prefix = "Qwen3VL", a.read = read_qwen3_vl, a.heads = {head_kind::none};
    a.base = qwen3_vl_detail::read_base, a.kinds.own = qwen3_vl_detail::deep_layer;
    a.axes = rotary_axes::interleaved, a.masks = mask_rule::by_window;
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.norm_type = "TextRMSNorm", a.names.mlp_type = "TextMLP", a.names.rotary_type = "TextRotaryEmbedding";
    a.defaults.max_position_embeddings = 128000, a.defaults.sliding_window = 0, a.defaults.head = head_kind::none;
    return a;
}(qwen3);

// transformers/models/qwen3_vl_moe: experts as in Qwen3-MoE
inline constexpr architecture qwen3_vl_moe_text = [](architecture a) {
    a.model_type = "qwen3_vl_moe_text", a.prefix = "Qwen3VLMoe", a.read = read_qwen3_vl_moe;
    a.router = router_kind::softmax_top_k;
    a.names.moe_type = "TextSparseMoeBlock", a.names.experts_type = "TextExperts";
    a.names.router_type = "TextTopKRouter";
    a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 5632, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 16, a.defaults.head_dim = 0;
    a.defaults.moe = {.num_experts = 60, .num_experts_per_tok = 4, .intermediate_size = 1408};
    a.defaults.tie_word_embeddings = true;
    return a;
}(qwen3_vl_text);

// transformers/models/qwen3_vl, Qwen3VLVisionConfig
inline constexpr architecture qwen3_vl_vision{
    .model_type = "qwen3_vl_vision",
    .prefix = "Qwen3VL",
    .base = qwen3_vl_detail::see,
    .read = qwen3_vl_detail::read_vision,
    .own = qwen3_vl_detail::keys,
    .kinds = {.own = qwen3_vl_detail::deep_layer},
    .rotated = rotation::none,
    .names = {.model_type = "VisionModel"},
    .keys = {{"num_hidden_layers", "depth", key_rule::standard_first},
             {"num_attention_heads", "num_heads", key_rule::standard_first}},
    .defaults = {.hidden_size = 1152,
                 .intermediate_size = 4304,
                 .num_hidden_layers = 27,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu_pytorch_tanh},
};
inline constexpr architecture qwen3_vl_moe_vision = [](architecture a) {
    a.model_type = "qwen3_vl_moe_vision", a.prefix = "Qwen3VLMoe";
    return a;
}(qwen3_vl_vision);

// transformers/models/qwen3_vl
inline constexpr architecture qwen3_vl = [](architecture a) {
    a.model_type = "qwen3_vl", a.prefix = "Qwen3VL", a.base = qwen3_vl_detail::see_and_read;
    a.read_whole = qwen3_vl_detail::read_whole, a.media = qwen3_vl_detail::show, a.reads.images = a.reads.videos = true;
    a.read_processor = qwen2_vl_detail::read_processor;
    a.own = qwen3_vl_detail::bound_keys;
    a.text = {.key = "text_config", .otherwise = &qwen3_vl_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &qwen3_vl_vision, .always = true};
    return a;
}(shared_composite);

// transformers/models/qwen3_vl_moe
inline constexpr architecture qwen3_vl_moe = [](architecture a) {
    a.model_type = "qwen3_vl_moe", a.prefix = "Qwen3VLMoe";
    a.read_whole = [](config_view config, model& m) {
        weigh_balance_of_text(config, m);
        qwen3_vl_detail::read_whole(config, m);
    };
    a.text.otherwise = &qwen3_vl_moe_text, a.beside[0].otherwise = &qwen3_vl_moe_vision;
    return a;
}(qwen3_vl);

}  // namespace llmcost::arch
