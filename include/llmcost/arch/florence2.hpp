// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/encoder_decoder_stacks.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Florence-2. DaViT before BART.
//
// Source: transformers/models/florence2

namespace llmcost::arch {

namespace florence2_detail {

inline constexpr std::int64_t max_stages = 4, max_blocks = 24;

/// Names of the children of nested module lists.
inline constexpr literal numbers[]{"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11",
                                   "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23"};

enum tower_config_index : std::uint8_t {
    stages,
    widths,
    inners = widths + max_stages,
    depths = inners + max_stages,
    shapes = depths + max_stages,
    normed_first = shapes + max_stages,
    in_channels,
    qkv_bias,
    projection_width,
    max_frames,
    drops,
    window
};
inline constexpr family_key tower_keys[]{
    {.default_value = 4, .type = family_key_type::computed},
    {.default_value = 128, .type = family_key_type::computed},  // `embed_dim` of the stages
    {.default_value = 256, .type = family_key_type::computed},
    {.default_value = 512, .type = family_key_type::computed},
    {.default_value = 1024, .type = family_key_type::computed},
    {.type = family_key_type::computed},  // `mlp_ratio`
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},  // `depths`
    {.default_value = 1, .type = family_key_type::computed},
    {.default_value = 9, .type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},
    {.type = family_key_type::computed},  // 10 bits each: kernel, stride, padding; 16 bits each: heads, groups
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.default_value = 0b1110, .type = family_key_type::computed},  // `patch_prenorm` as a bit mask
    {"in_channels", 3},
    {"qkv_bias", 1, family_key_type::boolean},
    {"projection_dim", 1024},
    {"max_temporal_embeddings", 100},
    {.type = family_key_type::computed},  // 1 = drop path modules, which do nothing in evaluation
    {"window_size", 12},
};

constexpr std::int64_t stage_entry(const family_config& family, tower_config_index first, std::int64_t i) {
    return family[static_cast<std::size_t>(first + i)];
}

/// Sizes of a stage's convolutional embedding and of its attention.
struct stage_shape {
    std::int64_t kernel, stride, padding, heads, groups;

    [[nodiscard]] constexpr std::int64_t pack() const noexcept {
        return (((kernel << 10 | stride) << 10 | padding) << 16 | heads) << 16 | groups;
    }
    [[nodiscard]] static constexpr stage_shape unpack(const family_config& family, std::int64_t i) {
        const std::int64_t w = stage_entry(family, shapes, i), ten = 0x3ff, half = 0xffff;
        return {w >> 52 & ten, w >> 42 & ten, w >> 32 & ten, w >> 16 & half, w & half};
    }
    /// Number of positions per side after the convolution.
    [[nodiscard]] constexpr std::int64_t left_of(std::int64_t side) const {
        if (side + 2 * padding < kernel) throw_description_error("the images are smaller than a convolution kernel");
        return (side + 2 * padding - kernel) / stride + 1;
    }
};

