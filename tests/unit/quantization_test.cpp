// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/read_quantization.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "registry.hpp"

using namespace llmcost;

namespace {

/// A configuration with this plan.
std::string with_plan(std::string_view keys, std::string_view plan) {
    return '{' + std::string(keys) + ",\"quantization_config\":" + std::string(plan) + '}';
}
stored_weights stored(const std::string& text, dtype default_type = dtype::unspecified) {
    const config_document file = parse_config(text, "x.json");
    return file.read_with([&](config_view root) {
        return quantized_weights(parts::registry.read(root), parse_quantization(root), default_type);
    });
}
stored_weights stored(std::string_view keys, std::string_view plan) { return stored(with_plan(keys, plan)); }
std::string refusal_of_plan(std::string_view plan) {
    try {
        const config_document file = parse_config("{\"quantization_config\":" + std::string(plan) + '}', "x.json");
        (void)file.read_with([](config_view root) { return parse_quantization(root); });
    } catch (const error& problem) {
        return problem.what();
    }
    return "accepted";
}
const weight_bytes_row* row_of(const stored_weights& all, std::string_view name) {
    const auto found = std::ranges::find(all.rows, name, &weight_bytes_row::name);
    return found == all.rows.end() ? nullptr : &*found;
}
bool is_near(std::uint64_t ours, std::uint64_t published) {
    const auto a = static_cast<double>(ours), b = static_cast<double>(published);
    return a > b * 0.997 && a < b * 1.003;
}

constexpr std::string_view tiny_llama_keys =
    R"("architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":192,"intermediate_size":352,)"
    R"("num_hidden_layers":2,"num_attention_heads":6,"num_key_value_heads":2,"vocab_size":300,)"
    R"("tie_word_embeddings":false,"torch_dtype":"bfloat16")";
constexpr std::string_view llama_8b_keys =
    R"("architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":4096,"intermediate_size":14336,)"
    R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256,)"
    R"("tie_word_embeddings":false,"torch_dtype":"bfloat16")";
constexpr std::string_view llama_70b_keys =
    R"("architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":8192,"intermediate_size":28672,)"
    R"("num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"vocab_size":128256,)"
    R"("tie_word_embeddings":false,"torch_dtype":"bfloat16")";
constexpr std::string_view gpt_oss_keys =
    R"("architectures":["GptOssForCausalLM"],"model_type":"gpt_oss","head_dim":64,"hidden_size":2880,)"
    R"("intermediate_size":2880,"num_attention_heads":64,"num_key_value_heads":8,"num_experts_per_tok":4,)"
    R"("sliding_window":128,"vocab_size":201088,"tie_word_embeddings":false,"attention_bias":true)";
constexpr std::string_view mxfp4_plan =
    R"({"quant_method":"mxfp4","modules_to_not_convert":["model.layers.*.self_attn","model.layers.*.mlp.router",)"
    R"("model.embed_tokens","lm_head"]})";
constexpr std::string_view deepseek_v3_keys =
    R"("architectures":["DeepseekV3ForCausalLM"],"model_type":"deepseek_v3","hidden_size":7168,)"
    R"("intermediate_size":18432,"moe_intermediate_size":2048,"num_hidden_layers":61,"num_attention_heads":128,)"
    R"("num_key_value_heads":128,"n_routed_experts":256,"n_shared_experts":1,"num_experts_per_tok":8,"n_group":8,)"
    R"("topk_group":4,"first_k_dense_replace":3,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,)"
    R"("qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":129280,"tie_word_embeddings":false,)"
    R"("torch_dtype":"bfloat16")";
constexpr std::string_view blocks_of_128 =
    R"({"quant_method":"fp8","activation_scheme":"dynamic","fmt":"e4m3","weight_block_size":[128,128]})";
constexpr std::string_view tiny_experts_keys =
    R"("architectures":["Qwen3MoeForCausalLM"],"model_type":"qwen3_moe","hidden_size":256,"intermediate_size":512,)"
    R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":64,"vocab_size":300,)"
    R"("num_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":128,"mlp_only_layers":[1],)"
    R"("decoder_sparse_step":1,"torch_dtype":"bfloat16")";

