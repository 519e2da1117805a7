// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace mvp_detail {

enum family_config_index : std::uint8_t { prompts = stack_config::count, prompt_length, prompt_inner };
inline constexpr family_key family_keys[]{{"decoder_layers", 12},
                                          {"decoder_attention_heads", 16},
                                          {"decoder_ffn_dim", 4096},
                                          {"encoder_ffn_dim", 4096},
                                          {"use_prompt", 0, family_key_type::boolean},
                                          {"prompt_length", 100},
                                          {"prompt_mid_dim", 800}};

/// What `attention_inputs::own` holds: prompts of all layers, (2 · layers, heads, length, head_dim).
enum shared : std::uint8_t { self_prompts, cross_prompts };

/// Keys and values before those of the text, for all layers of a stack.
struct prompt {
    const layer_context& ctx;
    std::int64_t layers;
    std::int64_t heads;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Prompt"); }
    constexpr tensor forward(trace& t) const {
        const std::int64_t length = ctx.config.family[prompt_length], inner = ctx.config.family[prompt_inner];
        const std::int64_t width = ctx.config.hidden_size, out = layers * 2 * width;
        const tensor x = t.call("prompt_embedding", embedding{length, width}, shape{length});
        const module_info trans{.name = "prompt_trans", .class_of_module = {"", "Sequential"}};
        t.enter(trans);
        tensor h = t.call("0", linear{width, inner, true}, x);
        h = t.call("1", gelu{}, h);
        h = t.leave(trans, t.call("2", linear{inner, out, true}, h));
        return dropout(t, "dropout", h.view({length, layers * 2, heads, width / heads})).permute({1, 2, 0, 3});
    }
    struct gelu : activation_module {
        constexpr gelu() noexcept : activation_module{activation::gelu} {}
        [[nodiscard]] constexpr class_name type_name() const { return {"", "GELU"}; }
    };
};

/// True for the decoder of an encoder-decoder with prompts: `MvpModel` passes them to the encoder as another argument.
constexpr bool has_prompts(const layer_context& ctx, bool decodes) {
    return ctx.config.family[prompts] != 0 && decodes && ctx.config.head != head_kind::causal_lm;
}

constexpr void prepare_inputs(const layer_context& ctx, trace& t, bool decodes, attention_inputs& inputs) {
    if (!has_prompts(ctx, decodes)) return;
    const prompt made{ctx, ctx.config.num_hidden_layers, ctx.config.num_attention_heads};
    inputs.family_tensors[self_prompts] = t.call("self_attn_prompt", made);
    inputs.family_tensors[cross_prompts] = t.call("cross_attn_prompt", made);
}

/// Looks up positions for every sequence, offset by two rows of the table.
constexpr tensor positions(const layer_context& ctx, trace& t, std::int64_t length, bool decodes) {
    check_positions(ctx, t, length, decodes);
    return t.call("embed_positions", position_table{ctx, 2}, shape{t.load().batch, length});
}

/// Queries scaled by themselves, products of flattened batches, prompts before keys and values.
constexpr tensor attention(const layer_context& ctx, trace& t, const stack_sizes& s, const tensor& x,
                           const tensor* source, const attention_pattern& pattern, const tensor* mask) {
    const std::int64_t d = s.width / s.heads, batch = x.dim(0), sequence = x.dim(1), flat = batch * s.heads;
    const linear projection{s.width, s.width, true};
    const tensor scaled = t.mul_scalar(t.call("q_proj", projection, x));
    const tensor& kv_input = source != nullptr ? *source : x;
    const bool from_cache = source != nullptr && is_encoder_cached(t.load());
    tensor k, v;
    {
        const recorder::not_executed_guard unused{t, from_cache};
        const tensor family_keys = t.call("k_proj", projection, kv_input),
                     values = t.call("v_proj", projection, kv_input);
        k = family_keys.view({batch, -1, s.heads, d}).transpose(1, 2);
        v = values.view({batch, -1, s.heads, d}).transpose(1, 2);
    }
    if (from_cache) {
        k = v = trace::buffer({batch, s.heads, kv_input.dim(1), d});
        t.add_to_cache(k);
        t.add_to_cache(v);
    } else if (s.decodes) {
        k = update_kv_cache(t, k, pattern);
        v = update_kv_cache(t, v, pattern);
    }
    const bool sparse = pattern.is_causal && t.load().attention == attention_scores::causal;
    tensor prompt_mask = mask != nullptr ? *mask : tensor{};
    std::int64_t ahead = 0;
    if (has_prompts(ctx, s.decodes)) {
        // a layer's pair of what `split` gives: keys, then values
        const tensor pair = ctx.inputs->family_tensors[source != nullptr ? cross_prompts : self_prompts].slice(0, 2);
        ahead = pair.dim(2);
        const shape to{batch, s.heads, ahead, d};
        k = t.cat({t.select(pair, 0).expand(to), k}, 2);
        v = t.cat({t.select(pair, 0).expand(to), v}, 2);
        // zeros, then a copy of them where the mask is
        if (mask != nullptr) prompt_mask = t.cat({t.copy(t.full({batch, 1, sequence, ahead})), *mask}, -1);
    }
    const tensor q = scaled.view({batch, sequence, s.heads, d}).transpose(1, 2);
    tensor out;
    {
        const attention_pattern all{.query_length = sequence, .cached_length = k.dim(2) - sequence, .is_causal = false};
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(q, s.heads, ahead > 0 ? all : pattern, k.dim(2))};
        const tensor queries = t.reshape(q, {flat, -1, d}), family_keys = t.reshape(k, {flat, -1, d});
        const tensor values = t.reshape(v, {flat, -1, d});
        const std::int64_t length = family_keys.dim(1);
        tensor scores = t.bmm(op::batched_matmul, queries, family_keys.transpose(1, 2),
                              sparse ? pattern.visible_pairs() + sequence * ahead : 0);
        if (mask != nullptr && !sparse)
            scores = t.add(scores.view({batch, s.heads, sequence, length}), prompt_mask).view({flat, sequence, length});
        out = t.bmm(functional_dropout(t, t.softmax(scores), dropout_position::attention), values)
                  .view({batch, s.heads, sequence, d})
                  .transpose(1, 2);
    }
    return t.call("out_proj", projection, t.reshape(out, {batch, sequence, s.width}));
}

inline constexpr stack_style style{.has_ones_mask = false,
                                   .scale = embedding_scaling::stack,
                                   .positions = positions,
                                   .prepare = prepare_inputs,
                                   .attend_in_encoder = attention,
                                   .attend_in_decoder = attention};

constexpr void parse_config(config_view json, model_config& config) {
    parse_stacks(json, config);
    if (config.family[prompts] != 0 && config.head == head_kind::sequence_classification)
        throw_unsupported(json, "use_prompt", "prompts are not supported with this head");
}

}  // namespace mvp_detail

/// BART with its own attention class and optional prompts.
///
/// Source: transformers/models/mvp/modeling_mvp.py.
constexpr tensor forward_mvp(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, mvp_detail::style);
}

// transformers/models/mvp: configuration_mvp.py, modeling_mvp.py
inline constexpr model_spec mvp = [](model_spec spec) {
    spec.model_type = "mvp";
    spec.class_prefix = "Mvp";
    spec.forward = forward_mvp;
    spec.family_keys = mvp_detail::family_keys;
    spec.parse_config = mvp_detail::parse_config;
    spec.defaults.vocab_size = 50267;
    spec.defaults.num_labels = 2;
    return spec;
}(bart);

}  // namespace llmcost::arch
