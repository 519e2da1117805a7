// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/latency/operator_types.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

// Tables of measurements as other laboratories publish them: whose they are, and what their columns are to our
// families.
namespace llmcost::bench {

/// An operator that a layout has a column for.
///
/// Sizes are in the family's order, over columns, words of the file's name and sizes of its model: strictly from left
/// to right, `a + b * c` is (a + b)·c.
struct measured_operator {
    std::string_view column, value;  ///< rows that have this word there; no column: all of them
    std::string_view time;           ///< the column of its time
    std::string_view family, variant, kernel;
    std::array<std::string_view, max_operator_sizes> sizes;
};

/// Tables of one kind.
struct measurement_layout {
    std::string_view file;  ///< their name; a word in braces is a column with one value
    std::string_view software, version, operand;
    double microseconds;  ///< of a time of 1
    double resolution;    ///< of the clock, in microseconds; 0: fine enough for every row
    std::string_view source, licence;
    std::span<const measured_operator> operators;
    bool mixes = false;  ///< rows that are none of them are one call of the first, prompts, and the second
};

// What these names call devices, where it is not a name of their datasheet. LLMCompass's GELU passes 1555 GB/s, the
// bandwidth of an A100 of 40 GB; Vidur's products pass the peak of an H100 PCIe and NVL; LLMServingSim's meta.yaml
// names the RTX PRO 6000 Blackwell Server Edition.
inline constexpr std::pair<std::string_view, std::string_view> device_aliases[]{
    {"NVIDIA A100 80GB PCIe", "a100_pcie_80gb"},
    {"NVIDIA A100-PCIE-40GB", "a100_pcie_40gb"},
    {"NVIDIA H100 80GB HBM3", "h100_sxm"},
    {"NVIDIA L4", "l4"},
    {"Tesla T4", "t4"},
    {"RTXPRO6000", "rtx_pro_6000_blackwell_server"},
};

/// What a file's name leaves to its model's config.json.
struct model_sizes {
    std::string_view model;
    std::array<std::pair<std::string_view, std::int64_t>, 6> sizes;
};
// clang-format off
inline constexpr model_sizes models_of_layouts[]{
    {"Llama-3.1-8B", {{{"hidden", 4096}, {"inner", 14336}, {"heads", 32}, {"kv_heads", 8}, {"head_dim", 128},
                       {"vocabulary", 128256}}}},
    {"Qwen3-30B-A3B-Instruct-2507", {{{"hidden", 2048}, {"inner", 6144}, {"heads", 32}, {"kv_heads", 4}, {"head_dim", 128},
                                      {"vocabulary", 151936}}}},
};

// NeuSight: operators of PyTorch in float32 on vector units. A name with `u` at its end has a scalar for an operand:
// kernels CUDAFunctorOnSelf_add, AUnaryFunctor<MulFunctor>, pow_tensor_scalar; divu multiplies by the reciprocal.
inline constexpr measured_operator neusight_linear[]{
    {"OPName", "linear", "Latency", "gemm", "", "torch.nn.functional.linear", {"B * M", "N", "K"}},
};
inline constexpr measured_operator neusight_products[]{
    {"OPName", "bmm", "Latency", "batched_gemm", "", "torch.bmm", {"B", "M", "N", "K"}},
};
inline constexpr measured_operator neusight_softmax[]{
    {"OPName", "softmax", "Latency", "softmax", "", "torch.softmax", {"B", "H"}},
};
inline constexpr measured_operator neusight_norm[]{
    {"OPName", "ln", "Latency", "norm", "", "torch.nn.LayerNorm", {"B", "H"}},
};
inline constexpr measured_operator neusight_elementwise[]{
    {"OPName", "add",  "Latency", "elementwise", "add",          "torch.add",  {"B", "H"}},
    {"OPName", "mul",  "Latency", "elementwise", "mul",          "torch.mul",  {"B", "H"}},
    {"OPName", "div",  "Latency", "elementwise", "div",          "torch.div",  {"B", "H"}},
    {"OPName", "pow",  "Latency", "elementwise", "power",        "torch.pow",  {"B", "H"}},
    {"OPName", "addu", "Latency", "elementwise", "add_scalar",   "torch.add",  {"B", "H"}},
    {"OPName", "mulu", "Latency", "elementwise", "mul_scalar",   "torch.mul",  {"B", "H"}},
    {"OPName", "divu", "Latency", "elementwise", "div_scalar",   "torch.div",  {"B", "H"}},
    {"OPName", "powu", "Latency", "elementwise", "power_scalar", "torch.pow",  {"B", "H"}},
    {"OPName", "relu", "Latency", "elementwise", "relu",         "torch.relu", {"B", "H"}},
    {"OPName", "gelu", "Latency", "elementwise", "gelu",         "torch.nn.GELU", {"B", "H"}},
    {"OPName", "tanh", "Latency", "elementwise", "tanh",         "torch.tanh", {"B", "H"}},
};

// Vidur: medians of kernels in a decoder layer of Sarathi-Serve, rows of tokens, layers split by n devices. Rotation is
// in place, of queries and keys. With more than one device an embedding masks what others hold: several kernels. Of
// projections tables in bfloat16 have a hundred times as many shapes on the same devices: they are left to those.
inline constexpr measured_operator vidur_layer[]{
    {"", "", "input_layernorm_ms", "norm", "", "rms_norm", {"num_tokens", "n_embd"}},
    {"", "", "post_attention_layernorm_ms", "norm", "", "rms_norm", {"num_tokens", "n_embd"}},
    {"", "", "attn_rope_ms", "elementwise", "rotary", "rotary_embedding",
     {"num_tokens", "n_head + n_kv_head * n_embd / n_head / num_tensor_parallel_workers"}},
    {"", "", "mlp_act_ms", "elementwise", "silu_mul", "silu_and_mul",
     {"num_tokens", "n_expanded_embd / num_tensor_parallel_workers"}},
    {"", "", "add_ms", "elementwise", "add", "torch.add", {"num_tokens", "n_embd"}},
    {"num_tensor_parallel_workers", "1", "emb_ms", "elementwise", "gather", "torch.nn.functional.embedding",
     {"num_tokens", "n_embd"}},
};

// LLMServingSim: kernel times of vLLM's layers, of one layer again and again. `layernorm` and `qk_norm` are left out:
// each is the mean of two kernels that move different bytes (with and without a residual sum; queries and keys). The
// last norm always has a sum before it. Products of Qwen3's layer are left out. Its 38 MB of weights stay in a cache
// of 128 MB from run to run (2.2 TB/s of 1.8), as those of a complete model do not.
inline constexpr measured_operator llmservingsim_layer[]{
    {"layer", "act_fn", "time_us", "elementwise", "silu_mul", "SiluAndMul", {"tokens", "inner"}},
    {"layer", "rotary_emb", "time_us", "elementwise", "rotary", "RotaryEmbedding",
     {"tokens", "heads + kv_heads * head_dim"}},
    {"layer", "embedding", "time_us", "elementwise", "gather", "VocabParallelEmbedding", {"tokens", "hidden"}},
    {"layer", "final_layernorm", "time_us", "elementwise", "add_norm", "RMSNorm", {"tokens", "hidden"}},
    {"layer", "qkv_proj", "time_us", "gemm", "", "torch.nn.functional.linear",
     {"tokens", "2 * kv_heads + heads * head_dim", "hidden"}},
    {"layer", "o_proj", "time_us", "gemm", "", "torch.nn.functional.linear", {"tokens", "hidden", "heads * head_dim"}},
    {"layer", "gate_up_proj", "time_us", "gemm", "", "torch.nn.functional.linear", {"tokens", "2 * inner", "hidden"}},
    {"layer", "down_proj", "time_us", "gemm", "", "torch.nn.functional.linear", {"tokens", "hidden", "inner"}},
};
inline constexpr measured_operator llmservingsim_head[]{
    {"layer", "lm_head", "time_us", "gemm", "", "torch.nn.functional.linear", {"sequences", "vocabulary", "hidden"}},
};
// Attention of one prompt's new tokens after its cached ones, and of sequences that decode; rows of both in one step
// are left out.
inline constexpr measured_operator llmservingsim_attention[]{
    {"n_decode", "0", "time_us", "context_attention", "bfloat16", "Attention",
     {"1", "prefill_chunk", "heads", "kv_heads", "head_dim", "0", "kv_prefill"}},
    {"prefill_chunk", "0", "time_us", "generation_attention", "bfloat16", "Attention",
     {"n_decode", "kv_decode", "heads", "kv_heads", "head_dim", "0", ""}},
};

// LLMCompass: PyTorch in float16, the host's launch included. Its GELU has one row of many elements, which are rows
// here: a map has no rows, and one site takes them all.
inline constexpr measured_operator llmcompass_softmax[]{
    {"", "", "latency_us", "softmax", "", "torch.softmax", {"rows", "cols"}},
};
inline constexpr measured_operator llmcompass_norm[]{
    {"", "", "latency_us", "norm", "", "torch.nn.LayerNorm", {"rows", "cols"}},
};
inline constexpr measured_operator llmcompass_gelu[]{
    {"", "", "latency_us", "elementwise", "gelu", "torch.nn.GELU", {"rows * cols", "1"}},
};

inline constexpr std::string_view neusight_source = "sitar-lab/NeuSight @6945927d", vidur_source = "microsoft/vidur @7d475133",
                                  llmservingsim_source = "casys-kaist/LLMServingSim @5daddb21",
                                  llmcompass_source = "PrincetonUniversity/LLMCompass @2e015fd2";
inline constexpr measurement_layout layouts[]{
    {"test_linear_fp32.csv",  "torch", "neusight", "float32", 1000, 0, neusight_source, "MIT", neusight_linear},
    {"test_bmm_fp32.csv",     "torch", "neusight", "float32", 1000, 0, neusight_source, "MIT", neusight_products},
    {"test_softmax_fp32.csv", "torch", "neusight", "float32", 1000, 0, neusight_source, "MIT", neusight_softmax},
    {"test_ln_fp32.csv",      "torch", "neusight", "float32", 1000, 0, neusight_source, "MIT", neusight_norm},
    {"test_elem_fp32.csv",    "torch", "neusight", "float32", 1000, 0, neusight_source, "MIT", neusight_elementwise},
    {"{Device}__{model}__mlp_median.csv", "sarathi", "vidur", "float16", 1000, 1, vidur_source, "MIT", vidur_layer},
    {"{Device}__Qwen3-30B-A3B-Instruct-2507__dense.csv", "vllm", "0.19.0", "bfloat16", 1, 0, llmservingsim_source, "MIT",
     std::span(llmservingsim_layer).first(4)},
    {"{Device}__Llama-3.1-8B__dense.csv", "vllm", "0.19.0", "bfloat16", 1, 0, llmservingsim_source, "MIT", llmservingsim_layer},
    {"{Device}__{model}__attention.csv", "vllm", "0.19.0", "bfloat16", 1, 0, llmservingsim_source, "MIT", llmservingsim_attention,
     true},
    {"{Device}__{model}__per_sequence.csv", "vllm", "0.19.0", "bfloat16", 1, 0, llmservingsim_source, "MIT",
     llmservingsim_head},
    {"softmax_{Device}.csv",   "eager", "llmcompass", "float16", 1, 0, llmcompass_source, "BSD-3-Clause", llmcompass_softmax},
    {"layernorm_{Device}.csv", "eager", "llmcompass", "float16", 1, 0, llmcompass_source, "BSD-3-Clause", llmcompass_norm},
    {"gelu_{Device}.csv",      "eager", "llmcompass", "float16", 1, 0, llmcompass_source, "BSD-3-Clause", llmcompass_gelu},
};
// clang-format on

}  // namespace llmcost::bench
