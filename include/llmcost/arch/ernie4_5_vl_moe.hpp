// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/ernie4_5_moe.hpp>
#include <llmcost/arch/glm4v.hpp>

namespace llmcost::arch {

namespace ernie4_5_vl_moe_detail {

// ---- what reads: experts of its own for words, and for pictures

enum read_by : std::uint8_t { vision_width, heights };
inline constexpr own_key text_keys[]{
    {.otherwise = 512, .value = own_value::computed},
    {.otherwise = 22, .value = own_value::computed},  // frequencies of heights, and as many of widths
};

/// Cosines and sines of three axes: pairs of heights and widths, then times, each angle twice; (B, S, dim) each.
///
/// Source: transformers/models/ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py, `Ernie4_5_VLMoeTextRotaryEmbedding`.
struct rotary_of_pairs {
    std::int64_t dim;
    std::int64_t of_heights;  ///< and as many of widths
    class_name named;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, std::int64_t batch, std::int64_t sequence) const {
        const recorder::no_grad_guard constants{t};
        t.owns_buffer(count(dim / 2 * 2 * 4));  // `inv_freq` and `original_inv_freq`, always in float32
        const std::int64_t of_times = dim / 2 - 2 * of_heights;
        const value angles = t.mul(t.constant({3, batch, sequence, 1}), trace::buffer({dim / 2}));
        const auto table = [&](const value& x) {
            const value part = x.select(0).slice(-1, of_heights).unsqueeze(-1);
            const value pairs = t.cat({part, part}, -1).view({batch, sequence, 2 * of_heights});
            return t.repeat_interleave(t.cat({pairs, x.select(0).slice(-1, of_times)}, -1), -1, 2);
        };
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        const value of_sin = table(sin);
        return {table(cos), of_sin};
    }
};

constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    const rotary_of_pairs table{here.dims.rotary_dim, here.dims.own[heights], here.type("TextRotaryEmbedding")};
    const two_values tables = t.call("rotary_emb", table, t.load().batch, t.load().sequence);
    c.full.cos = c.sliding.cos = tables.first, c.full.sin = c.sliding.sin = tables.second;
    return c;
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    const value cos = here.shared->cos.unsqueeze(1), sin = here.shared->sin.unsqueeze(1);
    for (value* const each : {&of.q, &of.k}) *each = ernie4_5_moe_detail::turn_pairs(t, *each, cos, sin);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// A router and experts of this width, in a module of their own: tokens (n, width) -> the same.
constexpr value mix(const site& here, trace& t, literal name, std::int64_t inner, const value& tokens) {
    architecture row = here.row;
    row.prefix = "Ernie4_5_VLMoeMoe";  // of classes around experts
    sizes dims = here.dims;
    dims.moe.intermediate_size = inner;
    const site place{here.whole, row, dims, here.shared, here.kind, here.layer};
    const module_info m{.name = name, .type = here.type("SparseMoeBlock")};
    t.enter(m);
    const value weights = t.call("gate", ernie4_5_moe_detail::router{place}, tokens);
    return t.leave(m, call_experts(place, t, tokens, weights));
}

/// Who says no `moe_mm_token_type_ids` sends every token, of a picture too, to the words' experts.
constexpr value mixture(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.moe.shared_intermediate_size;
    const value beside = inner != 0 ? call_mlp(here, t, "shared_experts", inner, x) : value{};
    const value tokens = x.view({-1, width});
    const value out = mix(here, t, "text_moe", here.dims.moe.intermediate_size, tokens).view({x.dim(0), x.dim(1), width});
    {
        const recorder::idle_guard unread{t};
        (void)mix(here, t, "vision_moe", here.dims.own[vision_width], tokens);
    }
    return inner != 0 ? t.add(out, beside) : out;
}
constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

constexpr void read_text(config_view config, sizes& s) {
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("use_bias", false);
    s.moe.num_experts = config.positive(config.contains("num_experts") ? "num_experts" : "moe_num_experts", 64);
    const literal picked = config.contains("num_experts_per_tok") ? "num_experts_per_tok" : "moe_k";
    s.moe.num_experts_per_tok = config.positive(picked, 6);
    if (s.moe.num_experts_per_tok > s.moe.num_experts) fail_value(config, picked, "at most the number of experts");
    s.moe.intermediate_size = 1536;
    if (const auto widths = config.optional_array("moe_intermediate_size")) {
        if (widths->size() != 2) fail_value(config, "moe_intermediate_size", "a width for words and one for pictures");
        s.moe.intermediate_size = (*widths)[0].as_positive(), s.own[vision_width] = (*widths)[1].as_positive();
    }
    s.moe.shared_intermediate_size = checked_width(
        config, "moe_num_shared_experts", config.non_negative("moe_num_shared_experts", 2), s.moe.intermediate_size);
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    const sparse_places sparse(config, s, 1);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, sparse.has(i)}; });
    if (2 * read_sections(config, {3, 64}).frequencies != s.rotary_dim)
        fail_sections(config, "frequencies per axis that add up to half of a head");
    const auto rope = detail::rope_parameters(config);
    const auto sections = rope ? rope->optional_array("mrope_section") : maybe<config_view>{};
    if (!sections) return;
    if (sections->size() != 3 || (*sections)[0].as_integer() != (*sections)[1].as_integer())
        fail_sections(config, "frequencies of three axes, as many of heights as of widths");
    s.own[heights] = (*sections)[0].as_integer();
}

