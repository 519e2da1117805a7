// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/layers.hpp>
#include <llmcost/layers/linear.hpp>

// Multi-token prediction (MTP): modules after the model, each of which predicts one more token.
//
// They share the model's embedding and head.
namespace llmcost {

/// Layer kind and norms of MTP modules.
struct mtp_layer_options {
    layer_spec kind{};
    bool has_final_norm = true;  ///< a norm after the layer
};

/// One MTP module: next token embedding and previous states -> states. (B, S, width) -> (B, S, width).
///
///     x = layer(eh_proj([enorm(embedding), hnorm(states)]))
struct mtp_layer {
    layer_context ctx;
    bool post_norm;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "MtpLayer"}; }
    constexpr tensor forward(trace& t, const tensor& token_embeddings, const tensor& states) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor concatenated =
            t.cat({apply_norm(ctx, t, "enorm", token_embeddings), apply_norm(ctx, t, "hnorm", states)}, -1);
        const tensor h =
            t.call("mtp_block", decoder_layer{ctx}, t.call("eh_proj", linear{2 * width, width}, concatenated));
        return post_norm ? apply_norm(ctx, t, "post_norm", h) : h;
    }
};

/// Traces all MTP modules in sequence, each with logits of the last position. `x` is the input of the model's head.
///
/// Throws: `description_error` in training.
/// Source: transformers/modeling_layers.py, `MtpModel.forward`, which computes masks and tables for each module.
constexpr void trace_mtp_layers(const layer_context& ctx, trace& t, tensor x, const mtp_layer_options& options) {
    if (t.is_training()) throw_description_error("multi-token prediction is not supported in training");
    const model_config& config = ctx.config;
    const embedding table{config.vocab_size, config.hidden_size, false, {"", "Embedding"}, true};
    const module_info all{.name = "mtp", .class_of_module = {"", "MtpModel"}};
    t.enter(all);
    for (loop layer_loop = t.loop_modules(config.mtp_layers, x); layer_loop.next();) {
        const tensor token_embeddings =
            t.call(ctx.spec.names.embed_tokens, table, shape{t.load().batch, t.load().sequence});
        const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
        const layer_context place{ctx.model,    ctx.spec,          config, &shared.for_layer(options.kind),
                                  options.kind, layer_loop.index()};
        x = t.call({"layers", layer_loop.index()}, mtp_layer{place, options.has_final_norm}, token_embeddings, x);
        const recorder::not_executed_guard unused{t, t.load().head == logits::none};
        const linear head{config.hidden_size, config.vocab_size, config.head_bias, true, config.head_bias};
        (void)t.call("shared_head", head_linear{head}, t.slice(x, 1, 1));
    }
    {
        const recorder::not_executed_guard unused{t, t.load().head == logits::none};
        (void)t.cat({trace::buffer({t.load().batch, config.mtp_layers, config.vocab_size})},
                    1);  // draft logits of all modules
    }
    t.leave(all, x);
}

/// MTP modules whose layers are of the kind of the model's last layer.
constexpr void mtp_with_last_layer_spec(const layer_context& ctx, trace& t, const tensor& x) {
    trace_mtp_layers(ctx, t, x, {ctx.config.layers[static_cast<int>(ctx.config.num_hidden_layers - 1)]});
}

}  // namespace llmcost
