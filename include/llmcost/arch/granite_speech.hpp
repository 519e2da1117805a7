// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/layers/einsum.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/encoder.hpp>

namespace llmcost::arch {

namespace granite_speech_detail {

enum own : std::uint8_t { mels, inner_times, labels, reach, kernel, conv_times, block, joined };
inline constexpr own_key keys[]{
    {"input_dim", 160},    {"feedforward_mult", 4},        {"output_dim", 42},
    {"max_pos_emb", 512},  {"conv_kernel_size", 15},       {"conv_expansion_factor", 2},
    {"context_size", 200}, {.value = own_value::computed},  // states of layers that are joined with the last ones
};

/// The other name of the number of mel bins wins, as `attribute_map` has it.
constexpr void read_speech_encoder(config_view config, sizes& s) {
    s.own[mels] = config.positive("num_mel_bins", s.own[mels]);
    if (s.own[block] > s.own[reach]) fail_value(config, "context_size", "at most max_pos_emb");
    plan_one_mask(config, s);
}

/// Norm, two projections and an activation, dropout behind both.
struct feed_forward {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConformerFeedForward"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = width * here.dims.own[inner_times];
        value h = t.call("up_proj", linear{width, inner, true}, t.call("pre_norm", norm<norm_kind::layer>{width}, x));
        h = dropout(t, "dropout", t.call("silu", torch_silu{}, h));
        return dropout(t, "dropout", t.call("down_proj", linear{inner, width, true}, h));
    }
};

/// Attention within blocks of so many places, with learned distances (Shaw); the last block is filled up with zeros, which a
/// mask hides.
///
/// `F.scaled_dot_product_attention` as PyTorch executes it without a kernel: queries and keys are scaled each, and the
/// scores of distances are its mask.
struct block_attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConformerAttention"); }
    constexpr value describe(trace& t, const value& states) const {
        const own_sizes& own = here.dims.own;
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
        const std::int64_t batch = states.dim(0), places = states.dim(1), size = own[block];
        const std::int64_t blocks = (places + size - 1) / size, all = batch * blocks;
        value x = t.call("pre_norm", norm<norm_kind::layer>{width}, states);
        if (places % size != 0) x = t.pad(x, 1, blocks * size - places);
        const value q_all = t.call("to_q", linear{width, heads * d}, x);
        const value kv = t.call("to_kv", linear{width, 2 * heads * d}, x);
        const auto split = [&](const value& v) { return t.reshape(v, {all, size, heads, d}).transpose(1, 2); };
        const value q = split(q_all), k = split(kv.slice(-1, heads * d)), v = split(kv.slice(-1, heads * d));
        const embedding table{.rows = 2 * own[reach] + 1, .width = d, .makes_indices = true};
        const value rows = t.call("rel_pos_emb", table, extents{size, size});
        const value bias = t.mul(einsum(t, "bhcd,crd->bhcr", q, rows));
        value scores = t.matmul(t.mul(q), t.mul(k.transpose(2, 3)));
        scores = t.softmax(t.add(scores, bias));
        const value found = t.reshape(t.matmul(scores, v).transpose(1, 2), {batch, blocks * size, heads * d});
        const value kept = t.slice(found, 1, places);
        return dropout(t, "dropout", t.call("to_out", linear{heads * d, width, true}, kept));
    }
};

/// A convolution of each channel behind zeros at both ends.
struct channel_convolution {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConformerDepthWiseConv1d"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t k = here.dims.own[kernel];
        return t.call("conv", convolution_1d{width, width, k, 1, 0, width, false}, t.pad(x, -1, k - 1));
    }
};

struct convolution_module {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConformerConvModule"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = width * here.dims.own[conv_times];
        const value normed = t.call("norm", norm<norm_kind::layer>{width}, x).permute({0, 2, 1});
        value h = t.call("glu", gated_channels{}, t.call("up_conv", convolution_1d{width, 2 * inner}, normed));
        h = t.call("depth_conv", channel_convolution{here, inner}, h);
        h = t.call("silu", torch_silu{}, t.call("batch_norm", batch_norm_2d{inner, "BatchNorm1d"}, h));
        return dropout(t, "dropout", t.call("down_conv", convolution_1d{inner, width}, h).permute({0, 2, 1}));
    }
};