// ---- what sees

using qwen2_vl_detail::patch, qwen2_vl_detail::channels, qwen2_vl_detail::merge;
enum seen_by : std::uint8_t { in_time = qwen2_vl_detail::width };
inline constexpr own_key keys[]{
    {"patch_size", 14},       {.otherwise = 1, .value = own_value::computed},  // a patch is of one frame
    {"in_channels", 3},       {"spatial_merge_size", 2},
    {"temporal_merge_size", 2},
};
// of the whole: bounds of pixels, and what the head over experts needs
inline constexpr own_key whole_keys[]{
    {.otherwise = 56 * 56, .value = own_value::computed},
    {.otherwise = 28 * 28 * 6177, .value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

struct vision_block {
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
        const mlp<mlp_kind::plain> feed{in,   here.dims.intermediate_size, here.dims.hidden_act, {"Ernie4_5VL", "VisionMLP"},
                                        true, {.up = "fc1", .down = "fc2", .act = "act"}};
        return t.add(middle, t.call("mlp", feed, t.call("norm2", layer_norm, middle)));
    }
};

/// Patches of one frame each, layers with rotary positions, a norm.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, pixels = own[channels] * own[patch] * own[patch];
    packed_context made{.pictures = qwen2_vl_detail::grid_of(here, t)};
    const module_info embed{.name = "patch_embed", .type = here.type("PatchEmbed"), .what = role::embedding};
    t.enter(embed);
    value x = t.leave(embed, t.call("proj", linear{pixels, in}, qwen2_vl_detail::patches_in(here, t, made.pictures)));
    const packed_table table{in / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first, made.sin = turns.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"blocks", each.index()}, vision_block{here, made}, x);
    return t.call("ln", norm<norm_kind::layer>{in}, x);
}

/// Two layers with an activation between them, a norm.
struct resampler_mlp {
    class_name named;
    std::int64_t in;
    std::int64_t out;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("act_fn", gelu_module{}, t.call("fc1", linear{in, out, true}, x));
        return t.call("ln", norm<norm_kind::layer>{out}, t.call("fc2", linear{out, out, true}, h));
    }
};

