// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace mllama_detail {

/// The word of layers that attend to an image, which a text passes by.
inline constexpr std::uint8_t crosses = 1;

/// Rows of the table of words beyond `vocab_size`.
inline constexpr std::int64_t more_words = 8;

constexpr value embed(const site& here, trace& t) {
    const embedding words{here.dims.vocab_size + more_words, here.dims.hidden_size};
    return t.call("embed_tokens", words, extents{t.load().batch, t.load().sequence});
}

// what layers that read images share
enum shared_own : std::uint8_t { image_states, image_mask, words_with_images };

/// Attention to images' states, normed queries and keys: (B, S, hidden) -> the same. Keys and values are made in the first
/// pass and come from the cache afterwards.
struct image_attention {
    site here;

    static constexpr role what = role::cross_attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextCrossAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const decoder_names& n = here.row.names;
        const std::int64_t d = here.dims.head_dim, heads = here.dims.num_attention_heads, few = here.dims.num_key_value_heads;
        const value& states = here.shared->own[image_states];
        const value &mask = here.shared->own[image_mask], all = project(here, t, n.q, heads * d, x);
        const value q = norm_of(here, t, n.q_norm, d, all.view({x.dim(0), x.dim(1), heads, d}).transpose(1, 2));
        const std::int64_t length = states.elements == 0 ? 1 : states.dim(0) * states.dim(1) / x.dim(0);
        value k = trace::buffer({x.dim(0), few, length, d}), v = k;
        {
            const recorder::idle_guard from_cache{t, t.load().past > 0};
            const auto split = [&](const value& made) { return made.view({x.dim(0), -1, few, d}).transpose(1, 2); };
            const value keys = split(project(here, t, n.k, few * d, states));
            const value values = split(project(here, t, n.v, few * d, states));
            const value normed_keys = norm_of(here, t, n.k_norm, d, keys);
            if (t.load().past == 0) k = update_cache(t, normed_keys, {}), v = update_cache(t, values, {});
        }
        if (t.load().past > 0) t.cache(k), t.cache(v);
        const context where{.sequence = x.dim(1), .past = length - x.dim(1), .causal = false};
        const value mixed = eager_attention(t, q, k, v, where, {.mask = &mask});
        return join(here, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
    }
};

/// A layer that reads an image: both blocks are let in by gates that begin at zero.
struct image_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("CrossAttentionDecoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const bool sees = here.shared->own[image_mask].rank > 0;
        if (!sees) t.cache_nothing();
        const recorder::idle_guard no_image{t, !sees};  // `MllamaTextModel` does not call the layer without images
        const value attention_gate = t.param("cross_attn_attn_gate", {1}), gate = t.param("cross_attn_mlp_gate", {1});
        value h = t.call("cross_attn", image_attention{here}, normed(here, t, "input_layernorm", x));
        h = t.add(x, t.mul(t.tanh(attention_gate), h));
        value fed = feed_forward(here, t, normed(here, t, "post_attention_layernorm", h));
        if (sees) fed = t.mul(here.shared->own[words_with_images].select(1), fed);
        const value out = t.add(h, t.mul(t.tanh(gate), fed));
        return sees ? out : x;
    }
};

/// The reference measures what was seen by the first layer's cache, which is empty where that layer reads images: the mask
/// then knows of no past.
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c;
    c.full.where = context_of(t, 0);
    context measured = c.full.where;
    if (here.dims.layers[0].own == crosses) measured.past = 0;
    c.full.mask = eager_mask(t, measured, t.load().batch);
    return with_tables(here, t, c);
}

/// The text model over words and what layers that read images share.
constexpr value describe_words(const site& here, trace& t, const shared_values& seen) {
    value x = here.row.embed(here, t);
    shared_values shared = here.row.prepare(here, t).full;
    for (int i = 0; i < 3; ++i) shared.own[i] = seen.own[i];
    if (shared.own[image_states].rank == 0) shared.own[image_states] = x;  // as many as words, for declarations
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        const site inside = here.at(each, shared);
        if (each.kind().own == crosses)
            x = t.call({"layers", each.index()}, image_layer{inside}, x);
        else
            x = t.call({"layers", each.index()}, decoder_layer{inside}, x);
    }
    return normed(here, t, "norm", x);
}
constexpr value text_base(const site& here, trace& t) { return describe_words(here, t, shared_values{}); }

