// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/swin_norm_layer.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace molmo2_detail {

/// Layer flag: a text layer without scaled positions.
inline constexpr std::uint8_t unscaled = 1;

enum text_config_index : std::uint8_t { norms_after, additional_vocab_size, has_full_qk_norm };

inline constexpr family_key text_keys[]{
    {"norm_after", 0, family_key_type::boolean},  // where `chameleon_detail::layer` looks for it
    {"additional_vocab_size", 128, family_key_type::non_negative},
    {.type = family_key_type::computed},  // queries and keys over all heads together; else per head
};

static_assert(std::uint8_t{norms_after} == std::uint8_t{swin_norm_layer::norms_after});

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim;
    query_key_value qkv = project_qkv(ctx, t, x);
    if (ctx.config.family[has_full_qk_norm] != 0) apply_qk_norm(ctx, t, qkv, qkv.query.dim(-1), qkv.key.dim(-1));
    split_heads(ctx, qkv);
    if (ctx.config.family[has_full_qk_norm] == 0) apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

constexpr void parse_text_config(config_view json, model_config& config) {
    config.output_bias = false;
    const string_ref norms = json.string("qk_norm_type", "qwen3");
    if (norms != "qwen3" && norms != "olmo") throw_invalid_value(json, "qk_norm_type", "qwen3 or olmo");
    config.family[has_full_qk_norm] = norms == "olmo" ? 1 : 0;
    const auto listed = json.optional_array("rope_scaling_layers");
    const layer_set named = listed ? layer_set(*listed) : layer_set{};
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{.family_tag = listed && !named.has(i) ? unscaled : std::uint8_t{0}};
    });
}

inline constexpr submodel_spec text = [](model_spec spec) {
    spec.model_type = "molmo2_text";
    spec.class_prefix = "Molmo2";
    spec.attention = attention;
    spec.decoder_layer = swin_norm_layer::decoder_layer;
    spec.parse_config = parse_text_config;
    spec.family_keys = text_keys;
    spec.supported_layers.max_family_tag = unscaled;
    spec.supported_heads = {};
    spec.dropout_keys = {};
    spec.names.model_class = "TextModel";
    spec.defaults.head = head_kind::none;
    spec.config_keys.add("attention_bias", "qkv_bias", key_rule::standard_name_first);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.config_keys.add("tie_word_embeddings", key_rule::absent);
    spec.defaults.vocab_size = 151936;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 36;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 36864;
    return spec;
}(llama);

// ---- images

enum tower_config_index : std::uint8_t { places };

inline constexpr family_key tower_keys[]{{.type = family_key_type::computed}};  // learned, one for each patch

/// Embeds pre-cut patches of crops with learned positions, runs the layers, and also computes the mean of the states.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, n = patches_of(image);
    const std::int64_t values = image.patch_size * image.patch_size * image.num_channels;
    const tensor pixels = t.input({t.load().batch, n, values}),
                 learned = t.param("positional_embedding", {ctx.config.family[places], width});
    if (ctx.config.family[places] != n && !t.is_not_executed())
        throw_description_error("vision_config: the number of positions differs from the number of patches");
    tensor x = t.call("patch_embedding", linear{values, width, true}, pixels);
    if (ctx.config.family[places] == n) x = t.add(x, learned.unsqueeze(0));
    const attention_inputs inputs{.pattern = full_pattern(n).pattern};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, vision_encoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
    const recorder::detach_guard unread{t};
    (void)t.mean(x, 1);
    return x;
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    const literal key = json.contains("image_default_input_size") ? "image_default_input_size" : "image_size";
    config.vision = {378, 378, json.positive(json.contains("image_patch_size") ? "image_patch_size" : "patch_size", 14),
                     json.positive("num_channels", 3)};
    if (const auto sides = json.optional_array(key)) {
        if (sides->size() != 2) throw_invalid_value(json, key, "a height and a width");
        config.vision.image_height = (*sides)[0].as_positive();
        config.vision.image_width = (*sides)[1].as_positive();
    }
    if (config.vision.image_height != config.vision.image_width)
        throw_unsupported(json, key, "non-square images are not supported by the processor");
    if (patches_of(config.vision) < 1) throw_invalid_value(json, key, "at least the side of a patch");
    const literal count = json.contains("image_num_pos") ? "image_num_pos" : "num_position_embeddings";
    config.family[places] = json.positive(count, patches_of(config.vision));
    (void)checked_size(json, key, config.vision.patch_size * config.vision.patch_size, config.vision.num_channels);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "molmo2_vision";
    spec.class_prefix = "Molmo2";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.attention = rotary_patch_attention;
    spec.supported_heads = {};
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.names.o_proj = "o_proj";
    spec.config_keys.remove("num_key_value_heads");
    spec.config_keys.remove("head_dim");
    spec.config_keys.remove("attention_bias");
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4304;
    spec.defaults.num_hidden_layers = 25;
    spec.defaults.num_attention_heads = spec.defaults.num_key_value_heads = 16;
    spec.defaults.head_dim = 72;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(shared_tower);

