// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2_samples.hpp>
#include <llmcost/walks/attention.hpp>
#include <llmcost/walks/encoder.hpp>

// Encoders of raw samples: convolutions that shorten them, layers of text encoders, and a head.
namespace llmcost::arch {

namespace wav2vec2_detail {

// ---- layers

constexpr value layer_norm(const site& here, trace& t, literal name, const value& x) {
    return t.call(name, norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

struct feed_forward {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("FeedForward"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        value h = t.call("intermediate_dense", linear{width, inner, true}, x);
        h = t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h);
        h = dropout(t, "intermediate_dropout", h, dropout_of::inner);
        return dropout(t, "output_dropout", t.call("output_dense", linear{inner, width, true}, h));
    }
};

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const value mixed = attend_within(t, x, width, here.dims.num_attention_heads, true, {"q_proj", "k_proj", "v_proj"},
                                      false, all_positions(x.dim(1)));
    return t.call("out_proj", linear{width, width, true}, mixed);
}

/// A bottleneck behind a layer, which learns one language.
struct attention_adapter {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AttnAdapterLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, narrow = here.dims.own[further];
        const value h = t.call("linear_1", linear{width, narrow, true}, layer_norm(here, t, "norm", x));
        return t.call("linear_2", linear{narrow, width, true}, t.call("act_fn", activation_module{activation::relu}, h));
    }
};

/// Attention and a feed-forward block, norms behind or in front of them.
template <class Attention>
struct layer_with {
    site here;
    Attention attention;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return here.type(is(here, stable) ? "EncoderLayerStableLayerNorm" : "EncoderLayer");
    }
    constexpr value describe(trace& t, const value& x) const {
        const bool first = is(here, stable);
        value h = first ? layer_norm(here, t, "layer_norm", x) : x;
        h = t.add(x, dropout(t, "dropout", t.call("attention", attention, h)));
        if (!first) {
            h = layer_norm(here, t, "layer_norm", h);
            return layer_norm(here, t, "final_layer_norm", t.add(h, t.call("feed_forward", feed_forward{here}, h)));
        }
        h = t.add(h, t.call("feed_forward", feed_forward{here}, layer_norm(here, t, "final_layer_norm", h)));
        if (!is(here, attention_adapters)) return h;
        return t.add(h, t.call("adapter_layer", attention_adapter{here}, h));
    }
};

/// Positions by a family's own convolutions, or as above; layers.
constexpr value encode_with(const site& here, trace& t, value x, layer_part hears_positions) {
    const module_info encoder{.name = "encoder",
                              .type = here.type(is(here, stable) ? "EncoderStableLayerNorm" : "Encoder"),
                              .what = role::encoder};
    t.enter(encoder);
    x = t.add(x, hears_positions(here, t, x));
    if (!is(here, stable)) x = layer_norm(here, t, "layer_norm", x);
    x = dropout(t, "dropout", x);
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();) {
        const site at = here.at(each, nothing);
        x = t.call({"layers", each.index()}, layer_with<attention_module>{at, {at}}, x);
    }
    return t.leave(encoder, is(here, stable) ? layer_norm(here, t, "layer_norm", x) : x);
}
constexpr value encode(const site& here, trace& t, const value& x) { return encode_with(here, t, x, positions); }

// ---- behind layers

struct adapter_step {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AdapterLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.dims.own;
        const convolution_1d wide{own[adapter_width], 2 * own[adapter_width], own[adapter_kernel], own[adapter_stride], 1};
        return t.glu(t.call("conv", wide, x), 1);
    }
};

