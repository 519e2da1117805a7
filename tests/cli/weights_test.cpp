// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "../unit/weight_bytes.hpp"
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Files of weights as sources, checkpoints that are asked for by a word, and that every command tells the same bytes.
namespace llmcost::testing {
namespace {

using nlohmann::json;

constexpr std::uint64_t width = 256, inner_width = 512, heads = 4, groups = 2, vocab_size = 512, layers = 2, keys = 128;

struct matrix {
    std::string theirs, ours;
    std::uint64_t outputs, inputs;
};
const std::vector<matrix> matrices{
    {"attn_q", "self_attn.q_proj", width, width},      {"attn_k", "self_attn.k_proj", keys, width},
    {"attn_v", "self_attn.v_proj", keys, width},       {"attn_output", "self_attn.o_proj", width, width},
    {"ffn_gate", "mlp.gate_proj", inner_width, width}, {"ffn_up", "mlp.up_proj", inner_width, width},
    {"ffn_down", "mlp.down_proj", width, inner_width},
};

std::string small_llama(const std::string& extra_keys = "") {
    return R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":256,"intermediate_size":512,)"
           R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":512,)"
           R"("max_position_embeddings":4096,"tie_word_embeddings":true,"torch_dtype":"bfloat16")" +
           extra_keys + '}';
}

/// A GGUF file of the model: matrices in Q4_K (144 bytes for 256 numbers), embeddings in Q6_K (210), norms in F32.
std::string small_gguf(std::uint64_t rows_of_queries = width) {
    gguf_bytes out;
    out.string("general.architecture", "llama")
        .integer("llama.block_count", layers)
        .integer("llama.embedding_length", width);
    out.integer("llama.feed_forward_length", inner_width).integer("llama.attention.head_count", heads);
    out.integer("llama.attention.head_count_kv", groups).integer("llama.context_length", 4096);
    out.tensor("token_embd.weight", {width, vocab_size}, 14, vocab_size * 210)
        .tensor("output_norm.weight", {width}, 0, width * 4);
    for (std::uint64_t l = 0; l < layers; ++l) {
        const std::string layer = "blk." + std::to_string(l) + '.';
        for (const char* norm : {"attn_norm", "ffn_norm"}) out.tensor(layer + norm + ".weight", {width}, 0, width * 4);
        for (const matrix& m : matrices) {
            const std::uint64_t rows = m.theirs == "attn_q" ? rows_of_queries : m.outputs;
            out.tensor(layer + m.theirs + ".weight", {m.inputs, rows}, 12, rows * m.inputs / 256 * 144);
        }
    }
    return out.file();
}
constexpr std::uint64_t of_matrices = layers * (2 * width * width + 2 * keys * width + 3 * inner_width * width);
constexpr std::uint64_t of_norms = (2 * layers + 1) * width;
constexpr std::uint64_t gguf_weights = vocab_size * 210 + of_norms * 4 + of_matrices / 256 * 144;

/// A checkpoint of safetensors: bfloat16, or its matrices in fp8 with a scale for each output; a head in addition.
std::string small_safetensors(bool is_fp8, bool has_head = false) {
    std::string header;
    std::uint64_t offset = 0;
    const auto add_tensor = [&](const std::string& name, const std::string& sizes, const std::string& type,
                                std::uint64_t bytes) {
        header += (header.empty() ? "{\"" : ",\"") + name + R"(":{"dtype":")" + type + R"(","shape":[)" + sizes +
                  R"(],"data_offsets":[)" + std::to_string(offset) + ',' + std::to_string(offset + bytes) + "]}";
        offset += bytes;
    };
    add_tensor("model.embed_tokens.weight", "512,256", "BF16", vocab_size * width * 2);
    add_tensor("model.norm.weight", "256", "BF16", width * 2);
    for (std::uint64_t l = 0; l < layers; ++l) {
        const std::string layer = "model.layers." + std::to_string(l) + '.';
        for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
            add_tensor(layer + norm + ".weight", "256", "BF16", width * 2);
        for (const matrix& m : matrices) {
            const std::string sizes = std::to_string(m.outputs) + ',' + std::to_string(m.inputs);
            add_tensor(layer + m.ours + ".weight", sizes, is_fp8 ? "F8_E4M3" : "BF16",
                       m.outputs * m.inputs * (is_fp8 ? 1 : 2));
            if (is_fp8)
                add_tensor(layer + m.ours + ".weight_scale", std::to_string(m.outputs) + ",1", "BF16", m.outputs * 2);
        }
    }
    if (has_head) add_tensor("lm_head.weight", "512,256", "BF16", vocab_size * width * 2);
    return safetensors_bytes(header + '}', offset);
}

std::string write_into(const temporary_folder& folder, const std::string& name, const std::string& bytes) {
    write_file(folder.path() / name, bytes);
    return (folder.path() / name).string();
}
std::uint64_t bytes_of_memory(const std::string& source) {
    return json_of("memory " + source)["weights"].get<std::uint64_t>();
}

}  // namespace

TEST_CASE("a GGUF file is a source: its model, and the bytes that it has") {
    const temporary_folder folder;
    const std::string file = write_into(folder, "small.gguf", small_gguf());
    const std::string page = printed("--gguf " + file);
    CHECK(has(page, "Parameters        1,312,000"));
    CHECK(has(page, "metadata of GGUF file " + file));
    CHECK(has(page, "(99.9 % quantized)"));
    for (const std::string source : {"--gguf ", "--model "}) {
        const json all = json_of(source + file);
        CHECK(all["totals"]["weight_bytes"] == gguf_weights);
        CHECK(all["weights"]["bytes"] == gguf_weights);
        CHECK(all["weights"]["quantized"] == of_matrices + vocab_size * width);
        CHECK(bytes_of_memory(source + file) == gguf_weights);
    }
    CHECK(printed("--gguf " + file + " --format csv weight_bytes mlp") ==
          "scope,weight_bytes\nmlp," + std::to_string(layers * 3 * inner_width * width / 256 * 144) + '\n');
    CHECK(has(printed("--gguf " + file + " --format csv --tensors"), "model.embed_tokens.weight,512x256,Q6_K,131072"));
    CHECK(has(printed("check --gguf " + file), "no differences"));
    // as a file of an image encoder, which the first device has in addition to the language model
    const std::string encoder = "memory --gguf " + file + " --engine llama.cpp --sequence 256 --mmproj " + file;
    CHECK(json_of(encoder)["devices"][0]["multimodal"] == gguf_weights);
    CHECK(json_of(encoder)["devices"][1]["multimodal"] == 0);
    CHECK(json_of(encoder + " --no-mmproj-offload")["devices"][1]["multimodal"] == gguf_weights);
    CHECK(has(printed("train --gguf " + file), "Training step"));
    CHECK(json_of("fit --memory 1GB --gguf " + file)["fits"] == true);
    // otherwise as the command line says
    CHECK(bytes_of_memory("--gguf " + file + " --dtype bfloat16") == 2 * (of_matrices + vocab_size * width + of_norms));
    CHECK(has(llmcost_line("--gguf " + file + " --set num_hidden_layers=1").err,
              "the tensors differ from those of the model"));
    const std::string engine = "latency --device h100 --gguf " + file;
    CHECK(has(refused(engine, {}, 3), "llama.cpp types are not supported; use --dtype"));
    CHECK(json_of(engine + " --dtype int4")["weight_bytes_per_device"] == gguf_weights);
}

TEST_CASE("where a file differs from the model, its bytes are taken, and a line says so") {
    const temporary_folder folder;
    const std::string file = write_into(folder, "other.gguf", small_gguf(2 * width));
    const outcome got = llmcost_line("memory --format json --gguf " + file);
    CHECK(got.code == 0);
    CHECK(has(got.err, "the tensors differ from those of the model; using those of the file (see llmcost check)\n"));
    CHECK(json::parse(got.out)["weights"] == gguf_weights + layers * width * width / 256 * 144);
    CHECK(llmcost_line("check --gguf " + file).code == 9);
}

TEST_CASE("safetensors are a source with the configuration beside them, or with a model") {
    const temporary_folder folder;
    const std::string plain = write_into(folder, "plain/model.safetensors", small_safetensors(false));
    CHECK(has(refused("--safetensors " + plain),
              "requires a configuration: " + (folder.path() / "plain/config.json").string()));
    const std::string config = write_into(folder, "plain/config.json", small_llama());
    const std::string folder_option = "--safetensors " + (folder.path() / "plain").string();
    CHECK(bytes_of_memory("--safetensors " + plain) == 2 * (of_matrices + vocab_size * width + of_norms));
    CHECK(has(printed("check " + folder_option), "no differences"));
    // module by module, bytes in a file are those of its element type
    for (const std::string query :
         {" --format csv --tree", " --format csv --scopes weight_bytes", " --format csv",
          " --format csv weight_bytes attn", " --format csv weight_bytes Linear",
          " --format csv weight_bytes model.layers.*.mlp",
          " --format csv weight_bytes model.layers.1.mlp.up_proj.weight", " --format csv weight_bytes transformer"})
        CHECK(printed(folder_option + query) == printed("--config " + config + query));
    const std::string fp8_weights = write_into(folder, "narrow/model.safetensors", small_safetensors(true));
    const std::string plan =
        R"(,"quantization_config":{"quant_method":"compressed-tensors","format":"float-quantized","config_groups":{"g":)"
        R"({"targets":["Linear"],"weights":{"num_bits":8,"type":"float","strategy":"channel"}}},"ignore":["lm_head"]})";
    const std::string sibling_config = write_into(folder, "narrow/config.json", small_llama(plan));
    CHECK(has(printed("check --safetensors " + fp8_weights), "14 are parts of quantized weights: no differences"));
    for (const std::string query : {" --format csv --scopes weight_bytes", " --format csv weight_bytes"})
        CHECK(printed("--safetensors " + fp8_weights + query) == printed("--config " + sibling_config + query));
    CHECK(has(refused("--gguf x --safetensors " + fp8_weights), "--gguf: cannot be combined with --safetensors"));
    CHECK(has(refused("check --config " + config), "requires --gguf FILE or --safetensors FILE"));
}

TEST_CASE("a weight file decides whether the head has a table of its own") {
    const temporary_folder folder;
    const std::uint64_t table = vocab_size * width, tied = of_matrices + of_norms + table;
    std::string weights = small_safetensors(false, true);
    const std::string file = "--safetensors " + write_into(folder, "model.safetensors", weights);
    write_into(folder, "config.json", small_llama());
    const auto parameters = [&] { return json_of(file)["totals"]["params"].get<std::uint64_t>(); };
    // two equal tables: the reference ties them
    CHECK(parameters() == tied);
    CHECK(has(printed("check " + file), "1 are tied to them: no differences"));
    // two tables with different values, which the reference does not tie
    weights.back() = 1;
    write_into(folder, "model.safetensors", weights);
    CHECK(parameters() == tied + table);
    CHECK(bytes_of_memory(file) == 2 * (tied + table));
    CHECK(has(printed(file), "head separate (two tables in "));
    CHECK(has(printed("check " + file), "no differences\nLanguage model head: separate (two tables in "));
    CHECK(json_of("check " + file)["agree"] == 21);
    // one table, of a type whose published checkpoints have two
    const std::string t5 =
        R"({"model_type":"t5","architectures":["T5ForConditionalGeneration"],"d_model":8,"d_kv":4,"d_ff":8,)"
        R"("num_layers":1,"num_heads":2,"vocab_size":16,"tie_word_embeddings":false})";
    const std::string config = "--config " + write_into(folder, "t5.json", t5);
    const auto params = [](const std::string& line) {  // the file lacks most tensors, which is a warning
        return json::parse(llmcost_line(line + " --format json").out)["totals"]["params"].get<std::uint64_t>();
    };
    const std::uint64_t untied = params(config);
    write_into(folder, "t5.safetensors",
               safetensors_bytes(R"({"shared.weight":{"dtype":"F32","shape":[16,8],"data_offsets":[0,512]}})", 512));
    CHECK(params(config + " --safetensors " + (folder.path() / "t5.safetensors").string()) == untied - 16 * 8);
}

TEST_CASE("all commands tell the same bytes of quantised weights") {
    const temporary_folder folder;
    const std::string config = "--config " + write_into(folder, "config.json", small_llama());
    for (const std::string name : {"awq", "gptq", "fp8", "fp8-block", "nvfp4", "mxfp4"}) {
        CAPTURE(name);
        const std::string source = config + " --quantization " + name;
        const std::uint64_t bytes = bytes_of_memory(source);
        const json page = json_of(source);
        CHECK(page["totals"]["weight_bytes"] == bytes);
        CHECK(page["weights"]["bytes"] == bytes);
        std::uint64_t roles = 0;
        for (const json& r : page["roles"])
            if (!has(r["scope"].get<std::string>(), "/")) roles += r["weight_bytes"].get<std::uint64_t>();
        CHECK(roles == bytes);
        CHECK(printed(source + " --format csv weight_bytes") ==
              "scope,weight_bytes\nall," + std::to_string(bytes) + '\n');
        CHECK(has(printed(source + " " + config + " --format csv weight_bytes"), ',' + std::to_string(bytes) + ','));
        CHECK(json_of(source + " --input 10 --output 5")["totals"]["weight_bytes"] == bytes);
        for (const std::string device : {" --device h100", " --device b200"}) {
            CHECK(json::parse(
                      llmcost_line("latency " + source + device + " --format json").out)["weight_bytes_per_device"] ==
                  bytes);
            CHECK(json::parse(llmcost_line("serve " + source + device + " --input 9 --output 9 --format json")
                                  .out)["weight_bytes_per_device"] == bytes);
        }
    }
}

TEST_CASE("--quantization predicts checkpoints that do not exist yet") {
    const auto bytes = [](const std::string& model, const std::string& name) {
        return bytes_of_memory("--model " + model + " --quantization " + name);
    };
    const std::string llama_70b = "meta-llama/Llama-3.1-70B", llama_8b = "meta-llama/Llama-3.1-8B";
    // what published checkpoints take: tests/unit/quantization_test.cpp has their sources
    CHECK(bytes(llama_70b, "awq") == 39767785472);
    CHECK(bytes(llama_70b, "nvfp4") == 42709045632);
    CHECK(bytes(llama_8b, "fp8") == 9083953152);
    const auto is_near = [](std::uint64_t ours, std::uint64_t published) {
        return 1000 * ours > 997 * published && 1000 * ours < 1003 * published;
    };
    CHECK(is_near(bytes(llama_8b, "gptq"), 5735587840));
    CHECK(is_near(bytes("openai/gpt-oss-20b", "mxfp4"), 13761264768));
    CHECK(is_near(bytes("deepseek-ai/DeepSeek-V3", "fp8-block"), bytes_of_memory("--model deepseek-ai/DeepSeek-V3")));
    // files of llama.cpp except their metadata: tests/unit/gguf_sizes_test.cpp
    CHECK(is_near(bytes("meta-llama/Llama-3.2-1B", "q8_0"), 1321083008 - 7831552));
    CHECK(is_near(bytes("meta-llama/Llama-3.2-1B", "Q4_K_M"), 807694464 - 7831552));
    CHECK(is_near(bytes("google/gemma-2-2b", "q6_k"), 2151393120 - 6046560));
    CHECK(bytes(llama_8b, "nf4") == bytes(llama_8b, "bnb-4bit"));
    CHECK(bytes(llama_8b, "int8") == bytes(llama_8b, "bnb_8bit"));
    CHECK(bytes("deepseek-ai/DeepSeek-V3", "none") == 671026404352 * 2);
    CHECK(has(printed("--model " + llama_8b + " --quantization awq"),
              "weights as in awq checkpoints (86.9 % quantized)"));
    CHECK(refused("--model " + llama_8b + " --quantization awk") ==
          "llmcost: --quantization: no quantization 'awk'; nearest: awq\n");
    CHECK(has(refused("--model " + llama_8b + " --quantization everything"), "; expected one of none, awq, gptq, fp8"));
    CHECK(has(refused("memory --model openai-community/gpt2 --quantization q4_k_m", {}, 3),
              "--quantization: 'gpt2' is converted in a way that is not known"));
    CHECK(has(refused("latency --device h100 --model " + llama_8b + " --quantization nf4", {}, 3), "; use --dtype"));
}

TEST_CASE("a narrow type of weights leaves activations and cache as wide as they are") {
    const std::string model = "--model meta-llama/Llama-3.1-8B --sequence 100";
    const json bfloat16_memory = json_of("memory " + model), fp8_memory = json_of("memory --dtype fp8 " + model);
    CHECK(fp8_memory["cache"] == bfloat16_memory["cache"]);
    CHECK(fp8_memory["activations_peak"] == bfloat16_memory["activations_peak"]);
    CHECK(fp8_memory["weights"] == bfloat16_memory["weights"].get<std::uint64_t>() / 2);
    CHECK(has(printed("--dtype fp8 " + model), "float8_e4m3fn weights, bfloat16 activations and cache"));
    CHECK(json_of("memory --dtype fp8 --cache-dtype fp8 " + model)["cache"] ==
          bfloat16_memory["cache"].get<std::uint64_t>() / 2);
}

TEST_CASE("where a device multiplies no fp8, engines unpack its weights") {
    const std::string model = "latency --model meta-llama/Llama-3.1-8B --quantization fp8 --format json --device ";
    const outcome ampere = llmcost_line(model + "a100");
    CHECK(ampere.code == 0);
    CHECK(has(ampere.err, "does not support fp8; using it for weights only, unpacked to bfloat16 (fp8_wo)"));
    CHECK(json::parse(ampere.out)["dtype"] == "fp8_wo");
    CHECK(json::parse(ampere.out)["weight_bytes_per_device"] == 9083953152);
    CHECK(json::parse(llmcost_line(model + "h100").out)["dtype"] == "fp8");
    CHECK(has(refused(model + "a100 --engine trtllm"), "no peak for fp8 in its datasheet"));
    CHECK(has(llmcost_line("latency --model meta-llama/Llama-3.1-8B --dtype nvfp4 --device h100").err, "(nvfp4_wo)"));
}

}  // namespace llmcost::testing
