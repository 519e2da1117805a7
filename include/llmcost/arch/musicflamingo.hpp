// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/audioflamingo3.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/audio_language.hpp>

namespace llmcost::arch {

namespace musicflamingo_detail {

using audio_language::biased, audio_language::flamingo_tower, audio_language::forward_text_with_audio,
    audio_language::parse_projector, audio_language::num_time_steps, audio_language::project_twice,
    audio_language::rotary_time_dim;

/// Angles of a window's index and its positions, times the timestamp of each position in seconds. Returns two tensors
/// (windows, positions, rotary_dim).
struct time_table {
    class_name named;
    std::int64_t rotary_dim;
    std::int64_t num_steps;  ///< rows of `position_angles`

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, const tensor& seconds) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer({2, rotary_dim / 4}, dtype::float32);          // `inv_freq` and `original_inv_freq`
        t.register_buffer({num_steps, rotary_dim / 2}, dtype::float32);  // `position_angles`
        const std::int64_t windows = seconds.dim(0), states = seconds.dim(1), half = rotary_dim / 2;
        const tensor numbers = t.div_scalar(t.abs(t.div_scalar(trace::buffer({windows}))));  // rounded between
        const tensor by_window = t.repeat_interleave(t.mul(numbers.unsqueeze(-1), trace::buffer({half / 2})), -1, 2);
        const shape all{windows, states, half};
        const tensor angles = t.cat({by_window.unsqueeze(1).expand(all), trace::buffer(all)}, -1);
        const tensor turns = t.mul_scalar(t.mul_scalar(t.neg(seconds)));
        const tensor scaled_angles = t.mul(angles, turns.unsqueeze(-1));
        const tensor cos = t.cos(scaled_angles);
        return {cos, t.sin(scaled_angles)};
    }
};

/// Music Flamingo: rotates states by their timestamps, in double precision.
///
/// Source: transformers/models/musicflamingo/modeling_musicflamingo.py, `_build_audio_timestamps`,
/// `apply_rotary_time_emb`.
constexpr tensor rotate_by_time(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t windows = x.dim(0), states = x.dim(1), rotary_dim = ctx.model.family[rotary_time_dim];
    const tensor offsets = t.mul_scalar(t.full({states}));
    (void)t.cat({t.full({1}), trace::buffer({windows - 1})}, 0);
    const tensor seconds = t.add(t.mul_scalar(trace::buffer({windows, 1})), offsets);
    const time_table table{ctx.class_of("RotaryEmbedding"), rotary_dim, ctx.model.family[num_time_steps]};
    const tensor_pair angles = t.call("pos_emb", table, seconds);
    const tensor upcast = t.to(x, dtype::float64);
    const tensor cos = t.to(angles.first, dtype::float64), sin = t.to(angles.second, dtype::float64);
    const tensor part = t.slice(upcast, -1, rotary_dim);
    const tensor pairs = part.view({windows, states, rotary_dim / 2, 2});
    const tensor first = pairs.select(-1), second = pairs.select(-1);
    const tensor scaled = t.mul(part, cos);
    const tensor rotated_half =
        t.cat({t.neg(second).unsqueeze(-1), first.unsqueeze(-1)}, -1).view({windows, states, rotary_dim});
    const tensor rotated = t.add(scaled, t.mul(rotated_half, sin));
    return t.to(t.cat({rotated, t.slice(upcast, -1, x.dim(-1) - rotary_dim)}, -1), x.type);
}

constexpr tensor music_base(const layer_context& ctx, trace& t) {
    return forward_text_with_audio(ctx, t, true, true, [&] {
        const tensor x = rotate_by_time(ctx, t, flamingo_tower(ctx, t));
        return project_twice(ctx, t, x, ctx.config.hidden_size, ctx.model.family[biased] != 0);
    });
}

constexpr void parse_music(config_view json, model& m) {
    parse_projector(json, m);
    const std::int64_t width = m.components[0].config.hidden_size;
    const double part = detail::parse_partial_rotary_factor(json, 0.2);
    m.family[rotary_time_dim] = 2 * round_rotary_dim(width, part);
    const auto rope = json.optional_object("rope_parameters");  // the base is the number of positions
    m.family[num_time_steps] =
        static_cast<std::int64_t>((rope && rope->contains("rope_theta") ? *rope : json).real("rope_theta", 1200.0));
    if (m.family[rotary_time_dim] < 4 || m.family[rotary_time_dim] > width)
        throw_invalid_value(json, "partial_rotary_factor",
                            "a factor whose rotated part fits twice into the width of the audio encoder");
}

}  // namespace musicflamingo_detail

// transformers/models/musicflamingo: the encoder of Audio Flamingo 3
inline constexpr model_spec musicflamingo = [](model_spec spec) {
    spec.model_type = "musicflamingo";
    spec.class_prefix = "MusicFlamingo";
    spec.base_model = musicflamingo_detail::music_base;
    spec.parse_composite_config = musicflamingo_detail::parse_music;
    spec.audio_preprocessing.max_samples = 1200 * 16000;
    return spec;
}(audioflamingo3);

}  // namespace llmcost::arch
