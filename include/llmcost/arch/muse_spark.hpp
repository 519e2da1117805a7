// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/muse_glimmer.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/fitted_images.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/packed_sequences.hpp>

// Differences from Muse Glimmer: gates on residual connections, experts of another width, an audio encoder over
// waveforms.
namespace llmcost::arch {

namespace muse_spark_detail {

// ---- text

enum text_config_index : std::uint8_t { expert_width };

inline constexpr family_key text_keys[]{{"moe_hidden_size", 4096}};

/// x times (1 + weight), rounded, then normed (`MuseSparkTextInputScaledRMSNorm`).
struct input_scaled_norm {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextInputScaledRMSNorm"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {width});
        const tensor float_x = t.to(x, dtype::float32);
        const tensor scaled = t.mul(float_x, t.to(t.add_scalar(weight), dtype::float32));
        const tensor h = t.to(t.to(scaled, x.type), dtype::float32);
        return t.to(t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true)))), x.type);
    }
};

/// Shares of what went around a block and of what it gave, by a learned gate of each feature.
struct residual_gate {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ResidualGate"); }
    constexpr tensor forward(trace& t, const tensor& residual, const tensor& block_output) const {
        const tensor w = t.div_scalar(t.float32_param("gate", {ctx.config.hidden_size}));
        const tensor beta = t.sigmoid(w);
        const tensor complement = t.sigmoid(t.neg(w));
        const tensor rest = t.mul(complement, t.add_scalar(beta));
        const tensor alpha = t.sqrt(t.clamp_min(rest));  // at least `residual_gate_eps`
        const tensor scaled = t.mul(alpha, residual);
        return t.to(t.add(scaled, t.mul(beta, block_output)), residual.type);
    }
};

/// Attention as Muse Glimmer has it, what each head finds normed before the gate.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim, expanded_width = ctx.config.num_attention_heads * d;
    const query_key_value qkv = fitted_images::project_rotated_qkv(ctx, t, x);
    const tensor mixed =
        attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {.mask = &ctx.inputs->mask});
    const tensor normed = fitted_images::without_scale(ctx, t, "o_norm", d, mixed);
    const tensor found = t.contiguous(t.reshape(normed, {x.dim(0), x.dim(1), -1}));
    return output_projection(
        ctx, t, t.mul(found, t.sigmoid(t.call("gate_proj", linear{ctx.config.hidden_size, expanded_width}, x))));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t width = ctx.config.hidden_size;
    tensor h = ctx.spec.token_mixer(ctx, t, apply_norm(ctx, t, n.pre_attention_norm, x));
    h = fitted_images::without_scale(ctx, t, n.post_attention_norm, width, h);
    const tensor middle = t.call("post_attention_residual_gate", residual_gate{ctx}, x, h);
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, n.pre_mlp_norm, middle));
    h = t.call(n.post_mlp_norm, input_scaled_norm{ctx, width}, h);
    return t.call("post_feedforward_residual_gate", residual_gate{ctx}, middle, h);
}

/// Sigmoids of scaled logits in float32; experts are picked by corrected ones, and weighed by their own, normed to one.
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopkRouter"); }
    constexpr tensor forward(trace& t, const tensor& tokens) const {
        const moe_config& moe = ctx.config.moe;
        const tensor weight = t.float32_param("weight", {moe.num_experts, ctx.config.hidden_size});
        const tensor float_tokens = t.to(tokens, dtype::float32);
        const tensor logits = t.mul_scalar(t.linear(float_tokens, t.to(weight, dtype::float32)));
        const tensor scores = t.call("scoring_function", activation_module{activation::sigmoid}, logits);
        const tensor best =
            select_with_correction(t, scores, correction_bias(t, moe.num_experts), moe.num_experts_per_tok);
        return t.mul_scalar(t.div(best, t.add_scalar(t.sum(best, -1, true))));
    }
};

/// Gated experts whose outputs are normed before they are weighed.
struct normed_experts : routed_experts_base {
    const layer_context& ctx;

