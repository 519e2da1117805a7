// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutable_prices.hpp"

#include <llmcost/arch/all.hpp>

#include <string_view>

/// What may change without a golden that turns red, and why. A change is green exactly where one of these says so.
namespace llmcost::testing {

/// Whether a word stands in a list of words.
[[nodiscard]] constexpr bool stands_in(std::string_view list, std::string_view word) {
    for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
        const bool begins = at == 0 || list[at - 1] == ' ',
                   ends = at + word.size() == list.size() || list[at + word.size()] == ' ';
        if (begins && ends) return true;
    }
    return false;
}

/// Whether a change, `field` or `field=value`, is one of those listed: the same, any value of a field, or all that begin so
/// (`*`).
[[nodiscard]] constexpr bool covers(std::string_view list, std::string_view change) {
    while (!list.empty()) {
        const std::string_view one = list.substr(0, list.find(' '));
        list.remove_prefix(one.size() == list.size() ? one.size() : one.size() + 1);
        if (one == change || one == change.substr(0, change.find('='))) return true;
        if (one.back() == '*' && change.starts_with(one.substr(0, one.size() - 1))) return true;
    }
    return false;
}

// clang-format off

// ---- prices

struct price_claim {
    std::string_view operations;
    std::string_view changes;
    std::string_view why;
};

inline constexpr price_claim price_claims[] = {
    {"convolution convolution_bias", "kept=input kept=other_operand kept=dividend", "the second factor is a parameter, which is kept anyway"},
    {"complex_mul polar", "kept", "complex numbers are not counted"},
};

// ---- rows

/// Where a row's change is invisible.
struct row_claim {
    std::string_view changes;
    bool (*where)(const architecture&);
    std::string_view why;
    bool changes_nothing = true;  ///< whatever the workload; else only what the goldens hold
};

[[nodiscard]] constexpr bool is_decoder(const architecture& a) { return a.describe == describe_decoder; }
[[nodiscard]] constexpr bool is(const architecture& a, std::string_view types) { return stands_in(types, a.model_type); }
/// Walks of their own under the decoder's heads.
[[nodiscard]] constexpr bool has_decoder_heads(const architecture& a) {
    return is_decoder(a) || is(a, "bloom falcon gpt2 gpt_sw3 gpt-sw3 gptj gpt_neox llama4_text opt");
}

