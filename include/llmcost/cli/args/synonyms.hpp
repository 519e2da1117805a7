// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/cli/args/options.hpp>

// Names of options, values and commands in other tools, and their names here.
namespace llmcost::cli {

/// Option names of other tools, and their replacements in this program.
///
/// `{}` in a replacement is the value that was given. Replacements are separated by `|`. Those whose option a command
/// has apply to it. A `note` replaces them if no option is needed.
struct option_synonym {
    std::string_view names;         ///< without leading hyphens, separated by `|`
    std::string_view replacements;  ///< `--sequence {}|--input {}`
    std::string_view note{};
};

// clang-format off
inline constexpr option_synonym option_synonyms[]{
    {"batch-size|batchsize|bs|per-device-train-batch-size|per-device-batch-size|micro-batch-size|mbs|b",       "--batch {}"},
    {"context|ctx|ctx-size|ctx-len|context-length|context-len|context-size|n-ctx|num-ctx|max-model-len|max-length|max-len|max-seq-len|max-seq-length|sequence-length|sequence-len|seqlength|seq-length|seq|length|prompt|max-context|block-len|c|s",
                                                                                                                "--sequence {}|--input {}"},
    {"input-length|input-tokens|input-size|prompt-tokens|prompt-length|prompt-len|prompt-size|prefill-tokens|random-input-len|isl|input-len",
                                                                                                                "--input {}|--sequence {}"},
    {"output-length|output-tokens|output-size|max-new-tokens|max-tokens|gen-len|generate|n-predict|decode-tokens|random-output-len|osl|output-len|new-tokens|n",
                                                                                                                "--output {}"},
    {"gpu|gpu-type|gpu-name|gpu-model|hardware|hw|accelerator|card|chip|machine|system|d",                     "--device {}"},
    {"vram|vram-size|gpu-memory|gpu-mem|gpu-vram|mem|ram|memory-limit|memory-size|max-memory|gpu-ram",         "--memory {}"},
    {"gpus|num-gpus|n-gpus|ngpu|ngpus|n-gpu|gpu-count|num-devices|world-size|nproc-per-node|num-accelerators|nodes-gpus",
                                                                                                                "--devices {}|--shards {}|--tp {}"},
    {"tensor-parallel|tensor-parallelism|tp-size|num-shard",                                                   "--tp {}|--devices {}"},
    {"pipeline-parallel|pipeline-parallelism|pp-size",                                                         "--pp {}"},
    {"data-parallel|data-parallelism|dp-size|fsdp-size|dp",                                                    "--dp {}|--shards {}"},
    {"expert-parallel|expert-parallelism|expert-parallel-size|ep-size|enable-expert-parallel",                 "--ep {}"},
    {"qps|rps|requests-per-second|request-per-second|arrival-rate|req-rate|requests-rate",                     "--rate {}"},
    {"users|num-users|concurrent-users|concurrent-requests|concurrent|clients|num-clients|parallel|num-concurrent|streams",
                                                                                                                "--concurrency {}|--batch {}"},
    {"num-requests|n-requests|request-count",                                                                  "--requests {}"},
    {"ttft|max-ttft|slo-ttft|target-ttft",                                                                     "--slo ttft={}"},
    {"tpot|itl|max-tpot|slo-tpot|target-tpot|max-itl",                                                         "--slo tpot={}"},
    {"e2e|max-latency|latency|target-latency",                                                                 "--slo e2e={}"},
    {"cost|price-per-hour|gpu-price|hourly-cost|cost-per-hour|gpu-cost|dollars|usd",                           "--price {}"},
    {"co2|emissions|carbon-intensity",                                                                         "--carbon {}"},
    {"lora|lora-rank|lora-r|rank|r|peft",                                                                      "--lora r={}|--adapter lora:r={}"},
    {"qlora",                                                                                                  "--qlora|--quantization nf4 --adapter lora:r=16"},
    {"dora",                                                                                                   "--adapter dora:r={}"},
    {"gradient-checkpointing|activation-checkpointing|checkpointing|grad-checkpointing|gradient-checkpoint|activation-checkpoint|recomputation|remat",
                                                                                                                "--recompute full"},
    {"flash-attention|flash-attn|flash-attention-2|flash-attn-2|use-flash-attn|use-flash-attention|flash|fa2|fa3|sdpa",
                                                                                                                "--attention-implementation sdpa"},
    {"attn-implementation|attn|attn-impl|attention-backend|attention",                                          "--attention-implementation {}"},
    {"bf16|bfloat16",                                                                                          "--precision bf16|--dtype bfloat16"},
    {"fp16|float16|half",                                                                                      "--precision fp16-mixed|--dtype float16"},
    {"fp32|float32",                                                                                           "--precision fp32|--dtype float32"},
    {"mixed-precision|amp|autocast",                                                                           "--precision bf16-mixed"},
    {"fp8",                                                                                                    "--quantization fp8|--precision fp8-mixed"},
    {"load-in-4bit|4bit|nf4|bnb|bitsandbytes",                                                                 "--quantization nf4"},
    {"int4|w4a16",                                                                                             "--quantization int4"},
    {"load-in-8bit|8bit|int8",                                                                                 "--quantization int8"},
    {"awq",                                                                                                    "--quantization awq"},
    {"gptq",                                                                                                   "--quantization gptq"},
    {"quant|quantize|quantized|qtype|quant-method|bits|q",                                                     "--quantization {}"},
    {"precision|torch-dtype|weight-dtype|weights-dtype|data-type|type|dtype",                                  "--dtype {}|--precision {}"},
    {"kv-dtype|kv-cache|kv-cache-type|cache-type|cache-type-k|ctk|kv-quant|kv-type",                           "--cache-dtype {}"},
    {"optim|opt|optimiser",                                                                                    "--optimizer {}"},
    {"gradient-accumulation-steps|grad-accum|grad-accumulation|accumulate|accumulation-steps",                 "--gradient-accumulation {}"},
    {"deepspeed|zero-stage|zero-optimization",                                                                 "--zero {}"},
    {"fsdp2|fully-shard",                                                                                      "--fsdp"},
    {"cpu-offload|offload-optimizer|optimizer-offload",                                                        "--offload optimizer"},
    {"train|finetune|fine-tune|training-step",                                                                 "--training"},
    {"json",                                                                                                   "--format json"},
    {"csv",                                                                                                    "--format csv"},
    {"markdown|md",                                                                                            "--format markdown"},
    {"latex|tex",                                                                                              "--format latex"},
    {"output-format|fmt|as-format",                                                                            "--format {}"},
    {"plain|no-colour|no-ansi",                                                                                "--no-color"},
    {"chart|graph|figure",                                                                                     "--plot"},
    {"model-name|model-id|model-path|repo|repo-id|hf-model|hf-repo|name|checkpoint|pretrained|m",              "--model {}"},
    {"config-file|config-path|model-config|hf-config",                                                         "--config {}"},
    {"model-type|architecture|arch",                                                                           "--as {}"},
    {"override|hf-overrides|param",                                                                            "--set {}"},
    {"framework|backend|runtime|inference-engine|serving-engine|server",                                       "--engine {}"},
    {"speculative|draft-tokens|num-draft-tokens|speculative-tokens|spec-tokens",                               "--draft {}"},
    {"chunked-prefill|prefill-chunk|chunk-size",                                                               "--chunk {}|--max-num-batched-tokens {}"},
    {"prefix-cache|cache-hit|prefix-cache-hit|cache-hit-rate|prefix-hit-rate",                                 "--prefix-hit {}"},
    {"dataset|dataset-path|dataset-name|trace-file|workload-file",                                             "--trace FILE"},
    {"no-network|local|local-files-only|local-only",                                                           "--offline"},
    {"image-size|img-size|resolution|img",                                                                     "--image {}"},
    {"num-images|n-images",                                                                                    "--images {}"},
    {"audio-length|audio-seconds|duration|seconds",                                                            "--audio {}"},
    {"layers|per-layer|by-layer|modules|breakdown|per-module",                                                 "--scopes"},
    {"parameters|weights|shapes",                                                                              "--tensors"},
    {"v",                                                                                                      "--version"},
    {"list|list-models|models|supported-models",                                                               "", "use llmcost models"},
    {"list-devices|list-gpus",                                                                                 "", "use llmcost devices"},
    {"trust-remote-code",                                                                                      "", "not needed: code of a repository is never executed"},
    {"hf-token|token|auth-token|api-key",                                                                      "", "set the environment variable HF_TOKEN"},
    {"cache-dir|download-dir|hf-home",                                                                         "", "set the environment variable HF_HOME"},
    {"flops|params|macs",                                                                                      "", "metrics have no hyphens: llmcost --model NAME flops params macs"},
};

/// Values of an option in other programs, and the value with the same meaning here.
struct value_synonym {
    std::string_view option;
    std::string_view names;  ///< in lower case, with `-` for `_`, separated by `|`
    std::string_view value;
};

// Optimizers: transformers/training_args.py, `OptimizerNames`.
inline constexpr value_synonym value_synonyms[]{
    {"--engine",    "vllm",                                       "vllm"},
    {"--engine",    "sglang",                                     "sglang"},
    {"--engine",    "trtllm|trt-llm|tensorrt-llm|tensorrtllm|trt", "trtllm"},
    {"--engine",    "llama.cpp|llama-cpp|llamacpp",               "llama.cpp"},
    {"--engine",    "transformers|hf|huggingface",                "transformers"},
    {"--engine",    "pytorch",                                    "pytorch"},
    {"--engine",    "torch",                                      "torch"},
    {"--optimizer", "adamw|adamw-torch",                          "adamw"},
    {"--optimizer", "adamw-torch-fused|adamw-fused",              "adamw:fused"},
    {"--optimizer", "adamw8bit|adamw-8bit|adamw-bnb-8bit",        "adamw8bit"},
    {"--optimizer", "adam",                                       "adam"},
    {"--optimizer", "sgd",                                        "sgd"},
    {"--precision", "bfloat16|pure-bf16",                         "bf16"},
    {"--precision", "float16|half",                               "fp16"},
    {"--precision", "float32|float",                              "fp32"},
    {"--zero",      "zero1|zero-1|stage1|stage-1",                "1"},
    {"--zero",      "zero2|zero-2|stage2|stage-2",                "2"},
    {"--zero",      "zero3|zero-3|stage3|stage-3",                "3"},
};

/// Operators in other programs, and the operator types to use.
struct operator_synonym {
    std::string_view names;  ///< in lower case, with `-` for `_`, separated by `|`
    std::string_view types;
};

inline constexpr operator_synonym operator_synonyms[]{
    {"matmul|mm|linear|dense|fc|addmm|dot",                                "gemm"},
    {"bmm|batched-matmul",                                                 "batched_gemm"},
    {"attention|attn|sdpa|flash-attention|flash-attn|paged-attention|mha", "context_attention (prefill) or generation_attention (decode)"},
    {"mla",                                                                "context_mla (prefill) or generation_mla (decode)"},
    {"allreduce|all-reduce|allgather|all-gather|reduce-scatter|alltoall|all-to-all|collective", "nccl"},
    {"rmsnorm|rms-norm|layernorm|layer-norm",                              "norm"},
    {"fused-moe|experts",                                                  "moe"},
    {"gelu|silu|relu|add|mul|residual|activation",                         "elementwise"},
};

/// A word that people use instead of a command, and what to use.
struct command_synonym {
    std::string_view names;  ///< separated by `|`
    std::string_view advice;
};

inline constexpr command_synonym command_synonyms[]{
    {"list|ls|search|list-models",                                 "llmcost models [TEXT], or llmcost devices"},
    {"gpus|gpu|hardware|list-devices|list-gpus",                   "llmcost devices"},
    {"finetune|fine-tune|finetuning|fine-tuning|lora|qlora|training", "llmcost train"},
    {"vram|mem|inference",                                         "llmcost memory"},
    {"bench|benchmark|time|speed|perf|predict|estimate",           "llmcost latency, or llmcost serve"},
    {"throughput|serving|cost|price",                              "llmcost serve"},
    {"capacity|max|can-i-run|canirun",                             "llmcost fit"},
    {"search-deployment|deploy|deployment|optimize|autotune",      "llmcost plan"},
    {"diff|vs",                                                    "llmcost compare"},
    {"info|show|summary|count|profile|describe|analyze|analyse|inspect", "llmcost --model NAME"},
    {"tree|layers|modules",                                        "llmcost --model NAME --tree"},
    {"version",                                                    "llmcost --version"},
};
// clang-format on

/// The synonym of an option name such as `--num-gpus`; null if there is none. Ignores case; `_` equals `-`.
[[nodiscard]] const option_synonym* find_option_synonym(std::string_view name);

/// `--sequence 2048` for the replacements whose option is among `rows`, separated by ` or `; empty if there is none.
///
/// Without a value, the placeholder of the option is used.
[[nodiscard]] std::string replacement_of(const option_synonym& synonym, std::span<const option_spec> rows,
                                         std::optional<std::string_view> value);

/// The value of an option for a value of another program, such as `trtllm` for `TensorRT-LLM`; otherwise `value`.
///
/// Ignores case; `_` equals `-`.
[[nodiscard]] std::string_view replace_value_synonym(std::string_view option, std::string_view value);

/// The operator types for an operator of another program, such as `gemm` for `matmul`; empty if there are none.
///
/// Ignores case; `_` equals `-`.
[[nodiscard]] std::string_view find_operator_synonym(std::string_view name);

/// The advice for a word that is used as a command; empty if there is none.
[[nodiscard]] std::string_view command_advice(std::string_view word);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/synonyms.ipp>  // IWYU pragma: export
#endif
