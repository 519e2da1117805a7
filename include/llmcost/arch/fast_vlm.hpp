// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llava.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/timm_modules.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// FastVLM. timm's FastViT before Qwen2.
//
// Source: transformers/models/fast_vlm

namespace llmcost::arch {

namespace fast_vlm_detail {

using timm_modules::call_in_module, timm_modules::relu_in_place;

/// Names of the children of an `nn.Sequential`.
inline constexpr literal numbers[]{"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11",
                                   "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23"};

/// A convolution that has several branches in training (`MobileOneBlock`), with optional squeeze-and-excitation.
constexpr tensor conv_block(trace& t, literal name, const convolution_2d& layer, const tensor& x,
                            std::int64_t weighed = 0) {
    return call_in_module(t, name, "MobileOneBlock", x, [&](const tensor& in) {
        tensor h = t.call("reparam_conv", layer, in);
        if (weighed == 0)
            h = t.call("se", identity{"Identity"}, h);
        else
            h = call_in_module(t, "se", "SEModule", h, [&](const tensor& all) {
                const tensor mean = t.mean_of_images(all).unsqueeze(2).unsqueeze(3);
                tensor s =
                    t.call("bn", identity{"Identity"}, t.call("fc1", convolution_2d{layer.out, weighed, 1}, mean));
                s = t.call("fc2", convolution_2d{weighed, layer.out, 1}, t.call("act", relu_in_place{}, s));
                return t.mul(all, t.call("gate", activation_module{activation::sigmoid}, s));
            });
        return t.call("act", gelu_module{}, h);
    });
}

/// `BatchNormAct2d` in evaluation mode, without an activation.
constexpr tensor batch_norm(trace& t, const tensor& x) {
    return call_in_module(t, "bn", "BatchNormAct2d", x, [&](const tensor& in) {
        t.read_parameter_in_next_op(t.param("weight", {in.dim(1)}));
        t.read_parameter_in_next_op(t.param("bias", {in.dim(1)}));
        const tensor h = t.batch_norm(in);
        return t.call("act", identity{"Identity"}, t.call("drop", identity{"Identity"}, h));
    });
}

/// Convolutional MLP: a wide depthwise convolution, then two pointwise convolutions.
constexpr tensor convolving_block(trace& t, const tensor& x) {
    const std::int64_t width = x.dim(1), inner = 4 * width;
    return call_in_module(
        t, "mlp", "ConvMlp", x,
        [&](const tensor& in) {
            tensor h = call_in_module(t, "conv", "ConvNormAct", in, [&](const tensor& operand) {
                return batch_norm(t, t.call("conv", convolution_2d{width, width, 7, 1, 3, width, false}, operand));
            });
            h = t.call("act", gelu_module{}, t.call("fc1", convolution_2d{width, inner, 1}, h));
            return dropout(t, "drop", t.call("fc2", convolution_2d{inner, width, 1}, dropout(t, "drop", h)));
        },
        role::mlp);
}

/// Layer scale: one factor per channel.
struct layer_scale {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "LayerScale2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.mul(x, t.param("gamma", {x.dim(1), 1, 1})); }
};

constexpr tensor scaled(trace& t, literal name, const tensor& x) { return t.call(name, layer_scale{}, x); }

/// RepMixer block: mixes pixels with a convolution.
constexpr tensor mixing_block(trace& t, literal name, const tensor& x) {
    const std::int64_t width = x.dim(1);
    return call_in_module(t, name, "RepMixerBlock", x, [&](const tensor& in) {
        const tensor mixed = call_in_module(t, "token_mixer", "RepMixer", in, [&](const tensor& operand) {
            return t.call("reparam_conv", convolution_2d{width, width, 3, 1, 1, width}, operand);
        });
        const tensor h =
            t.call("drop_path", identity{"Identity"}, scaled(t, "layer_scale", convolving_block(t, mixed)));
        return t.add(mixed, h);
    });
}

/// Attention block over pixels. The head size is 32 (timm, `fastvit.py`).
constexpr tensor attending_block(trace& t, literal name, const tensor& x) {
    const std::int64_t width = x.dim(1), n = x.dim(2) * x.dim(3), heads = width / 32;
    return call_in_module(t, name, "AttentionBlock", x, [&](const tensor& in) {
        const norm_module over_channels{norm_kind::layer, width, {"", "LayerNorm2d"}};
        const tensor normed = t.call("norm", over_channels, in.permute({0, 2, 3, 1}));
        const tensor mixed = call_in_module(
            t, "token_mixer", "Attention", normed,
            [&](const tensor& operand) {
                const tensor rows = t.reshape(operand, {operand.dim(0), n, width});
                const tensor all =
                    t.call("qkv", linear{width, 3 * width}, rows).view({operand.dim(0), n, 3, heads, 32});
                const tensor qkv_heads = all.permute({2, 0, 3, 1, 4});
                const tensor part = qkv_heads.select(0);
                {
                    const recorder::not_executed_guard in_one_call{t};
                    (void)dropout(t, "attn_drop", part, dropout_position::attention);
                }
                const attention_pattern pattern{.query_length = n, .is_causal = false};
                tensor mixed_heads;
                {
                    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(part, heads, pattern, n)};
                    mixed_heads = math_attention_heads(t, part, part, part, pattern);
                }
                const tensor flat = t.reshape(mixed_heads.transpose(1, 2), {operand.dim(0), n, width});
                return dropout(t, "proj_drop", t.call("proj", linear{width, width, true}, flat));
            },
            role::attn);
        const tensor attention_output = mixed.transpose(1, 2).view({in.dim(0), width, in.dim(2), in.dim(3)});
        const tensor middle =
            t.add(in, t.call("drop_path1", identity{"Identity"}, scaled(t, "layer_scale_1", attention_output)));
        const tensor h = scaled(t, "layer_scale_2", convolving_block(t, middle));
        return t.add(middle, t.call("drop_path2", identity{"Identity"}, h));
    });
}

// widths and depths of the five stages of `fastvit_mci3`
inline constexpr std::int64_t widths[]{96, 192, 384, 768, 1536}, depths[]{2, 12, 24, 4, 2};

inline constexpr std::int64_t first_attending = 3, final_width = 3072, side = 1024;

constexpr tensor forward_stage(trace& t, std::int64_t i, const tensor& x) {
    const std::int64_t width = widths[i];
    return call_in_module(t, numbers[i], "FastVitStage", x, [&](tensor h) {
        if (i == 0)
            h = t.call("downsample", identity{"Identity"}, h);
        else
            h = call_in_module(t, "downsample", "PatchEmbed", h, [&](const tensor& in) {
                return call_in_module(t, "proj", "Sequential", in, [&](const tensor& operand) {
                    const convolution_2d conv{widths[i - 1], width, 7, 2, 3, widths[i - 1]};
                    const tensor inner =
                        call_in_module(t, "0", "ReparamLargeKernelConv", operand, [&](const tensor& finer) {
                            const tensor out = t.call("reparam_conv", conv, finer);
                            return t.call("act", gelu_module{}, t.call("se", identity{"Identity"}, out));
                        });
                    return conv_block(t, "1", {width, width, 1}, inner);
                });
            });
        if (i < first_attending)
            h = t.call("pos_emb", identity{"Identity"}, h);
        else
            h = call_in_module(t, "pos_emb", "RepConditionalPosEnc", h, [&](const tensor& in) {
                return t.call("reparam_conv", convolution_2d{width, width, 7, 1, 3, width}, in);
            });
        return call_in_module(t, "blocks", "Sequential", h, [&](tensor in) {
            for (std::int64_t n = 0; n < depths[i]; ++n)
                in = i < first_attending ? mixing_block(t, numbers[n], in) : attending_block(t, numbers[n], in);
            return in;
        });
    });
}

/// FastViT with reparameterized (merged) branches.
///
/// Source: timm/models/fastvit.py, `fastvit_mci3` with `inference_mode`.
constexpr tensor tower_base(const layer_context&, trace& t) {
    const tensor pixels = t.input({t.load().batch, 3, side, side});
    return call_in_module(t, "timm_model", "FastVit", pixels, [&](tensor x) {
        const std::int64_t first = widths[0], last = widths[4];
        x = call_in_module(t, "stem", "Sequential", x, [&](const tensor& in) {
            const tensor h =
                conv_block(t, "1", {first, first, 3, 2, 1, first}, conv_block(t, "0", {3, first, 3, 2, 1}, in));
            return conv_block(t, "2", {first, first, 1}, h);
        });
        x = call_in_module(t, "stages", "Sequential", x, [&](tensor in) {
            for (std::int64_t i = 0; i < 5; ++i) in = forward_stage(t, i, in);
            return in;
        });
        x = conv_block(t, "final_conv", {last, final_width, 3, 1, 1, last}, x, final_width / 16);
        const recorder::detach_guard unread{t};
        call_in_module(t, "head", "ClassifierHead", x, [&](const tensor& in) {
            const tensor mean =
                call_in_module(t, "global_pool", "SelectAdaptivePool2d", in, [&](const tensor& operand) {
                    return t.call("flatten", flatten{}, t.call("pool", global_average_pool{}, operand));
                });
            return t.call("flatten", identity{"Identity"},
                          t.call("fc", identity{"Identity"}, dropout(t, "drop", mean)));
        });
        return x;
    });
}

/// Parses the vision configuration. Supported: timm's `fastvit_mci3` with merged branches and without a classifier.
constexpr void parse_vision_config(config_view json, model_config& config) {
    if (json.string("architecture", "resnet50") != "fastvit_mci3")
        throw_unsupported(json, "architecture", "unsupported timm model");
    const auto args = json.optional_object("model_args");
    if (!args || !args->boolean("inference_mode", false))
        throw_unsupported(json, "model_args", "training branches are not supported; expected inference_mode true");
    if (json.non_negative("num_classes", 0) != 0 || json.string("global_pool", "avg") != "avg")
        throw_unsupported(json, "num_classes", "a classifier or another pooling is not supported");
    config.vision = {side, side, 1, 3};
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "timm_wrapper";
    spec.class_prefix = "TimmWrapper";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.supported_heads = {};
    spec.names.model_class = "Model";
    spec.defaults.hidden_size = final_width;
    return spec;
}(shared_tower);

inline constexpr submodel_spec missing_tower = [](model_spec spec) {
    spec.parse_config = [](config_view, model_config& config) { config.vision = {side, side, 1, 3}; };
    return spec;
}(tower);

// the defaults without a text configuration (configuration_fast_vlm.py, `sub_configs_defaults`)
inline constexpr submodel_spec text = [](model_spec spec) {
    spec.defaults.vocab_size = 152128;
    spec.defaults.hidden_size = 3584;
    spec.defaults.intermediate_size = 18944;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 28;
    spec.defaults.num_key_value_heads = 4;
    return spec;
}(qwen2);

enum family_config_index : std::uint8_t { projector_bias, projector_act };

inline constexpr family_key family_keys[]{
    {"multimodal_projector_bias", 1, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
};

/// Image shapes: images are resized to squares; one token covers 64 by 64 pixels.
constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    const std::int64_t pixels = m.components[0].config.vision.image_height, places = pixels / 64;
    return {.image = {.num_tokens = places * places, .height = pixels, .width = pixels}};
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor features = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        const std::int64_t in = ctx.model.components[0].config.hidden_size, width = ctx.config.hidden_size;
        const projector projection{ctx.class_of("MultiModalProjector"),
                                   in,
                                   width,
                                   width,
                                   ctx.model.family[projector_bias] != 0,
                                   static_cast<activation>(ctx.model.family[projector_act])};
        const tensor places =
            t.reshape(features, {features.dim(0), in, features.dim(2) * features.dim(3)}).permute({0, 2, 1});
        return t.masked_scatter(token_embeddings, t.call("multi_modal_projector", projection, places));
    });
}

constexpr void parse_config(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
    if (json.string("vision_feature_select_strategy", "full") != "full")
        throw_invalid_value(json, "vision_feature_select_strategy", "full");
    const auto layer = json.find("vision_feature_layer");
    if (layer && (layer->is_array() || layer->as_integer() != -1))
        throw_invalid_value(json, "vision_feature_layer", "-1");
}

}  // namespace fast_vlm_detail

inline constexpr model_spec fast_vlm = [](model_spec spec) {
    spec.model_type = "fast_vlm";
    spec.class_prefix = "FastVlm";
    spec.base_model = fast_vlm_detail::base;
    spec.family_keys = fast_vlm_detail::family_keys;
    spec.parse_composite_config = fast_vlm_detail::parse_config;
    spec.compute_media_shapes = fast_vlm_detail::compute_media_shapes;
    spec.parse_image_processor = parse_llava_image_processor;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config",
                       .default_spec = &qwen2,
                       .spec_if_absent = &fast_vlm_detail::text,
                       .ties_embeddings = true};
    spec.components[0] = {.key = "vision_config",
                          .default_spec = &fast_vlm_detail::tower,
                          .spec_if_absent = &fast_vlm_detail::missing_tower};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
