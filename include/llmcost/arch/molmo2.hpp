// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/chameleon.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace molmo2_detail {

/// The word of text layers whose positions are not scaled.
inline constexpr std::uint8_t unscaled = 1;

enum text_own : std::uint8_t { norms_after, more_words, norms_whole };
inline constexpr own_key text_keys[]{
    {"norm_after", 0, own_value::boolean},  // where `chameleon_detail::layer` looks for it
    {"additional_vocab_size", 128, own_value::non_negative},
    {.value = own_value::computed},  // queries and keys over all heads together; else per head
};
static_assert(std::uint8_t{norms_after} == std::uint8_t{chameleon_detail::norms_after});

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim;
    qkv of = project_qkv(here, t, x);
    if (here.dims.own[norms_whole] != 0) norm_queries_and_keys(here, t, of, of.q.dim(-1), of.k.dim(-1));
    split_heads(here, of);
    if (here.dims.own[norms_whole] == 0) norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    turn(here, t, of), remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

constexpr void read_text(config_view config, sizes& s) {
    s.output_bias = false;
    const string_ref norms = config.string("qk_norm_type", "qwen3");
    if (norms != "qwen3" && norms != "olmo") fail_value(config, "qk_norm_type", "qwen3 or olmo");
    s.own[norms_whole] = norms == "olmo" ? 1 : 0;
    const auto listed = config.optional_array("rope_scaling_layers");
    const layer_set named = listed ? layer_set(*listed) : layer_set{};
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{.own = listed && !named.has(i) ? unscaled : std::uint8_t{0}};
    });
}

inline constexpr architecture text = [](architecture a) {
    a.model_type = "molmo2_text", a.prefix = "Molmo2", a.attend = attend, a.layer = chameleon_detail::layer;
    a.read = read_text, a.own = text_keys, a.kinds.own = unscaled, a.heads = {}, a.drops = {};
    a.names.model_type = "TextModel", a.defaults.head = head_kind::none;
    a.keys[0] = {"attention_bias", "qkv_bias", key_rule::standard_first}, a.keys[1] = no_mlp_bias;
    a.keys[2] = {"sliding_window", "", key_rule::absent}, a.keys[3] = {"tie_word_embeddings", "", key_rule::absent};
    a.defaults.vocab_size = 151936, a.defaults.intermediate_size = 12288, a.defaults.num_hidden_layers = 36;
    a.defaults.num_key_value_heads = 8, a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 36864;
    return a;
}(llama);

// ---- images

enum tower_own : std::uint8_t { places };
inline constexpr own_key tower_keys[]{{.value = own_value::computed}};  // learned, one for each patch

/// Patches of crops as they are cut, with learned places; layers; their mean beside them.
constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, n = patches_of(image);
    const std::int64_t values = image.patch_size * image.patch_size * image.num_channels;
    const value pixels = t.input({t.load().batch, n, values}),
                learned = t.param("positional_embedding", {here.dims.own[places], width});
    if (here.dims.own[places] != n && !t.idle()) report_description("vision_config has not as many positions as patches");
    value x = t.call("patch_embedding", linear{values, width, true}, pixels);
    if (here.dims.own[places] == n) x = t.add(x, learned.unsqueeze(0));
    const shared_values made{.where = all_positions(n).where};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, tower_layer{here.at(each, made)}, x);
    const recorder::off_loss_guard unread{t};
    (void)t.mean(x, 1);
    return x;
}

