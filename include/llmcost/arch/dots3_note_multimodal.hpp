// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/dots3_note.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/not_executed.hpp>

// The multimodal model: vision and audio encoders before the text model.
//
// Source: transformers/models/dots3_note

namespace llmcost::arch {

namespace dots3_note_media_detail {

// ---- the vision encoder; later layers have more experts

enum vision_config_index : std::uint8_t {
    patch_side,
    image_channels,
    merged_side,
    expert_width,
    vision_adapter_out_dim,
    picked,
    uneven
};
inline constexpr family_key vision_keys[]{
    {"patch_size", 14},
    {"num_channels", 3},
    {"spatial_merge_size", 2},
    {"moe_intermediate_size", 2112},
    {"adapter_out_dim", 5120},
    {"num_experts_per_tok", 2},
    {.type = family_key_type::computed},  // layers with other numbers of selected experts
};

/// Router: sigmoid scores. A bias affects only the selection; the selected scores are normalized to a constant sum.
struct vision_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionTopKRouter"); }
    constexpr tensor_pair forward(trace& t, const tensor& x) const {
        const std::int64_t experts = ctx.layer.intermediate_size, k = ctx.config.family[picked], n = x.dim(0);
        const tensor weight = t.param("weight", {experts, ctx.config.hidden_size});
        const tensor float_x = t.to(x, dtype::float32);
        const tensor logits = t.linear(float_x, t.to(weight, dtype::float32));
        const tensor scores = t.sigmoid(logits);
        {
            const recorder::detach_guard indices{t};
            (void)t.topk(t.add(scores, correction_bias(t, experts)), k);
        }
        const tensor weights = t.gather_with_saved_source(scores, {n, k});
        return {logits, t.mul_scalar(t.div(weights, t.add_scalar(t.sum(weights, -1, true))))};
    }
};

struct vision_mixture {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionMoE"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const routed_experts_base all{ctx.config.hidden_size,      ctx.config.family[expert_width],
                                      ctx.layer.intermediate_size, ctx.config.family[picked],
                                      ctx.config.hidden_act,       ctx.class_of("Experts")};
        const tensor weights = t.call("gate", vision_router{ctx}, x).second;
        return t.call("experts", experts<expert_kind::gated>{all}, x, weights);
    }
};

/// Attention within each image, with QK-norm and RoPE: (patches, width) -> (patches, width).
struct vision_attention {
    layer_context ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, n = x.dim(0), heads = ctx.config.num_attention_heads;
        const bool bias = ctx.config.attention_bias;
        const tensor all =
            t.call("qkv", linear{width, 3 * width, bias}, x).view({n, 3, heads, -1}).permute({1, 0, 2, 3});
        const norm_module scale{norm_kind::rms, width / heads, ctx.class_of("RMSNorm")};
        const tensor q = t.call("q_norm", scale, all.select(0)), k = t.call("k_norm", scale, all.select(0));
        const auto apply_rotary = [&](const tensor& states) {
            const tensor upcast = t.to(states, dtype::float32);
            return t.to(rotate<rotary_style::rotate_half>(t, upcast, ctx.inputs->cos, ctx.inputs->sin), states.type);
        };
        const tensor first = apply_rotary(q);
        const packed_sequences runs = pack_images(t.load(), ctx.config.family[patch_side]).full_images();
        return t.call("proj", linear{width, width, bias},
                      packed_scaled_dot_product_attention(t, first, apply_rotary(k), all.select(0), runs));
    }
};

struct vision_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module scale{norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm")};
        const tensor middle = t.add(x, t.call("attn", vision_attention{ctx}, t.call("norm1", scale, x)));
        const tensor even = t.call("norm2", scale, middle);
        if (ctx.layer.has_experts) return t.add(middle, t.call("mlp", vision_mixture{ctx}, even));
        const mlp_module block{mlp_kind::gated,       ctx.config.hidden_size,    ctx.config.intermediate_size,
                               ctx.config.hidden_act, ctx.class_of("VisionMLP"), ctx.config.mlp_bias};
        return t.add(middle, t.call("mlp", block, even));
    }
};