/// Weights and what else a group of compressed-tensors says.
std::string compressed(std::string_view format, std::string_view weights, std::string_view inputs = "null",
                       std::string_view ignore = R"("lm_head")", std::string_view targets = R"("Linear")") {
    return std::string(R"({"quant_method":"compressed-tensors","format":")") + std::string(format) +
           R"(","quantization_status":"compressed","ignore":[)" + std::string(ignore) +
           R"(],"config_groups":{"group_0":{"targets":[)" + std::string(targets) + R"(],"weights":)" +
           std::string(weights) + R"(,"input_activations":)" + std::string(inputs) + R"(,"output_activations":null}}})";
}
std::string torchao(std::string_view type, std::string_view data) {
    return std::string(R"({"quant_method":"torchao","quant_type":{"default":{"_type":")") + std::string(type) +
           R"(","_version":2,"_data":{)" + std::string(data) + "}}}}";
}

}  // namespace

TEST_CASE("gpt-oss takes what its checkpoints take") {
    // `total_size` of model.safetensors.index.json, openai/gpt-oss-20b and openai/gpt-oss-120b
    const stored_weights small =
        stored(std::string(gpt_oss_keys) + R"(,"num_hidden_layers":24,"num_local_experts":32)", mxfp4_plan);
    CHECK(small.bytes == 13761264768);
    CHECK(small.unmatched.empty());
    CHECK(row_of(small, "model.layers.0.mlp.experts.gate_up_proj_blocks")->format == "uint8");
    CHECK(row_of(small, "model.layers.0.mlp.experts.gate_up_proj_scales")->elements == 0);
    CHECK(row_of(small, "model.layers.0.mlp.experts.down_proj_bias")->format == "bfloat16");
    const stored_weights large =
        stored(std::string(gpt_oss_keys) + R"(,"num_hidden_layers":36,"num_local_experts":128)", mxfp4_plan);
    CHECK(large.bytes == 65248815744);
    CHECK(large.quantized_fraction() > 0.98);
}

TEST_CASE("DeepSeek-V3 takes what its checkpoint takes") {
    const stored_weights all = stored(deepseek_v3_keys, blocks_of_128);
    // Elements by type of deepseek-ai/DeepSeek-V3, as the hub counts them (expand[]=safetensors):
    constexpr std::uint64_t fp8 = 680571043840, f32 = 41555600, bf16 = 3918786560;
    // The checkpoint has a 62nd layer for the token after next (README_WEIGHTS.md). It is like the 61st, with
    // embeddings at both ends, a product of both streams and three norms. Biases of routers are no parameters here.
    std::uint64_t last_fp8 = 0, last_f32 = 0, last_bf16 = 0;
    for (const weight_bytes_row& row : all.rows) {
        if (!row.name.starts_with("model.layers.60.")) continue;
        last_fp8 += row.format == "float8_e4m3fn" ? row.bytes : 0;
        last_f32 += row.format == "float32" ? row.bytes : 0;
        last_bf16 += row.format == "bfloat16" ? row.bytes : 0;
    }
    CHECK(all.bytes_of("float8_e4m3fn") + last_fp8 == fp8);
    CHECK((all.bytes_of("float32") + last_f32) / 4 + 59 * 256 == f32);
    constexpr std::uint64_t ends = 2 * 129280ULL * 7168, product = 7168ULL * 2 * 7168, norms = 3 * 7168;
    CHECK((all.bytes_of("bfloat16") + last_bf16) / 2 + ends + product + norms == bf16);
    CHECK(row_of(all, "model.layers.0.self_attn.kv_a_proj_with_mqa.weight_scale_inv")->bytes == 5 * 56 * 4);
    CHECK(row_of(all, "lm_head.weight")->format == "bfloat16");
}

