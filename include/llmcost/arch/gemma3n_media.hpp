// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3n.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace gemma3n_media_detail {

// ---- the tower for images: timm's MobileNetV5, `mobilenetv5_300m_enc`

/// A convolution with a square kernel; those with a stride pad by what they are given.
struct kernel_of {
    std::int64_t side = 1;
    bool strides = false;
};
constexpr void convolve(idle_modules& m, literal name, std::int64_t in, std::int64_t out, kernel_of kernel = {},
                        bool bias = false) {
    const class_name type{"", kernel.strides ? "Conv2dSame" : "Conv2d"};
    m.weighted({name}, type, {out, in, kernel.side, kernel.side}, bias);
}
constexpr void nothing(idle_modules& m, literal name) { m.plain({name}, {"", "Identity"}); }

constexpr void norm_and_act(idle_modules& m, literal name, std::int64_t width, bool acts) {
    m.within({name}, {"", "RmsNormAct2d"}, [&] {
        m.tensor("weight", {width});
        nothing(m, "drop");
        m.plain({"act"}, {"", acts ? "GELU" : "Identity"});
    });
}
constexpr void convolve_and_norm(idle_modules& m, literal name, std::int64_t in, std::int64_t out, kernel_of kernel,
                                 bool acts, bool bias = false) {
    m.within({name}, {"", "ConvNormAct"}, [&] {
        convolve(m, "conv", in, out, kernel, bias);
        norm_and_act(m, "bn", out, acts);
    });
}
constexpr void scale(idle_modules& m, std::int64_t width) {
    m.within({"layer_scale"}, {"", "LayerScale2d"}, [&] { m.tensor("gamma", {width}); });
}

/// Wide in the middle, by a convolution over neighbours.
constexpr void edge_residual(idle_modules& m, std::int64_t at, std::int64_t in, std::int64_t out, bool strides) {
    m.within(module_place::item(at), {"", "EdgeResidual"}, [&] {
        convolve(m, "conv_exp", in, 4 * in, {3, strides});
        norm_and_act(m, "bn1", 4 * in, true);
        nothing(m, "aa"), nothing(m, "se");
        convolve(m, "conv_pwl", 4 * in, out);
        norm_and_act(m, "bn2", out, false);
        nothing(m, "drop_path");
    });
}

/// The words of timm's table of blocks: kernels in front and in the middle, 0 for none; how much wider the middle is.
struct bottleneck {
    std::int64_t start = 0, middle = 0, wider = 2;
};
/// Wide in the middle, by convolutions of one channel each.
constexpr void inverted_residual(idle_modules& m, module_place at, std::int64_t in, std::int64_t out, bottleneck b,
                                 bool scales = true) {
    const std::int64_t inner = b.wider * in;
    const auto depthwise = [&](literal name, std::int64_t width, kernel_of kernel, bool acts) {
        kernel.side != 0 ? convolve_and_norm(m, name, 1, width, kernel, acts) : nothing(m, name);
    };
    m.within(at, {"", "UniversalInvertedResidual"}, [&] {
        depthwise("dw_start", in, {b.start, false}, false);
        convolve_and_norm(m, "pw_exp", in, inner, {}, true);
        depthwise("dw_mid", inner, {b.middle, true}, true);
        nothing(m, "se");
        convolve_and_norm(m, "pw_proj", inner, out, {}, false);
        nothing(m, "dw_end");
        scales ? scale(m, out) : nothing(m, "layer_scale");
        nothing(m, "drop_path");
    });
}

/// Many queries, one key and value, which may be those of every second place.
constexpr void mobile_attention(idle_modules& m, std::int64_t at, std::int64_t width, std::int64_t heads, std::int64_t d,
                                bool halves) {
    const auto narrow = [&](literal name) {
        m.within({name}, {"", "Sequential"}, [&] {
            if (halves) convolve(m, "down_conv", 1, width, {3, true}), m.norm({"norm"}, width, {"", "RmsNorm2d"});
            convolve(m, "proj", width, d);
        });
    };
    m.within(module_place::item(at), {"", "MobileAttention"}, [&] {
        norm_and_act(m, "norm", width, false);
        m.within(
            {"attn"}, {"", "MultiQueryAttention2d"},
            [&] {
                m.within({"query"}, {"", "Sequential"}, [&] { convolve(m, "proj", width, heads * d); });
                narrow("key"), narrow("value");
                m.plain({"attn_drop"}, {"", "Dropout"});
                m.within({"output"}, {"", "Sequential"}, [&] {
                    convolve(m, "proj", heads * d, width);
                    m.plain({"drop"}, {"", "Dropout"});
                });
            },
            role::attn);
        scale(m, width);
        nothing(m, "drop_path");
    });
}

