// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/conformer.hpp>

// A conformer over two frames of a spectrogram at a time.
namespace llmcost::arch {

namespace wav2vec2_bert_detail {

enum family_config_index : std::uint8_t {
    frame_width,
    kernel,
    learned_left,
    learned_right,
    summary_width,
    adapter_kernel,
    adapter_stride,
    adapter_layers,
    adapter_width,
    adapter_act,
    distances,
    masks,
    weighs_layers,
    feeds_between
};
inline constexpr family_key family_keys[]{
    {"feature_projection_input_dim", 160},
    {"conv_depthwise_kernel_size", 31},
    {"left_max_position_embeddings", 64, family_key_type::non_negative},
    {"right_max_position_embeddings", 8, family_key_type::non_negative},
    {"classifier_proj_size", 768},
    {"adapter_kernel_size", 3},
    {"adapter_stride", 2},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.default_value = static_cast<std::int64_t>(activation::relu), .type = family_key_type::computed},
    {.default_value = static_cast<std::int64_t>(distance_rule::relative_key), .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {"use_weighted_layer_sum", 0, family_key_type::boolean},
    {"use_intermediate_ffn_before_adapter", 0, family_key_type::boolean},
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const std::int64_t samples = num_audio_samples(m.audio_preprocessing, load);
    return {.audio = {.num_samples = samples, .num_frames = stacked_frames(m.audio_preprocessing, samples)}};
}
constexpr void parse_audio_config(config_view json, model& m) {
    parse_stacked_filter_banks(json, m, m.config.family[frame_width]);
}

[[nodiscard]] constexpr conformer_sizes sizes_of(const layer_context& ctx) {
    const family_config& family = ctx.config.family;
    return {ctx.config.hidden_size,
            ctx.config.num_attention_heads,
            ctx.config.intermediate_size,
            ctx.config.hidden_act,
            family[kernel],
            static_cast<distance_rule>(family[distances]),
            family[learned_left] + family[learned_right] + 1,
            true,
            ctx.spec.class_prefix};
}

constexpr tensor adapt(const layer_context& ctx, trace& t, tensor x) {
    const family_config& family = ctx.config.family;
    if (family[adapter_layers] == 0) return x;
    conformer_sizes s = sizes_of(ctx);
    s.width = family[adapter_width];
    s.act = static_cast<activation>(family[adapter_act]);
    s.distances = distance_rule::none;
    const module_info adapter{.name = "adapter", .class_of_module = ctx.class_of("Adapter")};
    t.enter(adapter);
    if (s.width != ctx.config.hidden_size)
        x = t.call("proj_layer_norm", norm_module{norm_kind::layer, s.width},
                   t.call("proj", linear{x.dim(-1), s.width, true}, x));
    for (std::int64_t i = 0; i < family[adapter_layers]; ++i)
        x = t.call({"layers", i}, conformer_adapter{s, family[adapter_kernel], family[adapter_stride]}, x);
    return t.leave(adapter, x);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    {
        const recorder::not_executed_guard unused{t};
        if (family[masks] != 0) (void)t.param("masked_spec_embed", {ctx.config.hidden_size});
    }
    const std::int64_t width = ctx.config.hidden_size;
    const module_info projection{.name = "feature_projection", .class_of_module = ctx.class_of("FeatureProjection")};
    const tensor frames =
        t.input({t.load().batch, compute_media_shapes(ctx.model, t.load()).audio.num_frames, family[frame_width]});
    t.enter(projection);
    tensor x = t.call("layer_norm", norm_module{norm_kind::layer, family[frame_width]}, frames);
    x = t.leave(projection, dropout(t, "dropout", t.call("projection", linear{family[frame_width], width, true}, x)));
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    const conformer_sizes s = sizes_of(ctx);
    t.enter(encoder);
    x = dropout(t, "dropout", x);
    tensor table;
    if (s.distances == distance_rule::relative)
        table = t.call("embed_positions", sines_of_distances{width, ctx.class_of("RelPositionalEmbedding")}, x.dim(1));
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, conformer_layer{s, table}, x);
    (void)t.leave(encoder, x);
    if (family[feeds_between] != 0) {
        conformer_sizes by_relu = s;
        by_relu.act = activation::relu;
        x = t.add(x, t.mul_scalar(t.call("intermediate_ffn", conformer_feed_forward{by_relu}, x)));
    }
    return adapt(ctx, t, x);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_audio_encoder(ctx, t, ctx.config.family[weighs_layers] != 0, ctx.config.family[summary_width]);
}

constexpr void parse_config(config_view json, model_config& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.family[kernel] % 2 == 0) throw_invalid_value(json, "conv_depthwise_kernel_size", "an odd number");
    config.family[masks] = json.real("mask_time_prob", 0.05) > 0 || json.real("mask_feature_prob", 0) > 0;
    if (const auto kind = json.find("position_embeddings_type")) {
        const string_ref name = kind->is_null() ? string_ref("none") : kind->as_string();
        if (name == "rotary")
            throw_unsupported(json, "position_embeddings_type", "rotary positions of a conformer are not supported");
        const distance_rule rule = name == "relative"       ? distance_rule::relative
                                   : name == "relative_key" ? distance_rule::relative_key
                                                            : distance_rule::none;
        if (rule == distance_rule::none && !kind->is_null())
            throw_invalid_value(json, "position_embeddings_type", "relative, relative_key, rotary or null");
        config.family[distances] = static_cast<std::int64_t>(rule);
    }
    config.family[adapter_width] = config.hidden_size;
    if (!json.boolean("add_adapter", false)) return;
    if (config.head == head_kind::sequence_classification)
        throw_unsupported(json, "add_adapter", "adapters are not supported by the reference's classifier");
    config.family[adapter_layers] = json.positive("num_adapter_layers", 1);
    if (config.family[adapter_layers] > 64)
        throw_unsupported(json, "num_adapter_layers", "more than 64 are not supported");
    config.family[adapter_width] = json.positive("output_hidden_size", config.hidden_size);
    if (config.family[adapter_width] % config.num_attention_heads != 0)
        throw_invalid_value(json, "output_hidden_size", "a multiple of num_attention_heads");
    if (const auto name = json.optional_string("adapter_act"))
        config.family[adapter_act] = static_cast<std::int64_t>(activation_named(json, "adapter_act", *name));
}

}  // namespace wav2vec2_bert_detail

// transformers/models/wav2vec2_bert
inline constexpr model_spec wav2vec2_bert = [](model_spec spec) {
    spec.model_type = "wav2vec2-bert";
    spec.class_prefix = "Wav2Vec2Bert";
    spec.names.base_model = "wav2vec2_bert";
    spec.forward = wav2vec2_bert_detail::forward;
    spec.base_model = wav2vec2_bert_detail::base;
    spec.decoder_layer = nullptr;
    spec.attention = nullptr;
    spec.parse_config = wav2vec2_bert_detail::parse_config;
    spec.family_keys = wav2vec2_bert_detail::family_keys;
    spec.compute_media_shapes = wav2vec2_bert_detail::compute_media_shapes;
    spec.parse_feature_extractor = wav2vec2_bert_detail::parse_audio_config;
    spec.audio_preprocessing.stacked_frames = 2;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::swish;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
