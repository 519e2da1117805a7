// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/walks/conformer.hpp>

// A conformer over two frames of a spectrogram at a time.
namespace llmcost::arch {

namespace wav2vec2_bert_detail {

enum own : std::uint8_t {
    frame_width,
    kernel,
    learned_left,
    learned_right,
    summary_width,
    adapter_kernel,
    adapter_stride,
    adapter_layers,
    adapter_width,
    adapter_act,
    distances,
    masks,
    weighs_layers,
    feeds_between
};
inline constexpr own_key keys[]{
    {"feature_projection_input_dim", 160},
    {"conv_depthwise_kernel_size", 31},
    {"left_max_position_embeddings", 64, own_value::non_negative},
    {"right_max_position_embeddings", 8, own_value::non_negative},
    {"classifier_proj_size", 768},
    {"adapter_kernel_size", 3},
    {"adapter_stride", 2},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.otherwise = static_cast<std::int64_t>(activation::relu), .value = own_value::computed},
    {.otherwise = static_cast<std::int64_t>(distance_rule::relative_key), .value = own_value::computed},
    {.value = own_value::computed},
    {"use_weighted_layer_sum", 0, own_value::boolean},
    {"use_intermediate_ffn_before_adapter", 0, own_value::boolean},
};

constexpr media_shapes show(const model& m, const workload& load) {
    const std::int64_t samples = samples_of(m.sound, load);
    return {.audio = {.samples = samples, .frames = stacked_frames(m.sound, samples)}};
}
constexpr void read_sound(config_view config, model& m) { read_stacked_filter_banks(config, m, m.dims.own[frame_width]); }

[[nodiscard]] constexpr conformer_sizes sizes_of(const site& here) {
    const own_sizes& own = here.dims.own;
    return {here.dims.hidden_size,
            here.dims.num_attention_heads,
            here.dims.intermediate_size,
            here.dims.hidden_act,
            own[kernel],
            static_cast<distance_rule>(own[distances]),
            own[learned_left] + own[learned_right] + 1,
            true,
            here.row.prefix};
}

constexpr value adapt(const site& here, trace& t, value x) {
    const own_sizes& own = here.dims.own;
    if (own[adapter_layers] == 0) return x;
    conformer_sizes s = sizes_of(here);
    s.width = own[adapter_width], s.act = static_cast<activation>(own[adapter_act]), s.distances = distance_rule::none;
    const module_info adapter{.name = "adapter", .type = here.type("Adapter")};
    t.enter(adapter);
    if (s.width != here.dims.hidden_size)
        x = t.call("proj_layer_norm", norm<norm_kind::layer>{s.width}, t.call("proj", linear{x.dim(-1), s.width, true}, x));
    for (std::int64_t i = 0; i < own[adapter_layers]; ++i)
        x = t.call({"layers", i}, conformer_adapter{s, own[adapter_kernel], own[adapter_stride]}, x);
    return t.leave(adapter, x);
}

constexpr value base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    {
        const recorder::idle_guard unused{t};
        if (own[masks] != 0) (void)t.param("masked_spec_embed", {here.dims.hidden_size});
    }
    const std::int64_t width = here.dims.hidden_size;
    const module_info projection{.name = "feature_projection", .type = here.type("FeatureProjection")};
    const value frames = t.input({t.load().batch, show(here.whole, t.load()).audio.frames, own[frame_width]});
    t.enter(projection);
    value x = t.call("layer_norm", norm<norm_kind::layer>{own[frame_width]}, frames);
    x = t.leave(projection, dropout(t, "dropout", t.call("projection", linear{own[frame_width], width, true}, x)));
    const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    const conformer_sizes s = sizes_of(here);
    t.enter(encoder);
    x = dropout(t, "dropout", x);
    value table;
    if (s.distances == distance_rule::relative)
        table = t.call("embed_positions", sines_of_distances{width, here.type("RelPositionalEmbedding")}, x.dim(1));
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, conformer_layer{s, table}, x);
    (void)t.leave(encoder, x);
    if (own[feeds_between] != 0) {
        conformer_sizes by_relu = s;
        by_relu.act = activation::relu;
        x = t.add(x, t.mul(t.call("intermediate_ffn", conformer_feed_forward{by_relu}, x)));
    }
    return adapt(here, t, x);
}

constexpr value describe(const site& here, trace& t) {
    return describe_heard(here, t, here.dims.own[weighs_layers] != 0, here.dims.own[summary_width]);
}

constexpr void read(config_view config, sizes& s) {
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.own[kernel] % 2 == 0) fail_value(config, "conv_depthwise_kernel_size", "an odd number");
    s.own[masks] = config.real("mask_time_prob", 0.05) > 0 || config.real("mask_feature_prob", 0) > 0;
    if (const auto kind = config.find("position_embeddings_type")) {
        const string_ref name = kind->is_null() ? string_ref("none") : kind->as_string();
        if (name == "rotary")
            fail_unsupported(config, "position_embeddings_type", "no row describes conformers with rotary positions");
        const distance_rule rule = name == "relative"       ? distance_rule::relative
                                   : name == "relative_key" ? distance_rule::relative_key
                                                            : distance_rule::none;
        if (rule == distance_rule::none && !kind->is_null())
            fail_value(config, "position_embeddings_type", "relative, relative_key, rotary or null");
        s.own[distances] = static_cast<std::int64_t>(rule);
    }
    s.own[adapter_width] = s.hidden_size;
    if (!config.boolean("add_adapter", false)) return;
    if (s.head == head_kind::sequence_classification)
        fail_unsupported(config, "add_adapter", "the reference's classifier refuses adapters");
    s.own[adapter_layers] = config.positive("num_adapter_layers", 1);
    if (s.own[adapter_layers] > 64) fail_unsupported(config, "num_adapter_layers", "no row describes more than 64");
    s.own[adapter_width] = config.positive("output_hidden_size", s.hidden_size);
    if (s.own[adapter_width] % s.num_attention_heads != 0)
        fail_value(config, "output_hidden_size", "a multiple of num_attention_heads");
    if (const auto name = config.optional_string("adapter_act"))
        s.own[adapter_act] = static_cast<std::int64_t>(activation_named(config, "adapter_act", *name));
}

}  // namespace wav2vec2_bert_detail

// transformers/models/wav2vec2_bert
inline constexpr architecture wav2vec2_bert = [](architecture a) {
    a.model_type = "wav2vec2-bert", a.prefix = "Wav2Vec2Bert", a.names.base = "wav2vec2_bert";
    a.describe = wav2vec2_bert_detail::describe, a.base = wav2vec2_bert_detail::base, a.layer = nullptr, a.attend = nullptr;
    a.read = wav2vec2_bert_detail::read, a.own = wav2vec2_bert_detail::keys, a.media = wav2vec2_bert_detail::show;
    a.read_sound = wav2vec2_bert_detail::read_sound, a.sound.joined = 2;
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::swish;
    return a;
}(wav2vec2);

}  // namespace llmcost::arch
