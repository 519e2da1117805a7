// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace mllama_detail {

/// Layer flag: a cross-attention layer over images, which text inputs skip.
inline constexpr std::uint8_t crosses = 1;

/// Rows of the embedding table beyond `vocab_size`.
inline constexpr std::int64_t additional_vocab_size = 8;

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const embedding token_embedding{ctx.config.vocab_size + additional_vocab_size, ctx.config.hidden_size};
    return t.call("embed_tokens", token_embedding, shape{t.load().batch, t.load().sequence});
}

// what layers that read images share
enum shared_config_index : std::uint8_t { image_states, image_mask, full_text_row_mask };

/// Attention to images' states, normed queries and keys: (B, S, hidden) -> the same. Keys and values are made in the
/// first pass and come from the cache afterwards.
struct image_attention {
    layer_context ctx;

    static constexpr role module_role = role::cross_attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextCrossAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const decoder_module_names& n = ctx.spec.names;
        const std::int64_t d = ctx.config.head_dim, heads = ctx.config.num_attention_heads,
                           num_kv_heads = ctx.config.num_key_value_heads;
        const tensor& states = ctx.inputs->family_tensors[image_states];
        const tensor &mask = ctx.inputs->family_tensors[image_mask], all = project(ctx, t, n.q_proj, heads * d, x);
        const tensor q = apply_norm(ctx, t, n.q_norm, d, all.view({x.dim(0), x.dim(1), heads, d}).transpose(1, 2));
        const std::int64_t length = states.numel == 0 ? 1 : states.dim(0) * states.dim(1) / x.dim(0);
        tensor k = trace::buffer({x.dim(0), num_kv_heads, length, d}), v = k;
        {
            const recorder::not_executed_guard from_cache{t, t.load().past > 0};
            const auto split = [&](const tensor& made) {
                return made.view({x.dim(0), -1, num_kv_heads, d}).transpose(1, 2);
            };
            const tensor family_keys = split(project(ctx, t, n.k_proj, num_kv_heads * d, states));
            const tensor values = split(project(ctx, t, n.v_proj, num_kv_heads * d, states));
            const tensor normed_keys = apply_norm(ctx, t, n.k_norm, d, family_keys);
            if (t.load().past == 0) {
                k = update_kv_cache(t, normed_keys, {});
                v = update_kv_cache(t, values, {});
            }
        }
        if (t.load().past > 0) {
            t.add_to_cache(k);
            t.add_to_cache(v);
        }
        const attention_pattern pattern{
            .query_length = x.dim(1), .cached_length = length - x.dim(1), .is_causal = false};
        const tensor mixed = attention_forward(t, q, k, v, pattern, {.mask = &mask});
        return output_projection(ctx, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
    }
};

/// A layer that reads an image: both blocks are let in by gates that begin at zero.
struct image_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("CrossAttentionDecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const bool has_image_inputs = ctx.inputs->family_tensors[image_mask].rank > 0;
        if (!has_image_inputs) t.add_empty_cache_entry();
        const recorder::not_executed_guard no_image{
            t, !has_image_inputs};  // `MllamaTextModel` does not call the layer without images
        const tensor attention_gate = t.param("cross_attn_attn_gate", {1}), gate = t.param("cross_attn_mlp_gate", {1});
        tensor h = t.call("cross_attn", image_attention{ctx}, apply_norm(ctx, t, "input_layernorm", x));
        h = t.add(x, t.mul(t.tanh(attention_gate), h));
        tensor fed = default_mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", h));
        if (has_image_inputs) fed = t.mul(ctx.inputs->family_tensors[full_text_row_mask].select(1), fed);
        const tensor out = t.add(h, t.mul(t.tanh(gate), fed));
        return has_image_inputs ? out : x;
    }
};

/// Prepares the shared decoder inputs. The reference reads the past length from the first layer's cache. It is empty if
/// that layer is a cross-attention layer, and the mask then ignores the past.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c;
    c.full.pattern = attention_pattern_of(t, 0);
    attention_pattern measured = c.full.pattern;
    if (ctx.config.layers[0].family_tag == crosses) measured.cached_length = 0;
    c.full.mask = eager_mask(t, measured, t.load().batch);
    return add_rotary_embeddings(ctx, t, c);
}