struct conformer_block {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConformerBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.add(t.mul(t.call("ff1", feed_forward{here}, x)), x);
        h = t.add(t.call("attn", block_attention{here}, h), h);
        h = t.add(t.call("conv", convolution_module{here}, h), h);
        h = t.add(t.mul(t.call("ff2", feed_forward{here}, h)), h);
        return t.call("post_norm", norm<norm_kind::layer>{here.dims.hidden_size}, h);
    }
};

/// Two frames are a place, of whose windows of so many a few queries become tokens.
[[nodiscard]] constexpr std::int64_t places_of(const sound_settings& sound, const workload& load) {
    if (load.audio_milliseconds == 0) return 1;
    const std::int64_t samples = sound.samples_of(load.audio_milliseconds), places = sound.centred_frames(samples) / 2;
    if (places < 1 || samples <= sound.transform / 2)
        report_description("the recording is shorter than what its spectrum is made of");
    return places;
}

/// A conformer, which labels places in its middle and reads its own labels; (batch, places, mels) -> (…, width), or the
/// states of some layers beside the last ones'.
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, layers = here.dims.num_hidden_layers, middle = layers / 2;
    const value sound = t.input({t.load().batch, places_of(here.whole.sound, t.load()), own[mels]});
    value x = t.call("input_linear", linear{own[mels], width, true}, sound);
    const shared_values nothing;
    const auto run = [&](std::int64_t n, std::int64_t first) {
        for (repetition each = t.repeat(n, x, first); each.next();)
            x = t.call({"layers", each.index()}, conformer_block{here.at(each, nothing)}, x);
    };
    run(middle, 0);
    {
        const recorder::idle_guard no_middle{t, middle == 0};
        const value scores = t.call("out", linear{width, own[labels], true}, t.clone(x));
        const value read = t.call("out_mid", linear{own[labels], width, true}, t.softmax(scores));
        t.in_place(op::add, x, read);
    }
    run(layers - middle, middle);
    if (own[joined] == 0) return x;
    value each[trace::most_joined];
    for (std::int64_t i = 0; i <= own[joined]; ++i) each[i] = x;
    return t.cat(each, static_cast<int>(own[joined] + 1), -1);
}

// ---- a transformer over learned queries

enum former : std::uint8_t { source, crosses_every, reads_text };
inline constexpr own_key former_keys[]{
    {"encoder_hidden_size", 1408},
    {"cross_attention_frequency", 2},
    {"use_qformer_text_input", 0, own_value::boolean},
};

/// Queries over themselves, or over windows: x (1 or windows, queries, width) -> (windows, queries, width).
struct former_attention {
    const site& here;
    const value* heard = nullptr;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const value& from = heard != nullptr ? *heard : x;
        const std::int64_t from_width = heard != nullptr ? here.dims.own[source] : width;
        const module_info inner{.name = "attention", .type = here.type("MultiHeadAttention")};
        const auto split = [&](literal name, const value& v, std::int64_t in) {
            const value all = t.call(name, linear{in, width, true}, v);
            return all.view({v.dim(0), v.dim(1), heads, width / heads}).transpose(1, 2);
        };
        t.enter(inner);
        value q = split("query", x, width);
        const value k = split("key", from, from_width), v = split("value", from, from_width);
        // the same learned queries look at every window
        if (t.load().implementation == attention_implementation::sdpa)
            q = q.expand({k.dim(0), heads, x.dim(1), width / heads});
        const context all{.sequence = x.dim(1), .past = from.dim(1) - x.dim(1), .causal = false};
        const value mixed = eager_attention(t, q, k, v, all, {.float_softmax = false});
        const value flat = t.leave(inner, t.reshape(mixed, {mixed.dim(0), x.dim(1), width}));
        return t.call("output", bert_layers::output_block{width, width, here.type("SelfOutput")}, flat, x);
    }
};

