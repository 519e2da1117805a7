// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llava.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/timm.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace fast_vlm_detail {

using timm_detail::relu_in_place, timm_detail::within;

/// Children of an `nn.Sequential`, by their numbers.
inline constexpr literal numbers[]{"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11",
                                   "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23"};

/// A convolution that training had in branches (`MobileOneBlock`), behind which channels may be weighed.
constexpr value one_block(trace& t, literal name, const convolution_2d& layer, const value& x, std::int64_t weighed = 0) {
    return within(t, name, "MobileOneBlock", x, [&](const value& in) {
        value h = t.call("reparam_conv", layer, in);
        if (weighed == 0)
            h = t.call("se", identity{"Identity"}, h);
        else
            h = within(t, "se", "SEModule", h, [&](const value& all) {
                const value mean = t.mean_of_images(all).unsqueeze(2).unsqueeze(3);
                value s = t.call("bn", identity{"Identity"}, t.call("fc1", convolution_2d{layer.out, weighed, 1}, mean));
                s = t.call("fc2", convolution_2d{weighed, layer.out, 1}, t.call("act", relu_in_place{}, s));
                return t.mul(all, t.call("gate", activation_module{activation::sigmoid}, s));
            });
        return t.call("act", gelu_module{}, h);
    });
}

/// `BatchNormAct2d` without an activation, in evaluation.
constexpr value batch_norm(trace& t, const value& x) {
    return within(t, "bn", "BatchNormAct2d", x, [&](const value& in) {
        t.beside(t.param("weight", {in.dim(1)})), t.beside(t.param("bias", {in.dim(1)}));
        const value h = t.batch_norm(in);
        return t.call("act", identity{"Identity"}, t.call("drop", identity{"Identity"}, h));
    });
}

/// A wide convolution in front of two of one pixel.
constexpr value convolving_block(trace& t, const value& x) {
    const std::int64_t width = x.dim(1), inner = 4 * width;
    return within(t, "mlp", "ConvMlp", x, [&](const value& in) {
        value h = within(t, "conv", "ConvNormAct", in, [&](const value& each) {
            return batch_norm(t, t.call("conv", convolution_2d{width, width, 7, 1, 3, width, false}, each));
        });
        h = t.call("act", gelu_module{}, t.call("fc1", convolution_2d{width, inner, 1}, h));
        return dropout(t, "drop", t.call("fc2", convolution_2d{inner, width, 1}, dropout(t, "drop", h)));
    });
}

/// A factor for each channel.
struct layer_scale {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "LayerScale2d"}; }
    constexpr value describe(trace& t, const value& x) const { return t.mul(x, t.param("gamma", {x.dim(1), 1, 1})); }
};
constexpr value scaled(trace& t, literal name, const value& x) { return t.call(name, layer_scale{}, x); }

/// Mixes pixels by a convolution.
constexpr value mixing_block(trace& t, literal name, const value& x) {
    const std::int64_t width = x.dim(1);
    return within(t, name, "RepMixerBlock", x, [&](const value& in) {
        const value mixed = within(t, "token_mixer", "RepMixer", in, [&](const value& each) {
            return t.call("reparam_conv", convolution_2d{width, width, 3, 1, 1, width}, each);
        });
        const value h = t.call("drop_path", identity{"Identity"}, scaled(t, "layer_scale", convolving_block(t, mixed)));
        return t.add(mixed, h);
    });
}