/// Several patches as one, a picture twice as if it were two frames: (S, in) -> (S / many, out).
struct resampler {
    site here;
    std::int64_t merged;
    std::int64_t frames;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VariableResolutionResamplerModel"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t all = x.dim(1) * merged * merged, out = here.dims.hidden_size;
        const class_name inner = here.type("VisionMLP");
        const value each = t.call("spatial_linear", resampler_mlp{inner, all, all}, x.view({-1, all}));
        const value even = t.gather(each, {each.dim(0), all}), odd = t.gather(each, {each.dim(0), all});
        const value h = t.call("temporal_linear", resampler_mlp{inner, frames * all, all}, t.cat({even, odd}, -1));
        return call_norm(t, "after_norm", norm_kind::rms, out, here.type("RMSNorm"),
                         t.call("mlp", linear{all, out, true}, h));
    }
};

constexpr void read_vision(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_heads"});
    if (s.own[in_time] != 2) fail_unsupported(config, "temporal_merge_size", "the reference joins two frames");
}

/// What sees, several patches as one word, and what reads.
constexpr value see_and_read(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](value words) {
        words = place_pictures(here, t, words, [&] {
            const value seen = describe_tower(here, t, 0, "vision_tower", role::vision);
            const own_sizes& own = here.component(0).dims.own;
            return t.call("resampler_model", resampler{here, own[merge], own[in_time]}, seen);
        });
        qwen2_vl_detail::place_in_time(here, t);
        return words;
    });
}

}  // namespace ernie4_5_vl_moe_detail

// transformers/models/ernie4_5_vl_moe, Ernie4_5_VLMoeTextConfig
inline constexpr architecture ernie4_5_vl_moe_text = [](architecture a) {
    a.drops = {}, a.model_type = "ernie4_5_vl_moe_text", a.prefix = "Ernie4_5_VLMoe", a.read = ernie4_5_vl_moe_detail::read_text;
    a.heads = {head_kind::none}, a.defaults.head = head_kind::none;
    a.own = ernie4_5_vl_moe_detail::text_keys, a.finish = nullptr, a.predict = nullptr;
    a.prepare = ernie4_5_vl_moe_detail::prepare, a.attend = ernie4_5_vl_moe_detail::attend;
    a.feed = ernie4_5_vl_moe_detail::feed, a.axes = rotary_axes::sections;
    a.names.model_type = "TextModel", a.names.attention_type = "TextAttention", a.names.moe_type = "MoeBlock";
    return a;
}(ernie4_5_moe);

// transformers/models/ernie4_5_vl_moe, Ernie4_5_VLMoeVisionConfig
inline constexpr architecture ernie4_5_vl_moe_vision{
    .model_type = "ernie4_5_vl_moe_vision",
    .prefix = "Ernie4_5_VLMoe",
    .base = ernie4_5_vl_moe_detail::see,
    .read = ernie4_5_vl_moe_detail::read_vision,
    .own = ernie4_5_vl_moe_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionTransformerPretrainedModel"},
    .keys = {{"num_hidden_layers", "depth", key_rule::standard_first},
             {"num_attention_heads", "num_heads", key_rule::standard_first}},
    .defaults = {.hidden_size = 1280,
                 .intermediate_size = 5120,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 16,
                 .hidden_act = activation::quick_gelu},
};

// transformers/models/ernie4_5_vl_moe
inline constexpr architecture ernie4_5_vl_moe = [](architecture a) {
    a.model_type = "ernie4_5_vl_moe", a.prefix = "Ernie4_5_VLMoe", a.base = ernie4_5_vl_moe_detail::see_and_read;
    a.own = ernie4_5_vl_moe_detail::whole_keys, a.media = qwen2_vl_detail::show,
    a.read_processor = qwen2_vl_detail::read_size_alone, a.reads.images = true;
    a.read_whole = glm4v_detail::read_whole, a.finish = glm4v_detail::finish;
    a.text = {.key = "text_config", .otherwise = &ernie4_5_vl_moe_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &ernie4_5_vl_moe_vision, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