/// Layers that `cross_attention_layers` lists, else every fifth from the fourth to the 39th.
constexpr void read_text(config_view config, sizes& s) {
    const std::int64_t given = s.head_dim;
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.head_dim != given) fail_value(config, "head_dim", "hidden_size / num_attention_heads, or no such key");
    const auto listed = config.optional_array("cross_attention_layers");
    const layer_set named = listed ? layer_set(*listed) : layer_set{};
    plan_layers(config, s, [&](std::int64_t i) {
        const bool reads = listed ? named.has(i) : i % 5 == 3 && i < 40;
        return layer_kind{.own = reads ? crosses : std::uint8_t{}};
    });
    s.sliding_window = 0;
}

inline constexpr architecture text = [](architecture a) {
    a.model_type = "mllama_text_model", a.prefix = "Mllama", a.base = text_base, a.embed = embed, a.read = read_text;
    a.prepare = prepare;
    a.kinds.own = crosses, a.heads = {};
    a.names.model_type = "TextModel", a.names.layer_type = "SelfAttentionDecoderLayer";
    a.names.attention_type = "TextSelfAttention", a.names.mlp_type = "TextMLP", a.names.norm_type = "TextRMSNorm";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias, a.keys[2] = {"sliding_window", "", key_rule::absent};
    a.defaults.vocab_size = 128256, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 14336;
    a.defaults.num_hidden_layers = 40, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072;
    return a;
}(llama);

enum tower_own : std::uint8_t { global_layers, output_width, tiles, shapes, states_read };
inline constexpr own_key tower_keys[]{
    {"num_global_layers", 8, own_value::non_negative},
    {"vision_output_dim", 7680},
    {"max_num_tiles", 4},
    {.otherwise = 8, .value = own_value::computed},  // how many `supported_aspect_ratios`
    {.otherwise = 5, .value = own_value::computed},  // layers whose states stand beside the last ones
};

/// A layer of the tower; in the second encoder its blocks are let in by gates.
struct tower_layer {
    site here;
    bool gated;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{here.dims.hidden_size};
        const auto let_in = [&](literal name, const value& h) { return gated ? t.mul(t.tanh(t.param(name, {1})), h) : h; };
        value h = t.call("self_attn", attention_module{here}, t.call("input_layernorm", layer_norm, x));
        const value middle = t.add(x, let_in("gate_attn", h));
        h = t.call("post_attention_layernorm", layer_norm, middle);
        h = t.call("mlp", llmcost::tower_layer::feed_forward_of(here), h);
        return t.add(middle, let_in("gate_ffn", h));
    }
};

constexpr value encode_tiles(const site& here, trace& t, literal name, std::int64_t layers, bool gated,
                             const shared_values& made, value x) {
    const module_info encoder{.name = name, .type = here.type("VisionEncoder")};
    t.enter(encoder);
    for (repetition each = t.repeat(layers, x); each.next();)
        x = t.call({"layers", each.index()}, tower_layer{here.at(each, made), gated}, x);
    return t.leave(encoder, x);
}

/// What a shape of tiles adds to all of them, let in by a gate.
constexpr value place_tiles(const site& here, trace& t, literal name, const value& x) {
    const std::int64_t width = here.dims.hidden_size, wide = here.dims.own[tiles] * width;
    const module_info places{.name = name, .type = here.type("PrecomputedAspectRatioEmbedding"), .what = role::embedding};
    t.enter(places);
    const value gate = t.param("gate", {1});
    const value all = t.call("embedding", embedding{here.dims.own[shapes] + 1, wide}, extents{x.dim(0)});
    const value opened = t.tanh(gate);
    const value by_tile = t.mul(all.view({x.dim(0), here.dims.own[tiles], 1, width}), opened);
    return t.leave(places, t.add(x, by_tile));
}

