// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/internvl.hpp>
#include <llmcost/arch/qwen3.hpp>

namespace llmcost::arch {

namespace qianfan_ocr_detail {

using namespace internvl_vision_detail;

/// InternVL's layer, whose blocks some images skip in training.
struct layer {
    const site& here;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const drop_path_module path{"QianfanOCR", drops_path};
        const value first = t.param("lambda_1", {here.dims.hidden_size}), second = t.param("lambda_2", {here.dims.hidden_size});
        value h = t.call("attention", attention{here}, norm_by_kind(here, t, "layernorm_before", x));
        const value middle = t.add(t.call("drop_path1", path, t.mul(first, h)), x);
        h = t.call("mlp", tower_layer::feed_forward_of(here), norm_by_kind(here, t, "layernorm_after", middle));
        h = t.mul(second, dropout(t, "dropout", h));
        return t.add(t.call("drop_path2", path, h), middle);
    }
};

/// Rates grow from zero, so that the first layer skips nothing.
constexpr value tower_base(const site& here, trace& t) {
    value x = t.call({"layers", 0}, layer{here, false}, embed(here, t));
    const layer other{here, here.dims.own[path_drops] != 0};
    for (repetition each = t.repeat(here.dims.num_hidden_layers - 1, x, 1); each.next();)
        x = t.call({"layers", each.index()}, other, x);
    return finish(here, t, x);
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "qianfan_ocr_vision", a.prefix = "QianfanOCRVision", a.base = tower_base;
    a.read = [](config_view config, sizes& s) {
        internvl_vision_detail::read(config, s);
        s.own[path_drops] = config.real("drop_path_rate", 0.1) > 0 ? 1 : 0;
    };
    a.defaults.attention_bias = true;
    return a;
}(internvl_vision_model);

}  // namespace qianfan_ocr_detail

// transformers/models/qianfan_ocr: InternVL in front of Qwen3
inline constexpr architecture qianfan_ocr = [](architecture a) {
    a.model_type = "qianfan_ocr", a.prefix = "QianfanOCR", a.defaults.tie_word_embeddings = false;
    a.text.otherwise = &qwen3, a.beside[0].otherwise = &qianfan_ocr_detail::tower;
    return a;
}(internvl);

}  // namespace llmcost::arch