constexpr std::int64_t stem = 64, first = 128, second = 256, third = 640, fourth = 1280, fused = 2048;

/// Source: timm/models/mobilenetv5.py, `_gen_mobilenet_v5`.
constexpr void stages(idle_modules& m) {
    const auto stage = [&](std::int64_t at, const auto& inside) {
        m.within(module_place::item(at), {"", "Sequential"}, inside);
    };
    stage(0, [&] {
        edge_residual(m, 0, stem, first, true);
        for (std::int64_t i = 1; i < 3; ++i) edge_residual(m, i, first, first, false);
    });
    stage(1, [&] {
        inverted_residual(m, module_place::item(0), first, second, {3, 5, 6});
        for (std::int64_t i = 1; i < 5; ++i)
            inverted_residual(m, module_place::item(i), second, second, {i % 2 == 1 ? 5 : 3, 0, 4});
    });
    stage(2, [&] {
        inverted_residual(m, module_place::item(0), second, third, {5, 5, 6});
        for (std::int64_t i = 1; i < 8; ++i) inverted_residual(m, module_place::item(i), third, third, {5, 0, 4});
        inverted_residual(m, module_place::item(8), third, third, {0, 0, 1});
        for (std::int64_t i = 9; i < 37; i += 2) {
            mobile_attention(m, i, third, 12, 64, true);
            inverted_residual(m, module_place::item(i + 1), third, third, {});
        }
    });
    stage(3, [&] {
        inverted_residual(m, module_place::item(0), third, fourth, {5, 5, 6});
        for (std::int64_t i = 1; i < 39; i += 2) {
            mobile_attention(m, i, fourth, 16, 96, false);
            inverted_residual(m, module_place::item(i + 1), fourth, fourth, {});
        }
    });
}
constexpr value vision_base(const site&, trace& t) {
    idle_modules m{t};
    m.within({"timm_model"}, {"", "MobileNetV5Encoder"}, [&] {
        convolve_and_norm(m, "conv_stem", 3, stem, {3, true}, true, true);
        m.within({"blocks"}, {"", "Sequential"}, [&] { stages(m); });
        m.within({"msfa"}, {"", "MobileNetV5MultiScaleFusionAdapter"}, [&] {
            inverted_residual(m, {"ffn"}, third + fourth, fused, {}, false);
            m.norm({"norm"}, fused, {"", "RmsNorm2d"});
        });
    });
    return trace::buffer({1});
}

// ---- the tower for sound: a conformer

enum audio_own : std::uint8_t { kernel, features, bands, channels, kernels = channels + 2 };
inline constexpr own_key audio_keys[]{
    {"conf_conv_kernel_size", 5},
    {"input_feat_size", 128},
    {.value = own_value::computed},
    {.otherwise = 128, .value = own_value::computed},  // `sscp_conv_channel_size`
    {.otherwise = 32, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},  // `sscp_conv_kernel_size`: in time and over features, twice
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},
};

constexpr void audio_feed_forward(const site& here, idle_modules& m, literal name) {
    const std::int64_t width = here.dims.hidden_size;
    m.within(
        {name}, here.type("AudioConformerFeedForward"),
        [&] {
            m.norm({"pre_layer_norm"}, width, here.type("RMSNorm"));
            m.linear({"ffw_layer_1"}, width, 4 * width, false), m.linear({"ffw_layer_2"}, 4 * width, width, false);
            m.norm({"post_layer_norm"}, width, here.type("RMSNorm"));
        },
        role::mlp);
}

