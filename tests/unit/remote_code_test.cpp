// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "thrown_by.hpp"

#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "registry.hpp"

// Families that the hub's repositories bring their own code for. The reference runs none of them, so that what is known
// of them is what others say: totals of parameters, and how a file spells its keys.
namespace {

using llmcost::model;

model read_remote(const std::string& json) {
    return llmcost::parse_config(json, "config.json").read_with([](llmcost::config_view root) {
        return parts::registry.read(root);
    });
}
std::string parameters(const model& m) {
    return std::string(llmcost::count_text{llmcost::count_model(m, {}).params}.view());
}

/// What a file says that costs depend on, and the parameters that others say there are: the model's card, a count of a
/// model that was loaded, or of its checkpoint's tensors. None where no exact number is known.
struct published {
    const char* name;
    const char* json;
    std::uint64_t parameters;
    const char* source = "";
};

const published families[] = {
    {"baichuan-inc/Baichuan-7B",
     R"({"architectures": ["BaiChuanForCausalLM"], "auto_map": {"AutoConfig": "configuration_baichuan.BaiChuanConfig",
         "AutoModelForCausalLM": "modeling_baichuan.BaiChuanForCausalLM"}, "hidden_act": "silu", "hidden_size": 4096,
         "intermediate_size": 11008, "max_position_embeddings": 4096, "model_type": "baichuan", "num_attention_heads": 32,
         "num_hidden_layers": 32, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 64000})",
     7'000'559'616, "the card of baichuan-inc/Baichuan-7B"},
    {"baichuan-inc/Baichuan-13B-Base",
     R"({"architectures": ["BaichuanForCausalLM"], "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 13696,
         "model_max_length": 4096, "model_type": "baichuan", "num_attention_heads": 40, "num_hidden_layers": 40,
         "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 64000})",
     13'264'901'120, "the card of Baichuan-13B"},
    {"THUDM/chatglm3-6b",
     R"({"architectures": ["ChatGLMModel"], "auto_map": {"AutoModelForCausalLM":
         "modeling_chatglm.ChatGLMForConditionalGeneration"}, "add_bias_linear": false, "add_qkv_bias": true,
         "apply_residual_connection_post_layernorm": false, "ffn_hidden_size": 13696, "hidden_size": 4096,
         "kv_channels": 128, "model_type": "chatglm", "multi_query_attention": true, "multi_query_group_num": 2,
         "num_attention_heads": 32, "num_layers": 28, "padded_vocab_size": 65024, "post_layer_norm": true, "rmsnorm": true,
         "seq_length": 8192, "tie_word_embeddings": false, "torch_dtype": "float16"})",
     6'243'584'000, "counts of the loaded ChatGLM2 and ChatGLM3 by several projects"},
    {"deepseek-ai/deepseek-moe-16b-base",
     R"({"architectures": ["DeepseekForCausalLM"], "attention_bias": false, "first_k_dense_replace": 1, "hidden_act": "silu",
         "hidden_size": 2048, "intermediate_size": 10944, "max_position_embeddings": 4096, "model_type": "deepseek",
         "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 64, "n_shared_experts": 2,
         "norm_topk_prob": false, "num_attention_heads": 16, "num_experts_per_tok": 6, "num_hidden_layers": 28,
         "num_key_value_heads": 16, "scoring_func": "softmax", "vocab_size": 102400})",
     16'375'728'128, "the checkpoint's total, as inference benchmarks quote it"},
    {"LGAI-EXAONE/EXAONE-3.5-2.4B-Instruct",
     R"({"activation_function": "silu", "architectures": ["ExaoneForCausalLM"], "head_dim": 80, "hidden_size": 2560,
         "intermediate_size": 7168, "max_position_embeddings": 32768, "model_type": "exaone", "num_attention_heads": 32,
         "num_key_value_heads": 8, "num_layers": 30, "rope_theta": 1000000, "rope_scaling": {"factor": 8.0,
         "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"},
         "tie_word_embeddings": true, "vocab_size": 102400})",
     2'405'327'360, "remembered of the hub's page; no second record was found"},
    {"internlm/internlm2-7b",
     R"({"architectures": ["InternLM2ForCausalLM"], "bias": false, "hidden_act": "silu", "hidden_size": 4096,
         "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "internlm2", "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 8, "rope_scaling": {"factor": 1.0, "type": "dynamic"},
         "rope_theta": 1000000, "tie_word_embeddings": false, "vocab_size": 92544})",
     7'737'708'544, "counts of the loaded InternLM2 and of its checkpoint's 227 tensors"},
    {"Qwen/Qwen-7B",
     R"({"architectures": ["QWenLMHeadModel"], "hidden_size": 4096, "intermediate_size": 22016, "kv_channels": 128,
         "max_position_embeddings": 32768, "model_type": "qwen", "no_bias": true, "num_attention_heads": 32,
         "num_hidden_layers": 32, "rotary_pct": 1.0, "seq_length": 8192, "tie_word_embeddings": false,
         "use_dynamic_ntk": true, "use_logn_attn": true, "vocab_size": 151936})",
     7'721'324'544, "FLOP tables of calflops; the GGUF file of Qwen-7B-Chat"},
    {"openbmb/MiniCPM-2B-sft-bf16",
     R"({"architectures": ["MiniCPMForCausalLM"], "dim_model_base": 256, "hidden_act": "silu", "hidden_size": 2304,
         "intermediate_size": 5760, "max_position_embeddings": 4096, "model_type": "minicpm", "num_attention_heads": 36,
         "num_hidden_layers": 40, "num_key_value_heads": 36, "scale_depth": 1.4, "scale_emb": 12, "vocab_size": 122753})",
     2'724'880'896, "the count of a loaded MiniCPM; benchmarks of embeddings made from it"},
    {"01-ai/Yi-6B",
     R"({"architectures": ["YiForCausalLM"], "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 11008,
         "max_position_embeddings": 4096, "model_type": "Yi", "num_attention_heads": 32, "num_hidden_layers": 32,
         "num_key_value_heads": 4, "rope_theta": 5000000.0, "tie_word_embeddings": false, "vocab_size": 64000})",
     6'061'035'520, "the checkpoint of Yi-1.5-6B, which is as large"},
    {"internlm/internlm-7b",
     R"({"architectures": ["InternLMForCausalLM"], "bias": true, "hidden_size": 4096, "intermediate_size": 11008,
         "max_position_embeddings": 2048, "model_type": "internlm", "num_attention_heads": 32, "num_hidden_layers": 32,
         "rotary": {"base": 10000, "type": "dynamic"}, "tie_word_embeddings": false, "vocab_size": 103168})",
     0},
    {"OrionStarAI/Orion-14B-Base",
     R"({"architectures": ["OrionForCausalLM"], "attention_bias": false, "hidden_size": 5120, "intermediate_size": 15360,
         "max_position_embeddings": 4096, "model_type": "orion", "num_attention_heads": 40, "num_hidden_layers": 40,
         "num_key_value_heads": 40, "vocab_size": 84608})",
     0},
    {"Tele-AI/telechat-7B",
     R"({"architectures": ["TelechatForCausalLM"], "apply_residual_connection_post_layernorm": false,
         "embed_layernorm": false, "ffn_hidden_size": 12288, "hidden_size": 4096, "model_type": "telechat", "n_head": 32,
         "n_layer": 30, "seq_length": 8192, "tie_word_embeddings": false, "vocab_size": 160256})",
     0},
    {"xverse/XVERSE-13B",
     R"({"architectures": ["XverseForCausalLM"], "hidden_size": 5120, "intermediate_size": 13824,
         "max_position_embeddings": 8192, "model_type": "xverse", "num_attention_heads": 40, "num_hidden_layers": 40,
         "vocab_size": 100278})",
     0},
    {"BAAI/AquilaChat2-7B",
     R"({"architectures": ["AquilaForCausalLM"], "hidden_size": 4096, "intermediate_size": 11008, "model_type": "aquila",
         "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 100008})",
     0},
    {"Skywork/Skywork-13B-base",
     R"({"architectures": ["SkyworkForCausalLM"], "hidden_size": 4608, "intermediate_size": 12288, "model_type": "skywork",
         "num_attention_heads": 36, "num_hidden_layers": 52, "num_key_value_heads": 36, "vocab_size": 65519})",
     0},
    {"XiaomiMiMo/MiMo-7B-Base",
     R"({"architectures": ["MiMoForCausalLM"], "attention_bias": true, "hidden_size": 4096, "intermediate_size": 11008,
         "max_position_embeddings": 32768, "model_type": "mimo", "num_attention_heads": 32, "num_hidden_layers": 36,
         "num_key_value_heads": 8, "num_nextn_predict_layers": 1, "tie_word_embeddings": false, "vocab_size": 151680})",
     0},
    {"moonshotai/Kimi-K2-Instruct",
     R"({"architectures": ["DeepseekV3ForCausalLM"], "first_k_dense_replace": 1, "hidden_size": 7168,
         "intermediate_size": 18432, "kv_lora_rank": 512, "model_type": "kimi_k2", "moe_intermediate_size": 2048,
         "n_group": 1, "n_routed_experts": 384, "n_shared_experts": 1, "norm_topk_prob": true, "num_attention_heads": 64,
         "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 64, "num_nextn_predict_layers": 0,
         "q_lora_rank": 1536, "topk_group": 1, "vocab_size": 163840})",
     0},
    {"inclusionAI/Ling-lite",
     R"({"architectures": ["BailingMoeForCausalLM"], "hidden_size": 2048, "intermediate_size": 5632, "model_type":
         "bailing_moe", "moe_intermediate_size": 1408, "norm_head": false, "norm_topk_prob": true, "num_attention_heads": 16,
         "num_experts": 64, "num_experts_per_tok": 6, "num_hidden_layers": 28, "num_key_value_heads": 4,
         "num_shared_experts": 2, "use_bias": false, "use_qkv_bias": false, "vocab_size": 126464})",
     0},
    {"inclusionAI/Ling-mini-2.0",
     R"({"architectures": ["BailingMoeV2ForCausalLM"], "first_k_dense_replace": 1, "head_dim": 128, "hidden_size": 2048,
         "intermediate_size": 5120, "model_type": "bailing_moe_v2", "moe_intermediate_size": 512, "n_group": 8,
         "num_attention_heads": 16, "num_experts": 256, "num_experts_per_tok": 8, "num_hidden_layers": 20,
         "num_key_value_heads": 4, "num_shared_experts": 1, "partial_rotary_factor": 0.5, "topk_group": 4,
         "use_qk_norm": true, "vocab_size": 157184})",
     0},
    {"yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",
     R"({"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000, "hidden_size": 4096,
         "intermediate_size": 14336, "max_position_embeddings": 2048, "model_type": "llama", "num_attention_heads": 32,
         "num_hidden_layers": 1, "num_key_value_heads": 8, "vocab_size": 128256})",
     0},
    {"yuhuili/EAGLE-LLaMA3-Instruct-8B",
     R"({"architectures": ["EagleLlamaForCausalLM"], "bias": false, "hidden_size": 4096, "intermediate_size": 14336,
         "max_position_embeddings": 2048, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 1,
         "num_key_value_heads": 8, "vocab_size": 128256})",
     0},
    {"Medusa heads of lmsys/vicuna-7b-v1.3, in the format of FasterDecoding/Medusa",
     R"({"architectures": ["MedusaModel"], "hidden_size": 4096, "medusa_num_heads": 5, "medusa_num_layers": 1,
         "model_type": "medusa", "vocab_size": 32000})",
     0},
    {"SpecForge, configs/qwen3-8b-dflash.json",
     R"({"architectures": ["DFlashDraftModel"], "auto_map": {"AutoModel": "modeling_dflash.DFlashDraftModel"},
         "block_size": 16, "head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288, "layer_types":
         ["full_attention", "full_attention", "full_attention", "full_attention", "full_attention"],
         "max_position_embeddings": 40960, "model_type": "qwen3", "num_attention_heads": 32, "num_hidden_layers": 5,
         "num_key_value_heads": 8, "num_target_layers": 36, "sliding_window": null, "use_sliding_window": false,
         "vocab_size": 151936})",
     0},
    {"a draft head of a Qwen model of 48 layers",
     R"({"architectures": ["DFlash2DraftModel"], "auto_map": {"AutoModel": "dflash2.DFlash2DraftModel"},
         "block_size": 16, "dflash_config": {"conv_group_size": 16, "conv_kernel_size": 2, "selector_rank": 256,
         "target_layer_ids": [1, 7, 13, 20, 26, 33, 39, 46]}, "head_dim": 128, "hidden_size": 2560,
         "intermediate_size": 8704, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention",
         "sliding_attention", "sliding_attention", "full_attention"], "max_position_embeddings": 262144,
         "model_type": "qwen3", "num_attention_heads": 20, "num_hidden_layers": 6, "num_key_value_heads": 4,
         "num_target_layers": 48, "sliding_window": 4096, "use_sliding_window": true, "vocab_size": 248320})",
     695'497'216, "a count of the tensors of its file"}};

}  // namespace

