// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/family_config.hpp>
#include <llmcost/trace/dropout.hpp>
#include <llmcost/trace/layer_plan.hpp>

namespace llmcost {

// clang-format off
/// The head of a model, selected by its class in `architectures`.
enum class head_kind : std::uint8_t {
    none, causal_lm, masked_lm, conditional_generation, sequence_classification, token_classification,
    question_answering, image_classification, pretraining, encoder, next_sentence, multiple_choice, masked_image,
    image_classification_with_teacher, semantic_segmentation, object_detection, video_classification, audio_classification, ctc, image_classification_learned, multi_token_prediction
};
// clang-format on

/// The suffix of the class name of a model with this head.
[[nodiscard]] constexpr literal name_of(head_kind head) noexcept {
    switch (head) {
        case head_kind::none: return "Model";
        case head_kind::causal_lm: return "ForCausalLM";
        case head_kind::masked_lm: return "ForMaskedLM";
        case head_kind::conditional_generation: return "ForConditionalGeneration";
        case head_kind::sequence_classification: return "ForSequenceClassification";
        case head_kind::token_classification: return "ForTokenClassification";
        case head_kind::question_answering: return "ForQuestionAnswering";
        case head_kind::image_classification: return "ForImageClassification";
        case head_kind::encoder: return "EncoderModel";
        case head_kind::next_sentence: return "ForNextSentencePrediction";
        case head_kind::multiple_choice: return "ForMultipleChoice";
        case head_kind::image_classification_with_teacher: return "ForImageClassificationWithTeacher";
        case head_kind::masked_image: return "ForMaskedImageModeling";
        case head_kind::semantic_segmentation: return "ForSemanticSegmentation";
        case head_kind::object_detection: return "ForObjectDetection";
        case head_kind::video_classification: return "ForVideoClassification";
        case head_kind::audio_classification: return "ForAudioClassification";
        case head_kind::ctc: return "ForCTC";
        case head_kind::image_classification_learned: return "ForImageClassificationLearned";
        case head_kind::multi_token_prediction: return "MTP";
        case head_kind::pretraining: break;
    }
    return "ForPreTraining";
}

/// Scaling of the RoPE frequencies in each forward pass.
enum class rope_scaling_kind : std::uint8_t {
    none,                   ///< nothing
    longrope,               ///< selects the short or the long factors (longrope)
    dynamic,                ///< recomputes frequencies beyond `max_position_embeddings` (dynamic)
    dynamic_integer_factor  ///< dynamic with an integer factor, whose product is an integer operation
};

/// Sizes of the experts and their router.
struct moe_config {
    std::int64_t num_experts = 0;
    std::int64_t num_experts_per_tok = 0;
    std::int64_t intermediate_size = 0;         ///< of one routed expert
    std::int64_t shared_intermediate_size = 0;  ///< sum over all shared experts; 0: none
    std::int64_t n_group = 1;
    std::int64_t topk_group = 1;
    bool norm_topk_prob = false;
    bool has_group_limit = false;  ///< experts are selected from the best groups only
    bool has_load_balancing_loss =
        /// load-balancing loss over all routers, after the language model head (`output_router_logits`)
        false;
    bool has_float32_correction = false;  ///< the correction bias is in float32, whatever the type of the weights
    friend constexpr bool operator==(const moe_config&, const moe_config&) = default;
};

/// Sizes of multi-head latent attention (MLA).
struct mla_config {
    std::int64_t q_lora_rank = 0;  ///< 0: one projection without a low-rank step
    std::int64_t kv_lora_rank = 0;
    std::int64_t qk_nope_head_dim = 0;
    std::int64_t qk_rope_head_dim = 0;
    std::int64_t v_head_dim = 0;
    friend constexpr bool operator==(const mla_config&, const mla_config&) = default;
};

/// Attention to a window and to compressed entries, of `ratio` tokens each.
struct compressed_attention {
    std::int64_t ratio = 0;  ///< 0: only the window
    std::int64_t head_dim = 0;
    std::int64_t rotary_dim = 0;
    std::int64_t index_head_dim = 0;  ///< of the indexer that selects entries; 0: all entries are used
    bool overlaps = false;            ///< an entry is computed from two groups of `ratio` tokens
    friend constexpr bool operator==(const compressed_attention&, const compressed_attention&) = default;
};

/// Sizes of Mamba-1 and Mamba-2 blocks and of short convolutions.
struct state_space_config {
    std::int64_t state_size = 0;
    std::int64_t conv_kernel = 0;
    std::int64_t intermediate_size = 0;
    std::int64_t time_step_rank = 0;
    std::int64_t n_groups = 0;
    std::int64_t num_heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t chunk_size = 0;
    bool use_bias = false;
    bool use_conv_bias = true;
    bool residual_in_fp32 = true;
    friend constexpr bool operator==(const state_space_config&, const state_space_config&) = default;
};

/// Sizes of Gated DeltaNet layers.
struct gated_delta_net_config {
    std::int64_t num_key_heads = 0;
    std::int64_t num_value_heads = 0;
    std::int64_t key_head_dim = 0;
    std::int64_t value_head_dim = 0;
    std::int64_t conv_kernel = 0;
    friend constexpr bool operator==(const gated_delta_net_config&, const gated_delta_net_config&) = default;
};

/// Sizes of an encoder-decoder's encoder that differ from those of the decoder.
struct encoder_config {
    std::int64_t num_hidden_layers = 0;
    std::int64_t num_attention_heads = 0;
    std::int64_t intermediate_size = 0;
    friend constexpr bool operator==(const encoder_config&, const encoder_config&) = default;
};

/// Size of the input images and patches, in pixels.
struct vision_config {
    std::int64_t image_height = 0;
    std::int64_t image_width = 0;
    std::int64_t patch_size = 0;
    std::int64_t num_channels = 0;
    friend constexpr bool operator==(const vision_config&, const vision_config&) = default;
};

/// Sizes and switches of one model: the values of its configuration, or defaults. A literal type, trivially copyable.
struct model_config {
    std::int64_t vocab_size = 0;
    std::int64_t hidden_size = 0;
    std::int64_t intermediate_size = 0;
    std::int64_t num_hidden_layers = 0;
    std::int64_t num_attention_heads = 0;
    std::int64_t num_key_value_heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t rotary_dim = 0;  ///< number of rotated elements per head
    std::int64_t max_position_embeddings = 0;
    std::int64_t num_position_axes = 1;  ///< entries of `mrope_section`: time, height and width of a token
    std::int64_t scaled_context = 0;     ///< tokens with the RoPE scaling of the file; 0: `max_position_embeddings`
    std::int64_t position_offset = 0;    ///< first used index of the position embedding table
    std::int64_t sliding_window = 0;     ///< tokens, of sliding and chunked layers; 0: none
    std::int64_t type_vocab_size = 0;
    std::int64_t embedding_size = 0;  ///< size of word embeddings, if not `hidden_size`; 0: `hidden_size`
    std::int64_t num_labels = 2;
    std::int64_t mtp_layers =
        /// number of multi-token prediction modules; set by options, not by a key
        0;
    std::int64_t num_draft_tokens = 0;  ///< of one forward pass of a draft head for several tokens; otherwise 0
    activation hidden_act = activation::silu;
    dtype dtype_of_weights = dtype::unspecified;  ///< `dtype` or `torch_dtype` of the configuration
    /// element type of recurrent states in inference engines: `mamba_ssm_dtype` or `mamba_ssm_cache_dtype`
    dtype recurrent_state_dtype = dtype::unspecified;
    head_kind head = head_kind::causal_lm;
    bool tie_word_embeddings = false;
    bool attention_bias = false;  ///< of the query, key and value projections
    bool output_bias = false;     ///< of the attention output projection
    bool mlp_bias = false;
    bool is_causal = false;            ///< causal attention with a KV cache, for types that are encoders by default
    bool add_cross_attention = false;  ///< layers have parameters of cross-attention, not executed without an encoder
    bool head_bias = false;
    bool qk_norm = false;
    bool clamps_qkv = false;  ///< queries, keys and values are clamped in place
    rope_scaling_kind rope_scaling = rope_scaling_kind::none;
    rope_scaling_kind sliding_rope_scaling =
        rope_scaling_kind::none;   ///< of sliding layers, which have their own tables
    bool rope_interleave = false;  ///< rotates pairs of adjacent elements of a head
    bool parallel_residual = false;
    bool is_bidirectional = false;  ///< tokens attend to later tokens
    bool attention_soft_cap = false;
    bool logits_soft_cap = false;
    bool quantized = false;  ///< the configuration has a `quantization_config`, which is not applied
    moe_config moe{};
    mla_config mla{};
    state_space_config ssm{};
    gated_delta_net_config delta{};
    encoder_config encoder{};
    vision_config vision{};
    dropout_set dropout_positions{};
    family_config family{};  ///< sizes of this family only, see `family_key`
    layer_plan layers{};
    /// The longest sequence in tokens, with RoPE scaling; 0: unknown.
    [[nodiscard]] constexpr std::int64_t context_length() const noexcept {
        return scaled_context > 0 ? scaled_context : max_position_embeddings;
    }
    friend constexpr bool operator==(const model_config&, const model_config&) = default;
};

}  // namespace llmcost