/// Convolutional embedding with a norm before or after it: (B, channels, H, W) -> (B, width, H', W').
constexpr tensor embed_stage(const layer_context& ctx, trace& t, std::int64_t i, const tensor& x) {
    const family_config& family = ctx.config.family;
    const std::int64_t in = x.dim(1), width = stage_entry(family, widths, i);
    const stage_shape shape = stage_shape::unpack(family, i);
    const bool is_pre_norm = (family[normed_first] >> i & 1) != 0;
    const module_info stage{.name = "convs",
                            .index = i,
                            .class_of_module = ctx.class_of("VisionConvEmbed"),
                            .module_role = role::embedding};
    const auto normed = [&](const tensor& image) {
        const norm_module over_channels{norm_kind::layer, image.dim(1)};
        return t.call("norm", over_channels, image.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
    };
    t.enter(stage);
    const convolution_2d shrinks{in, width, shape.kernel, shape.stride, shape.padding};
    const tensor h = t.call("conv", shrinks, is_pre_norm ? normed(x) : x);
    return t.leave(stage, is_pre_norm ? h : normed(h));
}

/// Window attention over patches: (B, H, W, width) -> (B, H · W, width).
constexpr tensor attend_in_windows(const layer_context& ctx, trace& t, std::int64_t heads, const tensor& x) {
    const std::int64_t batch = x.dim(0), rows = x.dim(1), columns = x.dim(2), width = x.dim(3),
                       side = ctx.config.family[window];
    const std::int64_t below = (side - rows % side) % side, right = (side - columns % side) % side;
    const std::int64_t down = (rows + below) / side, num_window_columns = (columns + right) / side,
                       places = side * side;
    tensor h = t.pad(x, 1, below, right).view({batch, down, side, num_window_columns, side, width});
    h = t.contiguous(h.permute({0, 1, 3, 2, 4, 5})).view({batch * down * num_window_columns, places, width});
    const tensor all = t.call("qkv", linear{width, 3 * width, ctx.config.family[qkv_bias] != 0}, h);
    const tensor part = t.reshape(all, {h.dim(0), places, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).select(0);
    h = attention_forward(t, part, part, part, full_pattern(places).pattern, {.has_float32_softmax = false});
    h = t.call("proj", linear{width, width, true}, h.view({h.dim(0), places, width}));
    h = t.contiguous(h.view({batch, down, num_window_columns, side, side, width}).permute({0, 1, 3, 2, 4, 5}));
    h = h.view({batch, rows + below, columns + right, width});
    if (below > 0) h = t.slice(h, 1, rows);
    if (right > 0) h = t.slice(h, 2, columns);
    return t.contiguous(h).view({batch, rows * columns, width});
}

/// Channel attention in groups: (B, H · W, width) -> (B, H · W, width).
constexpr tensor attend_in_groups(const layer_context& ctx, trace& t, std::int64_t groups, const tensor& x) {
    const std::int64_t batch = x.dim(0), places = x.dim(1), width = x.dim(2), d = width / groups;
    const tensor all = t.call("qkv", linear{width, 3 * width, ctx.config.family[qkv_bias] != 0}, x);
    const tensor part = t.reshape(all, {batch, places, 3, groups, d}).permute({2, 0, 3, 4, 1}).select(0);
    const tensor h = attention_forward(t, part, part, part, full_pattern(d).pattern, {.has_float32_softmax = false});
    return t.call("proj", linear{width, width, true}, t.reshape(h.permute({0, 3, 2, 1}), {batch, places, width}));
}

/// DaViT block: window attention or channel attention, and an MLP.
constexpr tensor forward_block(const layer_context& ctx, trace& t, literal name, bool channels, bool dropped,
                               std::int64_t i, tensor x) {
    const std::int64_t width = x.dim(1), rows = x.dim(2), columns = x.dim(3),
                       inner = stage_entry(ctx.config.family, inners, i);
    const stage_shape shape = stage_shape::unpack(ctx.config.family, i);
    const module_info block{.name = name,
                            .class_of_module = ctx.class_of(channels ? "VisionChannelBlock" : "VisionSpatialBlock")};
    const module_info attention{
        .name = channels ? "channel_attn" : "window_attn",
        .class_of_module = ctx.class_of(channels ? "VisionChannelAttention" : "VisionWindowAttention"),
        .module_role = role::attn};
    const module_info path{.name = "",
                           .class_of_module = dropped ? ctx.class_of("DropPath") : class_name{"", "Identity"},
                           .is_leaf = true};
    const auto pass = [&](literal called, const tensor& v) {
        module_info one = path;
        one.name = called;
        t.enter(one);
        return t.leave(one, v);
    };
    const auto convolve = [&](literal called, const tensor& image) {
        const tensor h = t.add(t.call(called, convolution_2d{width, width, 3, 1, 1, width}, image), image);
        return t.reshape(h, {h.dim(0), width, rows * columns}).transpose(1, 2);
    };
    const auto as_image = [&](const tensor& tokens) {
        return tokens.transpose(1, 2).view({tokens.dim(0), width, rows, columns});
    };
    const norm_module layer_norm{norm_kind::layer, width};
    t.enter(block);
    x = convolve("conv1", x);
    tensor h = t.call("norm1", layer_norm, x);
    t.enter(attention);
    h = channels ? attend_in_groups(ctx, t, shape.groups, h)
                 : attend_in_windows(ctx, t, shape.heads, h.view({h.dim(0), rows, columns, width}));
    t.leave(attention, h);
    x = convolve("conv2", as_image(t.add(x, pass("drop_path1", h))));
    const mlp_module vision_mlp{mlp_kind::plain,
                                width,
                                inner,
                                ctx.config.hidden_act,
                                ctx.class_of("VisionMLP"),
                                true,
                                {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
    const tensor fed = pass("drop_path2", t.call("ffn", vision_mlp, t.call("norm2", layer_norm, x)));
    return t.leave(block, as_image(t.add(x, fed)));
}

/// Side of the square that every image is resized to, in pixels. It is part of the published processors, not of
/// configurations.
inline constexpr std::int64_t image_side = 768;
constexpr std::int64_t places_along(const family_config& family) {
    std::int64_t side = image_side;
    for (std::int64_t i = 0; i < family[stages]; ++i) side = stage_shape::unpack(family, i).left_of(side);
    return side;
}

/// Image shapes: one encoder token per position, preceded by their mean.
constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    const model_config& image = m.components[0].config;
    const std::int64_t side = places_along(image.family);
    if (side > image.max_position_embeddings)
        throw_description_error("the images have more patches per side than position embeddings");
    return {.image = {.num_tokens = side * side + 1, .height = image_side, .width = image_side}};
}

constexpr void parse_processor_config(config_view json, model& m) {
    const std::int64_t side = places_along(m.components[0].config.family);
    expect_resized(json);
    expect_picture(json, image_side);
    expect_side(json, "image_seq_length", side * side + 1, "the number of places and one more");
}

/// DaViT: stages of convolutional embeddings and blocks.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    tensor x = t.input({t.load().batch, family[in_channels], image_side, image_side});
    bool first = true;
    for (std::int64_t i = 0; i < family[stages]; ++i) {
        x = embed_stage(ctx, t, i, x);
        const module_info blocks{.name = "blocks", .index = i, .class_of_module = {"", "ModuleList"}};
        t.enter(blocks);
        for (std::int64_t n = 0; n < stage_entry(family, depths, i); ++n) {
            const module_info block{.name = numbers[n], .class_of_module = ctx.class_of("VisionBlock")};
            t.enter(block);
            const bool drop = family[drops] != 0;
            x = forward_block(ctx, t, "spatial_block", false, drop && !first, i, x);
            x = t.leave(block, forward_block(ctx, t, "channel_block", true, drop, i, x));
            first = false;
        }
        t.leave(blocks);
    }
    return x;
}

/// Parses a list with one entry per stage.
constexpr void parse_stages(config_view json, model_config& config, literal key, tower_config_index first_index) {
    const auto list = json.optional_array(key);
    if (!list) return;
    if (static_cast<std::int64_t>(list->size()) != config.family[stages])
        throw_invalid_value(json, key, "a list with one entry per stage");
    for (std::uint32_t i = 0; i < list->size(); ++i) config.family[first_index + i] = (*list)[i].as_positive();
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    const auto list = json.optional_array("embed_dim");
    if (list) {
        if (list->size() < 1 || list->size() > max_stages)
            throw_unsupported(json, "embed_dim", "more than 4 stages are not supported");
        config.family[stages] = static_cast<std::int64_t>(list->size());
    }
    parse_stages(json, config, "embed_dim", widths);
    parse_stages(json, config, "depths", depths);
    if (config.family[stages] != max_stages)
        for (const literal key :
             {"depths", "patch_size", "patch_prenorm", "patch_stride", "patch_padding", "num_heads", "num_groups"})
            if (!json.optional_array(key)) throw_missing_key(json, key, "a list with one entry per stage");
    const auto entry = [&](literal key, const std::int64_t(&defaults)[max_stages], std::int64_t i, std::int64_t maximum,
                           std::int64_t minimum) {
        const auto entries = json.optional_array(key);
        if (!entries) return defaults[i];
        if (static_cast<std::int64_t>(entries->size()) != config.family[stages])
            throw_invalid_value(json, key, "a list with one entry per stage");
        const std::int64_t n = (*entries)[static_cast<std::size_t>(i)].as_non_negative();
        if (n < minimum || n > maximum) throw_invalid_value(json, key, "numbers in the supported range");
        return n;
    };
    for (std::int64_t i = 0; i < config.family[stages]; ++i) {
        constexpr std::int64_t sizes_of[]{7, 3, 3, 3}, steps[]{4, 2, 2, 2}, paddings[]{3, 1, 1, 1},
            parts[]{4, 8, 16, 32};
        const stage_shape shape{entry("patch_size", sizes_of, i, 0x3ff, 1), entry("patch_stride", steps, i, 0x3ff, 1),
                                entry("patch_padding", paddings, i, 0x3ff, 0), entry("num_heads", parts, i, 0xffff, 1),
                                entry("num_groups", parts, i, 0xffff, 1)};
        const std::int64_t width = stage_entry(config.family, widths, i);
        if (width % shape.heads != 0) throw_invalid_value(json, "num_heads", "divisors of embed_dim");
        if (width % shape.groups != 0) throw_invalid_value(json, "num_groups", "divisors of embed_dim");
        config.family[static_cast<std::size_t>(shapes + i)] = shape.pack();
    }
    for (std::int64_t i = 0; i < config.family[stages]; ++i) {
        const auto index = static_cast<std::size_t>(i);
        config.hidden_size = config.family[widths + index];
        config.family[inners + index] = parse_intermediate_size(json, config, "", "mlp_ratio", 4.0);
        if (config.family[depths + index] > max_blocks)
            throw_unsupported(json, "depths", "more than 24 blocks per stage are not supported");
    }
    if (const auto flags = json.optional_array("patch_prenorm")) {
        if (static_cast<std::int64_t>(flags->size()) != config.family[stages])
            throw_invalid_value(json, "patch_prenorm", "a list with one entry per stage");
        config.family[normed_first] = 0;
        for (std::uint32_t i = 0; i < flags->size(); ++i)
            if ((*flags)[i].as_boolean()) config.family[normed_first] |= std::int64_t{1} << i;
    }
    config.family[drops] = json.real("drop_path_rate", 0.1) > 0;
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Florence2";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.names.model_class = "VisionBackbone";
    spec.defaults.num_hidden_layers = 1;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.max_position_embeddings = 50;
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.config_keys.add("hidden_size", key_rule::absent);
    spec.config_keys.add("num_attention_heads", key_rule::absent);
    return spec;
}(shared_tower);

/// Projector: adds learned row and column embeddings, prepends the mean, projects and normalizes.
struct feature_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const model_config& image = ctx.model.components[0].config;
        const family_config& family = image.family;
        const std::int64_t batch = x.dim(0), width = x.dim(1), rows = x.dim(2), columns = x.dim(3), half = width / 2;
        const module_info places{.name = "image_position_embed",
                                 .class_of_module = ctx.class_of("VisionLearnedAbsolutePositionEmbedding2D"),
                                 .module_role = role::embedding};
        const module_info frames{.name = "visual_temporal_embed",
                                 .class_of_module = ctx.class_of("VisionPositionalEmbeddingCosine1D"),
                                 .is_leaf = true};
        t.enter(places);
        const tensor row = t.call("row_embeddings", embedding{image.max_position_embeddings, half}, shape{rows});
        const tensor column =
            t.call("column_embeddings", embedding{image.max_position_embeddings, width - half}, shape{columns});
        const tensor column_embeddings = t.copy(column.unsqueeze(0).expand({rows, columns, width - half}));
        const tensor down = t.copy(row.unsqueeze(1).expand({rows, columns, half}));
        const tensor grid_embeddings = t.cat({column_embeddings, down}, -1).permute({2, 0, 1}).unsqueeze(0);
        const tensor table = t.leave(places, t.copy(grid_embeddings.expand({batch, width, rows, columns})));
        const tensor tokens = t.reshape(t.add(x, table), {batch, width, rows * columns}).transpose(1, 2);
        t.enter(frames);
        t.register_buffer({family[max_frames], width}, t.activation_type());  // `pos_idx_to_embed`
        const tensor first = t.leave(frames, trace::buffer({1, width}));
        const tensor all = t.add(tokens, first.unsqueeze(1)).unsqueeze(1);
        const tensor pooled = t.cat({t.mean(all, 2), t.mean(all, 1)}, 1);
        const tensor projected = t.call("image_projection", linear{width, family[projection_width]}, pooled);
        return t.call("image_proj_norm", norm_module{norm_kind::layer, family[projection_width]}, projected);
    }
};

