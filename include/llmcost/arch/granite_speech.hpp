// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio_language.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/granite_speech_config.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace granite_speech_detail {

using granite_speech_config::block, granite_speech_config::conv_times, granite_speech_config::inner_times,
    granite_speech_config::kernel, granite_speech_config::labels, granite_speech_config::mels,
    granite_speech_config::num_cat_hidden_layers, granite_speech_config::reach;

inline constexpr family_key family_keys[]{
    {"input_dim", 160},
    {"feedforward_mult", 4},
    {"output_dim", 42},
    {"max_pos_emb", 512},
    {"conv_kernel_size", 15},
    {"conv_expansion_factor", 2},
    {"context_size", 200},
    {.type = family_key_type::computed},  // layers whose states are concatenated with the last ones
};

/// MLP of a conformer: norm, two projections and an activation, dropout after both.
struct conformer_feed_forward {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConformerFeedForward"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = width * ctx.config.family[inner_times];
        tensor h =
            t.call("up_proj", linear{width, inner, true}, t.call("pre_norm", norm_module{norm_kind::layer, width}, x));
        h = dropout(t, "dropout", t.call("silu", torch_silu{}, h));
        return dropout(t, "dropout", t.call("down_proj", linear{inner, width, true}, h));
    }
};

/// Block-local attention with learned relative positions (Shaw). The last block is padded with zeros, which a mask
/// excludes.
///
/// Traced like PyTorch's `F.scaled_dot_product_attention` without a fused kernel: queries and keys are scaled
/// separately, and the position scores are the mask.
struct block_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConformerAttention"); }
    constexpr tensor forward(trace& t, const tensor& states) const {
        const family_config& family = ctx.config.family;
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                           d = ctx.config.head_dim;
        const std::int64_t batch = states.dim(0), places = states.dim(1), size = family[block];
        const std::int64_t blocks = (places + size - 1) / size, all = batch * blocks;
        tensor x = t.call("pre_norm", norm_module{norm_kind::layer, width}, states);
        if (places % size != 0) x = t.pad(x, 1, blocks * size - places);
        const tensor q_all = t.call("to_q", linear{width, heads * d}, x);
        const tensor kv = t.call("to_kv", linear{width, 2 * heads * d}, x);
        const auto split = [&](const tensor& v) { return t.reshape(v, {all, size, heads, d}).transpose(1, 2); };
        const tensor q = split(q_all), k = split(kv.slice(-1, heads * d)), v = split(kv.slice(-1, heads * d));
        const embedding table{.num_embeddings = 2 * family[reach] + 1, .embedding_dim = d, .creates_indices = true};
        const tensor rows = t.call("rel_pos_emb", table, shape{size, size});
        const tensor bias = t.mul_scalar(einsum(t, "bhcd,crd->bhcr", q, rows));
        const tensor scaled_q = t.mul_scalar(q);
        tensor scores = t.matmul(scaled_q, t.mul_scalar(k.transpose(2, 3)));
        scores = t.softmax(t.add(scores, bias));
        const tensor found = t.reshape(t.matmul(scores, v).transpose(1, 2), {batch, blocks * size, heads * d});
        const tensor unpadded = t.slice(found, 1, places);
        return dropout(t, "dropout", t.call("to_out", linear{heads * d, width, true}, unpadded));
    }
};

/// Depthwise convolution with zero padding at both ends.
struct channel_convolution {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConformerDepthWiseConv1d"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t k = ctx.config.family[kernel];
        return t.call("conv", convolution_1d{width, width, k, 1, 0, width, false}, t.pad(x, -1, k - 1));
    }
};

struct convolution_module {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConformerConvModule"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = width * ctx.config.family[conv_times];
        const tensor normed = t.call("norm", norm_module{norm_kind::layer, width}, x).permute({0, 2, 1});
        tensor h = t.call("glu", gated_channels{}, t.call("up_conv", convolution_1d{width, 2 * inner}, normed));
        h = t.call("depth_conv", channel_convolution{ctx, inner}, h);
        h = t.call("silu", torch_silu{}, t.call("batch_norm", batch_norm_2d{inner, "BatchNorm1d"}, h));
        return dropout(t, "dropout", t.call("down_conv", convolution_1d{inner, width}, h).permute({0, 2, 1}));
    }
};

