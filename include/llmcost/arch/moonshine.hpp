// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/decoder.hpp>
#include <llmcost/walks/encoder_decoder.hpp>
#include <llmcost/walks/sound.hpp>

// An encoder of raw samples whose length is the recording's, and a decoder of words; both turn pairs of a part of each head.
namespace llmcost::arch {

namespace moonshine_detail {

enum own : std::uint8_t { padded_to, encoder_act };
inline constexpr own_key keys[]{
    {"pad_head_dim_to_multiple_of", 0},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
};

struct sample_convolution {
    std::int64_t kernel;
    std::int64_t stride;
};
/// Three of them, without padding.
inline constexpr sample_convolution convolutions[]{{127, 64}, {7, 3}, {3, 2}};

constexpr std::int64_t states_of(const sound_settings& sound, const workload& load) {
    std::int64_t places = samples_of(sound, load);
    for (const sample_convolution& each : convolutions) {
        if (places < each.kernel) report_description("the recording is shorter than a kernel that it meets");
        places = (places - each.kernel) / each.stride + 1;
    }
    return places;
}

/// Attention within a sequence, or of words to the encoder's states; heads are filled up with zeros around the products.
template <role What>
struct attention {
    site here;
    const value* source = nullptr;
    bool remembers = false;

    static constexpr role what = What;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim, width = here.dims.hidden_size;
        const auto split = [&](literal name, const value& from) {
            const value all = t.call(name, linear{width, heads * d, here.dims.attention_bias}, from);
            return all.view({from.dim(0), from.dim(1), heads, d}).transpose(1, 2);
        };
        qkv of;
        of.q = split("q_proj", x);
        const value& from = source != nullptr ? *source : x;
        const bool from_cache = source != nullptr && encoder_is_done(t.load());
        {
            const recorder::idle_guard unused{t, from_cache};
            of.k = split("k_proj", from), of.v = split("v_proj", from);
        }
        const context where = source != nullptr ? context{.sequence = from.dim(1), .causal = false} : here.shared->where;
        if (from_cache) {
            of.k = of.v = trace::buffer({x.dim(0), heads, from.dim(1), d});
            t.cache(of.k), t.cache(of.v);
        } else {
            if (source == nullptr) turn(t, of);
            if (remembers) of.k = update_cache(t, of.k, where), of.v = update_cache(t, of.v, where);
        }
        const std::int64_t multiple = here.dims.own[padded_to];
        const std::int64_t more = multiple == 0 ? 0 : (d + multiple - 1) / multiple * multiple - d;
        const bool hides = source == nullptr && here.shared->mask.rank > 0;
        if (more > 0)
            for (value* const each : {&of.q, &of.k, &of.v}) *each = t.pad(*each, -1, more);
        value mixed = eager_attention(t, of.q, of.k, of.v, where, {.mask = hides ? &here.shared->mask : nullptr});
        if (more > 0) mixed = mixed.slice(-1, d);
        mixed = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
        return t.call("o_proj", linear{heads * d, width}, mixed);
    }

private:
    /// Tables of halves, spread anew in every layer.
    constexpr void turn(trace& t, qkv& of) const {
        const value cos = spread_to_pairs(t, here.shared->cos), sin = spread_to_pairs(t, here.shared->sin);
        for (value* const each : {&of.q, &of.k})
            *each = rotate_part(t, rotation::interleaved, *each, here.dims.rotary_dim, cos, sin, true);
    }
};

constexpr any_norm norm_over(const site& here) {
    return {.kind = norm_kind::layer, .width = here.dims.hidden_size, .bias = false};
}

struct encoder_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const any_norm normed = norm_over(here);
        const value h = t.add(x, t.call("self_attn", attention<role::attn>{here}, t.call("input_layernorm", normed, x)));
        const mlp<mlp_kind::plain> block{here.dims.hidden_size,
                                         here.dims.encoder.intermediate_size,
                                         static_cast<activation>(here.dims.own[encoder_act]),
                                         here.type("EncoderMLP"),
                                         true,
                                         {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(h, t.call("mlp", block, t.call("post_attention_layernorm", normed, h)));
    }
};

struct decoder_layer {
    site here;
    const value& states;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("DecoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const any_norm normed = norm_over(here);
        value h =
            t.add(x, t.call("self_attn", attention<role::attn>{here, nullptr, true}, t.call("input_layernorm", normed, x)));
        const value asked = t.call("post_attention_layernorm", normed, h);
        h = t.add(h, t.call("encoder_attn", attention<role::cross_attn>{here, &states, true}, asked));
        const mlp<mlp_kind::fused_gated> block{here.dims.hidden_size,
                                               here.dims.intermediate_size,
                                               here.dims.hidden_act,
                                               here.type("DecoderMLP"),
                                               true,
                                               {.gate = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(h, t.call("mlp", block, t.call("final_layernorm", normed, h)));
    }
};

constexpr value heard(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size, states = states_of(here.whole.sound, load);
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
        t.enter(encoder);
        const auto& [first, second, third] = convolutions;
        const convolution_1d begin{1, width, first.kernel, first.stride, 0, 1, false};
        value x = t.tanh(t.call("conv1", begin, t.input({load.batch, 1, samples_of(here.whole.sound, load)})));
        x = t.call("groupnorm", group_norm_module{width, 1}, x);
        x = t.unary(op::gelu, t.call("conv2", convolution_1d{width, 2 * width, second.kernel, second.stride}, x));
        x = t.unary(op::gelu, t.call("conv3", convolution_1d{2 * width, width, third.kernel, third.stride}, x))
                .permute({0, 2, 1});
        shared_values made;
        made.where = {.sequence = states, .causal = false};
        const rotary_table table{here.dims.rotary_dim, here.type("RotaryEmbedding"), rotary_frequencies{here.dims}};
        const two_values tables = t.call("rotary_emb", table, states);
        made.cos = tables.first, made.sin = tables.second;
        for (repetition each = t.repeat(here.dims.encoder.num_hidden_layers, x); each.next();)
            x = t.call({"layers", each.index()}, encoder_layer{here.at(each, made)}, x);
        x = t.leave(encoder, t.call("layer_norm", norm_over(here), x));
        if (!encoder_is_done(load)) return x;
    }
    return t.input({load.batch, states, width});
}

constexpr value base(const site& here, trace& t) {
    const workload& load = t.load();
    const value states = heard(here, t);
    const module_info decoder{.name = "decoder", .type = here.type("Decoder"), .what = role::decoder};
    t.enter(decoder);
    value x = embed_words(here, t);
    shared_values made;
    made.where = context_of(t, 0);
    made.mask = eager_mask(t, made.where, load.batch);
    make_rotary_tables(here, t, made);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, decoder_layer{here.at(each, made), states}, x);
    return t.leave(decoder, t.call("norm", norm_over(here), x));
}

constexpr value describe(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, here.row.base, here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = type}, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, describe_word_scores(here, t, x)));
}