TEST_CASE("checkpoints of Llama take what they take") {
    // `total_size` of hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4
    CHECK(
        stored(llama_70b_keys, R"({"quant_method":"awq","bits":4,"group_size":128,"version":"gemm","zero_point":true})")
            .bytes == 39767785472);
    // sums of `data_offsets` in the headers of RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic,
    // nvidia/Llama-3.3-70B-Instruct-FP4, RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16 and
    // RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16, as a reader of them published them
    CHECK(stored(llama_8b_keys,
                 compressed("float-quantized", R"({"num_bits":8,"type":"float","strategy":"channel","symmetric":true})",
                            R"({"num_bits":8,"type":"float","strategy":"token","dynamic":true})"))
              .bytes == 9083953152);
    CHECK(stored(llama_70b_keys,
                 R"({"quant_method":"modelopt","quant_algo":"NVFP4","group_size":16,"ignore":["lm_head"]})")
              .bytes == 42709045632);
    CHECK(is_near(
        stored(llama_70b_keys,
               compressed("pack-quantized", R"({"num_bits":4,"type":"int","strategy":"group","group_size":128})"))
            .bytes,
        39525311232));
    // this one is AutoGPTQ's, with a bias of zeros for each output of seven layers in 32 blocks
    constexpr std::uint64_t zeros = 32 * 2 * (4096 + 1024 + 1024 + 4096 + 14336 + 14336 + 4096);
    CHECK(
        stored(llama_8b_keys, R"({"quant_method":"gptq","bits":4,"group_size":128,"desc_act":true,"sym":true})").bytes +
            zeros ==
        5735587840);
}

TEST_CASE("layouts of compressed-tensors are those that the library writes") {
    // bytes of the state of a tiny Llama after `compress_model` of compressed-tensors 0.20.0
    struct expected {
        std::string plan;
        std::uint64_t bytes, bf16;
    };
    const auto integers = [](std::string_view rest) { return R"({"type":"int",)" + std::string(rest) + '}'; };
    const auto floats = [](std::string_view rest) { return R"({"type":"float",)" + std::string(rest) + '}'; };
    const std::string tokens = floats(R"("num_bits":8,"strategy":"token","dynamic":true)");
    const std::string groups_of_32 = R"("num_bits":4,"strategy":"group","group_size":32)";
    const std::string nv = R"("num_bits":4,"strategy":"tensor_group","group_size":16)";
    const expected cases[]{
        {compressed("pack-quantized", integers(groups_of_32)), 571232, 269952},
        {compressed("pack-quantized", integers(groups_of_32 + R"(,"symmetric":false)")), 580640, 269952},
        {compressed("pack-quantized", integers(R"("num_bits":4,"strategy":"channel")")), 539232, 237952},
        {compressed("pack-quantized", integers(R"("num_bits":3,"strategy":"group","group_size":32)")), 495968, 269952},
        {compressed("int-quantized", integers(R"("num_bits":8,"strategy":"channel")"), tokens), 840064, 237952},
        {compressed("float-quantized", floats(R"("num_bits":8,"strategy":"channel")"), tokens), 840064, 237952},
        {compressed("float-quantized", floats(R"("num_bits":8,"strategy":"tensor")"),
                    floats(R"("num_bits":8,"strategy":"tensor","dynamic":false)")),
         834488, 232376},
        {compressed("float-quantized", floats(R"("num_bits":8,"strategy":"block","block_structure":[32,32])"), tokens),
         835608, 233496},
        {compressed("nvfp4-pack-quantized", floats(nv), floats(nv + R"(,"dynamic":"local")")), 571120, 232320},
        {compressed("nvfp4-pack-quantized", floats(nv)), 571064, 232320},
        {compressed("mxfp4-pack-quantized", floats(groups_of_32)), 552192, 232320},
        {compressed("mxfp8-quantized", floats(R"("num_bits":8,"strategy":"group","group_size":32)")), 853248, 232320},
        {compressed("pack-quantized", integers(R"("num_bits":8,"strategy":"channel")"), "null",
                    R"("lm_head","re:.*self_attn.*")", R"("re:.*(q|k|down)_proj$")"),
         1302176, 1166976},
        {compressed("pack-quantized", integers(groups_of_32), "null", R"("lm_head")", R"("Linear","Embedding")"),
         488448, 158352},
    };
    for (const expected& one : cases) {
        CAPTURE(one.plan);
        const stored_weights all = stored(tiny_llama_keys, one.plan);
        CHECK(all.bytes == one.bytes);
        CHECK(all.bytes_of("bfloat16") == one.bf16);
        CHECK(all.elements == 718272);
    }
    // Kimi-K2.5's list: experts are layers of their own, and attention, shared experts and dense layers stay
    const stored_weights experts = stored(
        tiny_experts_keys, compressed("pack-quantized", integers(groups_of_32), "null",
                                      R"("lm_head","re:.*self_attn.*","re:.*mlp\\.(gate|up|gate_up|down)_proj.*")"));
    CHECK(experts.quantized == 3 * 4 * 256 * 128);
    CHECK(row_of(experts, "model.layers.0.mlp.experts.gate_up_proj_packed")->bytes == 4 * 2 * 128 * 256 / 2);
    CHECK(row_of(experts, "model.layers.0.mlp.experts.gate_up_proj_shape")->bytes == 4 * 2 * 2 * 8);
}

