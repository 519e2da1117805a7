// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_5_omni.hpp>
#include <llmcost/arch/qwen3_vl.hpp>

namespace llmcost::arch {

namespace qwen3_omni_moe_detail {

using qwen3_vl_detail::merge, qwen3_vl_detail::out_width, qwen3_vl_detail::places, qwen3_vl_detail::deep;

// ---- what sees: the tower of Qwen3-VL, whose mergers have other names

/// Several patches as one: two layers with a norm in front, over a patch or over all of them.
struct merger {
    site here;
    bool over_all;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionPatchMerger"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.dims.own;
        const std::int64_t in = here.dims.hidden_size, all = in * own[merge] * own[merge];
        const value h = t.call("ln_q", norm<norm_kind::layer>{over_all ? all : in}, over_all ? x.view({-1, all}) : x);
        const module_info layers{.name = "mlp", .type = {"", "ModuleList"}};
        t.enter(layers);
        const value wide = t.call("1", gelu_module{}, t.call("0", linear{all, all, true}, h.view({-1, all})));
        return t.leave(layers, t.call("2", linear{all, own[out_width], true}, wide));
    }
};

/// Patches of several frames with learned and rotary positions, mergers; the last one and those of `deep` layers.
constexpr qwen3_vl_detail::seen see_deep(const site& here, trace& t) {
    namespace vl = qwen3_vl_detail;
    const sizes& dims = here.dims;
    packed_context made{.pictures = qwen2_vl_detail::grid_of(here, t)};
    const std::int64_t in = dims.hidden_size, rows = made.pictures.patches();
    const qwen2_vl_detail::patch_embed embed{here, here.type("VisionPatchEmbed"), in, true};
    value x = t.call("patch_embed", embed, qwen2_vl_detail::patches_in(here, t, made.pictures));
    x = t.add(x, resampled_positions(t, "pos_embed", dims.own[places], in, rows));
    const packed_table table{in / dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, rows);
    made.cos = turns.first, made.sin = turns.second;
    const shared_values none{};
    vl::seen out;
    for (repetition each = t.repeat(dims.num_hidden_layers, dims.layers, x); each.next();) {
        x = t.call({"blocks", each.index()}, vl::block{here.at(each, none), made}, x);
        if (each.kind().own != vl::deep_layer) continue;
        const std::int64_t place = vl::deep_place(dims, each.index());
        out.deep[place < 3 ? place : 2] = t.call({"merger_list", place}, merger{here, true}, x);
    }
    out.last = t.call("merger", merger{here, false}, x);
    return out;
}
constexpr value see(const site& here, trace& t) { return see_deep(here, t).last; }

// ---- what hears: chunks of a second through three convolutions, attended to by windows

enum heard : std::uint8_t { mels, positions, half_chunk, window, planes, heard_width };
inline constexpr own_key heard_keys[]{{"num_mel_bins", 128},   {"max_source_positions", 1500},  {"n_window", 50},
                                      {"n_window_infer", 800}, {"downsample_hidden_size", 480}, {"output_dim", 3584}};

/// Places that three convolutions of stride two leave.
[[nodiscard]] constexpr std::int64_t eighth(std::int64_t frames) noexcept {
    for (int i = 0; i < 3; ++i) frames = (frames + 1) / 2;
    return frames;
}
/// Whole frames of a recording of any length; a few where none is heard and a tower is declared only.
///
/// Source: transformers/models/qwen3_omni_moe/processing_qwen3_omni_moe.py, `audio_kwargs`.
[[nodiscard]] constexpr std::int64_t frames_of(const sound_settings& s, const workload& load) noexcept {
    return load.audio_milliseconds == 0 ? 8 : s.samples_of(load.audio_milliseconds) / s.hop;
}
[[nodiscard]] constexpr std::int64_t tokens_of(const own_sizes& own, std::int64_t frames) noexcept {
    const std::int64_t chunk = 2 * own[half_chunk];
    return frames / chunk * eighth(chunk) + eighth(frames % chunk);
}

/// Frames of all recordings in one row as chunks; layers; two projections: (tokens of the whole batch, width).
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t batch = t.load().batch, frames = frames_of(here.whole.sound, t.load()), chunk = 2 * own[half_chunk];
    const std::int64_t chunks = (frames + chunk - 1) / chunk, longest = frames < chunk ? frames : chunk;
    const std::int64_t width = here.dims.hidden_size, p = own[planes], tokens = tokens_of(own, frames);
    const module_info table{.name = "positional_embedding", .type = {"", "SinusoidsPositionEmbedding"}, .leaf = true};
    t.enter(table);  // its table is read beside it
    t.owns_buffer(count(own[positions]) * count(width * 4));
    t.leave(table);
    (void)t.unary(op::compare, t.div(trace::buffer({batch})));  // chunks of each recording, rounded up
    const value sound = t.gather(trace::buffer({batch * frames, own[mels]}), {batch * chunks, longest, own[mels]});
    value x = sound.transpose(1, 2).unsqueeze(1);
    x = t.unary(op::gelu, t.call("conv2d1", convolution_2d{1, p, 3, 2, 1}, x));
    x = t.unary(op::gelu, t.call("conv2d2", convolution_2d{p, p, 3, 2, 1}, x));
    x = t.cat({t.unary(op::gelu, t.call("conv2d3", convolution_2d{p, p, 3, 2, 1}, x))}, 0);
    const value joined = t.contiguous(x.permute({0, 3, 1, 2})).view({x.dim(0), x.dim(3), x.dim(1) * x.dim(2)});
    x = t.call("conv_out", linear{joined.dim(-1), width}, joined);
    x = t.add(x, t.buffer({1, x.dim(1), width}));
    x = t.gather(x.view({-1, width}), {batch * tokens, width});
    const std::int64_t within = eighth(longest) * (own[window] / chunk);
    packed_runs runs;
    runs.add(within, batch * (tokens / within));
    runs.add(tokens % within, batch);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, qwen2_5_omni_detail::audio_layer{here, runs, true}, x);
    x = t.call("proj1", linear{width, width, true}, t.call("ln_post", norm<norm_kind::layer>{width}, x));
    return t.call("proj2", linear{width, own[heard_width], true}, t.call("act", activation_module{here.dims.hidden_act}, x));
}