/// Runs the text model on tokens and the shared inputs of the cross-attention layers.
constexpr tensor forward_text_layers(const layer_context& ctx, trace& t, const attention_inputs& image_inputs) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    attention_inputs shared = ctx.spec.prepare_inputs(ctx, t).full;
    for (int i = 0; i < 3; ++i) shared.family_tensors[i] = image_inputs.family_tensors[i];
    if (shared.family_tensors[image_states].rank == 0)
        shared.family_tensors[image_states] = x;  // as many as tokens, for declarations
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        const layer_context layer_ctx = ctx.for_layer(layer_loop, shared);
        if (layer_loop.layer().family_tag == crosses)
            x = t.call({"layers", layer_loop.index()}, image_layer{layer_ctx}, x);
        else
            x = t.call({"layers", layer_loop.index()}, decoder_layer{layer_ctx}, x);
    }
    return apply_norm(ctx, t, "norm", x);
}
constexpr tensor text_base(const layer_context& ctx, trace& t) {
    return forward_text_layers(ctx, t, attention_inputs{});
}

/// Layers that `cross_attention_layers` lists, else every fifth from the fourth to the 39th.
constexpr void parse_text_config(config_view json, model_config& config) {
    const std::int64_t configured_head_dim = config.head_dim;
    divide_by_heads(json, config, {"num_attention_heads"});
    if (config.head_dim != configured_head_dim)
        throw_invalid_value(json, "head_dim", "hidden_size / num_attention_heads, or no such key");
    const auto listed = json.optional_array("cross_attention_layers");
    const layer_set named = listed ? layer_set(*listed) : layer_set{};
    set_layers(json, config, [&](std::int64_t i) {
        const bool reads = listed ? named.has(i) : i % 5 == 3 && i < 40;
        return layer_spec{.family_tag = reads ? crosses : std::uint8_t{}};
    });
    config.sliding_window = 0;
}

inline constexpr submodel_spec text = [](model_spec spec) {
    spec.model_type = "mllama_text_model";
    spec.class_prefix = "Mllama";
    spec.base_model = text_base;
    spec.embed_tokens = embed;
    spec.parse_config = parse_text_config;
    spec.prepare_inputs = prepare_inputs;
    spec.supported_layers.max_family_tag = crosses;
    spec.supported_heads = {};
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "SelfAttentionDecoderLayer";
    spec.names.attention_class = "TextSelfAttention";
    spec.names.mlp_class = "TextMLP";
    spec.names.norm_class = "TextRMSNorm";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.defaults.vocab_size = 128256;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 14336;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(llama);

enum tower_config_index : std::uint8_t { global_layers, output_width, tiles, shapes, states_read };
inline constexpr family_key tower_keys[]{
    {"num_global_layers", 8, family_key_type::non_negative},
    {"vision_output_dim", 7680},
    {"max_num_tiles", 4},
    {.default_value = 8, .type = family_key_type::computed},  // how many `supported_aspect_ratios`
    // number of layers whose states are concatenated to the last ones
    {.default_value = 5, .type = family_key_type::computed},
};

/// A layer of the tower; in the second encoder its blocks are let in by gates.
struct tower_layer {
    layer_context ctx;
    bool gated;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, ctx.config.hidden_size};
        const auto let_in = [&](literal name, const tensor& h) {
            return gated ? t.mul(t.tanh(t.param(name, {1})), h) : h;
        };
        tensor h = t.call("self_attn", attention_module{ctx}, t.call("input_layernorm", layer_norm, x));
        const tensor middle = t.add(x, let_in("gate_attn", h));
        h = t.call("post_attention_layernorm", layer_norm, middle);
        h = t.call("mlp", llmcost::vision_encoder_layer::vision_mlp_of(ctx), h);
        return t.add(middle, let_in("gate_ffn", h));
    }
};

constexpr tensor encode_tiles(const layer_context& ctx, trace& t, literal name, std::int64_t layers, bool gated,
                              const attention_inputs& inputs, tensor x) {
    const module_info encoder{.name = name, .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, tower_layer{ctx.for_layer(layer_loop, inputs), gated}, x);
    return t.leave(encoder, x);
}