/// Half of a feed-forward block, chunked attention, a light convolution, the other half.
constexpr void audio_layer(const site& here, idle_modules& m) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.num_attention_heads * here.dims.head_dim;
    const class_name rms = here.type("RMSNorm");
    audio_feed_forward(here, m, "ffw_layer_start");
    m.within({"attention"}, here.type("AudioConformerAttention"), [&] {
        m.norm({"pre_attn_norm"}, width, rms);
        m.within(
            {"attn"}, here.type("AudioAttention"),
            [&] {
                m.tensor("per_dim_scale", {here.dims.head_dim});
                m.within({"relative_position_embedding"}, here.type("AudioRelativePositionEmbedding"),
                         [&] { m.linear({"pos_proj"}, width, inner, false); });
                for (const literal name : {"q_proj", "k_proj", "v_proj"}) m.linear({name}, width, inner, false);
            },
            role::attn);
        m.linear({"post"}, width, width, false);
        m.norm({"post_norm"}, width, rms);
    });
    m.within({"lconv1d"}, here.type("AudioConformerLightConv1d"), [&] {
        m.norm({"pre_layer_norm"}, width, rms);
        m.linear({"linear_start"}, width, 2 * width, false);
        m.weighted({"depthwise_conv1d"}, {"", "Conv1d"}, {width, 1, here.dims.own[kernel]}, false);
        m.norm({"conv_norm"}, width, rms);
        m.linear({"linear_end"}, width, width, false);
    });
    audio_feed_forward(here, m, "ffw_layer_end");
    m.norm({"norm"}, width, rms);
}

constexpr value audio_base(const site& here, trace& t) {
    idle_modules m{t};
    const own_sizes& of = here.dims.own;
    const auto sample = [&](literal name, std::int64_t in, std::size_t i) {
        const std::int64_t out = of[channels + i];
        m.within({name}, here.type("AudioSSCPConvBlock"), [&] {
            m.weighted({"conv"}, {"", "Conv2d"}, {out, in, of[kernels + 2 * i], of[kernels + 2 * i + 1]}, false);
            m.norm({"norm"}, out, here.type("AudioCumulativeGroupNorm"));
            m.plain({"activation"}, {"", "ReLU"});
        });
    };
    m.within({"subsample_conv_projection"}, here.type("AudioSubSampleConvProjection"), [&] {
        sample("conv_0", 1, 0), sample("conv_1", of[channels], 1);
        m.linear({"input_proj_linear"}, of[channels + 1] * of[bands], here.dims.hidden_size, false);
    });
    m.list("conformer", here.dims.num_hidden_layers, here.type("AudioConformerBlock"), [&] { audio_layer(here, m); });
    return trace::buffer({1});
}

// ---- the whole

/// Words of a tower's own vocabulary, a norm and a projection to the width of the text; what a tower sees has another norm.
struct embedder {
    site text;
    const sizes& tower;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return text.type("MultimodalEmbedder"); }
    constexpr value describe(trace& t, const extents& ids) const {
        const std::int64_t in = tower.hidden_size;
        value x = norm_of(text, t, "hard_embedding_norm", in, t.call("embedding", embedding{tower.vocab_size, in}, ids));
        idle_modules{t}.norm({"soft_embedding_norm"}, in, text.type("RMSNorm"));
        x = t.call("embedding_projection", linear{in, text.dims.hidden_size}, x);
        return gemma3n_detail::norm_without_weight(text, t, "embedding_post_projection_norm", x);
    }
};

/// A text, too, is looked up in the vocabularies of both towers, and where it has none of their words its own are taken.
///
/// Source: `Gemma3nModel.forward`.
constexpr value base(const site& here, trace& t) {
    (void)describe_tower(here, t, 0, "vision_tower", role::vision);
    (void)describe_tower(here, t, 1, "audio_tower", role::audio);
    const site text = here.text();
    const module_info m{.name = "language_model", .type = text.type(text.row.names.model_type)};
    t.enter(m);
    value x = text.row.embed(text, t);
    const value given = gemma3n_detail::inputs_of_words(text, t);
    t.leave(m);
    const extents ids{t.load().batch, t.load().sequence};
    x = t.where(t.call("embed_vision", embedder{text, here.component(0).dims}, ids), x);
    x = t.where(t.call("embed_audio", embedder{text, here.component(1).dims}, ids), x);
    t.enter(m);
    return t.leave(m, gemma3n_detail::walk(text, t, x, given));
}

