// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/moe.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/shape.hpp>
#include <llmcost/string_ref.hpp>
#include <llmcost/trace.hpp>

namespace llmcost {

class config_view;
struct architecture;

/// Where a layer's norms stand.
enum class norm_placement : std::uint8_t {
    before,    ///< before each block (Llama)
    after,     ///< on each block's output, inside the residual (OLMo 2)
    both,      ///< before and after each block (Gemma 2)
    parallel,  ///< one norm in front of attention and feed-forward side by side (Cohere)
};

/// Norms of queries and keys.
enum class qk_norm_kind : std::uint8_t {
    none,
    per_head,             ///< over each head's elements, before heads and positions change places
    per_head_transposed,  ///< the same, after
    whole,                ///< over all heads together
    weight_per_head,      ///< where the configuration says so, each head with a row of the weight, before (Cohere)
    module_per_head       ///< where the configuration says so, each head with a module of its own, after (StableLM)
};

/// What stands beside the routed experts.
enum class shared_expert_kind : std::uint8_t {
    none,
    gated,  ///< a feed-forward block times the sigmoid of a gate of its own (Qwen2-MoE)
    added   ///< a feed-forward block, added (DeepSeek)
};

/// What layers of a linear kind mix tokens with.
enum class linear_mixer : std::uint8_t {
    none,
    short_convolution,
    gated_delta,
    gated_delta_apart,  ///< the same with a projection for each of its parts (Qwen3.5)
    selective_state_space
};

/// Which additive masks a decoder makes once for all layers.
enum class mask_rule : std::uint8_t {
    by_window,         ///< one: sliding where the configuration has a window, else full
    full_and_present,  ///< full always, sliding where a layer slides
    full_and_sliding   ///< both, whatever the layers are
};

/// Names of a decoder's modules in the reference; paths are made of them.
struct decoder_names {
    literal base = "model";
    literal base_under_answers = "model";  ///< the same under a question-answering head
    literal embed_tokens = "embed_tokens";
    literal layers = "layers";
    literal norm = "norm";
    literal rotary = "rotary_emb";
    literal lm_head = "lm_head";
    literal token_classifier = "score";
    literal attention = "self_attn";
    literal q = "q_proj";
    literal k = "k_proj";
    literal v = "v_proj";
    literal o = "o_proj";
    literal q_norm = "q_norm";
    literal k_norm = "k_norm";
    literal linear_mixer = "linear_attn";
    literal feed_forward = "mlp";
    literal norm_1 = "input_layernorm";
    literal norm_2 = "post_attention_layernorm";
    literal norm_3 = "pre_feedforward_layernorm";
    literal norm_4 = "post_feedforward_layernorm";
    literal attention_dropout = "";     ///< a module after attention; empty: none
    literal feed_forward_dropout = "";  ///< a module after the feed-forward block; empty: none
    mlp_names mlp{};
    literal router = "gate";
    // what follows the prefix in names of classes
    literal model_type = "Model";
    literal causal_lm_type = "ForCausalLM";
    literal layer_type = "DecoderLayer";
    literal linear_layer_type = "DecoderLayer";  ///< of layers that mix linearly
    literal norm_type = "RMSNorm";
    literal embedding_type = "";  ///< empty: `nn.Embedding`
    literal moe_type = "SparseMoeBlock";
    literal router_type = "TopKRouter";
    literal rotary_type = "RotaryEmbedding";
    literal mlp_prefix = "";  ///< of the feed-forward block's class; empty: the row's
};

/// A set of heads; a configuration that asks for another one is refused.
struct head_set {
    std::uint32_t bits = 0;

    constexpr head_set() noexcept = default;
    constexpr head_set(std::initializer_list<head_kind> heads) noexcept {
        for (const head_kind h : heads) bits |= 1U << static_cast<unsigned>(h);
    }
    [[nodiscard]] constexpr bool has(head_kind h) const noexcept { return (bits >> static_cast<unsigned>(h) & 1U) != 0; }
};

/// Which of a key's two names is read.
enum class key_rule : std::uint8_t {
    written_first,   ///< the row's name, else the standard one (a keyword that old files have)
    standard_first,  ///< the standard name, else the row's (`attribute_map` of the configuration class)
    written_only,    ///< the row's name; the standard one means nothing to this type
    absent           ///< neither: this type has no such key
};

/// A key that a configuration writes in its own way: `{"hidden_size", "n_embd"}`.
struct key_name {
    literal standard = "";
    literal written = "";
    key_rule rule = key_rule::written_first;
};

/// How many other spellings of keys one row may list.
inline constexpr std::size_t most_key_names = 12;

struct architecture;

/// A model or a part of one as a row and sizes describe it: its logits, its last hidden states, whatever it hands on.
using model_part = value (*)(const architecture&, const shape&, trace&);

/// One row per `model_type`: what the shared walks need to know of its structure, its keys and its defaults.
struct architecture {
    literal model_type = "";
    literal prefix = "";  ///< of its classes: `Llama` + `ForCausalLM`
    model_part describe = nullptr;
    void (*read)(config_view, shape&) = nullptr;  ///< keys that only this family has
    norm_kind norm = norm_kind::rms;
    norm_placement placement = norm_placement::before;
    qk_norm_kind qk_norm = qk_norm_kind::none;
    rotation rotated = rotation::half;
    rotary_axes axes = rotary_axes::one;
    mlp_kind feed_forward = mlp_kind::gated;
    mask_rule masks = mask_rule::by_window;
    router_kind router = router_kind::none;
    expert_kind expert = expert_kind::gated;
    shared_expert_kind shared_experts = shared_expert_kind::none;
    linear_mixer mixer = linear_mixer::none;
    bool latent = false;           ///< multi-head latent attention
    bool gates_attention = false;  ///< queries bring a gate along, whose sigmoid scales the output
    bool sinks = false;            ///< one logit per head that takes part in the softmax only
    bool fused_qkv = false;
    bool norm_bias = true;             ///< of layer norms
    bool scales_in_embedding = false;  ///< inside of the embedding's module
    bool scales_embedding = false;     ///< inputs times a constant
    bool scales_residual = false;      ///< block outputs times a constant
    bool scales_logits = false;        ///< logits times a constant
    bool divides_logits = false;       ///< logits by a constant
    bool rotary_per_mixer = false;     ///< tables of their own for full and sliding layers
    bool positions_per_token = false;  ///< padding moves positions, so that every sequence looks up its own (RoBERTa)
    bool flat_heads = false;           ///< `lm_head` and a classification head instead of `cls` and the pooler (RoBERTa)
    bool joins_rotated = false;        ///< a part of each head is rotated, and joined with the rest even where none is left
    head_set heads{head_kind::none, head_kind::causal_lm};
    decoder_names names{};
    key_name keys[most_key_names]{};
    shape defaults{};
};

/// Describes a part under a path of its own.
constexpr value describe_within(const module_info& m, model_part part, const architecture& row, const shape& dims,
                                trace& t) {
    t.enter(m);
    return t.leave(m, part(row, dims, t));
}

/// A model: its row and its sizes. Trivially copyable, a literal.
struct model {
    const architecture* kind = nullptr;
    shape dims{};

    /// Walks one forward pass through a trace; a training step goes back from the sum of what it returns.
    constexpr void describe(trace& t) const { t.gradient_arrives(kind->describe(*kind, dims, t)); }
};

}  // namespace llmcost