enum adapter_config_index : std::uint8_t { text_width, layers_read };

inline constexpr family_key adapter_keys[]{{"text_hidden_size", 3584},
                                           {.default_value = 2, .type = family_key_type::computed}};

constexpr literal layers_key(config_view adapter) {
    return adapter.contains("vit_layers") ? "vit_layers" : "vision_feature_layer";
}

inline constexpr submodel_spec adapter = [](model_spec spec) {
    spec.model_type = "molmo2_adapter";
    spec.class_prefix = "Molmo2";
    spec.family_keys = adapter_keys;
    spec.supported_heads = {};
    spec.rotary = rotary_style::none;
    spec.parse_config = [](config_view json, model_config& config) {
        if (const auto listed = json.optional_array(layers_key(json))) {
            config.family[layers_read] = static_cast<std::int64_t>(listed->size());
            if (config.family[layers_read] < 1 || config.family[layers_read] > trace::max_cat_inputs)
                throw_invalid_value(json, layers_key(json), "one to 64 layers");
        }
        (void)checked_size(json, "hidden_size", config.family[layers_read], config.hidden_size);
    };
    spec.config_keys.add("num_hidden_layers", key_rule::absent);
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 18944;
    spec.defaults.num_hidden_layers = 1;
    spec.defaults.num_attention_heads = spec.defaults.num_key_value_heads = 16;
    spec.defaults.head_dim = 72;
    spec.defaults.attention_bias = true;
    return spec;
}(model_spec{});

/// Patches that one token pools, by the processor's own numbers.
inline constexpr std::int64_t pooled = 2, window = pooled * pooled;

/// The mean of a square of patches looks at them: (tokens, 1, width), (tokens, 4, width) -> (tokens, 1, width).
constexpr tensor pool_square(const layer_context& ctx, trace& t, const tensor& x, const tensor& patches,
                             const tensor* mask) {
    const std::int64_t d = ctx.config.head_dim, heads = ctx.config.num_attention_heads,
                       num_kv_heads = ctx.config.num_key_value_heads;
    const bool bias = ctx.config.attention_bias;
    const module_info m{
        .name = "image_pooling_2d", .class_of_module = ctx.class_of("VisionAttention"), .module_role = role::attn};
    const auto split = [&](literal name, std::int64_t n, const tensor& input) {
        return t.call(name, linear{input.dim(2), n * d, bias}, input)
            .view({input.dim(0), input.dim(1), n, d})
            .transpose(1, 2);
    };
    t.enter(m);
    const tensor q = split("q_proj", heads, x), k = split("k_proj", num_kv_heads, patches),
                 v = split("v_proj", num_kv_heads, patches);
    const attention_pattern pattern{.query_length = 1, .cached_length = patches.dim(1) - 1, .is_causal = false};
    const tensor mixed = attention_forward(t, q, k, v, pattern, {.mask = mask});
    const tensor merged = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    return t.leave(m, t.call("o_proj", linear{heads * d, ctx.config.hidden_size, bias}, merged));
}