struct former_layer {
    const site& here;
    std::int64_t index;
    const value& heard;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.call("attention", former_attention{here}, x);
        if (index % here.dims.own[crosses_every] == 0) h = t.call("crossattention", former_attention{here, &heard}, h);
        if (here.dims.own[reads_text] != 0) {
            const recorder::idle_guard no_text{t};
            (void)feed(t, h, "intermediate", "output");
        }
        return feed(t, h, "intermediate_query", "output_query");
    }
    constexpr value feed(trace& t, const value& x, literal up, literal down) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value h = t.call(up, bert_layers::intermediate_block{here}, x);
        return t.call(down, bert_layers::output_block{inner, width, here.type("Output")}, h, x);
    }
};

/// Learned queries, whose layers look at what was heard every so often.
constexpr value query(const site& here, trace& t, const value& queries, const value& heard) {
    value x = dropout(t, "dropout", t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, queries));
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) x = t.call({"layer", i}, former_layer{here, i, heard}, x);
    return t.leave(encoder, x);
}
/// The same by itself, declared.
constexpr value query_alone(const site& here, trace& t) {
    const recorder::idle_guard nothing{t};
    return query(here, t, trace::buffer({1, 1, here.dims.hidden_size}), trace::buffer({1, 1, here.dims.own[source]}));
}
constexpr void read_former(config_view config, sizes& s) {
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
}

// ---- the whole

enum whole : std::uint8_t { rate, window };
inline constexpr own_key whole_keys[]{{"downsample_rate", 5}, {"window_size", 15}};

[[nodiscard]] constexpr std::int64_t windows_of(const model& m, const workload& load) {
    return (places_of(m.sound, load) + m.own[window] - 1) / m.own[window];
}
constexpr media_shapes show(const model& m, const workload& load) {
    return {.audio = {.tokens = windows_of(m, load) * (m.own[window] / m.own[rate]),
                      .samples = m.sound.samples_of(load.audio_milliseconds),
                      .frames = places_of(m.sound, load)}};
}
/// Source: transformers/models/granite_speech/feature_extraction_granite_speech.py.
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "GraniteSpeechFeatureExtractor");
    const std::int64_t bands = m.beside[0].dims.own[mels];
    for (const literal key : {"n_mels", "feature_size"})
        if (told->contains(key) && 2 * told->positive(key) != bands)
            fail_value(*told, key, "half of the configuration's input_dim: two frames are read as one");
    expect_number(*told, "projector_window_size", m.own[window], "the window_size of the configuration");
    expect_number(*told, "projector_downsample_rate", m.own[rate], "the downsample_rate of the configuration");
    m.sound.rate = told->positive("sampling_rate", m.sound.rate);
    read_frames(*told, m.sound);
    if (m.sound.transform % 2 != 0) fail_value(*told, "n_fft", "an even number, of which tokens are counted");
}

/// Windows of states, of which queries make tokens of the text's width.
constexpr value project(const site& here, trace& t, const value& states) {
    const own_sizes& own = here.whole.own;
    const site former = here.component(1);
    const std::int64_t width = former.dims.hidden_size, queries = own[window] / own[rate], batch = states.dim(0);
    const std::int64_t windows = (states.dim(1) + own[window] - 1) / own[window];
    const module_info projection{.name = "projector", .type = here.type("EncoderProjector"), .what = role::projector};
    const module_info qformer{.name = "qformer", .type = former.type(former.row.names.model_type)};
    t.enter(projection);
    const value learned = t.param("query", {1, queries, width});
    const value padded = t.pad(states, 1, windows * own[window] - states.dim(1));
    // declared for a text alone, it is as wide as it says, which what hears may not fit
    const value heard = hears(t) ? padded.view({batch * windows, own[window], states.dim(2)})
                                 : trace::buffer({batch * windows, own[window], former.dims.own[source]});
    t.enter(qformer);
    const value found = t.leave(qformer, query(former, t, learned, heard));
    const value joined = found.view({batch, windows * queries, width});
    return t.leave(projection, t.call("linear", linear{width, here.dims.hidden_size, true}, joined));
}

