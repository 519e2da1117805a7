// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/walks/idle.hpp>
#include <llmcost/arch/qwen2_audio.hpp>

namespace llmcost::arch {

namespace glmasr_detail {

enum own : std::uint8_t { mels };
inline constexpr own_key keys[]{{"num_mel_bins", 128}};

constexpr void describe_layer(const site& here, idle_modules& held) {
    const std::int64_t in = here.dims.hidden_size, inner = here.dims.intermediate_size, d = here.dims.head_dim;
    const std::int64_t wide = here.dims.num_attention_heads * d, narrow = here.dims.num_key_value_heads * d;
    held.within("self_attn", here.type("Attention"), [&] {
        held.linear("q_proj", in, wide);
        held.linear("k_proj", in, narrow, false);
        held.linear("v_proj", in, narrow);
        held.linear("o_proj", wide, in);
    });
    held.within("mlp", here.type("MLP"), [&] {
        held.linear("fc1", in, inner);
        held.linear("fc2", inner, in);
        held.act("act_fn", here.dims.hidden_act);
    });
    held.layer_norm("input_layernorm", in);
    held.layer_norm("post_attention_layernorm", in);
}

/// Two convolutions, layers with rotary positions, a norm.
constexpr value hear(const site& here, trace& t) {
    const std::int64_t in = here.dims.hidden_size;
    idle_modules held{t};
    held.weighted("conv1", {"", "Conv1d"}, {in, here.dims.own[mels], 3});
    held.weighted("conv2", {"", "Conv1d"}, {in, in, 3});
    held.list("layers", here.dims.num_hidden_layers, here.type("EncoderLayer"), [&] { describe_layer(here, held); });
    held.layer_norm("norm", in);
    held.plain("rotary_emb", here.type("RotaryEmbedding"));
    return {};
}

constexpr value base(const site& here, trace& t) {
    const value x = qwen2_audio_detail::hear_and_read(here, t);
    qwen2_audio_detail::describe_projector(here, t, here.component(0).dims.intermediate_size, 2 * here.dims.hidden_size,
                                           true);
    return x;
}

}  // namespace glmasr_detail

// transformers/models/glmasr, GlmAsrEncoderConfig
inline constexpr architecture glmasr_encoder{
    .model_type = "glmasr_encoder",
    .prefix = "GlmAsr",
    .base = glmasr_detail::hear,
    .own = glmasr_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "Encoder"},
    .defaults = {.hidden_size = 1280,
                 .intermediate_size = 5120,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 20,
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
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