TEST_CASE("layouts of bitsandbytes and torchao are those that the libraries write") {
    // bytes of the state of a tiny Llama after bitsandbytes 0.50.2 and torchao 0.18.0 (`flatten_tensor_state_dict`); of
    // the former without `quant_state`, a text of 2378 and 1116 bytes
    CHECK(stored(tiny_llama_keys, R"({"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4",)"
                                  R"("bnb_4bit_use_double_quant":true})")
              .bytes == 560578 - 2378);
    CHECK(
        stored(tiny_llama_keys, R"({"quant_method":"bitsandbytes","load_in_4bit":true,"load_in_8bit":false})").bytes ==
        573020 - 1116);
    CHECK(stored(tiny_llama_keys, R"({"load_in_8bit":true})").bytes == 845710);
    const std::string row = R"("granularity":{"_type":"PerRow","_version":1,"_data":{"dim":-1}})";
    const std::string per_tensor = R"("granularity":{"_type":"PerTensor","_version":1,"_data":{}})";
    const std::string group = R"("granularity":{"_type":"PerGroup","_version":1,"_data":{"group_size":32}})";
    CHECK(stored(tiny_llama_keys, torchao("Int8WeightOnlyConfig", row)).bytes == 848512);
    CHECK(stored(tiny_llama_keys, torchao("Int8WeightOnlyConfig", per_tensor)).bytes == 834502);
    CHECK(stored(tiny_llama_keys, torchao("Int8WeightOnlyConfig", group)).bytes == 928512);
    CHECK(stored(tiny_llama_keys, torchao("Float8WeightOnlyConfig", row)).bytes == 845696);
    CHECK(stored(tiny_llama_keys, torchao("Float8WeightOnlyConfig", per_tensor)).bytes == 834488);
    // no weight has inputs in whole groups of 128
    CHECK(stored(tiny_llama_keys, torchao("Int4WeightOnlyConfig", R"("group_size":128)")).bytes == 1436544);
}

TEST_CASE("layouts of MLX are those that MLX writes") {
    // bytes of the parameters of a tiny Llama after `nn.quantize` of mlx 0.32.4 in bfloat16
    struct expected {
        std::string_view plan;
        std::uint64_t bytes;
    };
    constexpr expected cases[]{
        {R"({"group_size":64,"bits":4})", 599712},
        {R"({"group_size":64,"bits":8})", 890784},
        {R"({"group_size":64,"bits":2})", 454176},
        {R"({"group_size":32,"bits":3,"mode":"affine"})", 360576},
        {R"({"group_size":32,"bits":5,"mode":"affine"})", 539904},
        {R"({"group_size":32,"bits":6,"mode":"affine"})", 629568},
        {R"({"group_size":32,"bits":4,"mode":"mxfp4"})", 382992},
        {R"({"group_size":32,"bits":8,"mode":"mxfp8"})", 741648},
        {R"({"group_size":16,"bits":4,"mode":"nvfp4"})", 405408},
        {R"({"group_size":32,"bits":4,"model.layers.0.mlp.down_proj":{"bits":8,"group_size":32},"lm_head":false})",
         563232},
    };
    for (const expected& one : cases) {
        CAPTURE(one.plan);
        CHECK(stored(tiny_llama_keys, one.plan).bytes == one.bytes);
        // files of before 2025 have this key only, later ones both
        const std::string keys = '{' + std::string(tiny_llama_keys) + R"(,"quantization":)" + std::string(one.plan);
        CHECK(stored(keys + '}').bytes == one.bytes);
        CHECK(stored(keys + R"(,"quantization_config":)" + std::string(one.plan) + '}').bytes == one.bytes);
    }
    // one module for a projection of all experts, and encoders stay unquantized
    const stored_weights experts =
        stored(tiny_experts_keys,
               R"({"group_size":64,"bits":4,"model.layers.0.mlp.switch_mlp.gate_proj":{"group_size":64,"bits":4},)"
               R"("model.layers.0.mlp.gate":{"group_size":64,"bits":8}})");
    CHECK(experts.unmatched.empty());
    CHECK(row_of(experts, "model.layers.0.mlp.gate.weight")->bytes == 4 * 256);
    CHECK(row_of(experts, "model.layers.0.mlp.experts.gate_up_proj")->bytes == 4 * 2 * 128 * 256 / 2);
}