    static constexpr bool is_leaf = false;
    constexpr normed_experts(const routed_experts_base& all, const layer_context& layer_ctx)
        : routed_experts_base(all), ctx(layer_ctx) {}
    constexpr tensor forward(trace& t, const tensor& inputs, const tensor& routing) const {
        const auto [x, weights] = adapt_inputs(t, inputs, routing);
        const recorder::fused_kernel_guard fused{t, make_fused_kernel(x.dim(0))};
        const tensor rows = dispatch_tokens(t, x),
                     up = param(t, "gate_up_proj", {num_experts, 2 * intermediate_size, hidden_size}),
                     down = param(t, "down_proj", {num_experts, hidden_size, intermediate_size});
        const tensor half = t.linear(rows, t.select(up, 0)).slice(-1, intermediate_size);
        const tensor gated = t.mul(t.call("act_fn", activation_module{act}, half), half);
        const tensor h = t.linear(gated, t.select(down, 0));
        return combine_expert_outputs(t, x, weights,
                                      t.call("post_expert_norm", input_scaled_norm{ctx, hidden_size}, h));
    }
};

/// Experts run at a width of their own, between two projections.
constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const std::int64_t width = ctx.config.hidden_size, expert_dim = ctx.config.family[expert_width];
    const tensor tokens = x.view({-1, width});
    const tensor weights = t.call("gate", top_k_router{ctx}, tokens);
    const norm_module centered{norm_kind::rms_plus_one, expert_dim, ctx.class_of("TextCenteredRMSNorm")};
    const tensor h = t.call("pre_expert_norm", centered, t.call("pre_expert_proj", linear{width, expert_dim}, tokens));
    const routed_experts_base all{expert_dim,
                                  moe.intermediate_size,
                                  moe.num_experts,
                                  moe.num_experts_per_tok,
                                  ctx.config.hidden_act,
                                  ctx.class_of("Experts")};
    const tensor mixed = t.call("experts", normed_experts{all, ctx}, h, weights);
    return t.call("post_expert_proj", linear{expert_dim, width}, mixed).view({x.dim(0), x.dim(1), width});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

constexpr void parse_text_config(config_view json, model_config& config) {
    fitted_images::parse_text_config(json, config);
    parse_experts(json, config, "num_local_experts");
    validate_experts(json, config);
    const sparse_layer_selection sparse(json, config, 0);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        layer_spec kind = listed_layers[i];
        kind.has_experts = sparse.has(i);
        return kind;
    });
}

// ---- the tower for sound

inline constexpr std::size_t max_stages = 6;

enum audio_config_index : std::uint8_t {
    kernel,
    out_width,
    ratio,
    patches,
    widths = patches + max_stages,
    depths = widths + max_stages,
    end_of_depths = depths + max_stages
};

inline constexpr struct audio_table {
    family_key entries[end_of_depths]{};
} audio_keys = [] {
    audio_table all;
    all.entries[kernel] = {"conv_kernel_size", 7};
    all.entries[out_width] = {"out_hidden_size", 8192};
    for (std::size_t i = ratio; i < end_of_depths; ++i) all.entries[i].type = family_key_type::computed;
    return all;
}();

constexpr void parse_audio_config(config_view json, model_config& config) {
    if (config.num_hidden_layers > static_cast<std::int64_t>(max_stages))
        throw_unsupported(json, "num_hidden_layers", "unsupported number of stages");
    const auto parse_config = [&](literal key, std::size_t offset, std::initializer_list<std::int64_t> defaults) {
        const auto list = json.optional_array(key);
        const std::size_t n = list ? list->size() : defaults.size();
        if (static_cast<std::int64_t>(n) != config.num_hidden_layers)
            throw_invalid_value(json, key, "a list with one number per layer");
        for (std::size_t i = 0; i < n; ++i)
            config.family[offset + i] = list ? (*list)[i].as_positive() : defaults.begin()[i];
    };
    parse_config("patch_sizes", patches, {16, 6, 5, 4});
    parse_config("hidden_sizes", widths, {256, 512, 1024, 2048});
    parse_config("depths", depths, {2, 2, 2, 2});
    const double wider = json.real("mlp_ratio", 4);
    config.family[ratio] = __builtin_bit_cast(std::int64_t, wider);
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        const double inner = static_cast<double>(stage_entry(config, widths, i)) * wider;
        if (!(inner >= 1 && inner <= static_cast<double>(max_input)))
            throw_invalid_value(json, "mlp_ratio", "a factor that gives a width up to 2147483647");
    }
}

[[nodiscard]] constexpr std::int64_t samples_of_token(const model_config& audio) {
    std::int64_t n = 1;
    for (std::int64_t i = 0; i < audio.num_hidden_layers; ++i) n = checked_product(n, stage_entry(audio, patches, i));
    return n;
}

