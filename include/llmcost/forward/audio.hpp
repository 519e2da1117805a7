// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/multimodal.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>

// Building blocks of audio models: frame counts, gated and normalized convolutions, classification heads.
//
// Shapes: B = batch, S = frames.
namespace llmcost {

/// Number of audio samples of the workload.
///
/// Throws: `description_error` if the workload has no audio.
constexpr std::int64_t num_audio_samples(const audio_preprocessing_config& s, const workload& load) {
    if (load.audio_milliseconds == 0) throw_description_error("audio input required: set --audio SECONDS");
    return s.samples_from_milliseconds(load.audio_milliseconds);
}

/// Number of frames of Kaldi filter banks, one per `hop_length` samples. Incomplete frames are discarded.
///
/// Throws: `description_error` if the audio is shorter than one frame.
constexpr std::int64_t num_filter_bank_frames(const audio_preprocessing_config& s, std::int64_t samples) {
    if (samples < s.win_length) throw_description_error("the audio is shorter than one frame of its spectrogram");
    return (samples - s.win_length) / s.hop_length + 1;
}

/// Number of stacks of filter bank frames, with frames padded to an even number.
///
/// Throws: `description_error` if the audio is shorter than one stack.
constexpr std::int64_t stacked_frames(const audio_preprocessing_config& s, std::int64_t samples) {
    const std::int64_t rows = (num_filter_bank_frames(s, samples) + 1) / 2 * 2 / s.stacked_frames;
    if (rows < 1) throw_description_error("the audio is shorter than one stack of frames");
    return rows;
}

/// `nn.GLU` over channels: (B, 2 · channels, length) -> (B, channels, length).
struct gated_channels {
    int dim = 1;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GLU"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.glu(x, dim); }
};

/// `nn.SiLU`. It is not selected by the configuration.
struct torch_silu {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "SiLU"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.silu(x); }
};

/// `nn.GroupNorm`.
struct group_norm_module {
    std::int64_t channels;
    std::int64_t groups;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GroupNorm"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        t.read_parameter_in_next_op(t.param("weight", {channels}));
        t.read_parameter_in_next_op(t.param("bias", {channels}));
        return t.group_norm(x, groups);
    }
};

/// The weight that `weight_norm` computes in every forward pass.
struct normed_weight {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "_WeightNorm"}; }
    constexpr tensor forward(trace& t, const tensor& direction, const tensor& length) const {
        return t.weight_norm(direction, length);
    }
};

/// `nn.Conv1d` with a kernel normalized per position (`parametrizations.weight_norm`, `dim=2`).
struct normed_convolution_1d {
    std::int64_t in;
    std::int64_t out;
    std::int64_t kernel;
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    std::int64_t groups = 1;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "ParametrizedConv1d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor bias = t.param("bias", {out});
        const module_info all{.name = "parametrizations", .class_of_module = {"", "ModuleDict"}};
        const module_info one{.name = "weight", .class_of_module = {"", "ParametrizationList"}};
        t.enter(all);
        t.enter(one);
        const tensor length = t.param("original0", {1, 1, kernel}),
                     direction = t.param("original1", {out, in / groups, kernel});
        const tensor weight = t.call("0", normed_weight{}, direction, length);
        (void)t.leave(one, weight);
        (void)t.leave(all, weight);
        t.read_parameter_in_next_op(bias);
        return t.conv(x, weight, true, groups, stride, padding);
    }
};

/// Learned weights of the hidden states: one per layer, and one for the input (`use_weighted_layer_sum`).
constexpr tensor layer_weights(trace& t, std::int64_t layers) { return t.param("layer_weights", {layers + 1}); }

/// Sum of the hidden states of all layers, weighted with softmax(weights): (B, S, width). `x` has the last states.
///
/// Returns x if the model has no weights.
constexpr tensor weighted_layer_sum(trace& t, const tensor& x, const tensor& weights) {
    if (weights.rank == 0) return x;
    const tensor all = t.cat({x.unsqueeze(1).expand({x.dim(0), weights.dim(0), x.dim(1), x.dim(2)})}, 1);
    const tensor shares = t.softmax(weights).view({-1, 1, 1});
    return t.sum(t.mul(all, shares), 1);
}

/// Audio classification head: projection, mean over frames, classifier. (B, S, hidden) -> (B, labels).
///
/// Source: transformers/models/wav2vec2/modeling_wav2vec2.py, `Wav2Vec2ForSequenceClassification`.
constexpr tensor classify_states(const layer_context& ctx, trace& t, const tensor& x, std::int64_t width) {
    const tensor projected = t.call("projector", linear{x.dim(-1), width, true}, x);
    return t.call("classifier", head_linear{{width, ctx.config.num_labels, true}}, t.mean(projected, 1));
}

/// An audio encoder without a head, with a CTC head, or with a classification head.
constexpr tensor forward_audio_encoder(const layer_context& ctx, trace& t, bool weighs_layers,
                                       std::int64_t summary_width) {
    const decoder_module_names& n = ctx.spec.names;
    const class_name type = ctx.class_of(n.model_class);
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, ctx.spec.base_model, ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const bool letters = ctx.config.head == head_kind::ctc;
    t.enter(model_info);
    const tensor weights = !letters && weighs_layers ? layer_weights(t, ctx.config.num_hidden_layers) : tensor{};
    const tensor x = forward_in_module({.name = n.base_model, .class_of_module = type}, ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    if (!letters)
        return t.leave(model_info, t.select_model_output(
                                       x, classify_states(ctx, t, weighted_layer_sum(t, x, weights), summary_width)));
    const tensor hidden_states = dropout(t, "dropout", x, dropout_position::classifier);
    return t.leave(model_info,
                   t.select_model_output(
                       x, t.call(n.lm_head, head_linear{{x.dim(-1), ctx.config.vocab_size, true}}, hidden_states)));
}

}  // namespace llmcost