/// A mask of tiles that are not there and of patches that fill up: (images, 1, all patches, all patches).
constexpr value mask_tiles(trace& t, std::int64_t images, std::int64_t count, std::int64_t length) {
    const recorder::no_grad_guard constants{t};
    const value there = t.copy(trace::buffer({images, count, 1, 1}));
    const value repeated = t.copy(there.expand({images, count, length, 1}));
    const value absent = t.add(repeated).view({images, count * length, 1});
    return t.mul(t.matmul(absent, absent.transpose(1, 2))).unsqueeze(1);
}

/// Tiles of patches with a class token each, two encoders, and what some layers hold side by side.
constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, batch = t.load().batch, side = image.image_height;
    const std::int64_t n = patches_of(image) + 1, count = own[tiles];
    const norm<norm_kind::layer> layer_norm{width};
    const convolution_2d patches{image.num_channels, width, image.patch_size, image.patch_size, 0, 1, false};
    const value pixels = t.input({batch * count, image.num_channels, side, side});
    value x = as_tokens(t.call("patch_embedding", patches, pixels)).view({batch, count, n - 1, width});
    x = place_tiles(here, t, "pre_tile_positional_embedding", x).view({batch * count, n - 1, width});
    const value token = t.param("class_embedding", {width}).view({1, 1, width}).expand({batch * count, 1, width});
    x = t.cat({token, x}, 1).view({batch, count, n, width});
    const module_info positions{
        .name = "gated_positional_embedding", .type = here.type("PrecomputedPositionEmbedding"), .what = role::embedding};
    t.enter(positions);
    const value gate = t.param("gate", {1}), places = t.param("embedding", {n, width});
    x = t.add(x, t.mul(t.add(t.tanh(gate)), places).view({1, 1, n, width}));
    const value by_shape = t.call("tile_embedding", embedding{own[shapes] + 1, count * n * width}, extents{batch});
    x = t.leave(positions, t.add(x, t.mul(t.tanh(gate), by_shape.view({batch, count, n, width}))));
    const std::int64_t length = (n + 7) / 8 * 8;
    x = t.pad(t.call("layernorm_pre", layer_norm, x), 2, length - n);
    shared_values made{.where = all_positions(count * length).where};
    made.mask = mask_tiles(t, batch, count, length);
    x = x.view({batch, count * length, width});
    x = encode_tiles(here, t, "transformer", here.dims.num_hidden_layers, false, made, x);
    const value state = x;
    x = t.call("layernorm_post", layer_norm, x).view({batch, count, length, width});
    x = place_tiles(here, t, "post_tile_positional_embedding", x).view({batch, count * length, width});
    x = encode_tiles(here, t, "global_transformer", own[global_layers], true, made, x);
    value several[trace::most_joined];
    for (std::int64_t i = 0; i < own[states_read]; ++i) several[i] = state.unsqueeze(3);
    const value beside = t.cat(several, static_cast<int>(own[states_read]), 3).view({batch, count, length, -1});
    const value all = t.cat({t.slice(x.view({batch, count, length, width}), 2, n), t.slice(beside, 2, n)}, 3);
    if (all.dim(3) == own[output_width]) return all;
    if (sees_images(t)) report_description("vision_output_dim is not the width of all states side by side");
    return t.constant({batch, count, n, own[output_width]}, x.type);
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 448, 14);
    share_among_heads(config, s, {"num_attention_heads", "attention_heads"});
    s.attention_bias = s.output_bias = false;
    const auto listed = config.optional_array("supported_aspect_ratios");
    if (listed) s.own[shapes] = static_cast<std::int64_t>(listed->size());
    if (!listed && s.own[tiles] != 4) fail_value(config, "max_num_tiles", "4, or a list of supported_aspect_ratios");
    const std::int64_t positions = checked_width(config, "max_num_tiles", s.own[tiles], patches_of(s.vision) + 1);
    (void)checked_width(config, "max_num_tiles", positions, s.hidden_size);
    if (const auto read = config.optional_array("intermediate_layers_indices")) {
        if (read->size() < 1 || read->size() > trace::most_joined)
            fail_value(config, "intermediate_layers_indices", "one to 64 layers");
        s.own[states_read] = static_cast<std::int64_t>(read->size());
    }
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Mllama", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.attend = attend_turned_patches;
    a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP", a.names.o = "o_proj";
    a.keys[3] = {"num_attention_heads", "attention_heads", key_rule::standard_first};
    a.defaults.hidden_size = 1280, a.defaults.intermediate_size = 5120, a.defaults.num_hidden_layers = 32;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