inline constexpr row_claim row_claims[] = {
    // fields that a walk never reads
    {"norm norm_bias placement qk_norm feed_forward masks router expert shared_experts mixer latent gates_attention sinks "
     "fused_qkv scales_in_embedding scales_embedding scales_residual rotary_per_mixer joins_rotated names.embed_tokens names.layers "
     "names.norm names.rotary names.attention names.q names.k names.v names.o names.q_norm names.k_norm names.linear_mixer "
     "names.feed_forward names.norm_1 names.norm_2 names.norm_3 names.norm_4 names.attention_dropout names.feed_forward_dropout "
     "names.mlp.gate names.router names.layer_type names.linear_layer_type names.norm_type names.embedding_type names.moe_type "
     "names.router_type names.rotary_type names.mlp_prefix axes", [](const architecture& a) { return !is_decoder(a); },
     "a walk of its own says itself how layers are built"},
    {"positions_per_token flat_heads", [](const architecture& a) { return !is(a, "bert roberta"); }, "of these two"},
    {"rotated", [](const architecture& a) { return !is_decoder(a) && !is(a, "bart bloom t5 gpt2 gpt-sw3 gptj"); }, "the reader only asks whether a head is rotated"},
    {"rotated=half* rotated=split* rotated=complex_pairs", [](const architecture& a) { return is(a, "gptj"); },
     "reader and walk only ask whether a head is rotated"},
    {"names.mlp.up names.mlp.down names.mlp.act", [](const architecture& a) { return !is_decoder(a) && !is(a, "gpt2 gpt-sw3 gptj gpt_neox"); },
     "a walk of its own names its feed-forward block"},
    {"names.base_under_answers", [](const architecture& a) { return !a.heads.has(head_kind::question_answering); }, "no such class"},
    {"names.token_classifier", [](const architecture& a) { return !a.heads.has(head_kind::token_classification); }, "no such class"},
    {"scales_logits divides_logits names.base_under_answers names.token_classifier names.lm_head names.model_type",
     [](const architecture& a) { return !has_decoder_heads(a); }, "a walk of its own has heads of its own"},
    {"names.base", [](const architecture& a) { return !has_decoder_heads(a) && !is(a, "bert roberta"); }, "a walk of its own names its base"},
    {"names.causal_lm_type", [](const architecture& a) { return !has_decoder_heads(a) && !is(a, "bert roberta"); },
     "a walk of its own has heads of its own"},
    // fields of parts that a row does not have
    {"router expert shared_experts names.router names.moe_type names.router_type",
     [](const architecture& a) { return is_decoder(a) && a.router == router_kind::none; }, "no layer of this type has experts"},
    {"mixer names.linear_mixer names.linear_layer_type", [](const architecture& a) { return is_decoder(a) && a.mixer == linear_mixer::none; },
     "no layer of this type mixes linearly"},
    {"names.q_norm names.k_norm", [](const architecture& a) { return is_decoder(a) && a.qk_norm == qk_norm_kind::none; },
     "no norms of queries and keys"},
    {"names.base names.lm_head names.causal_lm_type scales_logits divides_logits", [](const architecture& a) { return is(a, "qwen2_vl_text"); },
     "a model without a head"},
    {"names.norm_type", [](const architecture& a) { return is_decoder(a) && a.norm == norm_kind::layer; }, "`nn.LayerNorm`, whatever the family"},
    {"norm_bias", [](const architecture& a) { return is_decoder(a) && a.norm != norm_kind::layer; }, "only `nn.LayerNorm` has a bias"},
    {"names.norm_3 names.norm_4", [](const architecture& a) { return is_decoder(a) && a.placement == norm_placement::before; },
     "two norms per layer"},
    {"names.norm_1 names.norm_3", [](const architecture& a) { return is_decoder(a) && a.placement == norm_placement::after; },
     "two norms per layer, the second and the fourth"},
    {"names.norm_2 names.norm_3 names.norm_4 names.attention_dropout scales_residual",
     [](const architecture& a) { return is_decoder(a) && a.placement == norm_placement::parallel; }, "one norm and one residual per layer"},
    {"qk_norm=weight_per_head qk_norm=module_per_head", [](const architecture& a) { return is_decoder(a) && a.qk_norm == qk_norm_kind::none; },
     "only where the configuration has norms of queries and keys"},
    {"names.k names.v qk_norm=whole", [](const architecture& a) { return is_decoder(a) && a.fused_qkv; },
     "one projection, whose queries and keys are told apart by head"},
    {"fused_qkv", [](const architecture& a) { return is_decoder(a) && a.gates_attention; }, "a gate asks for projections of their own"},
    {"names.q names.k names.v names.o fused_qkv gates_attention qk_norm sinks joins_rotated",
     [](const architecture& a) { return is_decoder(a) && a.latent; }, "latent attention names and builds its parts itself"},
    {"names.mlp.gate", [](const architecture& a) { return is_decoder(a) && a.feed_forward == mlp_kind::plain; }, "no gate"},
    {"names.mlp.up", [](const architecture& a) { return is_decoder(a) && a.feed_forward == mlp_kind::fused_gated; }, "gate and up in one"},
    {"feed_forward names.mlp.* names.mlp_prefix", [](const architecture& a) { return is(a, "gpt_oss mixtral olmoe"); }, "every layer has experts"},
    {"names.rotary names.rotary_type axes joins_rotated rotary_per_mixer", [](const architecture& a) { return is_decoder(a) && a.rotated == rotation::none; },
     "no rotary positions"},
    {"rotary_per_mixer=true", [](const architecture& a) {
         return is(a, "llama gemma deepseek_v2 deepseek_v3 olmoe stablelm granite olmo2 cohere mistral mixtral qwen3_moe phi3 starcoder2 lfm2 "
                      "qwen3_next qwen3_5_text qwen3_5_moe_text qwen2_vl_text");
     }, "attention of one kind only: one table"},
    {"masks=full_and_present", [](const architecture& a) {
         return is(a, "gemma deepseek_v3 olmoe stablelm granite olmo2 cohere");
     }, "no golden of this type slides, so that every rule but one makes the full mask"},
    {"masks=by_window", [](const architecture& a) { return is(a, "jamba lfm2 qwen3_next qwen3_5_text qwen3_5_moe_text"); },
     "the reference cannot run without a full layer (cache_utils.py, `get_seq_length`), so that there is a full mask always"},
    {"shared_experts=added", [](const architecture& a) { return is(a, "mixtral olmoe qwen3_moe gpt_oss jamba"); },
     "a width that this type does not read: none"},
    // two words for the same
    {"router=none", [](const architecture& a) { return is_decoder(a) && a.router == router_kind::softmax_top_k; },
     "the walk takes a router that is none for this one"},
    {"mixer=none", [](const architecture& a) { return is(a, "qwen3_next"); }, "the walk takes a mixer that is none for this one"},
    {"axes", [](const architecture& a) { return a.rotated == rotation::complex_pairs; }, "complex numbers of one axis only"},
    {"norm=rms_float_variance", [](const architecture& a) { return a.norm == norm_kind::rms_cast_last; },
     "as many bytes are kept: two tensors of half the size for one"},
    {"qk_norm=per_head_transposed", [](const architecture& a) { return is_decoder(a) && a.qk_norm == qk_norm_kind::per_head; },
     "the same norms of the same elements, whatever their order"},
    {"qk_norm=per_head", [](const architecture& a) { return a.qk_norm == qk_norm_kind::per_head_transposed; },
     "the same norms of the same elements, whatever their order"},
    {"rotated=interleaved", [](const architecture& a) { return is_decoder(a) && a.rotated == rotation::half && a.axes == rotary_axes::one; },
     "other elements, as many of them"},
    {"rotated=half", [](const architecture& a) { return is_decoder(a) && a.rotated == rotation::interleaved; }, "other elements, as many of them"},
    {"rotated=half rotated=interleaved", [](const architecture& a) { return a.latent && a.rotated == rotation::split_pairs; },
     "the configuration chooses between halves and pairs; the tables are as large"},
};