struct conformer_block {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConformerBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.add(t.mul_scalar(t.call("ff1", conformer_feed_forward{ctx}, x)), x);
        h = t.add(t.call("attn", block_attention{ctx}, h), h);
        h = t.add(t.call("conv", convolution_module{ctx}, h), h);
        h = t.add(t.mul_scalar(t.call("ff2", conformer_feed_forward{ctx}, h)), h);
        return t.call("post_norm", norm_module{norm_kind::layer, ctx.config.hidden_size}, h);
    }
};

/// Number of positions of the encoder: one per two frames.
[[nodiscard]] constexpr std::int64_t places_of(const audio_preprocessing_config& sound, const workload& load) {
    if (load.audio_milliseconds == 0) return 1;
    const std::int64_t samples = sound.samples_from_milliseconds(load.audio_milliseconds),
                       places = sound.num_centered_frames(samples) / 2;
    if (places < 1 || samples <= sound.n_fft / 2)
        throw_description_error("the audio is shorter than one spectrum window");
    return places;
}

/// Traces the conformer: (batch, positions, mels) -> (batch, positions, width).
///
/// A middle layer predicts labels and feeds them back. The output can be concatenated with states of other layers.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size, layers = ctx.config.num_hidden_layers, middle = layers / 2;
    t.register_integer_buffer(family[block] * family[block]);  // `attention_dists`
    const tensor sound = t.input({t.load().batch, places_of(ctx.model.audio_preprocessing, t.load()), family[mels]});
    tensor x = t.call("input_linear", linear{family[mels], width, true}, sound);
    const attention_inputs no_inputs;
    const auto run = [&](std::int64_t n, std::int64_t first) {
        for (loop layer_loop = t.loop_modules(n, x, first); layer_loop.next();)
            x = t.call({"layers", layer_loop.index()}, conformer_block{ctx.for_layer(layer_loop, no_inputs)}, x);
    };
    run(middle, 0);
    {
        const recorder::not_executed_guard no_middle{t, middle == 0};
        const tensor scores = t.call("out", linear{width, family[labels], true}, t.clone(x));
        const tensor read = t.call("out_mid", linear{family[labels], width, true}, t.softmax(scores));
        t.add_(x, read);
    }
    run(layers - middle, middle);
    if (family[num_cat_hidden_layers] == 0) return x;
    tensor layer_states[trace::max_cat_inputs];
    for (std::int64_t i = 0; i <= family[num_cat_hidden_layers]; ++i) layer_states[i] = x;
    return t.cat(layer_states, static_cast<int>(family[num_cat_hidden_layers] + 1), -1);
}

// ---- Q-Former

enum former : std::uint8_t { source, crosses_every, reads_text };

inline constexpr family_key former_keys[]{
    {"encoder_hidden_size", 1408},
    {"cross_attention_frequency", 2},
    {"use_qformer_text_input", 0, family_key_type::boolean},
};

/// Q-Former attention: self-attention, or cross-attention to windows. x (1 or windows, queries, width) -> (windows,
/// queries, width).
struct former_attention {
    const layer_context& ctx;
    const tensor* cross_states = nullptr;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const tensor& kv_input = cross_states != nullptr ? *cross_states : x;
        const std::int64_t from_width = cross_states != nullptr ? ctx.config.family[source] : width;
        const module_info inner{.name = "attention", .class_of_module = ctx.class_of("MultiHeadAttention")};
        const auto split = [&](literal name, const tensor& v, std::int64_t in) {
            const tensor all = t.call(name, linear{in, width, true}, v);
            return all.view({v.dim(0), v.dim(1), heads, width / heads}).transpose(1, 2);
        };
        t.enter(inner);
        tensor q = split("query", x, width);
        const tensor k = split("key", kv_input, from_width), v = split("value", kv_input, from_width);
        // every window uses the same learned queries
        if (t.load().implementation == attention_implementation::sdpa)
            q = q.expand({k.dim(0), heads, x.dim(1), width / heads});
        const attention_pattern all{
            .query_length = x.dim(1), .cached_length = kv_input.dim(1) - x.dim(1), .is_causal = false};
        const tensor mixed = attention_forward(t, q, k, v, all, {.has_float32_softmax = false});
        const tensor flat = t.leave(inner, t.reshape(mixed, {mixed.dim(0), x.dim(1), width}));
        return t.call("output", bert_layers::output_block{width, width, ctx.class_of("SelfOutput")}, flat, x);
    }
};

