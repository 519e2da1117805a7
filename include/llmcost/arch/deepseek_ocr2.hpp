// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>

namespace llmcost::arch {

namespace deepseek_ocr2_detail {

// ---- SAM behind which two convolutions make the grid smaller

enum sam_own : std::uint8_t { first_channels = 5, last_channels };
inline constexpr own_key sam_keys[]{sam_detail::keys[0],
                                    sam_detail::keys[1],
                                    sam_detail::keys[2],
                                    sam_detail::keys[3],
                                    sam_detail::keys[4],
                                    {.otherwise = 512, .value = own_value::computed},
                                    {.otherwise = 896, .value = own_value::computed}};

/// (B, 3, side, side) -> (B, channels, side / 64, side / 64).
constexpr value sam_base(const site& here, trace& t) {
    const std::int64_t between = here.dims.own[first_channels];
    const value x = sam_detail::describe_encoder(here, t);
    const module_info proj{.name = "proj", .type = here.type("VisionProj")};
    t.enter(proj);
    const value h = t.call("conv1", convolution_2d{x.dim(1), between, 3, 2, 1, 1, false}, x);
    return t.leave(proj, t.call("conv2", convolution_2d{between, here.dims.own[last_channels], 3, 2, 1, 1, false}, h));
}

constexpr void read_sam(config_view config, sizes& s) {
    sam_detail::read(config, s);
    const auto channels = config.optional_array("downsample_channels");
    if (!channels) return;
    if (channels->size() < 2) fail_value(config, "downsample_channels", "two numbers of channels");
    s.own[first_channels] = (*channels)[0].as_positive(), s.own[last_channels] = (*channels)[1].as_positive();
}

inline constexpr architecture sam = [](architecture a) {
    a.prefix = "DeepseekOcr2Sam", a.base = sam_base, a.read = read_sam, a.own = sam_keys;
    a.names.model_type = "VisionEncoder";
    return a;
}(sam_detail::tower);

// ---- Qwen2's layers over patches and queries: patches see each other, queries what stands before them

/// Keys, values and queries without a cache; the mask of blocks is as large as any.
constexpr value describe_encoder(const site& here, trace& t, const value& x) {
    const std::int64_t n = x.dim(1);
    shared_values made{.where = {.sequence = n, .causal = false}};
    made.mask = eager_mask(t, made.where, x.dim(0));
    const class_name named = here.type(here.row.names.rotary_type);
    const rotary_table table{here.dims.rotary_dim, named, rotary_frequencies{here.dims}};
    const two_values tables = t.call("rotary_emb", table, n);
    made.cos = tables.first, made.sin = tables.second;
    decoder_context shared;
    shared.full = made;
    return normed(here, t, "norm", describe_layers(here, t, shared, x));
}

constexpr void read_encoder(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = true, s.output_bias = false, s.sliding_window = 0;
    s.layers.set_all({mixer_kind::full_attention});
}

inline constexpr architecture encoder = [](architecture a) {
    a.prefix = "DeepseekOcr2Vision", a.read = read_encoder, a.attend = attend_turned_patches, a.heads = {};
    a.names.model_type = "Encoder", a.names.layer_type = "EncoderLayer";
    a.defaults.num_key_value_heads = 32, a.defaults.sliding_window = 0;
    return a;
}(qwen2);

// ---- images

/// The whole image as a square, and where it is longer than a tile, tiles of the grid with the nearest aspect.
struct cut_rule {
    std::int64_t whole;
    std::int64_t tile;
    std::int64_t least;
    std::int64_t most;
};

/// Source: transformers/models/deepseek_ocr2/image_processing_deepseek_ocr2.py.
[[nodiscard]] constexpr media_shape cut(image_sides shown, const cut_rule& rule) {
    media_shape out{.tiles = 0, .height = rule.whole, .width = rule.whole};
    const std::int64_t longest = shown.height > shown.width ? shown.height : shown.width;
    const std::int64_t shortest = shown.height > shown.width ? shown.width : shown.height;
    // Python's round, halves to even, of a side that becomes nothing
    if (2 * rule.whole * shortest <= longest) report_description("an image of these sides has no height or no width left");
    if (longest <= rule.tile || rule.most == 0) return out;
    const tile_grid grid = closest_grid(shown.height, shown.width, rule.tile, rule.least, rule.most);
    out.rows = grid.rows, out.columns = grid.columns, out.tiles = grid.tiles();
    return out;
}

/// Patches along a side that are left of a picture behind both convolutions.
[[nodiscard]] constexpr std::int64_t left_of(std::int64_t side, std::int64_t patch) noexcept {
    const auto halved = [](std::int64_t n) { return (n - 1) / 2 + 1; };
    return halved(halved(side / patch));
}

inline constexpr std::int64_t few_queries = 144, many_queries = 256;
inline constexpr cut_rule rule{.whole = 1024, .tile = 768, .least = 2, .most = 6};

/// As many queries as a picture of this side is read by.
[[nodiscard]] constexpr std::int64_t queries_for(std::int64_t side, std::int64_t patch) noexcept {
    const std::int64_t n = left_of(side, patch);
    return n * n <= few_queries ? few_queries : many_queries;
}

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const std::int64_t patch = m.beside[0].dims.vision.patch_size;
    media_shape image = cut({load.image_height, load.image_width}, rule);
    image.tokens = queries_for(rule.whole, patch) + image.tiles * queries_for(rule.tile, patch) + 1;
    return {.image = image};
}

/// Two to six tiles, always: `DeepseekOcr2Processor` says so, whatever the file does.
constexpr void read_processor(config_view told, model&) {
    expect_resized(told);
    expect_side(told, "size", rule.whole, "1024, for which the queries of a whole image are made");
    expect_side(told, "tile_size", rule.tile, "768, for which the queries of a tile are made");
}

/// SAM, its patches in front of queries, and what Qwen2's layers make of these: (B, queries, width).
constexpr value describe_pictures(const site& here, trace& t) {
    const site reader = here.component(1);
    const std::int64_t width = reader.dims.hidden_size;
    const module_info tower{.name = "vision_tower", .type = here.type("VisionModel"), .what = role::vision};
    const module_info encoder{.name = "vision_encoder", .type = reader.type("Encoder")};
    t.enter(tower);
    const value x = as_tokens(describe_tower(here, t, 0, "sam_encoder", role::none));
    const auto queries = [&](literal name, std::int64_t n) {
        const module_info learned{.name = name, .type = {"", "Embedding"}, .leaf = true};
        t.enter(learned);
        const value weight = t.param("weight", {n, width});
        t.leave(learned);
        return weight;
    };
    const value few = queries("query_768_resolution", few_queries), many = queries("query_1024_resolution", many_queries);
    const value& asked = x.dim(1) <= few_queries ? few : many;
    const value both = t.cat({x, asked.unsqueeze(0).expand({x.dim(0), asked.dim(0), width})}, 1);
    t.enter(encoder);
    const value states = t.leave(encoder, describe_encoder(reader, t, both));
    return t.leave(tower, t.slice(states, 1, asked.dim(0)));
}

struct projector : linear {
    static constexpr role what = role::projector;
};

/// Whole images, then tiles, through `see`, (pictures, …) -> (pictures, tokens, width); `join` puts those of one image
/// together, (tokens, width).
template <class See, class Join>
constexpr value place_cut_images(trace& t, const value& words, const media_shape& each, std::int64_t tile, const See& see,
                                 const Join& join) {
    const workload load = t.load();
    const std::int64_t images = images_in(t);
    value whole, parts;
    {
        const recorder::workload_guard shown{t, pictures(load, images, each.height, each.width)};
        whole = see();
    }
    if (each.tiles > 0) {
        const recorder::called_again_guard again{t};
        const recorder::workload_guard shown{t, pictures(load, images * each.tiles, tile, tile)};
        parts = see();
    }
    value features = trace::buffer({1});
    features.type = whole.type;
    for (repetition one = t.steps(images, features); one.next();)
        features = join(whole.select(0), each.tiles > 0 ? parts.slice(0, each.tiles) : value{});
    value all = features;
    all.size[0] *= images, all.elements *= static_cast<std::uint64_t>(images);
    return t.masked_scatter(words, t.cat({all}, 0));
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const std::int64_t in = here.whole.beside[1].dims.hidden_size, width = here.dims.hidden_size;
        const value separator = t.param("view_separator", {width});
        const auto see = [&] {
            return t.call("multi_modal_projector", projector{{in, width, true}}, describe_pictures(here, t));
        };
        const auto join = [&](const value& whole, const value& parts) {
            const value last = separator.unsqueeze(0);
            return parts.rank == 0 ? t.cat({whole, last}, 0) : t.cat({parts.view({-1, width}), whole, last}, 0);
        };
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{.tiles = 0};
        return place_cut_images(t, words, each, rule.tile, see, join);
    });
}

