// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/linear.hpp>
#include <llmcost/walks/layers.hpp>

// Multi-token prediction: modules behind a model that predict a token further each, with its embedding and its head.
namespace llmcost {

/// What the layers of these modules are.
struct further_layer {
    layer_kind kind{};
    bool post_norm = true;  ///< a norm behind the layer
};

/// The next token's embedding and the states so far, normed, side by side, through a projection and a layer.
struct further_module {
    site here;
    bool post_norm;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "MtpLayer"}; }
    constexpr value describe(trace& t, const value& words, const value& states) const {
        const std::int64_t width = here.dims.hidden_size;
        const value both = t.cat({normed(here, t, "enorm", words), normed(here, t, "hnorm", states)}, -1);
        const value h = t.call("mtp_block", decoder_layer{here}, t.call("eh_proj", linear{2 * width, width}, both));
        return post_norm ? normed(here, t, "post_norm", h) : h;
    }
};

/// All of them, one behind the other, each with scores of its last position; x is what the model's own head reads.
///
/// Source: transformers/modeling_layers.py, `MtpModel.forward`, which makes masks and tables anew for each.
constexpr void predict_further(const site& here, trace& t, value x, const further_layer& as) {
    if (t.training()) report_description("no training step of modules that predict further is described");
    const sizes& dims = here.dims;
    const embedding table{dims.vocab_size, dims.hidden_size, false, {"", "Embedding"}, true};
    const module_info all{.name = "mtp", .type = {"", "MtpModel"}};
    t.enter(all);
    for (repetition each = t.repeat(dims.mtp_layers, x); each.next();) {
        const value words = t.call(here.row.names.embed_tokens, table, extents{t.load().batch, t.load().sequence});
        const decoder_context shared = here.row.prepare(here, t);
        const site place{here.whole, here.row, dims, &shared.of(as.kind), as.kind, each.index()};
        x = t.call({"layers", each.index()}, further_module{place, as.post_norm}, words, x);
        const recorder::idle_guard unused{t, t.load().head == logits::none};
        const linear head{dims.hidden_size, dims.vocab_size, dims.head_bias, true, dims.head_bias};
        (void)t.call("shared_head", head_linear{head}, t.slice(x, 1, 1));
    }
    {
        const recorder::idle_guard unused{t, t.load().head == logits::none};
        (void)t.cat({trace::buffer({t.load().batch, dims.mtp_layers, dims.vocab_size})}, 1);  // all that were drafted
    }
    t.leave(all, x);
}

/// With layers as the last one of the model.
constexpr void predict_by_last_layer(const site& here, trace& t, const value& x) {
    predict_further(here, t, x, {here.dims.layers[static_cast<int>(here.dims.num_hidden_layers - 1)]});
}

}  // namespace llmcost