constexpr void read_tower(config_view config, sizes& s) {
    const literal key = config.contains("image_default_input_size") ? "image_default_input_size" : "image_size";
    s.vision = {378, 378, config.positive(config.contains("image_patch_size") ? "image_patch_size" : "patch_size", 14),
                config.positive("num_channels", 3)};
    if (const auto sides = config.optional_array(key)) {
        if (sides->size() != 2) fail_value(config, key, "a height and a width");
        s.vision.image_height = (*sides)[0].as_positive(), s.vision.image_width = (*sides)[1].as_positive();
    }
    if (s.vision.image_height != s.vision.image_width) fail_unsupported(config, key, "its processor cuts squares only");
    if (patches_of(s.vision) < 1) fail_value(config, key, "at least the side of a patch");
    const literal count = config.contains("image_num_pos") ? "image_num_pos" : "num_position_embeddings";
    s.own[places] = config.positive(count, patches_of(s.vision));
    (void)checked_width(config, key, s.vision.patch_size * s.vision.patch_size, s.vision.num_channels);
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "molmo2_vision", a.prefix = "Molmo2", a.base = tower_base, a.read = read_tower, a.own = tower_keys;
    a.attend = attend_turned_patches, a.heads = {};
    a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.names.o = "o_proj", a.keys[0] = {}, a.keys[1] = {}, a.keys[2] = {};
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4304, a.defaults.num_hidden_layers = 25;
    a.defaults.num_attention_heads = a.defaults.num_key_value_heads = 16, a.defaults.head_dim = 72;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

enum adapter_own : std::uint8_t { text_width, layers_read };
inline constexpr own_key adapter_keys[]{{"text_hidden_size", 3584}, {.otherwise = 2, .value = own_value::computed}};

constexpr literal layers_key(config_view adapter) {
    return adapter.contains("vit_layers") ? "vit_layers" : "vision_feature_layer";
}

inline constexpr architecture adapter = [](architecture a) {
    a.model_type = "molmo2_adapter", a.prefix = "Molmo2", a.own = adapter_keys, a.heads = {}, a.rotated = rotation::none;
    a.read = [](config_view config, sizes& s) {
        if (const auto listed = config.optional_array(layers_key(config))) {
            s.own[layers_read] = static_cast<std::int64_t>(listed->size());
            if (s.own[layers_read] < 1 || s.own[layers_read] > trace::most_joined)
                fail_value(config, layers_key(config), "one to 64 layers");
        }
        (void)checked_width(config, "hidden_size", s.own[layers_read], s.hidden_size);
    };
    a.keys[0] = {"num_hidden_layers", "", key_rule::absent};
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 18944, a.defaults.num_hidden_layers = 1;
    a.defaults.num_attention_heads = a.defaults.num_key_value_heads = 16, a.defaults.head_dim = 72;
    a.defaults.attention_bias = true;
    return a;
}(architecture{});

/// Patches that one token pools, by the processor's own numbers.
inline constexpr std::int64_t pooled = 2, window = pooled * pooled;

/// The mean of a square of patches looks at them: (tokens, 1, width), (tokens, 4, width) -> (tokens, 1, width).
constexpr value pool_square(const site& here, trace& t, const value& x, const value& patches, const value* mask) {
    const std::int64_t d = here.dims.head_dim, heads = here.dims.num_attention_heads, few = here.dims.num_key_value_heads;
    const bool bias = here.dims.attention_bias;
    const module_info m{.name = "image_pooling_2d", .type = here.type("VisionAttention"), .what = role::attn};
    const auto split = [&](literal name, std::int64_t n, const value& of) {
        return t.call(name, linear{of.dim(2), n * d, bias}, of).view({of.dim(0), of.dim(1), n, d}).transpose(1, 2);
    };
    t.enter(m);
    const value q = split("q_proj", heads, x), k = split("k_proj", few, patches), v = split("v_proj", few, patches);
    const context where{.sequence = 1, .past = patches.dim(1) - 1, .causal = false};
    const value mixed = eager_attention(t, q, k, v, where, {.mask = mask});
    const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    return t.leave(m, t.call("o_proj", linear{heads * d, here.dims.hidden_size, bias}, joined));
}

/// States of crops to tokens: those of squares of patches, behind a mask where some lie outside of an image
/// (`Molmo2Adapter`; masking_utils.py, `_ignore_bidirectional_mask_sdpa`).
constexpr value adapt(const site& here, trace& t, const value& states, std::int64_t tokens, bool masked) {
    const std::int64_t width = states.dim(2), wide = here.dims.own[text_width];
    const module_info whole{.name = "multi_modal_projector", .type = here.type("Adapter"), .what = role::projector};
    t.enter(whole);
    const value flat = t.reshape(states, {-1, width});
    const auto inside = [&] { return t.constant({tokens, window}, states.type); };
    const value patches = t.mul(t.gather(flat, {tokens, window, width}), inside().unsqueeze(2));
    value counted;
    {
        const recorder::no_grad_guard constants{t};
        t.written(1);
        counted = t.where(t.sum(inside(), 1));
    }
    const value query = t.div(t.sum(patches, 1, true), counted.view({tokens, 1, 1}));
    value mask;
    if (masked) t.written(2), mask = t.constant({tokens, 1, 1, window}, t.activation_type());
    const value found = pool_square(here, t, query, patches, masked ? &mask : nullptr).squeeze(1);
    const module_info block{.name = "image_projector", .type = here.type("ImageProjectorMLP"), .what = role::mlp};
    const linear up{here.dims.hidden_size, here.dims.intermediate_size, here.dims.mlp_bias};
    t.enter(block);
    const value gate = t.call("act_fn", activation_module{here.dims.hidden_act}, t.call("gate_proj", up, found));
    const value h = t.mul(gate, t.call("up_proj", up, found));
    const value out = t.leave(block, t.call("down_proj", linear{here.dims.intermediate_size, wide}, h));
    return t.leave(whole, t.gather(out, {tokens, wide}));  // of squares that have a patch
}

/// Patches on a side of what so many crops overlap to.
inline constexpr std::int64_t margins = 8;
[[nodiscard]] constexpr std::int64_t overlapped(const model& m, std::int64_t crops) noexcept {
    const vision_sizes& own = m.beside[0].dims.vision;
    return crops * (own.image_height / own.patch_size - margins) + margins;
}

/// Overlapping crops whose grid holds an image, or loses least of it, and the whole (image_processing_molmo2.py).
constexpr media_shapes show(const model& m, const workload& load) {
    constexpr std::int64_t most = 8;
    const vision_sizes& own = m.beside[0].dims.vision;
    const std::int64_t patch = own.patch_size, side = own.image_height / patch, step = side - margins;
    if (load.images == 0) return {};
    if (step < 1) report_description("vision_config: crops are no larger than their margins");
    const image_sides image = sides_of_images(load, own);
    const auto scale = [&](std::int64_t tiles, std::int64_t of) {  // in float32, as the processor divides
        const float left = static_cast<float>(of - margins * patch), whole = static_cast<float>(tiles * step * patch);
        return left == 0 ? 3e38F : whole / left;
    };
    tile_grid best{1, 1};
    float nearest = 0;
    bool holds = false, any = false;
    for (std::int64_t n = 1; n <= most; ++n)
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            for (std::int64_t columns = 1; columns <= n; ++columns) {
                if (rows * columns != n) continue;
                const float high = scale(rows, image.height), wide = scale(columns, image.width), by = high < wide ? high : wide;
                const bool fits = by >= 1;
                if (any && (holds ? !fits || by >= nearest : !fits && by <= nearest)) continue;
                best = {rows, columns}, nearest = by, holds = fits, any = true;
            }
        }
    const auto squares = [&](std::int64_t patches) { return (patches + pooled - 1) / pooled; };
    const std::int64_t of_crops = squares(overlapped(m, best.rows)) * squares(overlapped(m, best.columns));
    return {.image = {.tokens = squares(side) * squares(side) + of_crops,
                      .tiles = best.tiles() + 1,
                      .height = own.image_height,
                      .width = own.image_width,
                      .rows = best.rows,
                      .columns = best.columns}};
}

