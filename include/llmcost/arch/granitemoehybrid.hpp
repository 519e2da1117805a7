// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bamba.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace granitemoehybrid_detail {

enum own : std::uint8_t { rotates, weighs_balance };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `position_embedding_type` is "rope"; with any other, positions are not known
    {.value = own_value::computed},  // how evenly routers pick, from logits in float32
};

constexpr value recur(const site& here, trace& t, const value& x) {
    const dual_state_space layer{here.dims.hidden_size, here.dims.ssm, here.dims.hidden_act, here.type("MambaLayer"),
                                 here.type("RMSNormGated")};
    return t.call(here.row.names.recurrent, layer, x);
}

constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    if (here.dims.own[rotates]) make_rotary_tables(here, t, c.full);
    return c;
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.dims.own[rotates])
        for (value* const each : {&of.q, &of.k})
            *each = rotate(t, rotation::half, *each, here.shared->cos, here.shared->sin);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// The largest k logits in float32, softmax over those.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopKRouter"); }
    constexpr two_values describe(trace& t, const value& tokens) const {
        const value weight = t.param("weight", {here.dims.moe.num_experts, here.dims.hidden_size});
        const value logits = t.to(t.linear(tokens, weight), dtype::float32);
        return {logits, t.to(t.softmax_method(t.top_k(logits, here.dims.moe.num_experts_per_tok)), tokens.type)};
    }
};

struct routed_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MoE"); }
    constexpr value describe(trace& t, const value& x) const {
        const value tokens = t.reshape(x, {-1, here.dims.hidden_size});
        const value weights = t.call("router", router{here}, tokens).second;
        return call_experts(here, t, tokens, weights).view({x.dim(0), x.dim(1), here.dims.hidden_size});
    }
};

/// A block that all tokens pass, beside routed experts where there are some.
constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t inner = here.dims.moe.shared_intermediate_size;
    if (!here.kind.experts) return call_mlp(here, t, "shared_mlp", inner, x);
    const value routed = t.call("block_sparse_moe", routed_block{here}, x);
    return t.add(routed, call_mlp(here, t, "shared_mlp", inner, x));
}

constexpr value finish(const site& here, trace& t, const value& logits) {
    const value out = t.div(logits);
    const recorder::off_loss_guard unread{t};
    const sizes& s = here.dims;
    if (s.own[weighs_balance])
        weigh_balance(t, s.num_hidden_layers, t.load().batch * t.load().sequence, s.moe, dtype::float32);
    return out;
}

constexpr void read(config_view config, sizes& s) {
    bamba_detail::read_mixers(config, s);
    s.moe.num_experts = config.non_negative("num_local_experts", s.moe.num_experts);
    if (s.moe.num_experts > 0) read_experts(config, s, "num_local_experts");
    s.own[weighs_balance] = config.boolean("output_router_logits", false) && s.moe.num_experts > 0;
    s.moe.intermediate_size = s.intermediate_size;
    s.moe.shared_intermediate_size = config.positive("shared_intermediate_size", 1024);
    s.sliding_window = 0, s.mlp_bias = false;
    const auto positions = config.find("position_embedding_type");
    s.own[rotates] = positions && positions->is_string() && positions->as_string() == "rope";
    if (s.own[rotates]) {
        s.frequencies = detail::read_frequency_rule(config, "full_attention");
        if (s.head_dim % 2 != 0) fail_unsupported(config, "num_attention_heads", "heads of an odd width are not rotated");
        s.rotary_dim = s.head_dim;
    }
    if (config.contains("layers_block_type")) fail_unsupported(config, "layers_block_type", "layer_types says the same");
    const bool listed = read_layer_types(config, s, mixer_kind::recurrent);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{listed ? given[i].mixer : mixer_kind::recurrent, s.moe.num_experts > 0};
    });
}

}  // namespace granitemoehybrid_detail

// transformers/models/granitemoehybrid: Mamba-2 mixers, a shared block, perhaps experts, constants as in Granite
inline constexpr architecture granitemoehybrid = [](architecture a) {
    a.model_type = "granitemoehybrid", a.prefix = "GraniteMoeHybrid", a.heads = language_heads;
    a.read = granitemoehybrid_detail::read, a.own = granitemoehybrid_detail::keys;
    a.embed = embed_words_scaled, a.residual = add_scaled_residual, a.finish = granitemoehybrid_detail::finish;
    a.prepare = granitemoehybrid_detail::prepare, a.recur = granitemoehybrid_detail::recur;
    a.attend = granitemoehybrid_detail::attend, a.feed = granitemoehybrid_detail::feed;
    a.rotated = rotation::none, a.masks = mask_rule::full_and_present, a.feed_forward = mlp_kind::fused_gated;
    a.kinds = attention_kinds | mixer_kind::recurrent;
    a.names.recurrent = "mamba", a.names.mlp = {.gate = "input_linear", .down = "output_linear", .act = "activation"};
    a.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2};
    return a;
}(llama);

}  // namespace llmcost::arch