/// Patches, layers, norm and merged squares of patches: (tokens, text width).
constexpr tensor vision_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size, side = family[patch_side];
    const std::int64_t n = pack_images(t.load(), side).patches();
    const norm_module scale{norm_kind::rms, width, ctx.class_of("RMSNorm")};
    if (family[uneven] != 0 && !t.is_not_executed())
        throw_description_error("per-layer num_experts_per_tok is not supported");
    const module_info patch_embed{
        .name = "patch_embed", .class_of_module = ctx.class_of("VisionPatchEmbed"), .module_role = role::embedding};
    t.enter(patch_embed);
    const tensor pixels = t.input({n, family[image_channels], side, side});
    const convolution_2d projection{family[image_channels], width, side, side};
    tensor x = t.leave(patch_embed, t.call("norm", scale, t.call("proj", projection, pixels).view({n, width})));
    attention_inputs inputs;
    const packed_position_table angles{width / ctx.config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair tables = t.call("rotary_pos_emb", angles, n);
    inputs.cos = tables.first;
    inputs.sin = tables.second;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, vision_layer{ctx.for_layer(layer_loop, inputs)}, x);
    x = t.call("norm", scale, x);
    const std::int64_t expanded_width = width * family[merged_side] * family[merged_side];
    const module_info merger{
        .name = "merger", .class_of_module = ctx.class_of("VisionMerger"), .module_role = role::projector};
    const module_info sequential{.name = "mlp", .class_of_module = {"", "Sequential"}};
    t.enter(merger);
    const tensor rows = t.call("ln_q", norm_module{norm_kind::layer, width}, x).view({-1, expanded_width});
    t.enter(sequential);
    const tensor h = t.call(child_name::indexed(1), gelu_module{},
                            t.call(child_name::indexed(0), linear{expanded_width, expanded_width, true}, rows));
    return t.leave(merger,
                   t.leave(sequential, t.call(child_name::indexed(2),
                                              linear{expanded_width, family[vision_adapter_out_dim], true}, h)));
}

// ---- the audio encoder

enum family_config_index : std::uint8_t { fewest_pixels, largest };
inline constexpr family_key model_keys[]{{.default_value = 56 * 56, .type = family_key_type::computed},
                                         {.default_value = 28 * 28 * 1280, .type = family_key_type::computed}};

enum audio_config_index : std::uint8_t { features, stem_channels, audio_adapter_out_dim };
inline constexpr family_key audio_keys[]{
    {"feature_size", 128},
    {"downsample_hidden_size", 480},
    {"adapter_out_dim", 5120},
};

constexpr void audio_layer(const layer_context& ctx, not_executed_modules& m) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    m.module(
        {"self_attn"}, ctx.class_of("AudioAttention"),
        [&] {
            for (const literal name : {"q_proj", "v_proj", "o_proj"})
                m.linear({name}, width, width, ctx.config.attention_bias);
            m.linear({"k_proj"}, width, width, false);
        },
        role::attn);
    m.module(
        {"mlp"}, ctx.class_of("AudioMLP"),
        [&] {
            m.linear({"gate_up_proj"}, width, 2 * inner);
            m.linear({"down_proj"}, inner, width);
            m.act({"activation_fn"}, ctx.config.hidden_act);
        },
        role::mlp);
    for (const literal name : {"input_layernorm", "post_attention_layernorm"})
        m.norm({name}, width, ctx.class_of("RMSNorm"));
    for (const literal name : {"resid_attn_dropout", "resid_mlp_dropout"})
        m.module_without_parameters({name}, {"", "Dropout"});
}

