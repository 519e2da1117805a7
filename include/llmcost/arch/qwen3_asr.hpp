// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace qwen3_asr_detail {

enum own : std::uint8_t { mels, out_width, planes, half_chunk, window };
inline constexpr own_key keys[]{
    {"num_mel_bins", 128}, {"output_dim", 3584}, {"downsample_hidden_size", 480}, {"n_window", 50}, {"n_window_infer", 800}};

/// Places that three convolutions of stride two leave.
[[nodiscard]] constexpr std::int64_t eighth(std::int64_t frames) noexcept {
    for (int i = 0; i < 3; ++i) frames = (frames + 1) / 2;
    return frames;
}

/// A recording in chunks, filled up with silence to so many seconds, and to a whole chunk.
///
/// Source: transformers/models/qwen3_asr/feature_extraction_qwen3_asr.py.
struct chunks {
    std::int64_t each;    ///< frames of a chunk
    std::int64_t n;       ///< all of them, silence included
    std::int64_t tokens;  ///< of chunks with sound
    std::int64_t window;  ///< tokens that see each other

    constexpr chunks(const sizes& audio, const sound_settings& s, const workload& load) : each(2 * audio.own[half_chunk]) {
        const std::int64_t all = load.audio_milliseconds == 0 ? s.filled() : s.samples_of(load.audio_milliseconds);
        const std::int64_t given = s.most > 0 && all > s.most ? s.most : all, heard = given < s.least ? s.least : given;
        const std::int64_t filled = heard < s.filled() ? s.filled() : heard;
        const std::int64_t begun = s.begun_frames(heard), whole = filled / s.hop, frames = begun < whole ? begun : whole;
        n = (filled_frames(s, filled) + each - 1) / each;
        tokens = frames / each * eighth(each) + eighth(frames % each);
        window = eighth(frames < each ? frames : each) * (audio.own[qwen3_asr_detail::window] / each);
    }
};

constexpr media_shapes show(const model& m, const workload& load) {
    const chunks of(m.beside[0].dims, m.sound, load);
    const std::int64_t frames = of.n * of.each;
    return {.audio = {.tokens = of.tokens, .samples = frames * m.sound.hop, .frames = frames}};
}
/// Whisper's extractor, which other repositories name, cuts off what does not fit into `chunk_length`.
constexpr void read_sound(config_view config, model& m) {
    const sizes& audio = m.beside[0].dims;
    const auto told = extractor_told(config);
    if (!told) return;
    const bool cuts = told->string("feature_extractor_type", "") == string_ref("WhisperFeatureExtractor");
    if (!cuts) expect_extractor(*told, "Qwen3ASRFeatureExtractor");
    expect_bands(*told, {"feature_size"}, audio.own[mels]);
    expect_rate(*told, m.sound.rate, sixteen_thousand);
    expect_number(*told, "n_window", audio.own[half_chunk], "the n_window of the configuration");
    read_filled(*told, m.sound);
    m.sound.least = cuts ? 0 : told->non_negative("min_length", m.sound.least);
    m.sound.most = cuts ? m.sound.filled() : 0;
}

/// Attention of tokens to those of their window, one window after the other: (tokens, width) -> the same.
struct window_attention {
    site here;
    std::int64_t batch;
    const chunks& of;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const linear square{width, width, true};
        const auto split = [&](literal name) {
            return t.call(name, square, x).view({x.dim(0), heads, width / heads}).transpose(0, 1).unsqueeze(0);
        };
        const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
        value some;
        const auto attend = [&](std::int64_t how_many, std::int64_t places) {
            if (places == 0) return;
            const context all{.sequence = places, .causal = false};
            for (repetition each = t.steps(how_many, some); each.next();)
                some = eager_attention(t, q.slice(2, places), k.slice(2, places), v.slice(2, places), all, {});
        };
        attend(batch * (of.tokens / of.window), of.window);
        attend(batch, of.tokens % of.window);
        value joined = t.cat({q.transpose(1, 2)}, 1);  // as large as what all windows give
        joined.requires_grad = some.requires_grad;
        return t.call("out_proj", square, t.reshape(joined, {x.dim(0), width}));
    }
};

struct encoder_layer {
    window_attention attention;
    const stack_sizes& dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return attention.here.type("AudioEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.add(x, t.call("self_attn", attention, stack_norm(t, "self_attn_layer_norm", x)));
        return stack_feed_forward(t, true, dims, h);
    }
};

/// Three convolutions over time and frequency of each chunk, silent ones too; layers over what sound gives.
///
/// (batch, mels, frames) -> (tokens of the whole batch, width).
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const chunks of(here.dims, here.whole.sound, t.load());
    const std::int64_t width = here.dims.hidden_size, p = own[planes], batch = t.load().batch;
    const module_info places{.name = "positional_embedding", .type = {"", "SinusoidsPositionEmbedding"}, .leaf = true};
    t.enter(places), t.leave(places);  // its table is read beside it
    const value frames = t.input({batch, own[mels], of.n * of.each}).view({batch, own[mels], of.n, of.each});
    value x = t.reshape(frames.permute({0, 2, 1, 3}), {batch * of.n, 1, own[mels], of.each});
    x = t.unary(op::gelu, t.call("conv2d1", convolution_2d{1, p, 3, 2, 1}, x));
    x = t.unary(op::gelu, t.call("conv2d2", convolution_2d{p, p, 3, 2, 1}, x));
    x = t.unary(op::gelu, t.call("conv2d3", convolution_2d{p, p, 3, 2, 1}, x));
    const value joined = t.contiguous(x.permute({0, 3, 1, 2})).view({x.dim(0), x.dim(3), x.dim(1) * x.dim(2)});
    x = t.call("conv_out", linear{joined.dim(-1), width}, joined);
    t.in_place(op::add, x, trace::buffer({x.dim(1), width}));
    x = t.gather(x, {batch * of.tokens, width});
    const stack_sizes s{
        width, here.dims.num_attention_heads, here.dims.intermediate_size, here.dims.hidden_act, here.row.prefix, false};
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, encoder_layer{{here.at(each, nothing), batch, of}, s}, x);
    return stack_norm(t, "ln_post", x);
}

constexpr value base(const site& here, trace& t) {
    using namespace qwen2_audio_detail;
    return read_heard(here, t, false, true, [&] {
        const value x = describe_tower(here, t, 0, "audio_tower", role::audio);
        const sizes& audio = here.component(0).dims;
        const projector both{here.type("MultiModalProjector"),
                             audio.hidden_size,
                             audio.hidden_size,
                             audio.own[out_width],
                             true,
                             audio.hidden_act};
        return t.call("multi_modal_projector", both, x);
    });
}

constexpr void read(config_view config, sizes& s) {
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "encoder_attention_heads", "a divisor of d_model");
    if (s.own[window] < 2 * s.own[half_chunk]) fail_value(config, "n_window_infer", "at least twice n_window");
}

}  // namespace qwen3_asr_detail

// transformers/models/qwen3_asr, Qwen3ASREncoderConfig
inline constexpr architecture qwen3_asr_encoder = [](architecture a) {
    a.model_type = "qwen3_asr_encoder", a.prefix = "Qwen3ASR", a.base = qwen3_asr_detail::hear,
    a.read = qwen3_asr_detail::read;
    a.own = qwen3_asr_detail::keys;
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16;
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
    a.media = qwen3_asr_detail::show, a.read_sound = qwen3_asr_detail::read_sound, a.reads.audio = true;
    a.sound.least = 8000;
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
