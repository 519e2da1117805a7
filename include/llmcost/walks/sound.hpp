// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/walks/media.hpp>

// What models of sound are made of: recordings, gated and normed convolutions, labels of a whole recording.
namespace llmcost {

/// Samples of a workload's recording; who reads nothing but sound has no pass without one.
constexpr std::int64_t samples_of(const sound_settings& s, const workload& load) {
    if (load.audio_milliseconds == 0) report_description("this model reads sound: say how much by --audio SECONDS");
    return s.samples_of(load.audio_milliseconds);
}

/// Frames that begin every so many samples and end with the recording or before (Kaldi's filter banks).
constexpr std::int64_t filter_bank_frames(const sound_settings& s, std::int64_t samples) {
    if (samples < s.window) report_description("the recording is shorter than a frame of its spectrum");
    return (samples - s.window) / s.hop + 1;
}

/// The same of which several are read as one, filled up to an even number.
constexpr std::int64_t stacked_frames(const sound_settings& s, std::int64_t samples) {
    const std::int64_t rows = (filter_bank_frames(s, samples) + 1) / 2 * 2 / s.joined;
    if (rows < 1) report_description("the recording is shorter than the frames that are read as one");
    return rows;
}

/// `nn.GLU` over channels, (B, 2 · channels, length) -> (B, channels, length).
struct gated_channels {
    int along = 1;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "GLU"}; }
    constexpr value describe(trace& t, const value& x) const { return t.glu(x, along); }
};

/// `nn.SiLU`, which no configuration names.
struct torch_silu {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "SiLU"}; }
    constexpr value describe(trace& t, const value& x) const { return t.silu(x); }
};

/// `nn.GroupNorm`.
struct group_norm_module {
    std::int64_t channels;
    std::int64_t groups;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "GroupNorm"}; }
    constexpr value describe(trace& t, const value& x) const {
        t.beside(t.param("weight", {channels}));
        t.beside(t.param("bias", {channels}));
        return t.group_norm(x, groups);
    }
};

/// The weight that `weight_norm` makes in every pass.
struct normed_weight {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "_WeightNorm"}; }
    constexpr value describe(trace& t, const value& direction, const value& length) const {
        return t.weight_norm(direction, length);
    }
};

/// `nn.Conv1d` whose kernel is normed at each of its places (`parametrizations.weight_norm`, `dim=2`).
struct normed_convolution_1d {
    std::int64_t in;
    std::int64_t out;
    std::int64_t kernel;
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    std::int64_t groups = 1;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "ParametrizedConv1d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value bias = t.param("bias", {out});
        const module_info all{.name = "parametrizations", .type = {"", "ModuleDict"}};
        const module_info one{.name = "weight", .type = {"", "ParametrizationList"}};
        t.enter(all), t.enter(one);
        const value length = t.param("original0", {1, 1, kernel}),
                    direction = t.param("original1", {out, in / groups, kernel});
        const value weight = t.call("0", normed_weight{}, direction, length);
        (void)t.leave(one, weight), (void)t.leave(all, weight);
        t.beside(bias);
        return t.convolution(x, weight, true, groups, stride, padding);
    }
};

/// A number for each layer's states and those in front of the first (`use_weighted_layer_sum`).
constexpr value layer_weights(trace& t, std::int64_t layers) { return t.param("layer_weights", {layers + 1}); }

/// The states of all layers, of which x are the last, each times the softmax of its number, summed: (B, S, width).
constexpr value weighed_layers(trace& t, const value& x, const value& weights) {
    if (weights.rank == 0) return x;
    const value all = t.cat({x.unsqueeze(1).expand({x.dim(0), weights.dim(0), x.dim(1), x.dim(2)})}, 1);
    const value shares = t.softmax(weights).view({-1, 1, 1});
    return t.sum(t.mul(all, shares), 1);
}

/// Labels of each recording: a projection, the mean of all places, scores.
///
/// Source: transformers/models/wav2vec2/modeling_wav2vec2.py, `Wav2Vec2ForSequenceClassification`.
constexpr value classify_states(const site& here, trace& t, const value& x, std::int64_t width) {
    const value narrow = t.call("projector", linear{x.dim(-1), width, true}, x);
    return t.call("classifier", head_linear{{width, here.dims.num_labels, true}}, t.mean(narrow, 1));
}

/// A model of sound, bare, or under scores of letters at every place or labels of the whole.
constexpr value describe_heard(const site& here, trace& t, bool weighs_layers, std::int64_t summary_width) {
    const decoder_names& n = here.row.names;
    const class_name type = here.type(n.model_type);
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, here.row.base, here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const bool letters = here.dims.head == head_kind::ctc;
    t.enter(whole);
    const value weights = !letters && weighs_layers ? layer_weights(t, here.dims.num_hidden_layers) : value{};
    const value x = describe_within({.name = n.base, .type = type}, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    if (!letters)
        return t.leave(whole, t.returns(x, classify_states(here, t, weighed_layers(t, x, weights), summary_width)));
    const value kept = dropout(t, "dropout", x, dropout_of::classifier);
    return t.leave(whole, t.returns(x, t.call(n.lm_head, head_linear{{x.dim(-1), here.dims.vocab_size, true}}, kept)));
}

}  // namespace llmcost