/// Mixes pixels by attention; heads are 32 wide (timm, `fastvit.py`).
constexpr value attending_block(trace& t, literal name, const value& x) {
    const std::int64_t width = x.dim(1), n = x.dim(2) * x.dim(3), heads = width / 32;
    return within(t, name, "AttentionBlock", x, [&](const value& in) {
        const any_norm over_channels{norm_kind::layer, width, {"", "LayerNorm2d"}};
        const value normed = t.call("norm", over_channels, in.permute({0, 2, 3, 1}));
        const value mixed = within(t, "token_mixer", "Attention", normed, [&](const value& each) {
            const value rows = t.reshape(each, {each.dim(0), n, width});
            const value all = t.call("qkv", linear{width, 3 * width}, rows).view({each.dim(0), n, 3, heads, 32});
            const value apart = all.permute({2, 0, 3, 1, 4});
            const value part = apart.select(0);
            {
                const recorder::idle_guard in_one_call{t};
                (void)dropout(t, "attn_drop", part, dropout_of::attention);
            }
            const context where{.sequence = n, .causal = false};
            value mixed_heads;
            {
                const recorder::fused_guard fused{t, fused_attention(part, heads, where, n)};
                mixed_heads = attention_heads_by_parts(t, part, part, part, where);
            }
            const value flat = t.reshape(mixed_heads.transpose(1, 2), {each.dim(0), n, width});
            return dropout(t, "proj_drop", t.call("proj", linear{width, width, true}, flat));
        });
        const value back = mixed.transpose(1, 2).view({in.dim(0), width, in.dim(2), in.dim(3)});
        const value middle = t.add(in, t.call("drop_path1", identity{"Identity"}, scaled(t, "layer_scale_1", back)));
        const value h = scaled(t, "layer_scale_2", convolving_block(t, middle));
        return t.add(middle, t.call("drop_path2", identity{"Identity"}, h));
    });
}

// widths and blocks of the five stages of `fastvit_mci3`
inline constexpr std::int64_t widths[]{96, 192, 384, 768, 1536}, depths[]{2, 12, 24, 4, 2};
inline constexpr std::int64_t first_attending = 3, final_width = 3072, side = 1024;

constexpr value describe_stage(trace& t, std::int64_t i, const value& x) {
    const std::int64_t width = widths[i];
    return within(t, numbers[i], "FastVitStage", x, [&](value h) {
        if (i == 0)
            h = t.call("downsample", identity{"Identity"}, h);
        else
            h = within(t, "downsample", "PatchEmbed", h, [&](const value& in) {
                return within(t, "proj", "Sequential", in, [&](const value& each) {
                    const convolution_2d wide{widths[i - 1], width, 7, 2, 3, widths[i - 1]};
                    const value inner = within(t, "0", "ReparamLargeKernelConv", each, [&](const value& finer) {
                        const value out = t.call("reparam_conv", wide, finer);
                        return t.call("act", gelu_module{}, t.call("se", identity{"Identity"}, out));
                    });
                    return one_block(t, "1", {width, width, 1}, inner);
                });
            });
        if (i < first_attending)
            h = t.call("pos_emb", identity{"Identity"}, h);
        else
            h = within(t, "pos_emb", "RepConditionalPosEnc", h, [&](const value& in) {
                return t.call("reparam_conv", convolution_2d{width, width, 7, 1, 3, width}, in);
            });
        return within(t, "blocks", "Sequential", h, [&](value in) {
            for (std::int64_t n = 0; n < depths[i]; ++n)
                in = i < first_attending ? mixing_block(t, numbers[n], in) : attending_block(t, numbers[n], in);
            return in;
        });
    });
}

/// FastViT with its branches folded into convolutions.
///
/// Source: timm/models/fastvit.py, `fastvit_mci3` with `inference_mode`.
constexpr value tower_base(const site&, trace& t) {
    const value pixels = t.input({t.load().batch, 3, side, side});
    return within(t, "timm_model", "FastVit", pixels, [&](value x) {
        const std::int64_t first = widths[0], last = widths[4];
        x = within(t, "stem", "Sequential", x, [&](const value& in) {
            const value h = one_block(t, "1", {first, first, 3, 2, 1, first}, one_block(t, "0", {3, first, 3, 2, 1}, in));
            return one_block(t, "2", {first, first, 1}, h);
        });
        x = within(t, "stages", "Sequential", x, [&](value in) {
            for (std::int64_t i = 0; i < 5; ++i) in = describe_stage(t, i, in);
            return in;
        });
        x = one_block(t, "final_conv", {last, final_width, 3, 1, 1, last}, x, final_width / 16);
        const recorder::off_loss_guard unread{t};
        within(t, "head", "ClassifierHead", x, [&](const value& in) {
            const value mean = within(t, "global_pool", "SelectAdaptivePool2d", in, [&](const value& each) {
                return t.call("flatten", flatten{}, t.call("pool", global_average_pool{}, each));
            });
            return t.call("flatten", identity{"Identity"}, t.call("fc", identity{"Identity"}, dropout(t, "drop", mean)));
        });
        return x;
    });
}