/// Words are looked up once more where sound is put among them (`get_merged_audio_embeddings`).
constexpr void look_up_again(const site& here, trace& t) {
    const site text = here.text();
    const module_info m{.name = "language_model", .type = text.type(text.row.names.model_type)};
    const recorder::called_again_guard again{t};
    t.enter(m);
    const embedding words{text.dims.vocab_size, text.dims.hidden_size};
    (void)t.call(text.row.names.embed_tokens, words, extents{t.load().batch, t.load().sequence});
    t.leave(m);
}

/// What hears, what brings it to the text model's width, and what reads.
constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard silent{t, !hears(t)};
        const value features = project(here, t, describe_tower(here, t, 0, "encoder", role::audio));
        if (!hears(t)) return words;
        look_up_again(here, t);
        const std::int64_t tokens = show(here.whole, t.load()).audio.tokens;
        return qwen2_audio_detail::put_into(t, words, features, tokens, false, true);
    });
}

constexpr void check(config_view config, model& m) {
    if (m.own[window] % m.own[rate] != 0) fail_value(config, "window_size", "a multiple of downsample_rate");
}

/// Layers whose states are joined with the last ones'.
constexpr void read_plus_encoder(config_view config, sizes& s) {
    read_speech_encoder(config, s);
    const auto layers = config.optional_array("cat_hidden_layers");
    if (!layers) return;
    if (layers->size() + 1 > trace::most_joined)
        fail_unsupported(config, "cat_hidden_layers", "no row describes so many layers joined");
    s.own[joined] = static_cast<std::int64_t>(layers->size());
    for (const config_view layer : *layers)
        if (layer.as_non_negative() >= s.num_hidden_layers) fail_value(layer, "a layer below num_layers");
}

}  // namespace granite_speech_detail

// transformers/models/granite_speech, GraniteSpeechEncoderConfig
inline constexpr architecture granite_speech_encoder{
    .model_type = "granite_speech_encoder",
    .prefix = "GraniteSpeech",
    .base = granite_speech_detail::hear,
    .read = granite_speech_detail::read_speech_encoder,
    .own = granite_speech_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "CTCEncoder"},
    .keys = {{"hidden_size", "hidden_dim", key_rule::standard_first},
             {"num_hidden_layers", "num_layers", key_rule::standard_first},
             {"num_attention_heads", "num_heads", key_rule::standard_first},
             {"head_dim", "dim_head", key_rule::written_only}},
    .defaults = {.hidden_size = 1024, .num_hidden_layers = 10, .num_attention_heads = 8},
};

// transformers/models/blip_2, Blip2QFormerConfig: as a part of others only
inline constexpr architecture blip_2_qformer_part{
    .model_type = "blip_2_qformer",
    .prefix = "Blip2QFormer",
    .base = granite_speech_detail::query_alone,
    .read = granite_speech_detail::read_former,
    .own = granite_speech_detail::former_keys,
    .rotated = rotation::none,
    .defaults = {.hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu},
};

// transformers/models/granite_speech: a conformer, a transformer over queries, Granite
inline constexpr architecture granite_speech = [](architecture a) {
    a.model_type = "granite_speech", a.prefix = "GraniteSpeech", a.base = granite_speech_detail::base;
    a.own = granite_speech_detail::whole_keys, a.read_whole = granite_speech_detail::check;
    a.media = granite_speech_detail::show, a.read_sound = granite_speech_detail::read_sound, a.reads.audio = true;
    a.sound.transform = 512;
    a.text = {.key = "text_config", .otherwise = &granite};
    a.beside[0] = {.key = "encoder_config", .otherwise = &granite_speech_encoder, .always = true};
    a.beside[1] = {.key = "projector_config", .otherwise = &blip_2_qformer_part};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

// transformers/models/granite_speech_plus: states of several layers of the encoder are read
inline constexpr architecture granite_speech_plus_encoder = [](architecture a) {
    a.model_type = "granite_speech_plus_encoder", a.prefix = "GraniteSpeechPlus";
    a.read = granite_speech_detail::read_plus_encoder;
    return a;
}(granite_speech_encoder);
inline constexpr architecture granite_speech_plus = [](architecture a) {
    a.model_type = "granite_speech_plus", a.prefix = "GraniteSpeechPlus";
    a.beside[0].otherwise = &granite_speech_plus_encoder;
    return a;
}(granite_speech);

}  // namespace llmcost::arch