enum family_config_index : std::uint8_t { text_ties };
inline constexpr family_key family_keys[]{{.default_value = 1, .type = family_key_type::computed}};

/// Token embeddings of the encoder. Encoder and decoder can share the table.
constexpr tensor embed_encoder_tokens(const layer_context& text, trace& t) {
    const workload& load = t.load();
    const recorder::not_executed_guard done{t, is_encoder_cached(load)};
    const embedding token_embedding{text.config.vocab_size, text.config.hidden_size, true,
                                    embedding_class_of(text, bart_stack_style)};
    return t.call("shared", token_embedding, shape{load.batch, encoder_length(load)});
}

/// BART's encoder over token embeddings that the multimodal model computes.
constexpr tensor encode_text(const layer_context& text, trace& t, const tensor& token_embeddings) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load), width = text.config.hidden_size;
    const stack_style& style = bart_stack_style;
    const recorder::not_executed_guard done{t, is_encoder_cached(load)};
    const module_info encoder{
        .name = "encoder", .class_of_module = text.class_of("Encoder"), .module_role = role::encoder};
    t.enter(encoder);
    {
        const recorder::not_executed_guard lookup_not_executed{t};
        (void)embed_stack_tokens(text, t, style, text.config.vocab_size, length, has_shared_embeddings(text, style));
    }
    tensor x = stack_norm(t, style.norm_embedding, t.add(token_embeddings, style.positions(text, t, length, false)));
    const attention_inputs inputs;
    const stack_sizes stack = encoder_stack_of(text);
    for (loop layer = t.loop_modules(text.config.encoder.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, stack_layer{text.for_layer(layer, inputs), style, stack, nullptr}, x);
    t.leave(encoder);
    return is_encoder_cached(load) ? t.input({load.batch, length, width}) : x;
}