/// The tower's configuration holds those of its two parts.
constexpr void read_towers(config_view config, model& m, const architecture& first, literal second_key,
                           const architecture& second) {
    const config_view nothing{&detail::no_keys, 0};
    const auto vision = config.optional_object("vision_config");
    const auto sharp = vision ? vision->optional_object("sam_config") : maybe<config_view>{};
    const auto reader = vision ? vision->optional_object(second_key) : maybe<config_view>{};
    m.beside[0] = {&first, read_sizes(first, sharp ? *sharp : nothing, true)};
    m.beside[1] = {&second, read_sizes(second, reader ? *reader : nothing, true)};
    if (m.beside[0].dims.own[last_channels] != m.beside[1].dims.hidden_size)
        fail_value(config, "vision_config", "an encoder as wide as the last of downsample_channels");
}
constexpr void read(config_view config, model& m) { read_towers(config, m, sam, "encoder_config", encoder); }

/// Heads share the width whatever `head_dim` says; experts as DeepSeek V2 has them.
constexpr void read_text(config_view config, sizes& s, std::int64_t dense_layers) {
    share_among_heads(config, s, {"num_attention_heads"});
    read_experts(config, s, config.contains("num_experts") ? "num_experts" : "n_routed_experts");
    check_experts(config, s);
    s.moe.shared_intermediate_size =
        checked_width(config, "n_shared_experts", config.positive("n_shared_experts", 2), s.moe.intermediate_size);
    const string_ref method = config.string("topk_method", "greedy");
    s.moe.limits_groups = method == "group_limited_greedy";
    if (!s.moe.limits_groups && method != "greedy")
        fail_unsupported(config, "topk_method", "no router describes this method");
    if (s.moe.limits_groups) {
        s.moe.n_group = config.positive("n_group"), s.moe.topk_group = config.positive("topk_group");
        check_groups(config, s);
    }
    const sparse_places sparse(config, s, dense_layers);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer_kind::full_attention, sparse.has(i)}; });
}

}  // namespace deepseek_ocr2_detail

