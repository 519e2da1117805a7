// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/draft_head.hpp>

// Medusa, draft heads for speculative decoding: residual blocks and a language model head per draft token, all of which
// read the last hidden state of the target model. There are no tokens, no attention and no cache.
//
// Source: medusa/model/medusa_model.py of FasterDecoding/Medusa; vllm/model_executor/models/medusa.py.

namespace llmcost::arch {

namespace medusa_detail {

enum family_config_index : std::uint8_t { fc_bias, original_lm_head };

inline constexpr family_key family_keys[]{
    {"medusa_fc_bias", 0, family_key_type::computed},
    {"original_lm_head", 0, family_key_type::boolean},
};

/// Residual blocks: x = x + silu(linear(x)), for each layer. (B, S, hidden) -> (B, S, hidden).
struct residual_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "ResidualBlock"}; }
    constexpr tensor forward(trace& t, tensor x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const linear layer{width, width, ctx.config.family[fc_bias] != 0};
        for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();) {
            const tensor h = t.call({"layers", layer_loop.index()}, layer, x);
            x = t.add(x, t.call("act", activation_module{activation::silu}, h));
        }
        return x;
    }
};

/// Logits of all draft tokens: (B, S, hidden) -> (heads, B, S, vocab).
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const module_info all{.class_of_module = ctx.class_of("Model")};
    t.enter(all);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const tensor states = logits_to_keep(t, target_hidden_states(t, config.hidden_size));
    const std::int64_t heads = config.num_draft_tokens;
    tensor draft_logits[trace::max_cat_inputs]{};
    for (std::int64_t i = 0; i < heads; ++i) {
        const linear head{config.hidden_size, config.vocab_size, false, config.family[original_lm_head] != 0 && i > 0};
        const tensor x = t.call({"blocks", i}, residual_block{ctx}, states);
        draft_logits[i] = t.call({"lm_heads", i}, head_linear{head}, x).unsqueeze(0);
    }
    return t.leave(all, t.cat(draft_logits, static_cast<int>(heads), 0));
}

/// Two formats: keys of vLLM (`num_heads`, `num_hidden_layers`), and those of the original repository
/// (`medusa_num_heads`, `medusa_num_layers`), whose residual blocks have a bias.
///
/// Throws: `config_error` without `hidden_size` and `vocab_size`, which the original format reads from the target
/// model.
constexpr void parse_config(config_view json, model_config& config) {
    const bool is_original = json.contains("medusa_num_heads");
    for (const literal key : {"hidden_size", "vocab_size"})
        if (is_original && !json.contains(key)) throw_missing_key(json, key, "that of the target model");
    const literal heads = is_original ? "medusa_num_heads" : "num_heads";
    config.num_draft_tokens = json.positive(heads, 5);
    if (config.num_draft_tokens > trace::max_cat_inputs) throw_invalid_value(json, heads, "at most 64");
    config.family[fc_bias] = json.boolean("medusa_fc_bias", is_original) ? 1 : 0;
    config.vocab_size = json.positive("truncated_vocab_size", config.vocab_size);
}

}  // namespace medusa_detail

inline constexpr model_spec medusa{
    .model_type = "medusa",
    .class_prefix = "Medusa",
    .is_remote_code = true,
    .forward = medusa_detail::forward,
    .parse_config = medusa_detail::parse_config,
    .family_keys = medusa_detail::family_keys,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::causal_lm},
    .alternative_classes = "MedusaModel MedusaLlamaModel MedusaForCausalLM",
    .draft = draft_kind::one_per_head,
    .names = {.causal_lm_class = "Model"},
    .config_keys = {{"num_hidden_layers", "medusa_num_layers"}},
    .defaults = {.vocab_size = 32001, .hidden_size = 4096, .num_hidden_layers = 1},
};

}  // namespace llmcost::arch