constexpr media_shapes show(const model& m, const workload& load) {
    return {.audio = {.samples = samples_of(m.sound, load)}};
}

constexpr void read(config_view config, sizes& s) {
    s.output_bias = false;
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 0.9));
    s.encoder = {config.positive("encoder_num_hidden_layers", 6), config.positive("encoder_num_attention_heads", 8),
                 s.intermediate_size};
    if (const auto act = config.optional_string("encoder_hidden_act"))
        s.own[encoder_act] = static_cast<std::int64_t>(activation_named(config, "encoder_hidden_act", *act));
    // both halves view their projections by the heads that the last attention has put into the configuration
    if (s.encoder.num_attention_heads != s.num_attention_heads)
        fail_value(config, "encoder_num_attention_heads", "as many as the decoder's");
    if (s.num_key_value_heads != s.num_attention_heads)
        fail_value(config, "decoder_num_key_value_heads", "as many as attention heads, since queries are viewed by them");
    const auto of_encoder = config.optional_positive("encoder_num_key_value_heads");
    if (of_encoder && *of_encoder != s.num_attention_heads)
        fail_value(config, "encoder_num_key_value_heads", "as many as attention heads, since queries are viewed by them");
    plan_one_mask(config, s);
}

}  // namespace moonshine_detail

// transformers/models/moonshine
inline constexpr architecture moonshine = [](architecture a) {
    a.model_type = "moonshine", a.prefix = "Moonshine", a.describe = moonshine_detail::describe;
    a.base = moonshine_detail::base, a.read = moonshine_detail::read, a.own = moonshine_detail::keys;
    a.media = moonshine_detail::show, a.read_sound = read_samples<of_wav2vec2>, a.reads.audio = true, a.joins_rotated = true;
    a.heads = {head_kind::none, head_kind::conditional_generation}, a.names.lm_head = "proj_out";
    a.keys[0] = no_mlp_bias;
    a.keys[1] = {"num_hidden_layers", "decoder_num_hidden_layers", key_rule::standard_first};
    a.keys[2] = {"num_attention_heads", "decoder_num_attention_heads", key_rule::standard_first};
    a.keys[3] = {"num_key_value_heads", "decoder_num_key_value_heads", key_rule::standard_first};
    a.keys[4] = {"hidden_act", "decoder_hidden_act", key_rule::standard_first};
    a.defaults.head = head_kind::conditional_generation, a.defaults.vocab_size = 32768, a.defaults.hidden_size = 288;
    a.defaults.intermediate_size = 1152, a.defaults.num_hidden_layers = 6, a.defaults.num_attention_heads = 8;
    a.defaults.max_position_embeddings = 512, a.defaults.hidden_act = activation::silu;
    a.defaults.tie_word_embeddings = true;
    return a;
}(architecture{});

}  // namespace llmcost::arch
