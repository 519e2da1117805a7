// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/idefics3.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/forward/bucketed_positions.hpp>
#include <llmcost/layers/multihead_attention.hpp>

namespace llmcost::arch {

namespace aria_detail {

/// Experts with transposed weights. The gate is always SiLU, independent of `hidden_act`.
struct experts : routed_experts_base {
    static constexpr bool is_leaf = false;
    constexpr tensor forward(trace& t, const tensor& inputs, const tensor& routing) const {
        const auto [x, weights] = adapt_inputs(t, inputs, routing);
        const recorder::fused_kernel_guard fused{t, make_fused_kernel(x.dim(0))};
        const tensor rows = dispatch_tokens(t, x),
                     up = param(t, "gate_up_proj", {num_experts, hidden_size, 2 * intermediate_size}),
                     down = param(t, "down_proj", {num_experts, intermediate_size, hidden_size});
        const tensor half = t.matmul_operator(rows, t.select(up, 0)).slice(-1, intermediate_size);
        const tensor h = t.mul(t.call("act_fn", activation_module{act}, half), half);
        return combine_expert_outputs(t, x, weights, t.matmul_operator(h, t.select(down, 0)));
    }
};

struct mixture {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MoELayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const model_config& config = ctx.config;
        const moe_config& moe = config.moe;
        const tensor tokens = x.view({-1, config.hidden_size});
        const router_config r{config.hidden_size, moe.num_experts, moe.num_experts_per_tok};
        const moe_router picks{router_kind::top_k_softmax, r, ctx.class_of("TopKRouter")};
        const tensor weights = t.call("router", picks, tokens).second;
        const routed_experts_base all{config.hidden_size,      moe.intermediate_size, moe.num_experts,
                                      moe.num_experts_per_tok, activation::silu,      {"Aria", "Experts"}};
        const tensor routed =
            t.call("experts", experts{all}, tokens, weights).view({x.dim(0), x.dim(1), config.hidden_size});
        return t.add(routed, call_mlp(ctx, t, "shared_experts", moe.shared_intermediate_size, x));
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) { return t.call("mlp", mixture{ctx}, x); }

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.moe.num_experts = json.positive("moe_num_experts", config.moe.num_experts);
    config.moe.num_experts_per_tok = json.positive("moe_topk", config.moe.num_experts_per_tok);
    if (config.moe.num_experts_per_tok > config.moe.num_experts)
        throw_invalid_value(json, "moe_topk", "at most the number of experts");
    config.moe.intermediate_size = config.intermediate_size;
    config.moe.shared_intermediate_size = checked_size(
        json, "moe_num_shared_experts", json.positive("moe_num_shared_experts", 2), config.intermediate_size);
}

}  // namespace aria_detail

// The text model (`AriaTextModel`). Derived from Llama, with routed and shared experts in every layer.
//
// Source: transformers/models/aria
inline constexpr model_spec aria_text = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "aria_text";
    spec.class_prefix = "AriaText";
    spec.parse_config = aria_detail::parse_config;
    spec.mlp = aria_detail::mlp;
    spec.names.mlp_class_prefix = "Aria";
    spec.names.mlp_class = "SharedExpertsMLP";
    spec.defaults.intermediate_size = 4096;
    spec.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2};
    return spec;
}(llama);

namespace aria_detail {

enum family_config_index : std::uint8_t { side, queries, max_queries };

inline constexpr family_key family_keys[]{
    {.default_value = 980, .type = family_key_type::computed},  // side of the padded image in pixels
    {.default_value = 256, .type = family_key_type::computed},  // query tokens for this number of patches
    {.default_value = 256, .type = family_key_type::computed},
};

/// Returns true if padding fills at least one column or row of patches of the image.
///
/// The longest side is scaled to `side`; no side is smaller than 336 pixels.
/// Source: transformers, image_processing_aria.py.
[[nodiscard]] constexpr bool is_filled_up(const model& m, const workload& load) {
    const std::int64_t target_size = m.family[side], patch = m.components[0].config.vision.patch_size;
    const std::int64_t height = load.image_height > 0 ? load.image_height : target_size;
    const std::int64_t width = load.image_width > 0 ? load.image_width : target_size;
    const std::int64_t longer = height > width ? height : width, shorter = height > width ? width : height;
    const double scale = static_cast<double>(target_size) / static_cast<double>(longer);
    const std::int64_t scaled = static_cast<std::int64_t>(static_cast<double>(shorter) * scale);
    return (scaled < 336 ? 336 : scaled) <= target_size - patch;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    if (m.family[queries] == 0)
        throw_description_error("projector_patch_to_query_dict has no entry for the number of patches of an image");
    return {.image = {.num_tokens = m.family[queries], .height = m.family[side], .width = m.family[side]}};
}

/// Cross-attention of learned queries to the image states, with additional projections (`AriaCrossAttention`).
struct cross_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::cross_attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Aria", "CrossAttention"}; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& states) const {
        const std::int64_t width = ctx.config.hidden_size;
        const linear projection{width, width}, out{width, width, true};
        const norm_module layer_norm{norm_kind::layer, width};
        const tensor q = t.call("q_proj", projection, t.call("layer_norm", layer_norm, x));
        const tensor normalized_states = t.call("layer_norm_kv", layer_norm, states);
        const tensor k = t.call("k_proj", projection, normalized_states),
                     v = t.call("v_proj", projection, normalized_states);
        const multihead_attention multihead_attn{width, ctx.config.num_attention_heads};
        return dropout(t, "dropout", t.call("linear", out, t.call("multihead_attn", multihead_attn, q, k, v)));
    }
};