/// A convolution of each channel over what came before.
struct causal_convolution {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioCausalConv1d"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t k = ctx.config.family[kernel];
        return convolution_1d{width, width, k, 1, 0, width}.forward(t, t.pad(x, -1, k - 1));
    }
};

struct convolution_block {
    const layer_context& ctx;
    std::int64_t stage;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioConvBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = stage_entry(ctx.config, widths, stage);
        const mlp_module block{mlp_kind::plain,
                               width,
                               times_ratio(ctx.config, ratio, width),
                               ctx.config.hidden_act,
                               ctx.class_of("AudioMLP"),
                               true,
                               {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        const tensor h = t.call("conv", causal_convolution{ctx, width}, x.transpose(1, 2)).transpose(1, 2);
        const norm_module normed{norm_kind::rms_power, width, ctx.class_of("RMSNorm")};
        return t.add(t.call("mlp", block, t.call("norm", normed, h)), x);
    }
};

/// Neighbours side by side become one of another width, then convolutions.
struct stage_layer {
    const layer_context& ctx;
    std::int64_t stage;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioLayer"); }
    constexpr tensor forward(trace& t, const tensor& input) const {
        const std::int64_t width = stage_entry(ctx.config, widths, stage),
                           patch_size = stage_entry(ctx.config, patches, stage);
        const std::int64_t in = patch_size * input.dim(2);
        const module_info embedder{.name = "patch_embedder", .class_of_module = ctx.class_of("AudioPatchEmbedding")};
        t.enter(embedder);
        const tensor frames = t.reshape(input, {input.dim(0), input.dim(1) / patch_size, in});
        const norm_module normed{norm_kind::rms_power, width, ctx.class_of("RMSNorm")};
        tensor x = t.leave(embedder, t.call("norm", normed, t.call("proj", linear{in, width, true}, frames)));
        for (loop layer_loop = t.loop_modules(stage_entry(ctx.config, depths, stage), x); layer_loop.next();)
            x = t.call({"conv_blocks", layer_loop.index()}, convolution_block{ctx, stage}, x);
        return x;
    }
};

/// Returns the tokens of a recording, padded to a complete last token; one token without audio.
[[nodiscard]] constexpr std::int64_t tokens_of(const model_config& audio, const audio_preprocessing_config& sound,
                                               std::int64_t milliseconds) {
    const std::int64_t samples_per_token = samples_of_token(audio);
    return milliseconds == 0
               ? 1
               : (sound.samples_from_milliseconds(milliseconds) + samples_per_token - 1) / samples_per_token;
}

/// Waveforms through stages that shorten and widen: (B, tokens, width of the text).
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const std::int64_t n =
        has_audio(t) ? tokens_of(ctx.config, ctx.model.audio_preprocessing, t.load().audio_milliseconds) : 1;
    const std::int64_t last = stage_entry(ctx.config, widths, ctx.config.num_hidden_layers - 1),
                       out = ctx.config.family[out_width];
    tensor x = t.input({t.load().batch, n * samples_of_token(ctx.config)}).unsqueeze(-1);
    for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i) x = t.call({"layers", i}, stage_layer{ctx, i}, x);
    x = t.call("norm", norm_module{norm_kind::rms_power, last, ctx.class_of("RMSNorm")}, x);
    x = t.call("proj", linear{last, out, true}, x);
    return t.call("post_proj_norm", norm_module{norm_kind::rms_power, out, ctx.class_of("RMSNorm")}, x);
}

// ---- the complete model

/// Source: transformers/models/muse_spark/feature_extraction_muse_spark.py.
constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "MuseSparkFeatureExtractor");
    expect_number(*nested_json, "samples_per_token", samples_of_token(m.components[1].config),
                  "the product of the audio_config's patch_sizes");
    m.audio_preprocessing.sampling_rate = nested_json->positive("sampling_rate", m.audio_preprocessing.sampling_rate);
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    media_shapes all = fitted_images::compute_media_shapes(m, load);
    const model_config& audio = m.components[1].config;
    if (load.audio_milliseconds == 0) return all;
    const std::int64_t tokens = tokens_of(audio, m.audio_preprocessing, load.audio_milliseconds);
    all.audio = {.num_tokens = tokens, .num_samples = tokens * samples_of_token(audio)};
    return all;
}