// ---- sizes

/// Whose sizes are read: of the types listed, or of all others; what else changes there changes nothing.
struct size_claim {
    std::string_view changes;
    bool others;  ///< unread by all types but those listed; else by those
    std::string_view types;
    std::string_view why;
    bool changes_nothing = true;

    [[nodiscard]] constexpr bool holds(const architecture& a) const { return stands_in(types, a.model_type) != others; }
};

/// All walks but the shared decoder's whose layers are of one kind.
#define LLMCOST_OWN_WALKS "bart bert bloom falcon falcon_mamba gpt-sw3 gpt2 gpt_neox gptj mamba mamba2 opt roberta t5 vit"

inline constexpr size_claim size_claims[] = {
    {"type quantized", true, "", "bytes of what a workload leaves open, and a word to the user; no count"},
    {"ssm.residual_in_fp32", true, "falcon_mamba mamba mamba2", "a key of these types"},
    {"qk_norm", true, "cohere llama4_text stablelm", "a key of these types"},
    {"tunes_temperature", true, "llama4_text", "a key of this type"},
    {"is_decoder add_cross_attention", true, "bert roberta", "keys of these types"},
    {"first_position", true, "", "only where the table of positions ends, which no run reaches"},
    {"frequencies", false, "bart bert bloom falcon_mamba gpt-sw3 gpt2 gptj jamba mamba mamba2 opt roberta t5 vit", "no table of frequencies"},
    {"frequencies=rescaled frequencies=rescaled_by_integer", true, "llama", "only runs beyond max_position_embeddings rescale, and only llama has some"},
    {"moe.weighs_balance", false, "bart bert falcon_mamba mamba mamba2 roberta t5 vit", "of heads over experts"},
    {"looks_ahead", true, "", "eager executes all scores, and so do goldens", false},
    {"vision.encoder_stride", true, "vit", "of images"},
    {"alibi norms_apart qkv=grouped qkv=one_key qkv=per_head", true, "falcon", "a key of this type"},
    {"delta.*", true, "qwen3_next qwen3_5_text qwen3_5_moe_text", "a mixer of these types"},
    {"encoder.intermediate_size encoder.num_attention_heads", true, "bart", "T5's stacks are alike, other types have none"},
    {"encoder.num_hidden_layers", true, "bart t5", "no encoder beside the decoder"},
    {"final_norm norm_affine", true, "opt", "a key of this type"},
    {"norms_after_sums residual_from_norm", true, "", "as many operations on as many elements, in another order (OPT, BLOOM)"},
    {"gated_mlp relative_attention_num_buckets scales_output", true, "t5", "a key of this type"},
    {"num_labels", true, "bart bert jamba mistral t5 vit", "no golden of the type has a head with labels"},
    {"pooler_act vision.*", true, "vit", "of images"},
    {"embedding_size", true, "opt vit", "embeddings are as wide as layers"},
    {"rope_interleave", true, "deepseek_v3", "a key of this type"},
    {"mla.*", true, "deepseek_v2 deepseek_v3", "latent attention"},
    {"moe.n_group moe.topk_group moe.limits_groups=true", true, "deepseek_v2 deepseek_v3", "groups of experts"},
    {"moe.limits_groups=false", false, "deepseek_v3", "its router limits groups always"},
    {"moe.shared_intermediate_size", true, "deepseek_v2 deepseek_v3 llama4_text qwen2_moe qwen3_next qwen3_5_moe_text", "shared experts"},
    {"moe.norm_topk_prob=true", true, "deepseek_v3 jamba mixtral olmoe qwen2_moe qwen3_moe qwen3_next", "routers that may norm weights"},
    {"moe.intermediate_size moe.num_experts moe.num_experts_per_tok", true,
     "deepseek_v2 deepseek_v3 gpt_oss jamba llama4_text mixtral olmoe qwen2_moe qwen3_moe qwen3_next qwen3_5_moe_text", "experts"},
    {"ssm.chunk_size ssm.head_dim ssm.n_groups ssm.num_heads", true, "mamba2", "the dual form of a state space"},
    {"ssm.time_step_rank", true, "falcon_mamba jamba mamba", "a low-rank step width"},
    {"ssm.intermediate_size ssm.state_size ssm.use_conv_bias", true, "falcon_mamba jamba mamba mamba2", "state spaces"},
    {"ssm.conv_kernel ssm.use_bias", true, "falcon_mamba jamba lfm2 mamba mamba2", "convolutions over time"},
    {"type_vocab_size", true, "bert roberta", "kinds of segments"},
    {"upcast_attention", true, "gpt-sw3 gpt2", "a key of this type"},
    {"max_position_embeddings", true, "bart bert gpt-sw3 gpt2 gptj llama opt roberta", "only a table of positions is as long"},
    {"attention_soft_cap clips_qkv", false, LLMCOST_OWN_WALKS " deepseek_v2 deepseek_v3 llama4_text", "the shared attention"},
    {"layers=full_attention+experts layers=sliding_attention layers=sliding_attention+experts layers=linear+experts", false,
     LLMCOST_OWN_WALKS, "a walk of its own has layers of one kind"},
    {"layers=sliding_attention", false, "cohere gemma granite llama mistral olmo2 stablelm", "no window: they see everything"},
    {"layers=sliding_attention+experts", false, "deepseek_v3 mixtral olmoe qwen2_moe qwen3_moe", "no window: they see everything"},
    {"layers=linear", false, LLMCOST_OWN_WALKS, "a walk of its own has layers of one kind"},
    {"layers=full_attention", false, "falcon_mamba gpt2 mamba mamba2", "a walk of its own has layers of one kind"},
    {"mlp_bias=true", false, "bart bert bloom falcon_mamba gpt-sw3 gpt2 gpt_neox gpt_oss gptj llama4_text mamba mamba2 mixtral olmoe roberta t5 vit",
     "biases are the type's own, or experts have none"},
    {"num_key_value_heads", false, "bart bert bloom deepseek_v2 deepseek_v3 falcon_mamba gpt-sw3 gpt2 gpt_neox gptj mamba mamba2 opt roberta t5 vit",
     "as many keys as queries"},
    {"output_bias", false, "deepseek_v2 deepseek_v3", "one key for all biases of attention"},
    {"output_bias=true", false, "bart bert bloom falcon_mamba gpt-sw3 gpt2 gpt_neox gptj mamba mamba2 roberta t5 vit",
     "biases are the type's own"},
    {"output_bias", false, "opt", "one key for all biases of attention"},
    {"attention_bias=true", false, "bart bert bloom falcon_mamba gpt-sw3 gpt2 gptj mamba mamba2 roberta t5", "biases are the type's own"},
    {"parallel_residual=true", false, "bart bert bloom cohere falcon_mamba gpt-sw3 gpt2 gptj llama4_text mamba mamba2 opt roberta t5 vit",
     "how blocks follow each other is the type's own"},
    {"rotary_dim", false, "bart bert bloom falcon_mamba gpt-sw3 gpt2 jamba mamba mamba2 opt roberta t5 vit", "no rotary positions"},
    {"head_dim", false, "bart bert deepseek_v2 deepseek_v3 falcon_mamba mamba mamba2 roberta vit", "the width over the heads, or none"},
    {"num_attention_heads", false, "falcon_mamba gpt-sw3 gpt2 gpt_neox mamba mamba2", "the width over `head_dim`, or none"},
    {"head_bias=true logits_soft_cap=true", false, "bart bert falcon_mamba mamba mamba2 roberta t5 vit", "a head of its own"},
    {"head=conditional_generation head=encoder head=image_classification head=masked_image head=masked_lm head=multiple_choice "
     "head=next_sentence head=pretraining head=question_answering head=sequence_classification head=token_classification", false, "falcon_mamba mamba mamba2", "one head, or none"},
    {"hidden_act=swish", false, "bloom falcon_mamba gpt_oss lfm2 mamba mamba2", "two names of one function, told apart by its module only"},
    {"hidden_act=gelu hidden_act=gelu_fast hidden_act=gelu_new hidden_act=gelu_pytorch_tanh hidden_act=quick_gelu hidden_act=relu "
     "hidden_act=relu2 hidden_act=sigmoid hidden_act=tanh", false, "bloom gpt_oss", "the activation is the type's own"},
    {"intermediate_size", false, "falcon_mamba gpt_oss mamba mamba2 mixtral olmoe qwen3_5_moe_text", "mixers and experts have a width of their own"},
    {"tie_word_embeddings", false, "t5", "ties its embeddings always"},
    {"tie_word_embeddings=true vocab_size", false, "vit", "no words"},
    {"tie_word_embeddings=true head_bias=true logits_soft_cap=true moe.weighs_balance=true", false, "qwen2_vl_text", "no head"},
    {"sliding_window", true, "bloom deepseek_v2 falcon gemma2 gemma3_text gpt-sw3 gpt2 gpt_neox gpt_oss gptj llama llama4_text mistral mixtral phi3 qwen2 qwen2_moe qwen2_vl_text opt qwen3 qwen3_moe starcoder2", "no layer of the goldens slides"},
};
#undef LLMCOST_OWN_WALKS

// ---- defaults

/// Defaults that a row states and that do not reach the sizes of a configuration without keys.
struct default_claim {
    std::string_view changes;
    std::string_view types;
    std::string_view why;
};

inline constexpr default_claim default_claims[] = {
    {"sliding_window", "qwen2 qwen2_moe qwen2_vl_text qwen3 qwen3_moe", "0 unless `use_sliding_window` says otherwise"},
    {"head", "qwen2_vl_text t5 vit", "of a configuration without `architectures`, and these have it"},
    {"hidden_act=gelu", "gemma", "`read_gemma` takes it for its approximation"},
};
// clang-format on

}  // namespace llmcost::testing