struct former_layer {
    const layer_context& ctx;
    std::int64_t index;
    const tensor& audio_features;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.call("attention", former_attention{ctx}, x);
        if (index % ctx.config.family[crosses_every] == 0)
            h = t.call("crossattention", former_attention{ctx, &audio_features}, h);
        if (ctx.config.family[reads_text] != 0) {
            const recorder::not_executed_guard no_text{t};
            (void)mlp(t, h, "intermediate", "output");
        }
        return mlp(t, h, "intermediate_query", "output_query");
    }
    constexpr tensor mlp(trace& t, const tensor& x, literal up, literal down) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor h = t.call(up, bert_layers::intermediate_block{ctx}, x);
        return t.call(down, bert_layers::output_block{inner, width, ctx.class_of("Output")}, h, x);
    }
};

/// Traces the Q-Former. Every n-th layer has cross-attention to the audio features.
constexpr tensor query(const layer_context& ctx, trace& t, const tensor& queries, const tensor& audio_features) {
    tensor x =
        dropout(t, "dropout", t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, queries));
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i)
        x = t.call({"layer", i}, former_layer{ctx, i, audio_features}, x);
    return t.leave(encoder, x);
}

/// Declares the Q-Former without executing it.
constexpr tensor query_alone(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard not_executed{t};
    return query(ctx, t, trace::buffer({1, 1, ctx.config.hidden_size}),
                 trace::buffer({1, 1, ctx.config.family[source]}));
}

constexpr void parse_former(config_view json, model_config& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
}

// ---- the multimodal model

enum model_config_index : std::uint8_t { rate, window };

inline constexpr family_key model_keys[]{{"downsample_rate", 5}, {"window_size", 15}};

[[nodiscard]] constexpr std::int64_t windows_of(const model& m, const workload& load) {
    return (places_of(m.audio_preprocessing, load) + m.family[window] - 1) / m.family[window];
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return {.audio = {.num_tokens = windows_of(m, load) * (m.family[window] / m.family[rate]),
                      .num_samples = m.audio_preprocessing.samples_from_milliseconds(load.audio_milliseconds),
                      .num_frames = places_of(m.audio_preprocessing, load)}};
}

/// Parses the feature extractor's configuration.
///
/// Source: transformers/models/granite_speech/feature_extraction_granite_speech.py.
constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "GraniteSpeechFeatureExtractor");
    const std::int64_t bands = m.components[0].config.family[mels];
    for (const literal key : {"n_mels", "feature_size"})
        if (nested_json->contains(key) && 2 * nested_json->positive(key) != bands)
            throw_invalid_value(*nested_json, key, "half of input_dim, because two frames are one position");
    expect_number(*nested_json, "projector_window_size", m.family[window], "the window_size of the configuration");
    expect_number(*nested_json, "projector_downsample_rate", m.family[rate],
                  "the downsample_rate of the configuration");
    m.audio_preprocessing.sampling_rate = nested_json->positive("sampling_rate", m.audio_preprocessing.sampling_rate);
    parse_frames(*nested_json, m.audio_preprocessing);
    if (m.audio_preprocessing.n_fft % 2 != 0) throw_invalid_value(*nested_json, "n_fft", "an even number");
}

/// Projects windows of encoder states to a few tokens each, with the text width.
constexpr tensor project(const layer_context& ctx, trace& t, const tensor& states) {
    const family_config& family = ctx.model.family;
    const layer_context former = ctx.component(1);
    const std::int64_t width = former.config.hidden_size, queries = family[window] / family[rate],
                       batch = states.dim(0);
    const std::int64_t windows = (states.dim(1) + family[window] - 1) / family[window];
    const module_info projection{
        .name = "projector", .class_of_module = ctx.class_of("EncoderProjector"), .module_role = role::projector};
    const module_info qformer{.name = "qformer", .class_of_module = former.class_of(former.spec.names.model_class)};
    t.enter(projection);
    const tensor learned = t.param("query", {1, queries, width});
    const tensor padded = t.pad(states, 1, windows * family[window] - states.dim(1));
    // with text alone, the projector is declared with its configured width, which can differ from the encoder's
    const tensor audio_features = has_audio(t)
                                      ? padded.view({batch * windows, family[window], states.dim(2)})
                                      : trace::buffer({batch * windows, family[window], former.config.family[source]});
    t.enter(qformer);
    const tensor found = t.leave(qformer, query(former, t, learned, audio_features));
    const tensor merged_queries = found.view({batch, windows * queries, width});
    return t.leave(projection, t.call("linear", linear{width, ctx.config.hidden_size, true}, merged_queries));
}

