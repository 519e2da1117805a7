// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/data2vec_vision.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace beit_detail {

using namespace data2vec_vision_detail;

struct attention {
    const site& here;
    const value* bias;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const auto split = [&](literal name, bool biased) {
            const value all = t.call(name, linear{width, width, biased}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const value q = split("q_proj", true), k = split("k_proj", false), v = split("v_proj", true);
        const value mixed = eager_attention(t, q, k, v, all_positions(x.dim(1)).where, {.mask = bias});
        const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
        return t.call("o_proj", linear{width, width, true}, joined);
    }
};

constexpr value bias_of(const site& here, trace& t, literal name) {
    const module_info m{.name = name, .type = here.type("RelativePositionBias"), .leaf = true};
    t.enter(m);
    return t.leave(m, data2vec_vision_detail::relative_bias{here}.describe(t));
}

struct layer {
    const site& here;
    bool drops_path;
    const value* of_all;  ///< a bias that all layers share; none: there is none

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const bool scales = here.dims.own[scaled] != 0, own_bias = here.dims.own[biased] != 0;
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{here.row.prefix, drops_path};
        const value first = scales ? t.param("lambda_1", {width}) : value{};
        const value second = scales ? t.param("lambda_2", {width}) : value{};
        value bias;
        if (own_bias) bias = bias_of(here, t, "relative_position_bias");
        if (own_bias && of_all != nullptr) bias = t.add(bias, *of_all);
        const value* const added = own_bias ? &bias : of_all;
        value h = t.call("attention", attention{here, added}, t.call("layernorm_before", layer_norm, x));
        h = dropout(t, "dropout", h);
        h = scales ? t.mul(first, h) : t.mul(h);
        const value middle = t.add(t.call("drop_path", path, h), x);
        h = t.call("mlp", tower_layer::feed_forward_of(here), t.call("layernorm_after", layer_norm, middle));
        h = dropout(t, "dropout", h);
        h = scales ? t.mul(second, h) : t.mul(h);
        return t.add(t.call("drop_path", path, h), middle);
    }
};

constexpr value base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const norm<norm_kind::layer> layer_norm{width};
    t.enter(embeddings);
    value x = t.leave(embeddings, embed(here, t));
    value of_all;
    const bool shares = here.dims.own[shared] != 0;
    if (shares) of_all = bias_of(here, t, "shared_position_bias");
    const value* const added = shares ? &of_all : nullptr;
    x = t.call({"layers", 0}, layer{here, false, added}, x);
    const layer other{here, here.dims.own[drops] != 0, added};
    for (repetition each = t.repeat(here.dims.num_hidden_layers - 1, x, 1); each.next();)
        x = t.call({"layers", each.index()}, other, x);
    const bool means = here.dims.own[mean_pooling] != 0;
    x = means ? t.call("layernorm", identity{"Identity"}, x) : t.call("layernorm", layer_norm, x);
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const module_info pooler{.name = "pooler", .type = here.type("Pooler"), .leaf = !means};
    t.enter(pooler);
    const value pooled =
        t.leave(pooler, means ? t.call("layernorm", layer_norm, t.mean(t.slice(x, 1, x.dim(1) - 1), 1)) : t.select(x, 1));
    return here.dims.head == head_kind::none ? x : pooled;
}

}  // namespace beit_detail

// transformers/models/beit: configuration_beit.py, modeling_beit.py, scaled blocks and biases of distances
inline constexpr architecture beit = [](architecture a) {
    a.model_type = "beit", a.prefix = "Beit", a.base = beit_detail::base;
    a.describe = [](const site& here, trace& t) {
        return describe_image_model(here, t, "beit", beit_detail::base, classify_linear);
    };
    return a;
}(data2vec_vision);

}  // namespace llmcost::arch
