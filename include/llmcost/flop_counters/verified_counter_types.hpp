// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Contents of `tests/golden/flop_counters.txt`, and exceptions. A test compares this file with it.
namespace llmcost {

/// Results of a counter that differ from what it prints. An empty field matches everything.
struct unverified_figure {
    std::string_view model_types;  ///< separated by spaces
    std::string_view tool;
    std::string_view attention;
    std::string_view kind_name;  ///< `meta` or `real` tensors
    std::string_view reason;
};

// clang-format off
namespace unsupported_counters {

inline constexpr std::string_view frozen = "its params exclude parameters without gradients, those of llmcost include them";
inline constexpr std::string_view forward_without_sdpa = "llmcost does not support scaled_dot_product_attention for this type";
inline constexpr std::string_view tool_fails = "the tool fails for this model";
inline constexpr std::string_view embedding_called_outside = "the embedding is called from outside of its parent module and counted twice";
inline constexpr std::string_view dead_code = "torch.jit removes operations without readers from its trace, llmcost counts them";
inline constexpr std::string_view meta_fails = "the model cannot run on meta tensors";
inline constexpr std::string_view no_sdpa = "Transformers does not support scaled_dot_product_attention for this type";
inline constexpr std::string_view needs_values = "the model needs tensors with values, and the tool was run on meta tensors";
inline constexpr std::string_view not_traced = "not traced";
inline constexpr std::string_view string_padding = "a convolution with padding given as a string is another operator in the trace, without a handle";
inline constexpr std::string_view written_out = "llmcost traces attention as separate operations, Transformers makes one call";
inline constexpr std::string_view two_equations = "two equations are counted exactly, all others with four significant digits";
inline constexpr std::string_view interpolation_in_python = "on the meta device interpolation is Python code that multiplies by a vector, which the tool aligns with the batch";
inline constexpr std::string_view shared_module = "all blocks share one activation module, whose sum is added once per block";
inline constexpr std::string_view one_node = "a torch.autograd.Function is one node of the trace, without a handle";

}  // namespace why_open

inline constexpr unverified_figure unverified_figures[]{
    {"qwen2_audio voxtral", "torchinfo", "", "", unsupported_counters::frozen},
    {"axk2 deepseek_v32 dots3_note dots3_note_text glm_moe_dsa", "flop_counter", "sdpa", "", unsupported_counters::forward_without_sdpa},
    {"axk2 deepseek_v32 dots3_note dots3_note_text glm_moe_dsa", "deepspeed", "sdpa", "", unsupported_counters::forward_without_sdpa},
    {"axk2 deepseek_v32 dots3_note dots3_note_text glm_moe_dsa", "calflops", "sdpa", "", unsupported_counters::forward_without_sdpa},
    {"axk2 deepseek_v32 dots3_note dots3_note_text glm_moe_dsa", "ptflops-aten", "sdpa", "", unsupported_counters::forward_without_sdpa},
    {"axk2 deepseek_v32 dots3_note dots3_note_text glm_moe_dsa", "ptflops", "sdpa", "", unsupported_counters::forward_without_sdpa},
    {"axk2 deepseek_v32 dots3_note dots3_note_text glm_moe_dsa", "thop", "sdpa", "", unsupported_counters::forward_without_sdpa},
    {"axk2 deepseek_v32 dots3_note dots3_note_text glm_moe_dsa", "torchinfo", "sdpa", "", unsupported_counters::forward_without_sdpa},
    {"axk2 deepseek_v32 deit dinov2_with_registers dots3_note dots3_note_text glm_moe_dsa ijepa "
     "jina_embeddings_v3 lfm2 lfm2_vl minicpmv4_6 nemo_speechlm whisper", "fvcore", "", "", unsupported_counters::tool_fails},
    {"aya_vision fast_vlm fuyu got_ocr2 kimi_k25 llama4 pp_chart2table qwen3_asr", "torchinfo", "", "", unsupported_counters::embedding_called_outside},
    {"bailing_hybrid bamba clip_vision_model cvt data2vec-vision falcon_h1 granitemoehybrid hiera "
     "inkling_text jamba kimi_linear levit lfm2_moe lfm3 mobilevit mobilevitv2 nemotron_h olmo_hybrid pvt "
     "qwen3_5 qwen3_5_moe qwen3_5_text qwen3_next recurrent_gemma swinv2 vit zamba zamba2 zaya", "fvcore", "", "meta", unsupported_counters::tool_fails},
    {"bailing_hybrid kimi_linear olmo_hybrid qwen3_5 qwen3_5_moe qwen3_5_text qwen3_next squeezebert", "fvcore", "", "real", unsupported_counters::dead_code},
    {"bart biogpt m2m_100 marian mbart", "flop_counter", "sdpa", "meta", unsupported_counters::meta_fails},
    {"bart biogpt m2m_100 marian mbart", "deepspeed", "sdpa", "meta", unsupported_counters::meta_fails},
    {"bart biogpt m2m_100 marian mbart", "calflops", "sdpa", "meta", unsupported_counters::meta_fails},
    {"bart biogpt m2m_100 marian mbart", "ptflops-aten", "sdpa", "meta", unsupported_counters::meta_fails},
    {"bart biogpt m2m_100 marian mbart", "ptflops", "sdpa", "meta", unsupported_counters::meta_fails},
    {"bart biogpt m2m_100 marian mbart", "thop", "sdpa", "meta", unsupported_counters::meta_fails},
    {"bart biogpt m2m_100 marian mbart", "torchinfo", "sdpa", "meta", unsupported_counters::meta_fails},
    {"bigbird_pegasus bit convnext convnextv2 deepseek_v4 efficientnet falcon_mamba flint fnet focalnet "
     "gemma2 gemma4 git gpt_oss granite_swa granitemoe_swa hy_v4 inkling2_text longt5 mamba mamba2 "
     "mimo_v2_flash mobilenet_v1 mobilenet_v2 musicgen musicgen_melody pegasus_x poolformer regnet resnet "
     "vaultgemma vibevoice_asr xlstm", "", "sdpa", "", unsupported_counters::no_sdpa},
    {"bit convnextv2 inkling2_text mamba2 mobilenet_v1 mobilenet_v2 regnet", "fvcore", "eager", "meta", unsupported_counters::tool_fails},
    {"blenderbot blenderbot-small florence2 pegasus plbart", "flop_counter", "sdpa", "", unsupported_counters::needs_values},
    {"blenderbot blenderbot-small florence2 pegasus plbart", "deepspeed", "sdpa", "", unsupported_counters::needs_values},
    {"blenderbot blenderbot-small florence2 pegasus plbart", "calflops", "sdpa", "", unsupported_counters::needs_values},
    {"blenderbot blenderbot-small florence2 pegasus plbart", "ptflops-aten", "sdpa", "", unsupported_counters::needs_values},
    {"blenderbot blenderbot-small florence2 pegasus plbart", "ptflops", "sdpa", "", unsupported_counters::needs_values},
    {"blenderbot blenderbot-small florence2 pegasus plbart", "thop", "sdpa", "", unsupported_counters::needs_values},
    {"blenderbot blenderbot-small florence2 pegasus plbart", "torchinfo", "sdpa", "", unsupported_counters::needs_values},
    {"convbert dbrx flaubert jetmoe longcat_flash longformer qwen2_5_vl_text qwen4_exp qwen4_exp_text "
     "reformer squeezebert xlm xlnet xmod yoso", "", "eager", "meta", unsupported_counters::meta_fails},
    {"convbert dbrx flaubert jetmoe longcat_flash longformer qwen2_5_vl_text qwen4_exp qwen4_exp_text "
     "reformer squeezebert xlm xlnet xmod yoso", "", "sdpa", "meta", unsupported_counters::meta_fails},
    {"convnext falcon_mamba focalnet hy_v4 mamba poolformer resnet", "fvcore", "eager", "", unsupported_counters::tool_fails},
    {"cvt prophetnet", "deepspeed", "", "", unsupported_counters::tool_fails},
    {"cvt prophetnet", "calflops", "", "", unsupported_counters::tool_fails},
    {"cvt", "ptflops-aten", "", "real", unsupported_counters::not_traced},
    {"dbrx deberta-v2", "flop_counter", "", "real", unsupported_counters::tool_fails},
    {"deberta-v2 ibert layoutlm luke megatron-bert openai-gpt rembert roformer tapas", "flop_counter", "", "meta", unsupported_counters::meta_fails},
    {"deberta-v2 ibert layoutlm luke megatron-bert openai-gpt rembert roformer tapas", "deepspeed", "", "meta", unsupported_counters::meta_fails},
    {"deberta-v2 ibert layoutlm luke megatron-bert openai-gpt rembert roformer tapas", "calflops", "", "meta", unsupported_counters::meta_fails},
    {"deberta-v2 ibert layoutlm luke megatron-bert openai-gpt rembert roformer tapas", "ptflops-aten", "", "meta", unsupported_counters::meta_fails},
    {"deberta-v2 ibert layoutlm luke megatron-bert openai-gpt rembert roformer tapas", "ptflops", "", "meta", unsupported_counters::meta_fails},
    {"deberta-v2 ibert layoutlm luke megatron-bert openai-gpt rembert roformer tapas", "thop", "", "meta", unsupported_counters::meta_fails},
    {"deberta-v2 ibert layoutlm luke megatron-bert openai-gpt rembert roformer tapas", "torchinfo", "", "meta", unsupported_counters::meta_fails},
    {"dots1 esm musicgen_decoder musicgen_melody_decoder neomme trocr", "", "eager", "real", unsupported_counters::tool_fails},
    {"dots1 esm musicgen_decoder musicgen_melody_decoder neomme trocr", "", "sdpa", "real", unsupported_counters::tool_fails},
    {"efficientnet", "fvcore", "eager", "", unsupported_counters::string_padding},
    {"encoder-decoder layoutlm minimax roc_bert", "fvcore", "", "", unsupported_counters::dead_code},
    {"flaubert xmod", "torchinfo", "", "real", unsupported_counters::not_traced},
    {"florence2 t5gemma2", "torchinfo", "eager", "", unsupported_counters::not_traced},
    {"funnel", "deepspeed", "", "", unsupported_counters::not_traced},
    {"funnel", "calflops", "", "", unsupported_counters::not_traced},
    {"gpt-sw3", "deepspeed", "sdpa", "", unsupported_counters::written_out},
    {"gpt-sw3", "calflops", "sdpa", "", unsupported_counters::written_out},
    {"gpt-sw3", "ptflops-aten", "sdpa", "", unsupported_counters::written_out},
    {"gpt-sw3", "ptflops", "sdpa", "", unsupported_counters::written_out},
    {"gpt-sw3", "fvcore", "sdpa", "", unsupported_counters::written_out},
    {"granite_swa granitemoe_swa", "deepspeed", "eager", "meta", unsupported_counters::not_traced},
    {"granite_swa granitemoe_swa", "calflops", "eager", "meta", unsupported_counters::not_traced},
    {"granite_swa granitemoe_swa", "ptflops", "eager", "meta", unsupported_counters::not_traced},
    {"hrm_text inkling_text kosmos-2.5", "torchinfo", "", "", unsupported_counters::not_traced},
    {"inkling2_text", "deepspeed", "eager", "", unsupported_counters::not_traced},
    {"inkling2_text", "calflops", "eager", "", unsupported_counters::not_traced},
    {"inkling2_text", "ptflops-aten", "eager", "real", unsupported_counters::not_traced},
    {"inkling2_text", "ptflops", "eager", "", unsupported_counters::not_traced},
    {"inkling2_text", "fvcore", "eager", "real", unsupported_counters::not_traced},
    {"inkling_text", "deepspeed", "", "meta", unsupported_counters::not_traced},
    {"inkling_text", "calflops", "", "meta", unsupported_counters::not_traced},
    {"inkling_text", "ptflops", "", "meta", unsupported_counters::not_traced},
    {"longformer", "deepspeed", "", "real", unsupported_counters::tool_fails},
    {"longformer", "calflops", "", "real", unsupported_counters::tool_fails},
    {"longformer", "fvcore", "", "real", unsupported_counters::two_equations},
    {"mobilevit pvt", "calflops", "", "meta", unsupported_counters::interpolation_in_python},
    {"mobilevit pvt", "ptflops", "", "meta", unsupported_counters::interpolation_in_python},
    {"musicgen musicgen_melody t5", "", "eager", "", unsupported_counters::tool_fails},
    {"mvp t5gemma2", "", "sdpa", "", unsupported_counters::forward_without_sdpa},
    {"nystromformer", "", "eager", "", unsupported_counters::needs_values},
    {"nystromformer", "", "sdpa", "", unsupported_counters::needs_values},
    {"openai-gpt", "flop_counter", "sdpa", "real", unsupported_counters::tool_fails},
    {"openai-gpt", "deepspeed", "sdpa", "real", unsupported_counters::tool_fails},
    {"openai-gpt", "calflops", "sdpa", "real", unsupported_counters::tool_fails},
    {"openai-gpt", "ptflops-aten", "sdpa", "real", unsupported_counters::tool_fails},
    {"openai-gpt", "ptflops", "sdpa", "real", unsupported_counters::tool_fails},
    {"openai-gpt", "fvcore", "sdpa", "real", unsupported_counters::tool_fails},
    {"openai-gpt", "torchinfo", "", "real", unsupported_counters::tool_fails},
    {"openai-gpt", "calflops", "eager", "real", unsupported_counters::shared_module},
    {"openai-gpt", "ptflops", "eager", "real", unsupported_counters::shared_module},
    {"ovis2", "thop", "", "", unsupported_counters::not_traced},
    {"pegasus_x", "fvcore", "eager", "", unsupported_counters::not_traced},
    {"qwen4_exp qwen4_exp_text reformer", "fvcore", "", "real", unsupported_counters::tool_fails},
    {"siglip_vision_model", "ptflops", "", "", unsupported_counters::not_traced},
    {"siglip_vision_model", "fvcore", "", "", unsupported_counters::string_padding},
    {"t5", "", "sdpa", "", unsupported_counters::tool_fails},
    {"xlnet", "deepspeed", "", "real", unsupported_counters::not_traced},
    {"xlnet", "calflops", "", "real", unsupported_counters::not_traced},
    {"xlnet", "fvcore", "", "real", unsupported_counters::not_traced},
    {"yoso", "fvcore", "", "real", unsupported_counters::one_node},
};

inline constexpr std::string_view verified_counter_types[]{
    "afmoe", "albert", "apertus", "arcee", "aria_text", "audioflamingo3", "axk1", "axk2", "aya_vision",
    "bailing_hybrid", "bamba", "bart", "beam", "bert", "bert-generation", "bigbird_pegasus", "biogpt", "bit",
    "bitnet", "blenderbot", "blenderbot-small", "bloom", "camembert", "clip_vision_model", "codegen", "cohere",
    "cohere2", "cohere2_moe", "cohere_compass", "cohere_compass_text", "convbert", "convnext", "convnextv2",
    "cpmant", "ctrl", "cvt", "cwm", "data2vec-text", "data2vec-vision", "dbrx", "deberta-v2", "deepseek_v2",
    "deepseek_v3", "deepseek_v32", "deepseek_v4", "deepseek_vl", "deepseek_vl_hybrid", "deit", "diffllama",
    "dinov2_with_registers", "distilbert", "doge", "dots1", "dots3_note", "dots3_note_text", "efficientnet",
    "electra", "emu3", "encoder-decoder", "ernie", "ernie4_5", "ernie4_5_moe", "esm", "esmc", "eurobert", "exaone4",
    "exaone_moe", "falcon", "falcon_h1", "falcon_mamba", "fast_vlm", "flaubert", "flex_olmo", "flint", "florence2",
    "fnet", "focalnet", "fsmt", "funnel", "fuyu", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n",
    "gemma3n_text", "gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_text", "git", "glm", "glm4",
    "glm4_moe", "glm4_moe_lite", "glm4v", "glm4v_moe", "glm4v_moe_text", "glm4v_text", "glm_moe_dsa", "glm_ocr",
    "glm_ocr_text", "glmasr", "got_ocr2", "gpt-sw3", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox",
    "gpt_neox_japanese", "gpt_oss", "gptj", "granite", "granite_speech", "granite_speech_plus", "granite_swa",
    "granitemoe", "granitemoe_swa", "granitemoehybrid", "granitemoeshared", "gte", "helium", "hiera", "hrm_text",
    "hunyuan_v1_dense", "hunyuan_v1_moe", "hy_v3", "hy_v4", "hyperclovax", "ibert", "idefics3", "ijepa",
    "inkling2_text", "inkling_text", "internlm3", "iquestcoder", "jais2", "jamba", "janus", "jetmoe",
    "jina_embeddings_v3", "kimi_k25", "kimi_linear", "kolibri1", "kosmos-2.5", "laguna", "layoutlm", "levit", "lfm2",
    "lfm2_moe", "lfm2_vl", "lfm3", "llama", "llama4", "llama4_text", "llava", "llava_next_video", "llava_onevision",
    "longcat_flash", "longformer", "longt5", "luke", "m2m_100", "mamba", "mamba2", "marian", "mbart",
    "megatron-bert", "mellum", "mimo_v2_flash", "minicpm3", "minicpmv4_6", "minimax", "minimax_m2",
    "minimax_m3_vl_text", "ministral", "ministral3", "mistral", "mistral3", "mixtral", "mllama", "mobilebert",
    "mobilenet_v1", "mobilenet_v2", "mobilevit", "mobilevitv2", "modernbert", "modernbert-decoder", "modernvbert",
    "moshi", "moss_transcribe_diarize", "mpnet", "mpt", "mt5", "musicflamingo", "musicgen", "musicgen_decoder",
    "musicgen_melody", "musicgen_melody_decoder", "mvp", "nanochat", "nemo_speechlm", "nemotron", "nemotron_h",
    "neomme", "nomic_bert", "nystromformer", "olmo", "olmo2", "olmo3", "olmo_hybrid", "olmoe", "openai-gpt", "opt",
    "ovis2", "paddleocr_vl", "pegasus", "pegasus_x", "persimmon", "phi", "phi3", "phi4_multimodal", "phimoe",
    "plbart", "poolformer", "pp_chart2table", "prophetnet", "pvt", "qwen2", "qwen2_5_vl", "qwen2_5_vl_text",
    "qwen2_audio", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen3", "qwen3_5", "qwen3_5_moe", "qwen3_5_moe_text",
    "qwen3_5_text", "qwen3_asr", "qwen3_moe", "qwen3_next", "qwen3_vl", "qwen3_vl_moe", "qwen3_vl_moe_text",
    "qwen3_vl_text", "qwen4_exp", "qwen4_exp_text", "recurrent_gemma", "reformer", "regnet", "rembert", "resnet",
    "roberta", "roberta-prelayernorm", "roc_bert", "roformer", "rwkv", "seamless_m4t", "seed_oss",
    "siglip_vision_model", "smollm3", "smolvlm", "solar_open", "squeezebert", "stablelm", "starcoder2", "swinv2",
    "t5", "t5gemma2", "tapas", "trocr", "ultrabert", "ultravbert", "umt5", "vaultgemma", "vibevoice_asr",
    "video_llama_3", "video_llava", "vit", "voxtral", "whisper", "xglm", "xlm", "xlm-roberta", "xlm-roberta-xl",
    "xlnet", "xlstm", "xmod", "yoso", "youtu", "zamba", "zamba2", "zaya",
};
// clang-format on

}  // namespace llmcost
