// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace glmasr_detail {

enum own : std::uint8_t { mels };
inline constexpr own_key keys[]{{"num_mel_bins", 128}};

/// Whole windows, of any length where their states can be joined; four of them a token.
constexpr media_shapes show(const model& m, const workload& load) {
    const qwen2_audio_detail::recording r = qwen2_audio_detail::recording_of(m.sound, load);
    return qwen2_audio_detail::shown_as(m, r, r.states() / 4);
}
constexpr void read_sound(config_view config, model& m) {
    const sizes& audio = m.beside[0].dims;
    const auto told = qwen2_audio_detail::read_extractor(config, m, audio.own[mels]);
    if (told && (filled_frames(m.sound, m.sound.filled()) + 1) / 2 * audio.hidden_size % audio.intermediate_size != 0)
        fail_value(*told, first_said(*told, {"chunk_length", "hop_length", "n_fft"}), "windows of whole fours of states");
    read_most_seconds(config, m.sound);
}

/// Attention of all states, part of each head turned; keys have no bias.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, d = here.dims.head_dim, heads = here.dims.num_attention_heads;
    const std::int64_t wide = heads * d, narrow = here.dims.num_key_value_heads * d;
    qkv of{t.call("q_proj", linear{width, wide, true}, x), t.call("k_proj", linear{width, narrow}, x),
           t.call("v_proj", linear{width, narrow, true}, x)};
    split_heads(here, of), heads_first(of);
    turn(here, t, of);
    const value mixed = eager_attention(t, of.q, of.k, of.v, here.shared->where, {});
    return t.call("o_proj", linear{wide, width, true}, t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
}

struct encoder_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{here.dims.hidden_size};
        const value h = t.add(x, t.call("self_attn", attention_module{here}, t.call("input_layernorm", normed, x)));
        const mlp<mlp_kind::plain> block{
            here.dims.hidden_size,       here.dims.intermediate_size, here.dims.hidden_act, here.type("MLP"), true,
            {.up = "fc1", .down = "fc2"}};
        return t.add(h, t.call("mlp", block, t.call("post_attention_layernorm", normed, h)));
    }
};

/// Two convolutions, layers with rotary positions, a norm.
constexpr value hear(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, mel_bins = here.dims.own[mels];
    const std::int64_t frames = filled_frames(here.whole.sound, here.whole.sound.filled());
    const value sound = t.input({t.load().batch, mel_bins, frames});
    value x = t.unary(op::gelu, t.call("conv1", convolution_1d{mel_bins, width, 3, 1, 1}, sound));
    x = t.unary(op::gelu, t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).transpose(1, 2);
    workload load = t.load();
    load.sequence = x.dim(1), load.past = 0;
    const recorder::workload_guard states{t, load};
    shared_values made;
    made.where = {.sequence = x.dim(1), .causal = false};
    make_rotary_tables(here, t, made);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, encoder_layer{here.at(each, made)}, x);
    return t.call("norm", norm<norm_kind::layer>{width}, x);
}

constexpr value base(const site& here, trace& t) {
    using namespace qwen2_audio_detail;
    return read_heard(here, t, true, true, [&] {
        const recording r = recording_of(here.whole.sound, t.load());
        const value x = hear_in_tower(here, t, r, [&](const site& tower) { return glmasr_detail::hear(tower, t); });
        const value joined = t.reshape(x, {x.dim(0), -1, here.component(0).dims.intermediate_size});
        return project_twice(here, t, joined, 2 * here.dims.hidden_size, true);
    });
}

constexpr void read(config_view config, sizes& s) {
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 0.5));
}

}  // namespace glmasr_detail

// transformers/models/glmasr, GlmAsrEncoderConfig
inline constexpr architecture glmasr_encoder{
    .model_type = "glmasr_encoder",
    .prefix = "GlmAsr",
    .base = glmasr_detail::hear,
    .attend = glmasr_detail::attend,
    .read = glmasr_detail::read,
    .own = glmasr_detail::keys,
    .joins_rotated = true,
    .names = {.model_type = "Encoder"},
    .defaults = {.hidden_size = 1280,
                 .intermediate_size = 5120,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 20,
                 .max_position_embeddings = 1500,
                 .hidden_act = activation::gelu},
};

// transformers/models/glmasr, GlmAsrConfig: what a Llama that it holds is without keys of its own
inline constexpr architecture glmasr_text = [](architecture a) {
    a.defaults.vocab_size = 59264, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 6144;
    a.defaults.num_hidden_layers = 28, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 8192;
    return a;
}(llama);

// transformers/models/glmasr
inline constexpr architecture glmasr = [](architecture a) {
    a.model_type = "glmasr", a.prefix = "GlmAsr", a.base = glmasr_detail::base;
    a.text = {.key = "text_config", .otherwise = &glmasr_text};
    a.beside[0] = {.key = "audio_config", .otherwise = &glmasr_encoder};
    a.own = qwen2_audio_detail::projector_keys, a.read_whole = qwen2_audio_detail::read_projector_act;
    a.media = glmasr_detail::show, a.read_sound = glmasr_detail::read_sound, a.reads.audio = true;
    a.sound.most = 655 * 16000;
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