/// Of timm's many towers one is described, with its branches folded and without labels.
constexpr void read_tower(config_view config, sizes& s) {
    if (config.string("architecture", "resnet50") != "fastvit_mci3")
        fail_unsupported(config, "architecture", "no row describes another of timm's models");
    const auto args = config.optional_object("model_args");
    if (!args || !args->boolean("inference_mode", false))
        fail_unsupported(config, "model_args", "no row describes the branches that training has");
    if (config.non_negative("num_classes", 0) != 0 || config.string("global_pool", "avg") != "avg")
        fail_unsupported(config, "num_classes", "no row describes labels or another pool behind the tower");
    s.vision = {side, side, 1, 3};
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "timm_wrapper", a.prefix = "TimmWrapper", a.base = tower_base, a.read = read_tower, a.heads = {};
    a.names.model_type = "Model", a.defaults.hidden_size = final_width;
    return a;
}(shared_tower);
inline constexpr architecture missing_tower = [](architecture a) {
    a.read = [](config_view, sizes& s) { s.vision = {side, side, 1, 3}; };
    return a;
}(tower);

// what it takes where it names no text model (configuration_fast_vlm.py, `sub_configs_defaults`)
inline constexpr architecture text = [](architecture a) {
    a.defaults.vocab_size = 152128, a.defaults.hidden_size = 3584, a.defaults.intermediate_size = 18944;
    a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 28, a.defaults.num_key_value_heads = 4;
    return a;
}(qwen2);

enum own : std::uint8_t { projector_bias, projector_act };
inline constexpr own_key keys[]{
    {"multimodal_projector_bias", 1, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
};

/// Images are made squares of so many pixels, of which each token stands for 64 by 64.
constexpr media_shapes show(const model& m, const workload&) {
    const std::int64_t pixels = m.beside[0].dims.vision.image_height, places = pixels / 64;
    return {.image = {.tokens = places * places, .height = pixels, .width = pixels}};
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value seen = describe_tower(here, t, 0, "vision_tower", role::vision);
        const std::int64_t in = here.whole.beside[0].dims.hidden_size, width = here.dims.hidden_size;
        const projector both{here.type("MultiModalProjector"),
                             in,
                             width,
                             width,
                             here.whole.own[projector_bias] != 0,
                             static_cast<activation>(here.whole.own[projector_act])};
        const value places = t.reshape(seen, {seen.dim(0), in, seen.dim(2) * seen.dim(3)}).permute({0, 2, 1});
        return t.masked_scatter(words, t.call("multi_modal_projector", both, places));
    });
}

constexpr void read_whole(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[projector_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
    if (config.string("vision_feature_select_strategy", "full") != "full")
        fail_value(config, "vision_feature_select_strategy", "full");
    const auto layer = config.find("vision_feature_layer");
    if (layer && (layer->is_array() || layer->as_integer() != -1)) fail_value(config, "vision_feature_layer", "-1");
}

}  // namespace fast_vlm_detail

// transformers/models/fast_vlm: timm's FastViT in front of Qwen2
inline constexpr architecture fast_vlm = [](architecture a) {
    a.model_type = "fast_vlm", a.prefix = "FastVlm", a.base = fast_vlm_detail::base, a.own = fast_vlm_detail::keys;
    a.read_whole = fast_vlm_detail::read_whole, a.media = fast_vlm_detail::show;
    a.read_processor = llava_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &qwen2, .missing = &fast_vlm_detail::text, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &fast_vlm_detail::tower, .missing = &fast_vlm_detail::missing_tower};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