TEST_CASE("families of the hub's own code have the parameters that were published") {
    for (const published& family : families) {
        CAPTURE(family.name);
        const model m = read_remote(family.json);
        CHECK(m.spec->is_remote_code);
        CHECK(llmcost::count_model(m, {.batch = 2, .sequence = 3, .past = 5}).flops() != llmcost::count{});
        CHECK((family.parameters == 0) == std::string(family.source).empty());
        CHECK((family.parameters == 0 || parameters(m) == std::to_string(family.parameters)));
    }
}

TEST_CASE("every row of the hub's own code is among them") {
    for (const llmcost::model_spec* row : parts::registry) {
        bool listed = !row->is_remote_code;
        for (const published& family : families) listed = listed || read_remote(family.json).spec == row;
        CHECK_MESSAGE(listed, std::string(row->model_type));
    }
}

TEST_CASE("a checkpoint's total has its multi-token prediction layer") {
    for (const published& family : families) {
        if (std::string(family.name) != "XiaomiMiMo/MiMo-7B-Base") continue;
        model m = read_remote(family.json);
        m.config.mtp_layers = 1;
        CHECK(parameters(m) == "7833409536");  // remembered of the hub's page; no second record was found
    }
}

TEST_CASE("files that say less or otherwise") {
    // GLM-4, by the class that its `auto_map` leads to: a loaded model has 9,399,951,392 numbers, 32 of them
    // frequencies
    const model glm = read_remote(
        R"({"architectures": ["ChatGLMForConditionalGeneration"], "add_qkv_bias": true, "ffn_hidden_size": 13696,
            "hidden_size": 4096, "kv_channels": 128, "model_type": "chatglm", "multi_query_attention": true,
            "multi_query_group_num": 2, "num_attention_heads": 32, "num_layers": 40, "padded_vocab_size": 151552})");
    CHECK(parameters(glm) == "9399951360");
    const auto refused = [](const char* json) {
        return llmcost::testing::thrown_by([&] { (void)read_remote(json); }, llmcost::errc::unsupported);
    };
    CHECK(refused(R"({"model_type": "chatglm", "inner_hidden_size": 16384, "position_encoding_2d": true})") ==
          "config.json: /model_type: the first ChatGLM (two-dimensional positions) is not supported: \"chatglm\"");
    CHECK(refused(R"({"model_type": "minicpm", "num_experts": 8})") ==
          "config.json: /num_experts: experts are not supported by this model type: 8");
    CHECK(refused(R"({"model_type": "telechat", "embed_layernorm": true})") ==
          "config.json: /embed_layernorm: unsupported position of a norm: true");

    // in a long text queries are scaled by their positions, a MULT for each of their elements
    const auto multiplications = [](const char* scales) {
        const model m =
            read_remote(std::string(R"({"model_type": "qwen", "seq_length": 64, "use_logn_attn": )") + scales + "}");
        return llmcost::count_model(m, {.sequence = 65}).mult;
    };
    CHECK(multiplications("true") == multiplications("false") + llmcost::count(32 * 65 * 4096));

    // biases by distance: one table of positions, no rotation
    const model large = read_remote(families[1].json), small = read_remote(families[0].json);
    CHECK(large.config.max_position_embeddings == 4096);
    CHECK(llmcost::count_model(large, {.sequence = 9}).trig == llmcost::count{});
    CHECK(llmcost::count_model(small, {.sequence = 9}).trig != llmcost::count{});
}