constexpr tensor audio_base(const layer_context& ctx, trace& t) {
    not_executed_modules m{t};
    const std::int64_t width = ctx.config.hidden_size, out = ctx.config.family[audio_adapter_out_dim];
    const std::int64_t channels = ctx.config.family[stem_channels];
    m.module({"conv_stem"}, ctx.class_of("AudioConvStem"), [&] {
        for (std::int64_t i = 0; i < 3; ++i)
            m.module_with_weight({"convs", i}, {"", "Conv2d"}, {channels, i == 0 ? 1 : channels, 3, 3});
        m.linear({"conv_out"}, channels * ((ctx.config.family[features] + 7) / 8), width, false);
    });
    m.leaf_module({"rotary_embedding"}, ctx.class_of("AudioRotaryEmbedding"), [&] {
        m.buffer({2, ctx.config.rotary_dim / 2}, dtype::float32);  // `inv_freq` and `original_inv_freq`
    });
    m.list("layers", ctx.config.num_hidden_layers, ctx.class_of("AudioLayer"), [&] { audio_layer(ctx, m); });
    m.norm({"layer_norm"}, width, ctx.class_of("RMSNorm"));
    m.module({"adapter"}, ctx.class_of("AudioAdapter"), [&] {
        m.layer_norm({"norm"}, width);
        m.linear({"fc1"}, width, out);
        m.act({"activation"}, activation::gelu);
        m.linear({"fc2"}, out, out);
    });
    return trace::buffer({1});
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const family_config& family = m.components[0].config.family;
    return {.image = resized_to_patches(load, family[patch_side], family[merged_side], m.family[fewest_pixels],
                                        m.family[largest])};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.family[patch_side], m.components[0].config.family[merged_side]);
    parse_bounds_of_pixels(json, m.family, fewest_pixels, largest);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.model.components[0].config.family;
    const tensor x = forward_text_after_packed_images(
        ctx, t, family[patch_side] * family[merged_side], [&](const tensor& token_embeddings) {
            const tensor features = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
            return scatter_features(t, token_embeddings, features);
        });
    (void)forward_encoder_component(ctx, t, 1, "audio_tower", role::audio);
    return x;
}

// ---- configuration

/// Number of experts per layer; 0: none.
///
/// The source is a list of numbers, or a list of layer types with per-layer entries.
/// Source: transformers, `Dots3NoteVisionConfig.__post_init__`.
class expert_numbers {
public:
    constexpr expert_numbers(config_view json, const model_config& config)
        : config_(json),
          numbers_(json.optional_array("pyramid_num_routed")),
          layer_types_(numbers_ ? maybe<config_view>{} : json.optional_array("mlp_layer_types")),
          shared_value_(json.optional_object("per_layer_config")),
          default_value_(json.positive("num_local_experts", 64)) {
        const std::int64_t layers = config.num_hidden_layers;
        const auto covers = [&](const maybe<config_view>& list) {
            return static_cast<std::int64_t>(list->size()) >= layers;
        };
        if (numbers_ && !covers(numbers_))
            throw_invalid_value(json, "pyramid_num_routed", "a list with one number per layer");
        if (layer_types_ && !covers(layer_types_))
            throw_invalid_value(json, "mlp_layer_types", "a list with one kind per layer");
        if (!numbers_ && !layer_types_ && layers > default_num_layers)
            throw_invalid_value(json, "num_hidden_layers", "at most 42 layers without a list of their experts");
        if (shared_value_)
            for (const config_view entry : *shared_value_)
                if (number_of(entry) >= layers) throw_invalid_value(entry, "an entry of one of the layers");
        if (!shared_value_ && !layer_types_)
            for (std::int64_t i = layers;
                 i < (numbers_ ? static_cast<std::int64_t>(numbers_->size()) : default_num_layers); ++i)
                if (listed(i) > 0)
                    throw_invalid_value(json, "num_hidden_layers", "the number of layers with a number of experts");
    }
    [[nodiscard]] constexpr std::int64_t num_experts(std::int64_t layer) const {
        const bool sparse = layer_types_ ? is_sparse(*layer_types_, layer) : listed(layer) > 0;
        if (!sparse) return 0;
        if (!shared_value_) return layer_types_ ? default_value_ : listed(layer);
        for (const config_view entry : *shared_value_)
            if (number_of(entry) == layer) return entry.positive("num_local_experts", default_value_);
        return default_value_;
    }

private:
    static constexpr std::int64_t default_num_layers = 42;