/// Every image fills all tiles, padded where it has fewer, and stands in no word's place.
constexpr media_shapes show(const model& m, const workload&) {
    if (m.dims.head == head_kind::causal_lm) report_description("the text model alone reads no images");
    const component& tower = m.beside[0];
    return {.image = {.tiles = tower.dims.own[tiles],
                      .height = tower.dims.vision.image_height,
                      .width = tower.dims.vision.image_width}};
}

/// Places of tiles are learned for so many.
constexpr void read_processor(config_view told, model& m) {
    const component& tower = m.beside[0];
    if (tower.kind == nullptr) return;
    expect_resized(told), expect_picture(told, tower.dims.vision.image_height);
    expect_side(told, "max_image_tiles", tower.dims.own[tiles], "the max_num_tiles of the configuration's tower");
}

/// Which words see which tiles, for layers that read images (`_prepare_cross_attention_mask`).
constexpr void mask_images(trace& t, std::int64_t length, shared_values& seen) {
    const recorder::no_grad_guard constants{t};
    const workload& load = t.load();
    const value hidden = t.add(trace::buffer({load.batch, 1, load.sequence, length}));
    value mask = t.where(hidden);
    const value rows = t.copy(trace::buffer({load.batch, 1, load.sequence})).unsqueeze(3);
    t.in_place(op::mul, mask, rows);
    seen.own[image_mask] = mask, seen.own[words_with_images] = rows;
}

constexpr value base(const site& here, trace& t) {
    const sizes& tower = here.whole.beside[0].dims;
    const std::int64_t tokens = tower.own[tiles] * (patches_of(tower.vision) + 1), hidden = here.dims.hidden_size;
    const bool reads = t.load().images > 0;
    shared_values seen;
    {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        value states;
        {
            const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
            states = describe_tower(here, t, 0, "vision_model", role::vision);
        }
        states = t.call("multi_modal_projector", projector_linear{states.dim(-1), hidden, true}, states);
        if (reads) seen.own[image_states] = states.view({-1, states.dim(2), hidden});
    }
    if (reads) mask_images(t, t.load().images * tokens, seen);
    const site text = here.text();
    const module_info m{.name = "language_model", .type = text.type(text.row.names.model_type)};
    t.enter(m);
    return t.leave(m, describe_words(text, t, seen));
}

/// With an image's tower, or the text model alone under a head whose logits are float32.
constexpr value describe(const site& here, trace& t) {
    if (here.dims.head != head_kind::causal_lm) return describe_decoder(here, t);
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    t.enter(whole);
    const value x = describe_text(here, t, "model");
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, t.to(describe_head(here, t, x), dtype::float32)));
}

}  // namespace mllama_detail

// transformers/models/mllama: Llama with layers that attend to an image, which a text passes by; nothing is tied
inline constexpr architecture mllama = [](architecture a) {
    a.model_type = "mllama", a.prefix = "Mllama", a.base = mllama_detail::base;
    a.describe = mllama_detail::describe, a.media = mllama_detail::show, a.read_processor = mllama_detail::read_processor,
    a.reads.images = true;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation};
    a.text = {.key = "text_config", .otherwise = &mllama_detail::text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &mllama_detail::tower, .always = true};
    a.keys[0] = {"tie_word_embeddings", "", key_rule::absent}, a.defaults.head = head_kind::causal_lm;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