constexpr void read_audio(config_view config, sizes& s) {
    share_among_heads(config, s, {"encoder_attention_heads"});
    if (eighth(2 * s.own[half_chunk]) != 13) fail_value(config, "n_window", "half of a chunk that becomes 13 tokens");
    if (s.own[window] < 2 * s.own[half_chunk]) fail_value(config, "n_window_infer", "at least twice n_window");
}

// ---- what reads

/// Qwen3-VL's text model with a last norm of a class of its own.
constexpr value read_base(const site& here, trace& t) {
    namespace vl = qwen3_vl_detail;
    value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        x = t.call({here.row.names.layers, each.index()}, decoder_layer{here.at(each, shared.of(each.kind()))}, x);
        if (each.kind().own != vl::deep_layer || here.shared == nullptr) continue;
        const value& seen = here.shared->own[each.index() < 3 ? each.index() + 1 : 3];
        if (seen.rank > 0) x = vl::add_deep(t, x, seen);  // of sound alone there is none
    }
    return call_norm(t, "norm", norm_kind::rms, here.dims.hidden_size, here.type("TextRMSNorm"), x);
}

constexpr void read_text(config_view config, sizes& s) {
    const bool norms = config.boolean("norm_topk_prob", true);
    read_qwen3_vl_moe(config, s);
    s.moe.norm_topk_prob = norms;
}

// ---- the whole

inline constexpr own_key bound_keys[]{
    {.otherwise = 56 * 56, .value = own_value::computed},
    {.otherwise = 28 * 28 * 1280, .value = own_value::computed},
    {.otherwise = 128 * 32 * 32, .value = own_value::computed},
    {.otherwise = 768 * 32 * 32, .value = own_value::computed},
};

constexpr media_shapes show(const model& m, const workload& load) {
    media_shapes shown = qwen2_vl_detail::show(m, load);
    if (load.audio_milliseconds == 0) return shown;
    const std::int64_t frames = frames_of(m.sound, load), tokens = tokens_of(m.beside[1].dims.own, frames);
    if (tokens < 1) report_description("the recording is too short: no token stands for it");
    if (m.beside[1].dims.own[heard_width] != m.dims.hidden_size)
        report_description("what hears gives features of another width than the text's words");
    shown.audio = {.tokens = tokens, .samples = m.sound.samples_of(load.audio_milliseconds), .frames = frames};
    return shown;
}