    [[nodiscard]] static constexpr bool is_sparse(config_view layer_types, std::int64_t layer) {
        const string_ref name = layer_types[static_cast<std::size_t>(layer)].as_string();
        if (name != "sparse" && name != "dense") throw_invalid_value(layer_types, "a list of dense and sparse");
        return name == "sparse";
    }
    [[nodiscard]] constexpr std::int64_t listed(std::int64_t layer) const {
        if (numbers_) return (*numbers_)[static_cast<std::size_t>(layer)].as_integer();
        return layer < 25 ? 0 : layer < 41 ? 4 * (layer - 24) : 64;
    }
    [[nodiscard]] constexpr std::int64_t number_of(config_view entry) const {
        std::int64_t number = 0;
        for (const char c : entry.key()) {
            if (c < '0' || c > '9' || number > max_input / 10)
                throw_unsupported(config_, "per_layer_config", "unsupported key; expected a layer index");
            number = number * 10 + (c - '0');
        }
        for (const config_view changed : entry.as_object())
            if (changed.key() != "num_local_experts" && changed.key() != "num_experts_per_tok")
                throw_unsupported(entry, "unsupported per-layer key");
        return number;
    }

    config_view config_;
    maybe<config_view> numbers_, layer_types_, shared_value_;
    std::int64_t default_value_;
};

constexpr void parse_vision_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_heads", "num_attention_heads"});
    if (json.positive("adapter_in_dim", 1536) != config.hidden_size)
        throw_invalid_value(json, "adapter_in_dim", "hidden_size");
    if (json.positive("adapter_merge_size", 2) != config.family[merged_side])
        throw_invalid_value(json, "adapter_merge_size", "spatial_merge_size");
    (void)checked_size(json, "spatial_merge_size", checked_product(config.hidden_size, config.family[merged_side]),
                       config.family[merged_side]);
    (void)checked_size(json, "patch_size", config.family[patch_side], config.family[patch_side]);
    (void)checked_size(json, "hidden_size", 3, config.hidden_size);
    (void)checked_size(json, "moe_intermediate_size", 2, config.family[expert_width]);
    const auto rope = json.optional_object("rope_parameters");
    const string_ref type = rope ? rope->string("rope_type", "axial") : string_ref("axial");
    if (type != "axial" && type != "default") throw_invalid_value(*rope, "rope_type", "\"axial\"");
    if (const auto single = json.optional_object("per_layer_config"))
        for (const config_view entry : *single)
            if (entry.positive("num_experts_per_tok", config.family[picked]) != config.family[picked])
                config.family[uneven] = 1;
    const expert_numbers experts(json, config);
    set_layers(json, config, [&](std::int64_t i) {
        const std::int64_t n = experts.num_experts(i);
        if (n > max_input) throw_invalid_value(json, "pyramid_num_routed", "numbers of experts");
        if (n > 0 && config.mlp_bias) throw_invalid_value(json, "mlp_bias", "false, because experts have no biases");
        return layer_spec{.has_experts = n > 0, .intermediate_size = static_cast<std::int32_t>(n)};
    });
}