TEST_CASE("ModelOpt is recognized without quant_method, and may have an algorithm per layer") {
    const std::uint64_t fp8 =
        stored(tiny_llama_keys, R"({"quant_method":"modelopt","quant_algo":"FP8","ignore":["lm_head"]})").bytes;
    CHECK(fp8 < 1436544);
    for (const std::string_view plan :
         {R"({"quant_algo":"FP8","ignore":["lm_head"],"producer":{"name":"modelopt","version":"0.31.0"}})",
          R"({"producer":{"name":"modelopt"},"quantization":{"quant_algo":"FP8","kv_cache_quant_algo":"FP8",)"
          R"("exclude_modules":["lm_head"]}})"})
        CHECK(stored(tiny_llama_keys, plan).bytes == fp8);
    const stored_weights mixed =
        stored(tiny_llama_keys,
               R"({"quant_algo":"MIXED_PRECISION","quantized_layers":{"model.layers.0.self_attn.q_proj":)"
               R"({"quant_algo":"FP8"},"model.layers.0.mlp.down_proj":{"quant_algo":"NVFP4","group_size":16}}})");
    CHECK(mixed.quantized == 192 * 192 + 192 * 352);
    // a byte per value and two scales; half a byte per value, a byte per 16 values and two scales
    CHECK(mixed.bytes == 1436544 - 192 * 192 + 8 - 2 * 192 * 352 + 192 * 352 / 2 + 192 * 352 / 16 + 8);
    const auto experts = [](std::string_view layers) {
        return stored(tiny_experts_keys,
                      R"({"quant_algo":"MIXED_PRECISION","quantized_layers":)" + std::string(layers) + '}');
    };
    const std::uint64_t of_experts = 4 * 3 * 128 * 256;
    CHECK(experts(R"({"model.layers.0.mlp.experts":{"quant_algo":"NVFP4"}})").quantized == of_experts);
    std::string all_matrices;
    for (const char expert : {'0', '1', '2', '3'})
        for (const char* name : {"gate_proj", "up_proj", "down_proj"})
            all_matrices += (all_matrices.empty() ? "{\"" : ",\"") + std::string("model.layers.0.mlp.experts.") +
                            expert + '.' + name + R"(":{"quant_algo":"NVFP4"})";
    const stored_weights separate = experts(all_matrices + '}');
    CHECK(separate.quantized == of_experts);
    CHECK(separate.unmatched.empty());
}

TEST_CASE("the type of experts may stand next to the sizes of the model") {
    const std::string block = R"({"quant_method":"fp8","weight_block_size":[128,128]})";
    CHECK(
        stored(std::string(tiny_experts_keys) + R"(,"tie_word_embeddings":false,"expert_dtype":"fp4")", block).bytes ==
        1344704);
    CHECK(
        stored(std::string(tiny_experts_keys) + R"(,"tie_word_embeddings":false,"expert_dtype":"fp8")", block).bytes ==
        1492256);
}