constexpr tensor forward_text_encoder_decoder(const layer_context& text, trace& t) {
    const tensor encoded = encode_text(text, t, embed_encoder_tokens(text, t));
    return forward_decoder_module(text, t, bart_stack_style, &encoded, text.config.vocab_size);
}

inline constexpr submodel_spec text = [](model_spec spec) {
    spec.base_model = forward_text_encoder_decoder;
    return spec;
}(bart);

/// Inserts image features into the encoder's token embeddings. The text configuration determines whether tables are
/// tied.
constexpr tensor base(const layer_context& ctx, trace& t) {
    model_config inner = ctx.model.config;
    inner.tie_word_embeddings = ctx.model.family[text_ties] != 0;
    const layer_context text_ctx{ctx.model, *ctx.model.text_spec, inner};
    const module_info stacks{.name = "language_model", .class_of_module = text_ctx.class_of("Model")};
    t.enter(stacks);
    tensor token_embeddings = embed_encoder_tokens(text_ctx, t);
    t.leave(stacks, token_embeddings);
    {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor encoded_features = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        const tensor features = t.call("multi_modal_projector", feature_projector{ctx}, encoded_features);
        token_embeddings = t.masked_scatter(token_embeddings, features);
    }
    t.enter(stacks);
    const tensor encoded = encode_text(text_ctx, t, token_embeddings);
    return t.leave(stacks, forward_decoder_module(text_ctx, t, bart_stack_style, &encoded, text_ctx.config.vocab_size));
}

constexpr void parse_config(config_view json, model& m) {
    if (m.text_spec != &text) throw_unsupported(json, "text_config", "unsupported text model");
    if (const auto part = json.optional_object("text_config"))
        m.family[text_ties] = part->boolean("tie_word_embeddings", true);
}

}  // namespace florence2_detail

inline constexpr model_spec florence2 = [](model_spec spec) {
    spec.model_type = "florence2";
    spec.class_prefix = "Florence2";
    spec.base_model = florence2_detail::base;
    spec.parse_composite_config = florence2_detail::parse_config;
    spec.family_keys = florence2_detail::family_keys;
    spec.compute_media_shapes = florence2_detail::compute_media_shapes;
    spec.parse_image_processor = florence2_detail::parse_processor_config;
    spec.modalities.has_images = spec.feeds_media_to_encoder = true;
    spec.text_model = {.key = "text_config", .default_spec = &florence2_detail::text};
    spec.components[0] = {.key = "vision_config", .default_spec = &florence2_detail::tower, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
