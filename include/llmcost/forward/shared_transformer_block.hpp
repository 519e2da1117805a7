// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/forward/layers.hpp>

// Mamba layers, some of which read a transformer block that they share (Zamba, Zamba2).
namespace llmcost {

/// An RMS norm whose weight may be that of another layer.
struct shared_rms_norm {
    const layer_context& ctx;
    std::int64_t width;
    bool is_tied;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RMSNorm"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor w = is_tied ? t.tied("weight", {width}) : t.param("weight", {width});
        const tensor h = t.to(x, dtype::float32);
        return t.mul(w, t.to(t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true)))), x.type));
    }
};

/// A transformer block without residuals, which several layers share. `Attention` and `Mlp` are its parts.
///
/// It reads states concatenated with token embeddings: (batch, sequence, hidden) -> (batch, sequence, hidden).
template <class Attention, class Mlp>
struct shared_transformer_block {
    const layer_context& ctx;
    bool is_tied;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AttentionDecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        tensor h = t.cat({x, ctx.inputs->family_tensors[0]}, -1);
        h = t.call("input_layernorm", shared_rms_norm{ctx, 2 * width, is_tied}, h);
        h = t.call("self_attn", Attention{ctx}, h);
        return t.call("feed_forward", Mlp{ctx}, t.call("pre_ff_layernorm", shared_rms_norm{ctx, width, is_tied}, h));
    }
};

/// A Mamba layer. `shared_states`, the output of a shared block, is added to its input unless it is null.
template <class Mixer>
constexpr tensor mamba_layer(const layer_context& ctx, trace& t, const tensor& x, const tensor* shared_states,
                             const Mixer& mixer) {
    const tensor h = apply_norm(ctx, t, "input_layernorm", shared_states != nullptr ? t.add(x, *shared_states) : x);
    return t.add(x, t.call("mamba", mixer, h));
}

/// A layer with a shared block, which is its child `name`, and a Mamba layer.
template <class Block, class Mixer>
constexpr tensor hybrid_layer(const layer_context& ctx, trace& t, const tensor& x, literal name, const Block& block,
                              const Mixer& mixer) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor shared_states = t.call("linear", linear{width, width}, t.call(name, block, x));
    const module_info inner{.name = "mamba_decoder", .class_of_module = ctx.class_of("MambaDecoderLayer")};
    t.enter(inner);
    return t.leave(inner, mamba_layer(ctx, t, x, &shared_states, mixer));
}

/// Returns true if the list under `key` or under `other_key` states that layer `i` has a shared block. Without both
/// lists, returns nothing.
constexpr maybe<bool> listed_as_hybrid(config_view json, const model_config& config, std::int64_t i, literal key,
                                       literal other_key) {
    for (const literal list_key : {key, other_key}) {
        const auto list = json.optional_array(list_key);
        if (!list) continue;
        if (static_cast<std::int64_t>(list->size()) != config.num_hidden_layers)
            throw_invalid_value(json, list_key, "a list with one kind per hidden layer");
        const string_ref layer_kind = (*list)[static_cast<std::size_t>(i)].as_string();
        if (layer_kind != "hybrid" && layer_kind != "linear_attention" && layer_kind != "mamba")
            throw_unsupported(json, list_key, "unsupported layer type");
        return layer_kind == "hybrid";
    }
    return {};
}

}  // namespace llmcost