/// Pools squares of patch states to tokens, with a mask where some patches lie outside the image.
///
/// Source: `Molmo2Adapter`; masking_utils.py, `_ignore_bidirectional_mask_sdpa`.
constexpr tensor adapt(const layer_context& ctx, trace& t, const tensor& states, std::int64_t tokens, bool masked) {
    const std::int64_t width = states.dim(2), expanded_width = ctx.config.family[text_width];
    const module_info model_info{
        .name = "multi_modal_projector", .class_of_module = ctx.class_of("Adapter"), .module_role = role::projector};
    t.enter(model_info);
    const tensor flat = t.reshape(states, {-1, width});
    const auto patch_mask = [&] { return t.full({tokens, window}, states.type); };
    const tensor patches = t.mul(t.gather(flat, {tokens, window, width}), patch_mask().unsqueeze(2));
    tensor counted;
    {
        const recorder::no_grad_guard constants{t};
        t.add_written_elements(1);
        counted = t.masked_fill(t.sum(patch_mask(), 1));
    }
    const tensor query = t.div(t.sum(patches, 1, true), counted.view({tokens, 1, 1}));
    tensor mask;
    if (masked) {
        t.add_written_elements(2);
        mask = t.full({tokens, 1, 1, window}, t.activation_type());
    }
    const tensor found = pool_square(ctx, t, query, patches, masked ? &mask : nullptr).squeeze(1);
    const module_info block{
        .name = "image_projector", .class_of_module = ctx.class_of("ImageProjectorMLP"), .module_role = role::mlp};
    const linear up{ctx.config.hidden_size, ctx.config.intermediate_size, ctx.config.mlp_bias};
    t.enter(block);
    const tensor gate = t.call("act_fn", activation_module{ctx.config.hidden_act}, t.call("gate_proj", up, found));
    const tensor h = t.mul(gate, t.call("up_proj", up, found));
    const tensor out = t.leave(block, t.call("down_proj", linear{ctx.config.intermediate_size, expanded_width}, h));
    return t.leave(model_info, t.gather(out, {tokens, expanded_width}));  // of squares that have a patch
}

/// Patches on a side of what so many crops overlap to.
inline constexpr std::int64_t margins = 8;

[[nodiscard]] constexpr std::int64_t overlapped(const model& m, std::int64_t crops) noexcept {
    const vision_config& vision = m.components[0].config.vision;
    return crops * (vision.image_height / vision.patch_size - margins) + margins;
}

/// Returns the shape of overlapping crops plus the full image. The grid contains the image, or minimizes the loss.
///
/// Source: image_processing_molmo2.py.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    constexpr std::int64_t maximum = 8;
    const vision_config& vision = m.components[0].config.vision;
    const std::int64_t patch = vision.patch_size, side = vision.image_height / patch, step = side - margins;
    if (load.images == 0) return {};
    if (step < 1) throw_description_error("vision_config: crops are no larger than their margins");
    const image_size image = image_size_of(load, vision);
    const auto scale = [&](std::int64_t tiles, std::int64_t image_side) {  // in float32, as the processor divides
        const float left = static_cast<float>(image_side - margins * patch),
                    covered = static_cast<float>(tiles * step * patch);
        return left == 0 ? 3e38F : covered / left;
    };
    tile_grid best{1, 1};
    float nearest = 0;
    bool holds = false, has_candidate = false;
    for (std::int64_t n = 1; n <= maximum; ++n)
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            for (std::int64_t columns = 1; columns <= n; ++columns) {
                if (rows * columns != n) continue;
                const float high = scale(rows, image.height), width_scale = scale(columns, image.width),
                            fit_scale = high < width_scale ? high : width_scale;
                const bool fits = fit_scale >= 1;
                if (has_candidate && (holds ? !fits || fit_scale >= nearest : !fits && fit_scale <= nearest)) continue;
                best = {rows, columns};
                nearest = fit_scale;
                holds = fits;
                has_candidate = true;
            }
        }
    const auto squares = [&](std::int64_t patches) { return (patches + pooled - 1) / pooled; };
    const std::int64_t of_crops = squares(overlapped(m, best.rows)) * squares(overlapped(m, best.columns));
    return {.image = {.num_tokens = squares(side) * squares(side) + of_crops,
                      .num_tiles = best.tiles() + 1,
                      .height = vision.image_height,
                      .width = vision.image_width,
                      .tile_rows = best.rows,
                      .tile_columns = best.columns}};
}

