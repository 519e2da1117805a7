// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace hrm_text_detail {

inline constexpr std::int64_t max_slow_cycles = 8, max_calls = 512;

/// From `learn` on: how many of the last fast cycles go back, for each slow one.
enum family_config_index : std::uint8_t { slow_cycles, fast_cycles, learn };
inline constexpr family_key family_keys[]{
    {"H_cycles", 2},
    {"L_cycles", 3},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

/// What attention finds times the sigmoid of a gate; every head has a key of its own.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const tensor gate = project(ctx, t, "gate_proj", heads * d, x).view({x.dim(0), x.dim(1), heads, d});
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor found =
        attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {.mask = &ctx.inputs->mask});
    const tensor gated = t.mul(t.sigmoid(gate), found);
    return output_projection(ctx, t, t.contiguous(t.reshape(gated, {x.dim(0), x.dim(1), -1})));
}

/// Layers and a norm, which are called in every cycle.
struct stack {
    layer_context ctx;
    const decoder_inputs& shared;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Stack"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return apply_norm(ctx, t, "final_norm", forward_layers(ctx, t, shared, x));
    }
};

/// A fast stack that reads the slow one's state several times, then the slow one reads the fast one's; and again.
///
/// A stack's parameters are counted once, where they are gone back to.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    tensor slow = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const stack cycle{ctx, shared};
    const tensor start = t.frozen_parameter("z_L_init", {config.hidden_size});
    tensor fast = t.contiguous(start.expand({slow.dim(0), slow.dim(1), slow.dim(2)}));
    bool learns = false;
    for (std::int64_t h = 0; h < config.family[slow_cycles]; ++h)
        learns = learns || config.family[static_cast<std::size_t>(learn + h)] > 0;
    bool counted = false;
    for (std::int64_t h = 0; h < config.family[slow_cycles]; ++h) {
        for (std::int64_t l = 0; l < config.family[fast_cycles]; ++l) {
            const bool has_gradient =
                l >= config.family[fast_cycles] - config.family[static_cast<std::size_t>(learn + h)];
            const bool counts = !counted && (has_gradient || !learns);
            counted = counted || counts;
            const recorder::no_grad_guard fixed{t, !has_gradient};
            const recorder::shared_parameters_guard shared_parameters{t, !counts};
            fast = t.call("L_module", cycle, t.add(fast, slow));
        }
        const recorder::shared_parameters_guard shared_parameters{t, h > 0};
        slow = t.call("H_module", cycle, t.add(slow, fast));
    }
    return slow;
}

/// Parses `config.json`; `num_hidden_layers` counts the layer calls, `num_layers_per_stack` the layers of a stack.
constexpr void parse_config(config_view json, model_config& config) {
    const auto list = json.optional_array("L_bp_cycles");
    const std::int64_t num_listed = list ? static_cast<std::int64_t>(list->size()) : 1;
    const std::int64_t slow = config.family[slow_cycles], fast = config.family[fast_cycles];
    if (slow > max_slow_cycles) throw_invalid_value(json, "H_cycles", "at most 8");
    if (fast > max_calls) throw_invalid_value(json, "L_cycles", "at most 512");
    const std::int64_t ahead = slow > num_listed ? slow - num_listed : 0;  // cycles before those that are listed
    for (std::int64_t h = 0; h < slow; ++h) {
        std::int64_t& learns = config.family[static_cast<std::size_t>(learn + h)] = h < ahead ? 1 : 2;
        if (list && h >= ahead) learns = (*list)[static_cast<std::size_t>(h - ahead)].as_non_negative();
    }
    const std::int64_t of_stack = json.positive("num_layers_per_stack", config.num_hidden_layers);
    const bool has_layers_per_stack = json.optional_positive("num_layers_per_stack").has_value();
    if (has_layers_per_stack && config.num_hidden_layers != of_stack * slow * (fast + 1))
        throw_invalid_value(json, "num_hidden_layers", "num_layers_per_stack for each call of a stack");
    config.num_hidden_layers = of_stack;
    set_single_mask(json, config);
    if (config.sliding_window > 0)
        throw_unsupported(json, "sliding_window", "sliding windows are not supported by this model type");
}

}  // namespace hrm_text_detail

// transformers/models/hrm_text: two stacks that are called in turns, gates on what attention finds, norms without
// weights
inline constexpr model_spec hrm_text = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "hrm_text";
    spec.class_prefix = "HrmText";
    spec.parse_config = hrm_text_detail::parse_config;
    spec.family_keys = hrm_text_detail::family_keys;
    spec.base_model = hrm_text_detail::base;
    spec.attention = hrm_text_detail::attention;
    spec.embed_tokens = embed_tokens_scaled;
    spec.norm = norm_kind::rms_weightless;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults.vocab_size = 151808;
    spec.defaults.hidden_size = 1536;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.head_dim = 128;
    return spec;
}(llama);

}  // namespace llmcost::arch