/// Parses the audio configuration. Released files contain Whisper's key names in a nested object.
constexpr void parse_audio_config(config_view json, model_config& config) {
    if (const auto whisper = json.optional_object("whisper_config")) {
        config.hidden_size = whisper->positive("d_model", config.hidden_size);
        config.num_attention_heads = whisper->positive("encoder_attention_heads", config.num_attention_heads);
        config.num_hidden_layers = whisper->positive("encoder_layers", config.num_hidden_layers);
        config.intermediate_size = whisper->positive("encoder_ffn_dim", config.intermediate_size);
        config.family[features] = whisper->positive("num_mel_bins", config.family[features]);
    }
    divide_by_heads(json, config, {"num_attention_heads"});
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 0.5));
    const std::int64_t in = json.positive("adapter_input_size", 1280);
    if (json.positive("whisper_adapter_in_dim", in) != config.hidden_size)
        throw_invalid_value(json, "adapter_input_size", "hidden_size");
    config.family[audio_adapter_out_dim] = json.positive("adapter_output_size", config.family[audio_adapter_out_dim]);
    config.family[audio_adapter_out_dim] =
        json.positive("whisper_adapter_out_dim", config.family[audio_adapter_out_dim]);
    (void)checked_size(json, "intermediate_size", 2, config.intermediate_size);
    (void)checked_size(json, "downsample_hidden_size", config.family[stem_channels], config.family[features] / 8 + 1);
    config.layers.fill({});
}

/// Checks that both encoders project to the text width.
constexpr void parse_config(config_view json, model& m) {
    if (m.components[0].config.family[vision_adapter_out_dim] != m.config.hidden_size)
        throw_invalid_value(json, "vision_config", "an adapter_out_dim equal to the text's hidden_size");
    if (m.components[1].config.family[audio_adapter_out_dim] != m.config.hidden_size)
        throw_invalid_value(json, "audio_config", "an adapter_out_dim equal to the text's hidden_size");
}

inline constexpr submodel_spec part = [](model_spec spec) {
    spec.class_prefix = "Dots3Note";
    spec.rotary = rotary_style::none;
    spec.supported_heads = {};
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    return spec;
}(model_spec{});
inline constexpr submodel_spec vision = [](model_spec spec) {
    spec.model_type = "dots3_note_vision_encoder";
    spec.base_model = vision_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = vision_keys;
    spec.names.model_class = "VisionModel";
    spec.supported_layers.experts = spec.supported_layers.has_intermediate_size = true;
    spec.config_keys.add("hidden_size", "embed_dim", key_rule::family_name_first);
    spec.config_keys.add("num_attention_heads", "num_heads", key_rule::family_name_first);
    spec.config_keys.add("attention_bias", "use_bias", key_rule::family_name_first);
    spec.defaults.hidden_size = 1536;
    spec.defaults.intermediate_size = 4224;
    spec.defaults.num_hidden_layers = 42;
    spec.defaults.num_attention_heads = 24;
    return spec;
}(part);
inline constexpr submodel_spec audio = [](model_spec spec) {
    spec.model_type = "dots3_note_audio_encoder";
    spec.base_model = audio_base;
    spec.parse_config = parse_audio_config;
    spec.family_keys = audio_keys;
    spec.names.model_class = "AudioModel";
    spec.defaults.hidden_size = 1280;
    spec.defaults.intermediate_size = 5120;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 20;
    spec.defaults.attention_bias = true;
    return spec;
}(part);

}  // namespace dots3_note_media_detail

inline constexpr model_spec dots3_note = [](model_spec spec) {
    spec.model_type = "dots3_note";
    spec.class_prefix = "Dots3Note";
    spec.base_model = dots3_note_media_detail::base;
    spec.compute_media_shapes = dots3_note_media_detail::compute_media_shapes;
    spec.parse_image_processor = dots3_note_media_detail::parse_processor_config;
    spec.family_keys = dots3_note_media_detail::model_keys;
    spec.modalities.has_images = true;
    spec.parse_composite_config = dots3_note_media_detail::parse_config;
    spec.text_model = {
        .key = "text_config", .default_spec = &dots3_note_text, .ignores_model_type = true, .is_flat = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &dots3_note_media_detail::vision, .ignores_model_type = true};
    spec.components[1] = {
        .key = "audio_config", .default_spec = &dots3_note_media_detail::audio, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