/// What a shape of tiles adds to all of them, let in by a gate.
constexpr tensor place_tiles(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, expanded_width = ctx.config.family[tiles] * width;
    const module_info places{.name = name,
                             .class_of_module = ctx.class_of("PrecomputedAspectRatioEmbedding"),
                             .module_role = role::embedding};
    t.enter(places);
    const tensor gate = t.param("gate", {1});
    const tensor all = t.call("embedding", embedding{ctx.config.family[shapes] + 1, expanded_width}, shape{x.dim(0)});
    const tensor opened = t.tanh(gate);
    const tensor by_tile = t.mul(all.view({x.dim(0), ctx.config.family[tiles], 1, width}), opened);
    return t.leave(places, t.add(x, by_tile));
}

/// A mask of tiles that are not there and of patches that fill up: (images, 1, all patches, all patches).
constexpr tensor mask_tiles(trace& t, std::int64_t images, std::int64_t count, std::int64_t length) {
    const recorder::no_grad_guard constants{t};
    const tensor tile_mask = t.copy(trace::buffer({images, count, 1, 1}));
    const tensor repeated = t.copy(tile_mask.expand({images, count, length, 1}));
    const tensor absent = t.add_scalar(repeated).view({images, count * length, 1});
    return t.mul_scalar(t.matmul(absent, absent.transpose(1, 2))).unsqueeze(1);
}

/// Tiles of patches with a class token each, two encoders, and what some layers hold side by side.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size, batch = t.load().batch, side = image.image_height;
    const std::int64_t n = patches_of(image) + 1, count = family[tiles];
    const norm_module layer_norm{norm_kind::layer, width};
    const convolution_2d patches{image.num_channels, width, image.patch_size, image.patch_size, 0, 1, false};
    const tensor pixels = t.input({batch * count, image.num_channels, side, side});
    tensor x = as_tokens(t.call("patch_embedding", patches, pixels)).view({batch, count, n - 1, width});
    x = place_tiles(ctx, t, "pre_tile_positional_embedding", x).view({batch * count, n - 1, width});
    const tensor token = t.param("class_embedding", {width}).view({1, 1, width}).expand({batch * count, 1, width});
    x = t.cat({token, x}, 1).view({batch, count, n, width});
    const module_info positions{.name = "gated_positional_embedding",
                                .class_of_module = ctx.class_of("PrecomputedPositionEmbedding"),
                                .module_role = role::embedding};
    t.enter(positions);
    const tensor gate = t.param("gate", {1}), places = t.param("embedding", {n, width});
    x = t.add(x, t.mul(t.add_scalar(t.tanh(gate)), places).view({1, 1, n, width}));
    const tensor by_shape = t.call("tile_embedding", embedding{family[shapes] + 1, count * n * width}, shape{batch});
    x = t.leave(positions, t.add(x, t.mul(t.tanh(gate), by_shape.view({batch, count, n, width}))));
    const std::int64_t length = (n + 7) / 8 * 8;
    x = t.pad(t.call("layernorm_pre", layer_norm, x), 2, length - n);
    attention_inputs inputs{.pattern = full_pattern(count * length).pattern};
    inputs.mask = mask_tiles(t, batch, count, length);
    x = x.view({batch, count * length, width});
    x = encode_tiles(ctx, t, "transformer", ctx.config.num_hidden_layers, false, inputs, x);
    const tensor state = x;
    x = t.call("layernorm_post", layer_norm, x).view({batch, count, length, width});
    x = place_tiles(ctx, t, "post_tile_positional_embedding", x).view({batch, count * length, width});
    x = encode_tiles(ctx, t, "global_transformer", family[global_layers], true, inputs, x);
    tensor several[trace::max_cat_inputs];
    for (std::int64_t i = 0; i < family[states_read]; ++i) several[i] = state.unsqueeze(3);
    const tensor intermediate_states =
        t.cat(several, static_cast<int>(family[states_read]), 3).view({batch, count, length, -1});
    const tensor all =
        t.cat({t.slice(x.view({batch, count, length, width}), 2, n), t.slice(intermediate_states, 2, n)}, 3);
    if (all.dim(3) == family[output_width]) return all;
    if (has_images(t)) throw_description_error("vision_output_dim is not the width of the concatenated states");
    return t.full({batch, count, n, family[output_width]}, x.type);
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 448, 14);
    divide_by_heads(json, config, {"num_attention_heads", "attention_heads"});
    config.attention_bias = config.output_bias = false;
    const auto listed = json.optional_array("supported_aspect_ratios");
    if (listed) config.family[shapes] = static_cast<std::int64_t>(listed->size());
    if (!listed && config.family[tiles] != 4)
        throw_invalid_value(json, "max_num_tiles", "4, or a list of supported_aspect_ratios");
    const std::int64_t positions =
        checked_size(json, "max_num_tiles", config.family[tiles], patches_of(config.vision) + 1);
    (void)checked_size(json, "max_num_tiles", positions, config.hidden_size);
    if (const auto read = json.optional_array("intermediate_layers_indices")) {
        if (read->size() < 1 || read->size() > trace::max_cat_inputs)
            throw_invalid_value(json, "intermediate_layers_indices", "one to 64 layers");
        config.family[states_read] = static_cast<std::int64_t>(read->size());
    }
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Mllama";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = rotary_patch_attention;
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.names.o_proj = "o_proj";
    spec.config_keys.add("num_attention_heads", "attention_heads", key_rule::standard_name_first);
    spec.defaults.hidden_size = 1280;
    spec.defaults.intermediate_size = 5120;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