/// Features of a recording, then of pictures, in the places of their words; the text's first layers add some of them.
constexpr value hear_see_and_read(const site& here, trace& t) {
    namespace vl = qwen3_vl_detail;
    return describe_text_with(here, t, "language_model", [&](shared_values& placed) {
        {
            const recorder::idle_guard silent{t, !hears(t)};
            const std::int64_t mel = here.component(1).dims.own[mels], batch = t.load().batch;
            const std::int64_t frames = frames_of(here.whole.sound, t.load());
            (void)t.gather(t.input({batch, mel, frames}), {batch * frames, mel});
            const value features = describe_tower(here, t, 1, "audio_tower", role::audio);
            if (hears(t)) placed.own[0] = t.masked_scatter(placed.own[0], features);
        }
        const site tower = here.component(0);
        const module_info visual{.name = "visual", .type = tower.type(tower.row.names.model_type), .what = role::vision};
        vl::seen found[2];
        int n = 0;
        look_at_pictures(here, t, [&] {
            vl::seen& now = found[n++];
            t.enter(visual);
            now = see_deep(tower, t);
            const value last = t.leave(visual, now.last);
            if (sees(t)) placed.own[0] = t.masked_scatter(placed.own[0], t.cat({last}, 0));
        });
        const std::int64_t layers = sees(t) ? tower.dims.own[deep] : 0;
        for (std::int64_t i = 0; i < layers; ++i) {
            const std::int64_t from = i < 3 && found[0].deep[i].rank > 0 ? i : 0;
            placed.own[i < 3 ? i + 1 : 3] = vl::join_seen(t, found[0].deep[from], found[1].deep[from]);
        }
    });
}

}  // namespace qwen3_omni_moe_detail

// transformers/models/qwen3_omni_moe, Qwen3OmniMoeTextConfig
inline constexpr architecture qwen3_omni_moe_text = [](architecture a) {
    a.drops = {}, a.model_type = "qwen3_omni_moe_text", a.prefix = "Qwen3OmniMoe", a.read = qwen3_omni_moe_detail::read_text;
    a.base = qwen3_omni_moe_detail::read_base;
    a.names.model_type = "ThinkerTextModel", a.names.layer_type = "ThinkerTextDecoderLayer";
    a.names.attention_type = "ThinkerTextAttention", a.names.norm_type = "ThinkerTextRMSNorm";
    a.names.mlp_type = "ThinkerTextMLP", a.names.rotary_type = "ThinkerTextRotaryEmbedding";
    a.names.moe_type = "ThinkerTextSparseMoeBlock", a.names.experts_type = "ThinkerTextExperts";
    a.names.router_type = "ThinkerTextTopKRouter";
    a.defaults.vocab_size = 3584, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 18944;
    a.defaults.num_hidden_layers = 28, a.defaults.num_attention_heads = 28, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 32768, a.defaults.tie_word_embeddings = false;
    a.defaults.moe = {.num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 768};
    return a;
}(qwen3_vl_moe_text);

// transformers/models/qwen3_omni_moe, Qwen3OmniMoeVisionEncoderConfig
inline constexpr architecture qwen3_omni_moe_vision = [](architecture a) {
    a.model_type = "qwen3_omni_moe_vision_encoder", a.prefix = "Qwen3OmniMoe", a.base = qwen3_omni_moe_detail::see;
    a.names.model_type = "VisionEncoder";
    return a;
}(qwen3_vl_vision);

// transformers/models/qwen3_omni_moe, Qwen3OmniMoeAudioEncoderConfig
inline constexpr architecture qwen3_omni_moe_audio = [](architecture a) {
    a.model_type = "qwen3_omni_moe_audio_encoder", a.prefix = "Qwen3OmniMoe", a.base = qwen3_omni_moe_detail::hear;
    a.read = qwen3_omni_moe_detail::read_audio, a.own = qwen3_omni_moe_detail::heard_keys;
    return a;
}(qwen2_5_omni_audio);

// transformers/models/qwen3_omni_moe, Qwen3OmniMoeThinkerConfig: the part that hears, sees and writes
inline constexpr architecture qwen3_omni_moe_thinker = [](architecture a) {
    a.model_type = "qwen3_omni_moe_thinker", a.prefix = "Qwen3OmniMoeThinker";
    a.base = qwen3_omni_moe_detail::hear_see_and_read, a.media = qwen3_omni_moe_detail::show;
    a.own = qwen3_omni_moe_detail::bound_keys, a.reads.audio = true, a.read_sound = qwen2_5_omni_detail::read_sound;
    a.text.otherwise = &qwen3_omni_moe_text, a.beside[0].otherwise = &qwen3_omni_moe_vision;
    a.beside[1] = {.key = "audio_config", .otherwise = &qwen3_omni_moe_audio, .always = true};
    return a;
}(qwen3_vl_moe);

}  // namespace llmcost::arch