/// Inserts normalized audio features at the audio token positions.
constexpr tensor place_sound(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const recorder::not_executed_guard silent{t, !has_audio(t)};
    const tensor audio_features = forward_encoder_component(ctx, t, 1, "audio_tower", role::audio);
    if (!has_audio(t)) return token_embeddings;
    const std::int64_t width = ctx.config.hidden_size;
    const tensor selected_states =
        t.gather(audio_features, {audio_features.dim(0) * audio_features.dim(1), width});  // of a batch's masked states
    const layer_context text = ctx.text_model();
    const module_info model{.name = "language_model", .class_of_module = text.class_of(text.spec.names.model_class)};
    const module_info table{.name = "embed_tokens",
                            .class_of_module = text.class_of("TextNormedEmbedding"),
                            .module_role = role::embedding};
    const recorder::shared_parameters_guard shared_parameters{t};
    t.enter(model);
    t.enter(table);
    const tensor normed = fitted_images::without_scale(text, t, "embed_norm", width, selected_states);
    (void)t.leave(table, normed);
    (void)t.leave(model, normed);
    return t.masked_scatter(token_embeddings, normed);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return place_sound(ctx, t, fitted_images::place_images(ctx, t, token_embeddings));
    });
}

constexpr void parse_config(config_view json, model& m) {
    fitted_images::parse_config(json, m);
    if (m.components[1].config.family[out_width] != m.config.hidden_size)
        throw_invalid_value(json, "audio_config", "an out_hidden_size of the text's hidden_size");
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "muse_spark_vision";
    spec.class_prefix = "MuseSpark";
    return spec;
}(muse_glimmer_vision_encoder);

inline constexpr submodel_spec audio_tower{
    .model_type = "muse_spark_audio",
    .class_prefix = "MuseSpark",
    .base_model = encode_audio,
    .parse_config = parse_audio_config,
    .family_keys = audio_keys.entries,
    .rotary = rotary_style::none,
    .names = {.model_class = "AudioModel"},
    .config_keys = {{"hidden_size", "", key_rule::absent}, {"num_attention_heads", "", key_rule::absent}},
    .defaults = {.hidden_size = 1, .num_hidden_layers = 4, .num_attention_heads = 1, .hidden_act = activation::gelu},
};

}  // namespace muse_spark_detail

// transformers/models/muse_spark, MuseSparkTextConfig
inline constexpr submodel_spec muse_spark_text = [](model_spec spec) {
    spec.model_type = "muse_spark_text";
    spec.class_prefix = "MuseSpark";
    spec.parse_config = muse_spark_detail::parse_text_config;
    spec.family_keys = muse_spark_detail::text_keys;
    spec.decoder_layer = muse_spark_detail::decoder_layer;
    spec.attention = muse_spark_detail::attention;
    spec.mlp = muse_spark_detail::mlp;
    spec.supported_layers.experts = true;
    spec.names.moe_class = "MoE";
    spec.config_keys.remove("hidden_act");
    spec.defaults.hidden_size = 8192;
    spec.defaults.intermediate_size = 16384;
    spec.defaults.num_hidden_layers = 62;
    spec.defaults.num_attention_heads = 128;
    spec.defaults.num_key_value_heads = 16;
    spec.defaults.head_dim = 64;
    spec.defaults.max_position_embeddings = 1048576;
    spec.defaults.moe.num_experts = 256;
    spec.defaults.moe.num_experts_per_tok = 8;
    spec.defaults.moe.intermediate_size = 4096;
    return spec;
}(muse_glimmer_text);

// transformers/models/muse_spark: patches of images and waveforms before it
inline constexpr model_spec muse_spark = [](model_spec spec) {
    spec.model_type = "muse_spark";
    spec.class_prefix = "MuseSpark";
    spec.base_model = muse_spark_detail::base;
    spec.parse_composite_config = muse_spark_detail::parse_config;
    spec.compute_media_shapes = muse_spark_detail::compute_media_shapes;
    spec.modalities.has_audio = true;
    spec.parse_feature_extractor = muse_spark_detail::parse_audio_config;
    spec.audio_preprocessing.sampling_rate = 24000;
    spec.text_model = {.key = "text_config", .default_spec = &muse_spark_text, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &muse_spark_detail::tower, .ignores_model_type = true};
    spec.components[1] = {
        .key = "audio_config", .default_spec = &muse_spark_detail::audio_tower, .ignores_model_type = true};
    return spec;
}(muse_glimmer);

}  // namespace llmcost::arch