// ---- configurations

/// Of timm's many towers one is described.
constexpr void read_vision(config_view config, sizes&) {
    if (config.string("architecture", "mobilenetv5_300m_enc") != "mobilenetv5_300m_enc")
        fail_unsupported(config, "architecture", "no row describes another of timm's models");
    if (const auto args = config.optional_object("model_args"); args && args->size() != 0)
        fail_unsupported(config, "model_args", "no row describes changes of timm's model");
}

/// A list of two, or what is without it.
constexpr std::int64_t of_two(maybe<config_view> list, std::size_t i, std::int64_t otherwise) {
    if (!list) return otherwise;
    if (list->size() != 2) fail_value(*list, "two numbers");
    return (*list)[i].as_positive();
}
constexpr void read_audio(config_view config, sizes& s) {
    const auto wide = config.optional_array("sscp_conv_channel_size");
    const auto sides = config.optional_array("sscp_conv_kernel_size");
    const auto strides = config.optional_array("sscp_conv_stride_size");
    s.own[bands] = s.own[features];
    for (std::size_t i = 0; i < 2; ++i) {
        const auto pair = [&](const maybe<config_view>& all) {
            if (all && all->size() != 2) fail_value(*all, "two pairs of numbers");
            return all ? maybe<config_view>{(*all)[i].as_array()} : maybe<config_view>{};
        };
        s.own[channels + i] = of_two(wide, i, s.own[channels + i]);
        for (std::size_t k = 0; k < 2; ++k) s.own[kernels + 2 * i + k] = of_two(pair(sides), k, s.own[kernels + 2 * i + k]);
        const std::int64_t padded = s.own[bands] + 2, side = s.own[kernels + 2 * i + 1];
        if (side > padded) fail_value(config, "sscp_conv_kernel_size", "kernels that fit into the features");
        s.own[bands] = (padded - side) / of_two(pair(strides), 1, 2) + 1;
    }
    (void)checked_width(config, "hidden_size", 4, s.hidden_size);
    (void)checked_width(config, "input_feat_size", s.own[channels + 1], s.own[bands]);
}

inline constexpr architecture part = [](architecture a) {
    a.rotated = rotation::none, a.heads = {};
    a.defaults.vocab_size = 128;
    return a;
}(architecture{});
inline constexpr architecture vision = [](architecture a) {
    a.model_type = "gemma3n_vision", a.prefix = "TimmWrapper", a.base = vision_base, a.read = read_vision;
    a.defaults.hidden_size = fused, a.defaults.num_hidden_layers = 1;
    return a;
}(part);
inline constexpr architecture audio = [](architecture a) {
    a.model_type = "gemma3n_audio", a.prefix = "Gemma3n", a.base = audio_base, a.read = read_audio, a.own = audio_keys;
    a.names.model_type = "AudioEncoder";
    a.keys[0] = {"num_hidden_layers", "conf_num_hidden_layers", key_rule::written_only};
    a.keys[1] = {"num_attention_heads", "conf_num_attention_heads", key_rule::written_only};
    a.keys[2] = {"head_dim", "", key_rule::absent}, a.keys[3] = no_key_value_heads;
    a.defaults.hidden_size = 1536, a.defaults.num_hidden_layers = 12, a.defaults.num_attention_heads = 8;
    return a;
}(part);

/// The text model's cap is the whole's.
constexpr void read(config_view config, model& m) {
    const auto text = config.optional_object("text_config");
    m.dims.logits_soft_cap = !text || gemma3n_detail::caps_logits(*text);
}

}  // namespace gemma3n_media_detail

// transformers/models/gemma3n: timm's MobileNetV5 and a conformer beside Gemma 3n, with vocabularies of their own
inline constexpr architecture gemma3n = [](architecture a) {
    a.model_type = "gemma3n", a.prefix = "Gemma3n", a.base = gemma3n_media_detail::base;
    a.read_whole = gemma3n_media_detail::read;
    a.text = {.key = "text_config", .otherwise = &gemma3n_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &gemma3n_media_detail::vision, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &gemma3n_media_detail::audio, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
