// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/internvl.hpp>
#include <llmcost/arch/qwen3.hpp>

namespace llmcost::arch {

namespace qianfan_ocr_detail {

using namespace internvl_vision_detail;

// behind InternVL's
enum more_own : std::uint8_t { drops_path = drops_projection + 1 };
inline constexpr own_key tower_keys[]{
    keys[0], keys[1], keys[2], keys[3], keys[4], keys[5],
    {.value = own_value::computed},  // a block of some images in training, from the second layer on
};

/// InternVL's layer, whose blocks some images skip in training.
struct layer {
    const site& here;
    bool skips;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const drop_path_module path{"QianfanOCR", skips};
        const std::int64_t width = here.dims.hidden_size;
        const norm_kind kind = here.dims.own[rms] != 0 ? norm_kind::rms : norm_kind::layer;
        const auto normed = [&](literal name, const value& h) {
            return call_norm(t, name, kind, width, here.type("RMSNorm"), h);
        };
        const value first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        value h = t.call("attention", attention{here}, normed("layernorm_before", x));
        const value middle = t.add(t.call("drop_path1", path, t.mul(first, h)), x);
        h = t.call("mlp", tower_layer::feed_forward_of(here), normed("layernorm_after", middle));
        h = t.mul(second, dropout(t, "dropout", h));
        return t.add(t.call("drop_path2", path, h), middle);
    }
};

/// Rates grow from zero, so that the first layer skips nothing.
constexpr value tower_base(const site& here, trace& t) {
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    t.enter(embeddings);
    value x = t.call({"layers", 0}, layer{here, false}, t.leave(embeddings, embed(here, t)));
    const layer other{here, here.dims.own[drops_path] != 0};
    for (repetition each = t.repeat(here.dims.num_hidden_layers - 1, x, 1); each.next();)
        x = t.call({"layers", each.index()}, other, x);
    if (here.dims.own[mean_pooling] != 0) return t.call("layernorm", identity{"Identity"}, x);
    return t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "qianfan_ocr_vision", a.prefix = "QianfanOCRVision", a.base = tower_base;
    a.read = [](config_view config, sizes& s) {
        internvl_vision_detail::read(config, s);
        s.attention_bias = config.boolean("attention_bias", true);
        s.own[drops_path] = config.real("drop_path_rate", 0.1) > 0 ? 1 : 0;
    };
    a.own = tower_keys, a.heads = {};
    return a;
}(internvl_vision);

}  // namespace qianfan_ocr_detail

// transformers/models/qianfan_ocr: InternVL in front of Qwen3
inline constexpr architecture qianfan_ocr = [](architecture a) {
    a.model_type = "qianfan_ocr", a.prefix = "QianfanOCR", a.defaults.tie_word_embeddings = false;
    a.text.otherwise = &qwen3, a.beside[0].otherwise = &qianfan_ocr_detail::tower;
    return a;
}(internvl);

}  // namespace llmcost::arch
