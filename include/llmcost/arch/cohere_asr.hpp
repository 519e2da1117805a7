// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/parakeet.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

// Fast Conformer in front of a decoder of words.
namespace llmcost::arch {

namespace cohere_asr_detail {

/// Attention to the encoder's states, whose keys and values come from the cache after the first pass.
struct cross_attention_to_sound {
    const site& here;

    static constexpr role what = role::cross_attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("CrossAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const value& source = here.shared->own[0];
        const value& hidden = here.shared->own[1];
        const std::int64_t d = here.dims.head_dim, width = here.dims.hidden_size, kv = here.dims.num_key_value_heads;
        const std::int64_t heads = here.dims.num_attention_heads;
        const auto split = [&](literal name, const value& from, std::int64_t n) {
            const value all = t.call(name, linear{width, n * d, here.dims.attention_bias}, from);
            return all.view({from.dim(0), from.dim(1), n, d}).transpose(1, 2);
        };
        const value q = split("q_proj", x, heads);
        const bool from_cache = encoder_is_done(t.load());
        value k, v;
        {
            const recorder::idle_guard unused{t, from_cache};
            k = split("k_proj", source, kv), v = split("v_proj", source, kv);
        }
        const context across{.sequence = source.dim(1), .causal = false};
        if (from_cache) {
            k = v = trace::buffer({x.dim(0), kv, source.dim(1), d});
            t.cache(k), t.cache(v);
        } else {
            k = update_cache(t, k, across), v = update_cache(t, v, across);
        }
        const value mixed = eager_attention(t, q, k, v, across, {.mask = hidden.rank > 0 ? &hidden : nullptr});
        return join(here, t, t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    }
};

struct decoder_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("DecoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{here.dims.hidden_size};
        value h = t.add(x, t.call("self_attn", attention_module{here}, t.call("input_layernorm", normed, x)));
        const value looked = t.call("post_attention_layernorm", normed, h);
        h = t.add(h, t.call("encoder_attn", cross_attention_to_sound{here}, looked));
        const mlp<mlp_kind::plain> block{here.dims.hidden_size,
                                         here.dims.intermediate_size,
                                         here.dims.hidden_act,
                                         here.type("DecoderMLP"),
                                         true,
                                         {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(h, t.call("mlp", block, t.call("final_layernorm", normed, h)));
    }
};

/// Rows of a learned table, one for each new position.
constexpr value learned_places(const site& here, trace& t) {
    const embedding table{here.dims.max_position_embeddings, here.dims.hidden_size};
    return t.call("pos_emb", table, extents{t.load().sequence});
}

/// The decoder; states of the encoder are projected in every pass where `projects`.
constexpr value decode(const site& here, trace& t, value states, bool projects, source_part places) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size;
    const module_info decoder{.name = "decoder", .type = here.type("Decoder"), .what = role::decoder};
    t.positions(here.dims.max_position_embeddings, load.past + load.sequence);
    t.enter(decoder);
    if (projects) states = t.call("proj", linear{states.dim(-1), width, true}, states);
    const value words = t.call("embed_tokens", embedding{here.dims.vocab_size, width}, extents{load.batch, load.sequence});
    value x = t.add(words, places(here, t));
    x = t.call("embedding_layernorm", norm<norm_kind::layer>{width}, x);
    shared_values made;
    made.where = context_of(t, 0);
    made.mask = eager_mask(t, made.where, load.batch);
    made.own[0] = states;
    if (parakeet_detail::hides_last(here.whole.beside[0].dims, here.whole.sound, load)) {
        const context across{.sequence = load.sequence, .past = states.dim(1) - load.sequence, .causal = false};
        made.own[1] = eager_mask(t, across, load.batch);
    }
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, decoder_layer{here.at(each, made)}, x);
    return t.leave(decoder, t.call("norm", norm<norm_kind::layer>{width}, x));
}

constexpr value both(const site& here, trace& t, bool projects, source_part places) {
    const workload& load = t.load();
    const sizes& audio = here.whole.beside[0].dims;
    value states;
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        states = describe_tower(here, t, 0, "encoder", role::encoder);
    }
    if (encoder_is_done(load))
        states = t.input({load.batch, parakeet_detail::states_of(audio, here.whole.sound, load), audio.hidden_size});
    return decode(here, t, states, projects, places);
}
constexpr value base(const site& here, trace& t) { return both(here, t, true, learned_places); }

constexpr value describe(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, here.row.base, here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = type}, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const value kept = t.load().head == logits::last ? t.slice(x, 1, 1) : x;
    const linear head{here.dims.hidden_size, here.dims.vocab_size, true, here.dims.tie_word_embeddings};
    return t.leave(whole, t.returns(x, t.call("proj_out", head_linear{head}, kept)));
}

