// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/ops.hpp>

// The forward pass of a rank as Megatron-Core with Transformer Engine executes it, from that of Transformers.
namespace llmcost {

/// The implementation of cross-entropy over a vocabulary that tensor parallelism divides.
enum class vocabulary_loss : std::uint8_t {
    /// saves the exponentials of the logits in float32: 4 · tokens · vocabulary / tp bytes
    ///
    /// Source: megatron/core/tensor_parallel/cross_entropy.py, `_VocabParallelCrossEntropy.forward`;
    /// megatron/core/fusions/fused_cross_entropy.py, `_VocabParallelCrossEntropy.forward`.
    native,
    /// writes the gradient into the logits: no memory of its own
    ///
    /// Source: transformer_engine/pytorch/triton/cross_entropy.py, `cross_entropy_forward`.
    transformer_engine
};

/// How Megatron-Core executes a layer.
struct megatron_options {
    std::int64_t tensor = 1;
    std::int64_t expert = 1;
    std::int64_t expert_tensor = 1;
    bool has_sequence_parallel = false;
    bool exchanges_heads = false;  ///< context parallelism by all-to-all of heads (`--cp-comm-type a2a`)
    vocabulary_loss loss = vocabulary_loss::native;
    bool recomputes_attention = false;    ///< `--recompute-modules core_attn`
    bool recomputes_mlps = false;         ///< `--recompute-modules mlp`: dense MLPs
    bool recomputes_moe = false;          ///< `--recompute-modules moe`: router, routed and shared experts
    bool recomputes_norms = false;        ///< `--recompute-modules layernorm`: outputs of the norms before products
    bool recomputes_activations = false;  ///< `--recompute-modules moe_act`: inputs of the experts' second product
};

/// The forward pass of one tensor-parallel rank as Megatron-Core executes it. Operations become fused kernels:
///
/// - norm: saves its input, and one float32 per row (RMSNorm) or two (LayerNorm). Source:
///   transformer_engine/pytorch/module/layernorm_linear.py, `_LayerNormLinear.forward` (`inputmat, ln_out, mu,
///   rsigma`).
/// - linear layer: saves its input; backward adds the gradient of the weight to `main_grad`. With sequence parallelism
///   the input is saved divided, and gathered in forward and in backward. Source: as above; module/linear.py,
///   `_Linear.backward` (`fuse_wgrad_accumulation`).
/// - activation function of an MLP, with the product of its gate: saves the output of the linear layers only. Source:
///   megatron/core/fusions/fused_bias_swiglu.py, `SwiGLUFunction`; fused_bias_gelu.py, `GeLUFunction`.
/// - attention: saves queries, keys, values, output and the logarithms of the sums of exponentials. Source:
///   transformer_engine/pytorch/attention/dot_product_attention/backends.py, `FusedAttnFunc.forward`. If context
///   parallelism exchanges heads, the saved output is that before the exchange. Source: context_parallel.py,
///   `AttnFuncWithCPAndQKVOA2A.forward`.
/// - routed experts: tokens are copied to the ranks of their experts. Saves indices of tokens, the input of the first
///   product, its output, the router's probabilities, and the input of the second product. Tokens are evenly
///   distributed. Source: megatron/core/transformer/moe/token_dispatcher.py, `MoEAlltoAllTokenDispatcher`;
///   moe_utils.py, `permute`, `unpermute`; experts.py, `TEGroupedMLP.forward`.
/// - cross-entropy: `vocabulary_loss`.
///
/// Recomputed modules are the regions of `recompute_mode::selective` (`tape_node::attention_id`): core attention, and
/// the MLP from the output of its norm to the residual. Source: megatron/core/transformer/transformer_layer.py,
/// `_forward_mlp` (`recompute_mlp`); moe/moe_layer.py, `MoELayer.forward` (`moe_layer_recompute`).
///
/// Parameters of experts are those of the rank. `pass`: with operands; of a model with the sizes of the rank.
/// `undivided`: the pass of the same model without tensor parallelism; sequence parallelism divides the tensors that
/// have equal sizes in both.
[[nodiscard]] tape megatron_tape_of(const tape& pass, const tape& undivided, const megatron_options& options);

namespace detail {

/// Whether an operation is a product of matrices, or several.
[[nodiscard]] bool is_product(op kind);

}  // namespace detail

/// Bytes of the tensors that Transformer Engine returns as gradients of weights whose gradient is in `main_grad`: one
/// per shape of a weight, kept until the end of the run.
///
/// Source: transformer_engine/pytorch/module/base.py, `get_dummy_wgrad`.
[[nodiscard]] std::uint64_t placeholder_gradient_bytes(const tape& pass);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/megatron_tape.ipp>  // IWYU pragma: export
#endif