/// Words, to those of which that stand for images features are added; the whole makes the mask.
constexpr value base(const site& here, trace& t) {
    const site text = here.text();
    const module_info m{.name = "language_model", .type = text.type(text.row.names.model_type)};
    const embedding words{text.dims.vocab_size + text.dims.own[more_words], text.dims.hidden_size};
    const bool shown = sees_images(t);
    t.enter(m);
    value x = t.leave(m, t.call("embed_tokens", words, extents{t.load().batch, t.load().sequence}));
    {
        const recorder::idle_guard no_pixels{t, !shown};
        const media_shape shape = shown ? show(here.whole, t.load()).image : media_shape{.tokens = 1};
        const site former = here.component(1);
        value states;
        {
            const recorder::workload_guard crops{t, pictures(t.load(), images_in(t) * shape.tiles, 0, 0)};
            states = describe_tower(here, t, 0, "vision_tower", role::vision);
        }
        value several[trace::most_joined];
        const std::int64_t n = former.dims.own[layers_read];
        for (std::int64_t i = 0; i < n; ++i) several[i] = states;
        const auto odd = [&](std::int64_t crops) { return overlapped(here.whole, crops) % pooled != 0; };
        const bool gaps = odd(1) || odd(shape.rows) || odd(shape.columns);
        const value features = adapt(former, t, t.cat(several, static_cast<int>(n), -1), images_in(t) * shape.tokens, gaps);
        const value joined = t.cat({features}, 0);
        const value added = t.masked_scatter(x, t.add(t.gather(x, {joined.dim(0), joined.dim(1)}), joined));
        if (shown) x = added;
    }
    decoder_context scaled = masks(text, t);
    t.enter(m);
    const rotary_frequencies plain = [&] {
        sizes kept = text.dims;
        kept.frequencies = frequency_rule::kept;
        return rotary_frequencies{kept};
    }();
    make_rotary_tables(text, t, scaled.full);
    decoder_context other = scaled;
    const rotary_table table{text.dims.rotary_dim, text.type(text.row.names.rotary_type), plain};
    const auto made = t.call("rotary_emb_unscaled", table, t.load().sequence);
    other.full.cos = made.first, other.full.sin = made.second;
    for (repetition each = t.repeat(text.dims.num_hidden_layers, text.dims.layers, x); each.next();) {
        const decoder_context& read = each.kind().own == unscaled ? other : scaled;
        x = t.call({"layers", each.index()}, decoder_layer{text.at(each, read.full)}, x);
    }
    return t.leave(m, normed(text, t, "norm", x));
}