constexpr void read(config_view, sizes&) {}

/// Longer recordings are cut where they are quiet, of which a length says nothing.
constexpr media_shapes show(const model& m, const workload& load) {
    if (samples_of(m.sound, load) > m.sound.most)
        report_description(
            "a recording that is longer than max_audio_clip_s is cut where it is quiet, which nobody knows here");
    return parakeet_detail::show(m, load);
}
/// Source: transformers/models/cohere_asr/feature_extraction_cohere_asr.py, `_split_audio_chunks_energy`.
constexpr void read_sound(config_view config, model& m) {
    const sizes& tower = m.beside[0].dims;
    const auto told =
        parakeet_detail::read_spectrum(config, m, "CohereAsrFeatureExtractor", tower.own[parakeet_detail::mels]);
    if (told) m.sound.most = rounded_product(*told, "max_audio_clip_s", 35, static_cast<double>(m.sound.rate));
}

/// Rows of a table of sines, divided by the root of the width.
struct scaled_sines {
    std::int64_t places;
    std::int64_t width;
    class_name named;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, std::int64_t sequence) const {
        return t.div(t.gather(trace::buffer({places, width}), {sequence, width}));
    }
};
constexpr value sine_places(const site& here, trace& t) {
    const scaled_sines table{here.dims.max_position_embeddings, here.dims.hidden_size, here.type("PositionalEmbedding")};
    return t.call("pos_emb", table, t.load().sequence);
}
constexpr value canary_base(const site& here, trace& t) { return both(here, t, false, sine_places); }

constexpr void check_canary(config_view config, model& m) {
    if (m.beside[0].dims.hidden_size != m.dims.hidden_size)
        fail_value(config, "encoder_config", "a hidden_size as wide as the decoder's");
}

/// The encoder of these, where a configuration leaves things out.
struct encoder_table {
    own_key keys[7];

    constexpr encoder_table() {
        for (std::size_t i = 0; i < 7; ++i) keys[i] = parakeet_detail::keys[i];
        keys[parakeet_detail::mels].otherwise = 128;
    }
};
inline constexpr encoder_table encoder_keys{};
constexpr architecture encoder_of(std::int64_t layers, std::int64_t width, std::int64_t inner) {
    architecture a = parakeet_encoder;
    a.own = encoder_keys.keys;
    a.defaults.num_hidden_layers = layers, a.defaults.hidden_size = width, a.defaults.intermediate_size = inner;
    return a;
}
inline constexpr architecture cohere_encoder = encoder_of(48, 1280, 5120), canary_encoder = encoder_of(32, 1024, 4096);

}  // namespace cohere_asr_detail

// transformers/models/cohere_asr
inline constexpr architecture cohere_asr = [](architecture a) {
    a.model_type = "cohere_asr", a.prefix = "CohereAsr", a.describe = cohere_asr_detail::describe;
    a.base = cohere_asr_detail::base, a.attend = attend, a.read = cohere_asr_detail::read;
    a.beside[0] = {.key = "encoder_config", .otherwise = &cohere_asr_detail::cohere_encoder};
    a.media = cohere_asr_detail::show, a.read_sound = cohere_asr_detail::read_sound, a.reads.audio = true;
    a.sound = {.transform = 512, .most = 35 * 16000}, a.rotated = rotation::none;
    a.heads = composite_heads, a.names.attention_type = "SelfAttention", a.keys[0] = no_mlp_bias;
    a.defaults.head = head_kind::conditional_generation, a.defaults.vocab_size = 16384, a.defaults.hidden_size = 1024;
    a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 8;
    a.defaults.max_position_embeddings = 1024, a.defaults.hidden_act = activation::relu;
    a.defaults.attention_bias = true;
    return a;
}(architecture{});

// transformers/models/canary, CanaryDecoderConfig: as a part only
inline constexpr architecture canary_decoder = [](architecture a) {
    a.model_type = "canary_decoder", a.prefix = "Canary", a.beside[0] = {}, a.media = nullptr;
    a.defaults.num_key_value_heads = 8, a.defaults.head_dim = 128;
    return a;
}(cohere_asr);

// transformers/models/canary: sines for positions, no projection between both halves
inline constexpr architecture canary = [](architecture a) {
    a.model_type = "canary", a.prefix = "Canary", a.base = cohere_asr_detail::canary_base;
    a.read_whole = cohere_asr_detail::check_canary, a.media = parakeet_detail::show,
    a.read_sound = parakeet_detail::read_sound;
    a.sound = {.transform = 512};
    a.text = {.key = "decoder_config", .otherwise = &canary_decoder};
    a.beside[0].otherwise = &cohere_asr_detail::canary_encoder;
    a.defaults.tie_word_embeddings = true;
    return a;
}(cohere_asr);

}  // namespace llmcost::arch