/// Computes image features with the learned queries and projects them to the text width (`AriaProjector`).
constexpr tensor find(const layer_context& ctx, trace& t, const tensor& states) {
    const layer_context tower = ctx.component(0);
    const std::int64_t width = tower.config.hidden_size, n = ctx.model.family[queries], images = states.dim(0);
    const module_info projector{
        .name = "multi_modal_projector", .class_of_module = ctx.class_of("Projector"), .module_role = role::projector};
    const module_info block{
        .name = "feed_forward", .class_of_module = ctx.class_of("ProjectorMLP"), .module_role = role::mlp};
    t.enter(projector);
    const tensor all = t.param("query", {ctx.model.family[max_queries], width});
    const tensor query_tokens = t.copy(t.slice(all, 0, n).unsqueeze(0).expand({images, n, width}));
    const tensor found = t.call("cross_attn", cross_attention{tower}, query_tokens, states);
    const tensor normed = t.call("layer_norm", norm_module{norm_kind::layer, width}, found);
    t.enter(block);
    const tensor h = t.call("act", activation_module{activation::gelu_new},
                            t.call("linear_in", linear{width, ctx.config.hidden_size}, normed));
    return t.leave(projector,
                   t.leave(block, t.call("linear_out", linear{ctx.config.hidden_size, ctx.config.hidden_size}, h)));
}

/// The vision encoder of Idefics 3 with a padding mask. Returns the states of the last layer before the final norm.
constexpr tensor states_of(const layer_context& ctx, trace& t, bool filled_up) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor pixels = image_input(ctx, t);
    const tensor embedded = bucketed_positions::embed(ctx, t, pixels);
    attention_inputs inputs{.pattern = full_pattern(embedded.dim(1)).pattern};
    if (filled_up) inputs.mask = eager_mask(t, inputs.pattern, embedded.dim(0));
    tensor x = encode(ctx, t, embedded, "Encoder", inputs);
    {
        const recorder::detach_guard unread{t};
        (void)t.call("post_layernorm", norm_module{norm_kind::layer, width}, x);
    }
    return x;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const layer_context tower = ctx.component(0);
        const bool filled_up = is_filled_up(ctx.model, t.load());
        const std::int64_t target_size = ctx.model.family[side];
        const module_info m{.name = "vision_tower",
                            .class_of_module = tower.class_of(tower.spec.names.model_class),
                            .module_role = role::vision};
        tensor states;
        {
            const recorder::workload_guard encoder_workload{
                t, image_workload(t.load(), images_in(t), target_size, target_size)};
            t.enter(m);
            states = t.leave(m, states_of(tower, t, filled_up));
        }
        return t.masked_scatter(token_embeddings, find(ctx, t, states));
    });
}

/// Parses `projector_patch_to_query_dict`, the number of query tokens per number of patches.
constexpr void parse_queries(config_view json, model& m) {
    const vision_config& image = m.components[0].config.vision;
    m.family[side] = image.image_height == 490 ? 490 : 980;
    const std::int64_t num_patches_per_side = m.family[side] / image.patch_size,
                       patches = num_patches_per_side * num_patches_per_side;
    const auto table = json.find("projector_patch_to_query_dict");
    if (!table || table->is_null()) {
        m.family[queries] = patches == 1225 ? 128 : patches == 4900 ? 256 : 0;
        return;
    }
    if (!table->is_object() || table->size() == 0)
        throw_invalid_value(json, "projector_patch_to_query_dict",
                            "an object from number of patches to number of queries");
    m.family[queries] = m.family[max_queries] = 0;
    for (const config_view entry : *table) {
        const string_ref key = entry.key();
        std::int64_t n = 0;
        for (const char c : key) n = c >= '0' && c <= '9' && n < max_input ? n * 10 + (c - '0') : max_input;
        const std::int64_t num_queries = entry.as_positive();
        if (n == patches) m.family[queries] = num_queries;
        if (num_queries > m.family[max_queries]) m.family[max_queries] = num_queries;
    }
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.attention = rotary_patch_attention;  // selects this attention for its mask; RoPE is not used
    spec.defaults.hidden_size = 1152;
    return spec;
}(idefics3_vision_encoder);

}  // namespace aria_detail

// The multimodal model: the vision encoder of Idefics 3, a projector with learned queries, and the MoE text model.
//
// Source: transformers/models/aria
inline constexpr model_spec aria = [](model_spec spec) {
    spec.model_type = "aria";
    spec.class_prefix = "Aria";
    spec.base_model = aria_detail::base;
    spec.family_keys = aria_detail::family_keys;
    spec.parse_composite_config = aria_detail::parse_queries;
    spec.compute_media_shapes = aria_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &aria_text};
    spec.components[0] = {.key = "vision_config", .default_spec = &aria_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
