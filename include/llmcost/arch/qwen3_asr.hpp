// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/walks/idle.hpp>
#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen3.hpp>

namespace llmcost::arch {

namespace qwen3_asr_detail {

enum own : std::uint8_t { mels, out_width, planes };
inline constexpr own_key keys[]{{"num_mel_bins", 128}, {"output_dim", 3584}, {"downsample_hidden_size", 480}};

/// Layers as Whisper's, with biases of keys; three convolutions over time and frequency in front of them.
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, p = own[planes];
    std::int64_t rows = own[mels];
    for (int i = 0; i < 3; ++i) rows = (rows + 1) / 2;  // each convolution has a stride of 2
    idle_modules held{t};
    held.plain("positional_embedding", {"", "SinusoidsPositionEmbedding"});
    held.list("layers", here.dims.num_hidden_layers, here.type("AudioEncoderLayer"),
              [&] { qwen2_audio_detail::describe_layer(here, held, "AudioAttention", true); });
    held.layer_norm("ln_post", in);
    held.weighted("conv2d1", {"", "Conv2d"}, {p, 1, 3, 3});
    held.weighted("conv2d2", {"", "Conv2d"}, {p, p, 3, 3});
    held.weighted("conv2d3", {"", "Conv2d"}, {p, p, 3, 3});
    held.linear("conv_out", p * rows, in, false);
    return {};
}

constexpr value base(const site& here, trace& t) {
    const value x = qwen2_audio_detail::hear_and_read(here, t);
    const sizes& audio = here.component(0).dims;
    idle_modules held{t};
    held.within("multi_modal_projector", here.type("MultiModalProjector"), [&] {
        held.linear("linear_1", audio.hidden_size, audio.hidden_size);
        held.act("act", audio.hidden_act);
        held.linear("linear_2", audio.hidden_size, audio.own[out_width]);
    });
    return x;
}

}  // namespace qwen3_asr_detail

// transformers/models/qwen3_asr, Qwen3ASREncoderConfig
inline constexpr architecture qwen3_asr_encoder = [](architecture a) {
    a.model_type = "qwen3_asr_encoder", a.prefix = "Qwen3ASR", a.base = qwen3_asr_detail::hear;
    a.own = qwen3_asr_detail::keys;
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    return a;
}(qwen2_audio_encoder);

// transformers/models/qwen3_asr, Qwen3ASRConfig: the text model of a configuration that has none
inline constexpr architecture qwen3_asr_text = [](architecture a) {
    a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 6144, a.defaults.num_hidden_layers = 28;
    a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 65536;
    return a;
}(qwen3);

// transformers/models/qwen3_asr
inline constexpr architecture qwen3_asr = [](architecture a) {
    a.model_type = "qwen3_asr", a.prefix = "Qwen3ASR", a.base = qwen3_asr_detail::base;
    a.text = {.key = "text_config", .otherwise = &qwen3, .missing = &qwen3_asr_text};
    a.beside[0] = {.key = "audio_config", .otherwise = &qwen3_asr_encoder};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
