// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace granite_speech_detail {

enum own : std::uint8_t { mels, inner_times, labels, reach, kernel, conv_times };
inline constexpr own_key keys[]{
    {"input_dim", 160},   {"feedforward_mult", 4},  {"output_dim", 42},
    {"max_pos_emb", 512}, {"conv_kernel_size", 15}, {"conv_expansion_factor", 2},
};

/// The other name of the number of mel bins wins, as `attribute_map` has it.
constexpr void read_encoder(config_view config, sizes& s) {
    s.own[mels] = config.positive("num_mel_bins", s.own[mels]);
    plan_one_mask(config, s);
}

constexpr void describe_feed_forward(idle_modules& held, std::int64_t in, std::int64_t inner) {
    held.layer_norm("pre_norm", in);
    held.linear("up_proj", in, inner);
    held.plain("silu", {"", "SiLU"});
    held.plain("dropout", {"", "Dropout"});
    held.linear("down_proj", inner, in);
}

constexpr void describe_convolution(const site& here, idle_modules& held) {
    const std::int64_t in = here.dims.hidden_size, inner = in * here.dims.own[conv_times];
    held.layer_norm("norm", in);
    held.weighted("up_conv", {"", "Conv1d"}, {2 * inner, in, 1});
    held.plain("glu", {"", "GLU"});
    held.within("depth_conv", here.type("ConformerDepthWiseConv1d"), [&] {
        held.weighted("conv", {"", "Conv1d"}, {inner, 1, here.dims.own[kernel]}, false);
    });
    held.plain("silu", {"", "SiLU"});
    held.batch_norm("batch_norm", inner);
    held.weighted("down_conv", {"", "Conv1d"}, {in, inner, 1});
    held.plain("dropout", {"", "Dropout"});
}

/// A conformer: each block has half a feed-forward block before and behind attention and convolution.
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, wide = here.dims.num_attention_heads * here.dims.head_dim;
    const class_name feed_forward = here.type("ConformerFeedForward");
    idle_modules held{t};
    held.linear("input_linear", own[mels], in);
    held.list("layers", here.dims.num_hidden_layers, here.type("ConformerBlock"), [&] {
        held.within("ff1", feed_forward, [&] { describe_feed_forward(held, in, in * own[inner_times]); });
        held.within("attn", here.type("ConformerAttention"), [&] {
            held.layer_norm("pre_norm", in);
            held.linear("to_q", in, wide, false);
            held.linear("to_kv", in, 2 * wide, false);
            held.linear("to_out", wide, in);
            held.embedding("rel_pos_emb", 2 * own[reach] + 1, here.dims.head_dim);
            held.plain("dropout", {"", "Dropout"});
        });
        held.within("conv", here.type("ConformerConvModule"), [&] { describe_convolution(here, held); });
        held.within("ff2", feed_forward, [&] { describe_feed_forward(held, in, in * own[inner_times]); });
        held.layer_norm("post_norm", in);
    });
    held.linear("out", in, own[labels]);
    held.linear("out_mid", own[labels], in);
    return {};
}

enum former : std::uint8_t { source, crosses_every, reads_text };
inline constexpr own_key former_keys[]{
    {"encoder_hidden_size", 1408},
    {"cross_attention_frequency", 2},
    {"use_qformer_text_input", 0, own_value::boolean},
};

constexpr void describe_output(idle_modules& held, literal name, class_name type, std::int64_t in, std::int64_t out) {
    held.within(name, type, [&] {
        held.linear("dense", in, out);
        held.layer_norm("LayerNorm", out);
        held.plain("dropout", {"", "Dropout"});
    });
}

/// Attention over the queries themselves, or over as wide a sequence as `from`.
constexpr void describe_former_attention(const site& here, idle_modules& held, literal name, std::int64_t from) {
    const std::int64_t in = here.dims.hidden_size;
    held.within(name, here.type("Attention"), [&] {
        held.within("attention", here.type("MultiHeadAttention"), [&] {
            held.linear("query", in, in);
            held.linear("key", from, in);
            held.linear("value", from, in);
        });
        describe_output(held, "output", here.type("SelfOutput"), in, in);
    });
}

constexpr void describe_former_block(const site& here, idle_modules& held, literal up, literal down) {
    const std::int64_t in = here.dims.hidden_size, inner = here.dims.intermediate_size;
    held.within(up, here.type("Intermediate"), [&] {
        held.linear("dense", in, inner);
        held.act("intermediate_act_fn", here.dims.hidden_act);
    });
    describe_output(held, down, here.type("Output"), inner, in);
}

/// A transformer over learned queries, whose layers look at what was heard every so often.
constexpr value query(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    idle_modules held{t};
    held.layer_norm("layernorm", here.dims.hidden_size);
    held.plain("dropout", {"", "Dropout"});
    held.within("encoder", here.type("Encoder"), [&] {
        for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i)
            held.within({"layer", i}, here.type("Layer"), [&] {
                describe_former_attention(here, held, "attention", here.dims.hidden_size);
                if (i % own[crosses_every] == 0) describe_former_attention(here, held, "crossattention", own[source]);
                if (own[reads_text] != 0) describe_former_block(here, held, "intermediate", "output");
                describe_former_block(here, held, "intermediate_query", "output_query");
            });
    });
    return {};
}

enum whole : std::uint8_t { rate, window };
inline constexpr own_key whole_keys[]{{"downsample_rate", 5}, {"window_size", 15}};

/// What hears, what brings it to the text model's width, and what reads.
constexpr value base(const site& here, trace& t) {
    const own_sizes& own = here.whole.own;
    const std::int64_t width = here.component(1).dims.hidden_size;
    (void)describe_tower(here, t, 0, "encoder", role::audio);
    {
        idle_modules held{t};
        held.within("projector", here.type("EncoderProjector"), [&] {
            held.tensor("query", {1, own[window] / own[rate], width});
            (void)describe_tower(here, t, 1, "qformer", role::none);
            held.linear("linear", width, here.dims.hidden_size);
        });
    }
    return describe_text(here, t, "language_model");
}

}  // namespace granite_speech_detail

// transformers/models/granite_speech, GraniteSpeechEncoderConfig
inline constexpr architecture granite_speech_encoder{
    .model_type = "granite_speech_encoder",
    .prefix = "GraniteSpeech",
    .base = granite_speech_detail::hear,
    .read = granite_speech_detail::read_encoder,
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
    .base = granite_speech_detail::query,
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
    a.own = granite_speech_detail::whole_keys;
    a.text = {.key = "text_config", .otherwise = &granite};
    a.beside[0] = {.key = "encoder_config", .otherwise = &granite_speech_encoder, .always = true};
    a.beside[1] = {.key = "projector_config", .otherwise = &blip_2_qformer_part};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

// transformers/models/granite_speech_plus: states of several layers of the encoder are read
inline constexpr architecture granite_speech_plus_encoder = [](architecture a) {
    a.model_type = "granite_speech_plus_encoder", a.prefix = "GraniteSpeechPlus";
    return a;
}(granite_speech_encoder);
inline constexpr architecture granite_speech_plus = [](architecture a) {
    a.model_type = "granite_speech_plus", a.prefix = "GraniteSpeechPlus";
    a.beside[0].otherwise = &granite_speech_plus_encoder;
    return a;
}(granite_speech);

}  // namespace llmcost::arch