TEST_CASE("fp8 is where the reference's converter puts it") {
    // bytes of the parameters of a tiny Qwen3-MoE after `replace_with_fp8_linear` of Transformers 5.23.0
    const auto bytes = [](std::string_view rest, std::string_view tied = "false") {
        return stored(std::string(tiny_experts_keys) + R"(,"tie_word_embeddings":)" + std::string(tied),
                      R"({"quant_method":"fp8")" + std::string(rest) + '}')
            .bytes;
    };
    const std::string block = R"(,"weight_block_size":[128,128])", small = R"(,"weight_block_size":[64,32])";
    CHECK(bytes(block) == 1492256);
    CHECK(bytes(block, "true") == 1338656);
    CHECK(bytes(small + R"(,"modules_to_not_convert":["model.layers.0.mlp","self_attn.q_proj","lm_head"])") == 2017536);
    CHECK(bytes(small + R"(,"ignored_layers":["model.layers.*.self_attn","gate"])") == 1810080);
    CHECK(bytes(block + R"(,"scale_fmt":"ue8m0")") == 1492040);
    CHECK(bytes(block + R"(,"expert_dtype":"fp4")") == 1344704);
    CHECK(bytes(R"(,"weight_block_size":null)") == 1492060);
    // the reference has one scale for what goes into both halves of an expert, a checkpoint one for each: four more
    CHECK(bytes(block + R"(,"activation_scheme":"static")") == 1492332 + 4 * 4);
}

TEST_CASE("a model without a plan stays as it is") {
    const stored_weights all = stored('{' + std::string(tiny_llama_keys) + '}');
    CHECK(all.bytes == 1436544);
    CHECK(all.quantized == 0);
    CHECK(all.quantized_fraction() == 0);
    CHECK(stored('{' + std::string(tiny_llama_keys) + '}', dtype::float32).bytes == 2 * 1436544);
    CHECK(refusal_of_plan("null") == "accepted");
    // online, BitNet keeps every weight
    CHECK(stored(tiny_llama_keys,
                 R"({"quant_method":"bitnet","linear_class":"autobitlinear","quantization_mode":"online"})")
              .bytes == 1436544);
}

TEST_CASE("words that name nothing are told") {
    const stored_weights all = stored(
        tiny_llama_keys, R"({"quant_method":"fp8","modules_to_not_convert":["lm_head","model.visual","mlp.gate"]})");
    CHECK(all.unmatched == std::vector<std::string>{"model.visual", "mlp.gate"});
    CHECK(row_of(all, "lm_head.weight")->format == "bfloat16");
}

TEST_CASE("lists may use the names that models had before their text was a part of them") {
    const auto names = detail::names_of_module("model.language_model.layers.0.mlp");
    CHECK(std::ranges::find(names, "model.layers.0.mlp") != names.end());
    CHECK(std::ranges::find(names, "language_model.model.layers.0.mlp") != names.end());
    CHECK(detail::names_of_module("model.visual.blocks.0.mlp").back() == "visual.blocks.0.mlp");
    CHECK(detail::names_of_module("lm_head").size() == 1);
}

TEST_CASE("blocks may be larger than a weight") {
    const stored_weights all =
        stored(tiny_llama_keys, R"({"quant_method":"fp8","weight_block_size":[100000,2147483647]})");
    CHECK(row_of(all, "model.layers.0.self_attn.q_proj.weight_scale_inv")->bytes == 4);
    const stored_weights groups =
        stored(tiny_llama_keys, R"({"quant_method":"gptq","bits":8,"group_size":2147483647})");
    CHECK(row_of(groups, "model.layers.0.self_attn.q_proj.scales")->bytes == 192 * 2);
}