/// Returns the image shape: every image is padded to all tiles, and takes no token positions.
constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    if (m.config.head == head_kind::causal_lm)
        throw_description_error("images are not supported by the text model alone");
    const component_model& tower = m.components[0];
    return {.image = {.num_tiles = tower.config.family[tiles],
                      .height = tower.config.vision.image_height,
                      .width = tower.config.vision.image_width}};
}

/// Places of tiles are learned for so many.
constexpr void parse_processor_config(config_view json, model& m) {
    const component_model& tower = m.components[0];
    if (tower.spec == nullptr) return;
    expect_resized(json);
    expect_picture(json, tower.config.vision.image_height);
    expect_side(json, "max_image_tiles", tower.config.family[tiles], "the max_num_tiles of the configuration's tower");
}

/// The mask of tokens and tiles for cross-attention layers (`_prepare_cross_attention_mask`).
constexpr void mask_images(trace& t, std::int64_t length, attention_inputs& image_inputs) {
    const recorder::no_grad_guard constants{t};
    const workload& load = t.load();
    const tensor hidden = t.add_scalar(trace::buffer({load.batch, 1, load.sequence, length}));
    tensor mask = t.masked_fill(hidden);
    const tensor rows = t.copy(trace::buffer({load.batch, 1, load.sequence})).unsqueeze(3);
    t.mul_(mask, rows);
    image_inputs.family_tensors[image_mask] = mask;
    image_inputs.family_tensors[full_text_row_mask] = rows;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& tower = ctx.model.components[0].config;
    const std::int64_t tokens = tower.family[tiles] * (patches_of(tower.vision) + 1), hidden = ctx.config.hidden_size;
    const bool reads = t.load().images > 0;
    attention_inputs image_inputs;
    {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        tensor states;
        {
            const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
            states = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
        }
        states = t.call("multi_modal_projector", projector_linear{states.dim(-1), hidden, true}, states);
        if (reads) image_inputs.family_tensors[image_states] = states.view({-1, states.dim(2), hidden});
    }
    if (reads) mask_images(t, t.load().images * tokens, image_inputs);
    const layer_context text = ctx.text_model();
    const module_info m{.name = "language_model", .class_of_module = text.class_of(text.spec.names.model_class)};
    t.enter(m);
    return t.leave(m, forward_text_layers(text, t, image_inputs));
}

/// With an image's tower, or the text model alone under a head whose logits are float32.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    if (ctx.config.head != head_kind::causal_lm) return forward_decoder(ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    t.enter(model_info);
    const tensor x = forward_text_model(ctx, t, "model");
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, t.to(forward_head(ctx, t, x), dtype::float32)));
}

}  // namespace mllama_detail

// transformers/models/mllama: Llama with layers that attend to an image, which a text passes by; nothing is tied
inline constexpr model_spec mllama = [](model_spec spec) {
    spec.model_type = "mllama";
    spec.class_prefix = "Mllama";
    spec.base_model = mllama_detail::base;
    spec.forward = mllama_detail::forward;
    spec.compute_media_shapes = mllama_detail::compute_media_shapes;
    spec.parse_image_processor = mllama_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation};
    spec.text_model = {.key = "text_config", .default_spec = &mllama_detail::text, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &mllama_detail::tower, .ignores_model_type = true};
    spec.config_keys.add("tie_word_embeddings", key_rule::absent);
    spec.defaults.head = head_kind::causal_lm;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
