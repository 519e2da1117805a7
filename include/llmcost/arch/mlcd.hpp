// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace mlcd_detail {

/// Angles of rows and columns with the same frequencies: (patches, head) twice.
struct table {
    std::int64_t head_dim;
    class_name named;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, std::int64_t patches) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer({2, head_dim / 4}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        const tensor angles = t.mul(t.full({patches, 2, 1}), trace::buffer({head_dim / 4}));
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        const auto spread = [&](const tensor& x) {
            const tensor doubled = t.cat({x.select(1), x.select(1)}, -1);
            return t.cat({doubled, doubled}, -1);
        };
        return {spread(cos), spread(sin)};
    }
};

/// x (B, S, heads, d) turned by tables (S, d), in float32.
constexpr tensor apply_rotary(trace& t, const tensor& x, const tensor& cos, const tensor& sin) {
    const std::int64_t half = x.dim(3) / 2;
    const tensor upcast = t.to(x, dtype::float32);
    const auto expand_heads = [](const tensor& one) { return one.unsqueeze(0).unsqueeze(2); };
    const tensor plain = t.mul(upcast, expand_heads(cos));
    const tensor negated_half = t.neg(t.slice(upcast, -1, half)), first_half = t.slice(upcast, -1, half);
    return t.to(t.add(plain, t.mul(t.cat({negated_half, first_half}, -1), expand_heads(sin))), x.type);
}

/// Heads are copied before positions, positions before images.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t batch = x.dim(0), n = x.dim(1), width = ctx.config.hidden_size,
                       heads = ctx.config.num_attention_heads;
    const attention_inputs& inputs = *ctx.inputs;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, true}, x).view({batch, n, heads, width / heads});
    };
    const tensor q = apply_rotary(t, split("q_proj"), inputs.cos, inputs.sin),
                 k = apply_rotary(t, split("k_proj"), inputs.cos, inputs.sin);
    const tensor v = split("v_proj");
    const auto heads_first = [&](const tensor& operand) { return t.contiguous(operand.permute({0, 2, 1, 3})); };
    const tensor mixed =
        attention_forward(t, heads_first(q), heads_first(k), heads_first(v), full_pattern(n).pattern, {});
    const tensor attention_output = t.contiguous(mixed.permute({1, 0, 2, 3})).view({n, batch, width});
    return t.contiguous(t.call("out_proj", linear{width, width, true}, attention_output).permute({1, 0, 2}));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const norm_module layer_norm{norm_kind::layer, width};
    const tensor class_pos_emb = t.param("class_pos_emb", {1, ctx.config.head_dim / 2});
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor pixels = image_input(ctx, t);
    const tensor token = t.param("class_embedding", {width});
    const tensor patches = embed_patches(ctx, t, "patch_embedding", false, pixels);
    t.register_integer_buffer(patches_of(ctx.config.vision) + 1);  // `position_ids`
    tensor x = t.cat({token.view({1, 1, width}).expand({pixels.dim(0), 1, width}), patches}, 1);
    t.leave(embeddings);
    x = t.call("pre_layrnorm", layer_norm, x);
    const table of_patches{ctx.config.head_dim, ctx.class_of("RotaryEmbedding")};
    const tensor_pair tables = t.call("vision_rotary_embedding", of_patches, patches.dim(1));
    const tensor of_class = t.cat({class_pos_emb, class_pos_emb}, -1);
    attention_inputs inputs;
    inputs.cos = t.cat({t.cos(of_class), tables.first}, 0);
    inputs.sin = t.cat({t.sin(of_class), tables.second}, 0);
    x = encode(ctx, t, x, "Encoder", inputs);
    const recorder::detach_guard unread{t};
    (void)t.call("post_layernorm", layer_norm, t.select(x, 1));
    return x;
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_square_image(json, config, 336, 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    if (config.head_dim % 4 != 0) throw_invalid_value(json, "num_attention_heads", "heads of a width that 4 divides");
    if (json.positive("num_key_value_groups", 1) != 1)
        throw_unsupported(json, "num_key_value_groups",
                          "grouped-query attention is not supported: every head has its own keys and values");
}

}  // namespace mlcd_detail

// transformers/models/mlcd: modeling_mlcd.py; CLIP with rotary positions on the patches and the class token
inline constexpr model_spec mlcd_vision_model = [](model_spec spec) {
    spec.model_type = "mlcd_vision_model";
    spec.class_prefix = "MLCD";
    spec.base_model = mlcd_detail::base;
    spec.parse_config = mlcd_detail::parse_config;
    spec.attention = mlcd_detail::attention;
    spec.accepts_any_image_size = true;
    spec.num_prefix_tokens = 1;
    spec.dropout_keys = tower_dropout;
    spec.defaults.hidden_size = 1664;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

}  // namespace llmcost::arch