/// Token embeddings, with image features added at the image token positions; the multimodal model builds the mask.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const layer_context text = ctx.text_model();
    const module_info m{.name = "language_model", .class_of_module = text.class_of(text.spec.names.model_class)};
    const embedding token_embedding{text.config.vocab_size + text.config.family[additional_vocab_size],
                                    text.config.hidden_size};
    const bool has_pixels = has_images(t);
    t.enter(m);
    tensor x = t.leave(m, t.call("embed_tokens", token_embedding, shape{t.load().batch, t.load().sequence}));
    {
        const recorder::not_executed_guard no_pixels{t, !has_pixels};
        const media_shape shape =
            has_pixels ? compute_media_shapes(ctx.model, t.load()).image : media_shape{.num_tokens = 1};
        const layer_context former = ctx.component(1);
        tensor states;
        {
            const recorder::workload_guard crops{t, image_workload(t.load(), images_in(t) * shape.num_tiles, 0, 0)};
            states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        }
        tensor several[trace::max_cat_inputs];
        const std::int64_t n = former.config.family[layers_read];
        for (std::int64_t i = 0; i < n; ++i) several[i] = states;
        const auto odd = [&](std::int64_t crops) { return overlapped(ctx.model, crops) % pooled != 0; };
        const bool gaps = odd(1) || odd(shape.tile_rows) || odd(shape.tile_columns);
        const tensor joined_states = t.cat(several, static_cast<int>(n), -1);
        const tensor features = adapt(former, t, joined_states, images_in(t) * shape.num_tokens, gaps);
        const tensor merged = t.cat({features}, 0);
        const tensor added = t.masked_scatter(x, t.add(t.gather(x, {merged.dim(0), merged.dim(1)}), merged));
        if (has_pixels) x = added;
    }
    decoder_inputs scaled = make_masks(text, t);
    t.enter(m);
    const rotary_frequencies plain = [&] {
        model_config plain_config = text.config;
        plain_config.rope_scaling = rope_scaling_kind::none;
        return rotary_frequencies{plain_config};
    }();
    compute_rotary_embeddings(text, t, scaled.full);
    decoder_inputs unscaled_inputs = scaled;
    const rotary_table table{text.config.rotary_dim, text.class_of(text.spec.names.rotary_class), plain};
    const auto made = t.call("rotary_emb_unscaled", table, t.load().sequence);
    unscaled_inputs.full.cos = made.first;
    unscaled_inputs.full.sin = made.second;
    for (loop layer_loop = t.loop_modules(text.config.num_hidden_layers, text.config.layers, x); layer_loop.next();) {
        const decoder_inputs& read = layer_loop.layer().family_tag == unscaled ? unscaled_inputs : scaled;
        x = t.call({"layers", layer_loop.index()}, decoder_layer{text.for_layer(layer_loop, read.full)}, x);
    }
    return t.leave(m, apply_norm(text, t, "norm", x));
}

/// Parses `config.json`. Older files use another key for the vision encoder. Layers after the last one that is read are
/// left out.
constexpr void parse_config(config_view json, model& m) {
    const auto legacy = json.contains("vision_config") ? maybe<config_view>{} : json.optional_object("vit_config");
    if (legacy) m.components[0] = {&tower, parse_sizes(tower, *legacy, true)};
    model_config &image = m.components[0].config, &former = m.components[1].config;
    const auto adapter_json = json.optional_object("adapter_config");
    const auto listed = adapter_json ? adapter_json->optional_array(layers_key(*adapter_json)) : maybe<config_view>{};
    const std::int64_t n = image.num_hidden_layers;
    std::int64_t deepest = 0;
    const auto reads = [&](config_view node, std::int64_t layer) {
        if (!legacy && (layer < -n || layer >= n)) throw_invalid_value(node, "a layer of vision_config");
        const std::int64_t i = (layer % n + n) % n;
        deepest = i > deepest ? i : deepest;
    };
    if (listed)
        for (const config_view layer : *listed) reads(layer, layer.as_integer());
    else {
        reads(json, 24);
        reads(json, 18);
    }
    if (legacy) image.num_hidden_layers = deepest + 1;
    if (former.hidden_size != image.hidden_size)
        throw_invalid_value(json, "adapter_config", "a hidden_size as large as the tower's");
    if (former.family[text_width] != m.config.hidden_size)
        throw_invalid_value(json, "adapter_config", "a text_hidden_size as large as the text's hidden_size");
    (void)checked_size(json, "text_config", 1, m.config.vocab_size + m.config.family[additional_vocab_size]);
}

}  // namespace molmo2_detail

// transformers/models/molmo2: overlapping crops, whose squares of patches are pooled and added to Llama's token
// embeddings relative
inline constexpr model_spec molmo2 = [](model_spec spec) {
    spec.model_type = "molmo2";
    spec.class_prefix = "Molmo2";
    spec.base_model = molmo2_detail::base;
    spec.parse_composite_config = molmo2_detail::parse_config;
    spec.compute_media_shapes = molmo2_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &molmo2_detail::text, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &molmo2_detail::tower, .ignores_model_type = true};
    spec.components[1] = {.key = "adapter_config", .default_spec = &molmo2_detail::adapter, .ignores_model_type = true};
    spec.config_keys.add("tie_word_embeddings", key_rule::absent);
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