/// Older files have the tower under another key, of which layers behind the last that is read are left out.
constexpr void read(config_view config, model& m) {
    const auto legacy = config.contains("vision_config") ? maybe<config_view>{} : config.optional_object("vit_config");
    if (legacy) m.beside[0] = {&tower, read_sizes(tower, *legacy, true)};
    sizes &image = m.beside[0].dims, &former = m.beside[1].dims;
    const auto given = config.optional_object("adapter_config");
    const auto listed = given ? given->optional_array(layers_key(*given)) : maybe<config_view>{};
    const std::int64_t n = image.num_hidden_layers;
    std::int64_t deepest = 0;
    const auto reads = [&](config_view at, std::int64_t layer) {
        if (!legacy && (layer < -n || layer >= n)) fail_value(at, "a layer of vision_config");
        const std::int64_t i = (layer % n + n) % n;
        deepest = i > deepest ? i : deepest;
    };
    if (listed)
        for (const config_view layer : *listed) reads(layer, layer.as_integer());
    else
        reads(config, 24), reads(config, 18);
    if (legacy) image.num_hidden_layers = deepest + 1;
    if (former.hidden_size != image.hidden_size) fail_value(config, "adapter_config", "a hidden_size as large as the tower's");
    if (former.own[text_width] != m.dims.hidden_size)
        fail_value(config, "adapter_config", "a text_hidden_size as large as the text's hidden_size");
    (void)checked_width(config, "text_config", 1, m.dims.vocab_size + m.dims.own[more_words]);
}

}  // namespace molmo2_detail

// transformers/models/molmo2: overlapping crops, whose squares of patches are pooled and added to words of Llama's relative
inline constexpr architecture molmo2 = [](architecture a) {
    a.model_type = "molmo2", a.prefix = "Molmo2", a.base = molmo2_detail::base, a.read_whole = molmo2_detail::read;
    a.media = molmo2_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &molmo2_detail::text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &molmo2_detail::tower, .always = true};
    a.beside[1] = {.key = "adapter_config", .otherwise = &molmo2_detail::adapter, .always = true};
    a.keys[0] = {"tie_word_embeddings", "", key_rule::absent};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