/// Traces a second token embedding, which audio features are merged with (`get_merged_audio_embeddings`).
constexpr void repeat_token_embedding(const layer_context& ctx, trace& t) {
    const layer_context text = ctx.text_model();
    const module_info m{.name = "language_model", .class_of_module = text.class_of(text.spec.names.model_class)};
    const recorder::shared_parameters_guard shared_parameters{t};
    t.enter(m);
    const embedding token_embedding{text.config.vocab_size, text.config.hidden_size};
    (void)t.call(text.spec.names.embed_tokens, token_embedding, shape{t.load().batch, t.load().sequence});
    t.leave(m);
}

/// Traces the audio encoder, the projector and the text model.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard silent{t, !has_audio(t)};
        const tensor features = project(ctx, t, forward_encoder_component(ctx, t, 0, "encoder", role::audio));
        if (!has_audio(t)) return token_embeddings;
        repeat_token_embedding(ctx, t);
        const std::int64_t tokens = compute_media_shapes(ctx.model, t.load()).audio.num_tokens;
        return audio_language::insert_features(t, token_embeddings, features, tokens, false, true);
    });
}

constexpr void check(config_view json, model& m) {
    if (m.family[window] % m.family[rate] != 0)
        throw_invalid_value(json, "window_size", "a multiple of downsample_rate");
}

}  // namespace granite_speech_detail

// The audio encoder (`GraniteSpeechEncoderConfig`).
//
// Source: transformers/models/granite_speech
inline constexpr submodel_spec granite_speech_encoder{
    .model_type = "granite_speech_encoder",
    .class_prefix = "GraniteSpeech",
    .base_model = granite_speech_detail::encode_audio,
    .parse_config = granite_speech_config::parse_speech_encoder,
    .family_keys = granite_speech_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "CTCEncoder"},
    .config_keys = {{"hidden_size", "hidden_dim", key_rule::standard_name_first},
                    {"num_hidden_layers", "num_layers", key_rule::standard_name_first},
                    {"num_attention_heads", "num_heads", key_rule::standard_name_first},
                    {"head_dim", "dim_head", key_rule::family_name_only}},
    .defaults = {.hidden_size = 1024, .num_hidden_layers = 10, .num_attention_heads = 8},
};

// The Q-Former of BLIP-2 (`Blip2QFormerConfig`), available only as a component.
//
// Source: transformers/models/blip_2
inline constexpr submodel_spec blip_2_qformer_part{
    .model_type = "blip_2_qformer",
    .class_prefix = "Blip2QFormer",
    .base_model = granite_speech_detail::query_alone,
    .parse_config = granite_speech_detail::parse_former,
    .family_keys = granite_speech_detail::former_keys,
    .rotary = rotary_style::none,
    .defaults = {.hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu},
};

// Granite Speech. A conformer and a Q-Former before Granite.
//
// Source: transformers/models/granite_speech
inline constexpr model_spec granite_speech = [](model_spec spec) {
    spec.model_type = "granite_speech";
    spec.class_prefix = "GraniteSpeech";
    spec.base_model = granite_speech_detail::base;
    spec.family_keys = granite_speech_detail::model_keys;
    spec.parse_composite_config = granite_speech_detail::check;
    spec.compute_media_shapes = granite_speech_detail::compute_media_shapes;
    spec.parse_feature_extractor = granite_speech_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.n_fft = 512;
    spec.text_model = {.key = "text_config", .default_spec = &granite};
    spec.components[0] = {.key = "encoder_config", .default_spec = &granite_speech_encoder, .ignores_model_type = true};
    spec.components[1] = {.key = "projector_config", .default_spec = &blip_2_qformer_part};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