/// Convolutions that halve the places again.
constexpr value adapt(const site& here, trace& t, value x) {
    const std::int64_t width = here.dims.own[adapter_width], steps = here.dims.own[adapter_layers];
    if (steps == 0) return x;
    const module_info adapter{.name = "adapter", .type = here.type("Adapter")};
    t.enter(adapter);
    if (width != here.dims.hidden_size)
        x = t.call("proj_layer_norm", norm<norm_kind::layer>{width}, t.call("proj", linear{x.dim(-1), width, true}, x));
    x = x.transpose(1, 2);
    for (std::int64_t i = 0; i < steps; ++i) x = t.call({"layers", i}, adapter_step{here}, x);
    return t.leave(adapter, x.transpose(1, 2));
}

constexpr void declare_mask(const site& here, trace& t) {
    const recorder::idle_guard unused{t};
    if (is(here, masks)) (void)t.param("masked_spec_embed", {here.dims.hidden_size});
}

constexpr value base(const site& here, trace& t) {
    declare_mask(here, t);
    const value x = project(here, t, extract(here, t));
    return adapt(here, t, here.row.layer(here, t, x));
}

constexpr value describe(const site& here, trace& t) {
    return describe_heard(here, t, is(here, weighs_layers), here.dims.own[summary_width]);
}

// ---- configurations

constexpr void read_convolutions(config_view config, sizes& s, std::int64_t default_of_all) {
    const auto widths = config.optional_array("conv_dim"), kernels = config.optional_array("conv_kernel"),
               strides = config.optional_array("conv_stride");
    const auto otherwise = [&](std::int64_t i) -> sample_step {
        if (default_of_all == most_convolutions) {  // SEW
            const std::int64_t width = i == 0 ? 64 : i < 5 ? 128 : i < 9 ? 256 : 512;
            return {width, i == 0 ? 10 : i % 2 == 0 ? 1 : i < 9 ? 3 : 2, i == 0 ? 5 : i % 2 == 0 ? 1 : 2};
        }
        return {512, i == 0 ? 10 : i < 5 ? 3 : 2, i == 0 ? 5 : 2};
    };
    const auto size = [&](const maybe<config_view>& list) {
        return list ? static_cast<std::int64_t>(list->size()) : default_of_all;
    };
    const std::int64_t n = size(widths);
    if (n < 1 || n > most_convolutions)
        fail_unsupported(config, "conv_dim", "no row describes so many convolutions, or none");
    if (size(kernels) != n) fail_value(config, "conv_kernel", "as many as conv_dim");
    if (size(strides) != n) fail_value(config, "conv_stride", "as many as conv_dim");
    s.own[convolutions] = n;
    for (std::int64_t i = 0; i < n; ++i) {
        sample_step step = otherwise(i);
        const auto at = static_cast<std::size_t>(i);
        if (widths) step.width = (*widths)[at].as_positive();
        if (kernels) step.kernel = (*kernels)[at].as_positive();
        if (strides) step.stride = (*strides)[at].as_positive();
        if (step.width > 0xffffff) fail_value((*widths)[at], "a width up to 16777215");
        if (step.kernel > 0xffff) fail_value((*kernels)[at], "a kernel up to 65535");
        if (step.stride > 0xffff) fail_value((*strides)[at], "a stride up to 65535");
        s.own[static_cast<std::size_t>(first_convolution + i)] = step.packed();
    }
}

constexpr void put(sizes& s, std::int64_t what, bool on) {
    if (on) s.own[switches] |= what;
}

/// What all of these families read.
constexpr void read_shared(config_view config, sizes& s, std::int64_t default_of_all = 7) {
    read_convolutions(config, s, default_of_all);
    const string_ref norms = config.string("feat_extract_norm", "group");
    if (norms != "group" && norms != "layer") fail_value(config, "feat_extract_norm", "group or layer");
    put(s, groups_norm, norms == "group");
    put(s, biased, config.boolean("conv_bias", false));
    put(s, stable, config.boolean("do_stable_layer_norm", false));
    put(s, masks, config.real("mask_time_prob", 0.05) > 0 || config.real("mask_feature_prob", 0) > 0);
    put(s, weighs_layers, config.boolean("use_weighted_layer_sum", false));
    put(s, norms_features, true);
    if (const auto name = config.optional_string("feat_extract_activation"))
        s.own[feature_act] = static_cast<std::int64_t>(activation_named(config, "feat_extract_activation", *name));
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.hidden_size % s.own[position_groups] != 0)
        fail_value(config, "num_conv_pos_embedding_groups", "a divisor of hidden_size");
    s.own[adapter_width] = s.hidden_size;
}