TEST_CASE("what is no plan is refused with its place") {
    const auto check_refusal = [](std::string_view plan, std::string_view part) {
        const std::string message = refusal_of_plan(plan);
        CAPTURE(message);
        CHECK(message.find(part) != std::string::npos);
    };
    check_refusal("3", "/quantization_config: expected an object");
    check_refusal("{}", "/quantization_config/quant_method: missing");
    check_refusal(R"({"quant_method":"aqlm"})", "/quantization_config/quant_method: unsupported method");
    check_refusal(R"({"quant_method":"gptq"})", "/quantization_config/bits: missing");
    check_refusal(R"({"quant_method":"gptq","bits":-4})",
                  "/quantization_config/bits: expected a positive integer, found -4");
    check_refusal(R"({"quant_method":"gptq","bits":5})", "/quantization_config/bits: expected 2, 3, 4 or 8, found 5");
    check_refusal(R"({"quant_method":"gptq","bits":4,"group_size":0})",
                  "/quantization_config/group_size: expected a positive integer");
    check_refusal(R"({"quant_method":"awq","group_size":-2})", "/quantization_config/group_size");
    check_refusal(R"({"quant_method":"awq","version":"gemv"})", "/quantization_config/version: unsupported format");
    check_refusal(R"({"quant_method":"gptq","bits":4,"checkpoint_format":"marlin"})",
                  "/quantization_config/checkpoint_format");
    check_refusal(R"({"quant_method":"gptq","bits":4,"dynamic":{"+:.*":{"bits":8}}})",
                  "/quantization_config/dynamic/+:.*");
    check_refusal(R"({"quant_method":"fp8","weight_block_size":[128]})", "/quantization_config/weight_block_size");
    check_refusal(R"({"quant_method":"fp8","weight_block_size":[0,128]})", "/quantization_config/weight_block_size/0");
    check_refusal(R"({"quant_method":"fp8","modules_to_not_convert":["a","(b"]})",
                  "/quantization_config/modules_to_not_convert/1");
    check_refusal(R"({"quant_method":"fp8","modules_to_not_convert":[1]})",
                  "/quantization_config/modules_to_not_convert/0");
    check_refusal(R"({"quant_method":"bitsandbytes"})", "/quantization_config/load_in_4bit: missing");
    check_refusal(R"({"quant_method":"bitsandbytes","load_in_4bit":true,"load_in_8bit":true})",
                  "/quantization_config/load_in_4bit");
    check_refusal(R"({"quant_method":"modelopt","quant_algo":"INT4"})",
                  "/quantization_config/quant_algo: unsupported algorithm");
    check_refusal(R"({"quant_algo":"W4A8_AWQ"})", "/quantization_config/quant_algo: unsupported algorithm");
    check_refusal(R"({"quant_algo":"MIXED_PRECISION"})", "/quantization_config/quant_algo: MIXED_PRECISION requires");
    check_refusal(R"({"quant_algo":"MIXED_PRECISION","quantized_layers":{"a":{"quant_algo":"INT3"}}})",
                  "/quantization_config/quantized_layers/a/quant_algo: unsupported algorithm");
    check_refusal(R"({"bits":4,"group_size":32,"mode":"q4"})", "/quantization_config/mode: unsupported mode");
    check_refusal(R"({"bits":7,"group_size":32})", "/quantization_config/bits: expected 2, 3, 4, 5, 6 or 8");
    check_refusal(R"({"bits":4,"group_size":128,"sym":true})", "/quantization_config/quant_method: missing");
    check_refusal(R"({"quant_method":"modelopt","quant_algo":"NVFP4","group_size":0})",
                  "/quantization_config/group_size");
    check_refusal(R"({"quant_method":"torchao","quant_type":"int4_weight_only"})",
                  "/quantization_config/quant_type: expected an object");
    check_refusal(torchao("UIntXWeightOnlyConfig", ""),
                  "/quantization_config/quant_type/default/_type: unsupported configuration");
    check_refusal(R"({"quant_method":"compressed-tensors"})", "/quantization_config/config_groups: missing");
    check_refusal(compressed("marlin-24", R"({"num_bits":4,"strategy":"group","group_size":128})"),
                  "/quantization_config/format: unsupported format");
    check_refusal(compressed("pack-quantized", R"({"num_bits":9})"), "/weights/num_bits: expected 1 to 8");
    check_refusal(compressed("pack-quantized", R"({"num_bits":4,"group_size":0})"), "/weights/group_size");
    check_refusal(compressed("pack-quantized", R"({"num_bits":4})", "null", R"("re:(?!mlp).*")"),
                  "/quantization_config/ignore/0");
    check_refusal(R"({"quant_method":"compressed-tensors","config_groups":{"W4A16":["Linear"]}})",
                  "/quantization_config/config_groups/W4A16: unsupported preset");
}