// transformers/models/deepseek_ocr2: the text model, Llama's attention and DeepSeek V2's experts
inline constexpr architecture deepseek_ocr2_text = [](architecture a) {
    a.drops = {}, a.model_type = "deepseek_ocr2_text", a.prefix = "DeepseekOcr2", a.heads = {};
    a.read = [](config_view config, sizes& s) {
        deepseek_ocr2_detail::read_text(config, s, config.non_negative("first_k_dense_replace", 0));
    };
    a.mix = mix_by_attention, a.rotated = rotation::half;
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.norm_type = "TextRMSNorm", a.names.mlp_type = "TextMLP", a.names.moe_type = "TextMoe";
    a.names.experts_type = "TextExperts", a.names.router_type = "TextTopkRouter";
    a.names.rotary_type = "TextRotaryEmbedding";
    return a;
}(deepseek_v2);

// transformers/models/deepseek_ocr2: SAM, and queries that read its patches in order
inline constexpr architecture deepseek_ocr2 = [](architecture a) {
    a.model_type = "deepseek_ocr2", a.prefix = "DeepseekOcr2", a.base = deepseek_ocr2_detail::base;
    a.read_whole = deepseek_ocr2_detail::read, a.media = deepseek_ocr2_detail::show,
    a.read_processor = deepseek_ocr2_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &deepseek_ocr2_text, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