/// Of families that have adapters behind the layers.
constexpr void read_adapter_layers(config_view config, sizes& s) {
    if (!config.boolean("add_adapter", false)) return;
    if (s.head == head_kind::sequence_classification)
        fail_unsupported(config, "add_adapter", "the reference's classifier refuses adapters");
    s.own[adapter_layers] = config.positive("num_adapter_layers", 3);
    if (s.own[adapter_layers] > 64) fail_unsupported(config, "num_adapter_layers", "no row describes more than 64");
    s.own[adapter_width] = config.positive("output_hidden_size", s.hidden_size);
}

constexpr void read(config_view config, sizes& s) {
    read_shared(config, s);
    read_adapter_layers(config, s);
    const auto narrow = config.optional_positive("adapter_attn_dim");
    put(s, attention_adapters, narrow.has_value());
    if (!narrow) return;
    if ((s.own[switches] & stable) == 0) s.own[switches] &= ~attention_adapters;
    s.own[further] = *narrow;
}

constexpr void read_without_adapters(config_view config, sizes& s) { read_shared(config, s); }

constexpr void read_hubert(config_view config, sizes& s) {
    read_shared(config, s);
    if (config.boolean("conv_pos_batch_norm", false))
        fail_unsupported(config, "conv_pos_batch_norm", "no row describes a norm in front of the positions' convolution");
    if (!config.boolean("feat_proj_layer_norm", true)) s.own[switches] &= ~norms_features;
}

}  // namespace wav2vec2_detail

// transformers/models/wav2vec2
inline constexpr architecture wav2vec2{
    .model_type = "wav2vec2",
    .prefix = "Wav2Vec2",
    .describe = wav2vec2_detail::describe,
    .base = wav2vec2_detail::base,
    .layer = wav2vec2_detail::encode,
    .attend = wav2vec2_detail::attend,
    .read = wav2vec2_detail::read,
    .read_sound = read_samples<of_wav2vec2>,
    .own = wav2vec2_detail::keys,
    .media = wav2vec2_detail::show,
    .reads = {.text = false, .audio = true},
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::ctc, head_kind::sequence_classification},
    .names = {.base = "wav2vec2"},
    .keys = {no_key_value_heads,
             {"head_dim", "", key_rule::absent},
             no_attention_bias,
             no_mlp_bias,
             {"sliding_window", "", key_rule::absent},
             {"tie_word_embeddings", "", key_rule::absent},
             {"max_position_embeddings", "", key_rule::absent}},
    .defaults = {.vocab_size = 32,
                 .hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu,
                 .head = head_kind::none},
};

// transformers/models/hubert: without adapters
inline constexpr architecture hubert = [](architecture a) {
    a.model_type = "hubert", a.prefix = "Hubert", a.names.base = "hubert", a.read = wav2vec2_detail::read_hubert;
    return a;
}(wav2vec2);

// transformers/models/unispeech
inline constexpr architecture unispeech = [](architecture a) {
    a.model_type = "unispeech", a.prefix = "UniSpeech", a.names.base = "unispeech";
    a.read = wav2vec2_detail::read_without_adapters;
    return a;
}(wav2vec2);

// transformers/models/unispeech_sat
inline constexpr architecture unispeech_sat = [](architecture a) {
    a.model_type = "unispeech-sat", a.prefix = "UniSpeechSat", a.names.base = "unispeech_sat";
    return a;
}(unispeech);

}  // namespace llmcost::arch
