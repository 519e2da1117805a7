// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/internvl.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/forward/internvl_layers.hpp>

namespace llmcost::arch {

namespace qianfan_ocr_detail {

using internvl_layers::attention, internvl_layers::drops_projection, internvl_layers::embed,
    internvl_layers::family_keys, internvl_layers::mean_pooling, internvl_layers::rms;

// after the keys of InternVL
enum more_config_index : std::uint8_t { drops_path = drops_projection + 1 };

inline constexpr family_key tower_keys[]{
    family_keys[0],
    family_keys[1],
    family_keys[2],
    family_keys[3],
    family_keys[4],
    family_keys[5],
    {.type = family_key_type::computed},  // a block of some images in training, from the second layer on
};

/// InternVL's layer, whose blocks some images skip in training.
struct layer {
    const layer_context& ctx;
    bool skips;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const drop_path_module path{"QianfanOCR", skips};
        const std::int64_t width = ctx.config.hidden_size;
        const norm_kind kind = ctx.config.family[rms] != 0 ? norm_kind::rms : norm_kind::layer;
        const auto normed = [&](literal name, const tensor& h) {
            return call_norm(t, name, kind, width, ctx.class_of("RMSNorm"), h);
        };
        const tensor first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        tensor h = t.call("attention", attention{ctx}, normed("layernorm_before", x));
        const tensor middle = t.add(t.call("drop_path1", path, t.mul(first, h)), x);
        h = t.call("mlp", vision_encoder_layer::vision_mlp_of(ctx), normed("layernorm_after", middle));
        h = t.mul(second, dropout(t, "dropout", h));
        return t.add(t.call("drop_path2", path, h), middle);
    }
};

/// Rates grow from zero, so that the first layer skips nothing.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    tensor x = t.call({"layers", 0}, layer{ctx, false}, t.leave(embeddings, embed(ctx, t)));
    const layer repeated_layer{ctx, ctx.config.family[drops_path] != 0};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers - 1, x, 1); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, repeated_layer, x);
    if (ctx.config.family[mean_pooling] != 0) return t.call("layernorm", identity{"Identity"}, x);
    return t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "qianfan_ocr_vision";
    spec.class_prefix = "QianfanOCRVision";
    spec.base_model = tower_base;
    spec.parse_config = [](config_view json, model_config& config) {
        internvl_layers::parse_config(json, config);
        config.attention_bias = json.boolean("attention_bias", true);
        config.family[drops_path] = json.real("drop_path_rate", 0.1) > 0 ? 1 : 0;
    };
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    return spec;
}(internvl_vision);

}  // namespace qianfan_ocr_detail

// transformers/models/qianfan_ocr: InternVL before Qwen3
inline constexpr model_spec qianfan_ocr = [](model_spec spec) {
    spec.model_type = "qianfan_ocr";
    spec.class_prefix = "QianfanOCR";
    spec.defaults.tie_word_embeddings = false;
    spec.published_head = published_head_kind::as_built;
    spec.text_model.default_spec = &qwen3;
    spec.components[0].default_spec = &qianfan_ocr_detail::tower;
    return spec;
}(internvl);

}  // namespace llmcost::arch
