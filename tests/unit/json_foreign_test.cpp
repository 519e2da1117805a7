// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>

#include "thrown_by.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <string_view>

using namespace std::string_literals;

namespace {

/// What a stream is said to be, which goes on for 20 MB behind `begin`; and that hardly any of it was read.
std::string get_stream_error(const std::string& begin) {
    std::istringstream in(begin + std::string(20'000'000, '\1'));
    const std::string message = llmcost::testing::thrown_by([&] { (void)llmcost::read_config_file(in, "x"); });
    CHECK(in.tellg() <= 65536);
    return message;
}
std::string get_text_error(std::string_view text) {
    return llmcost::testing::thrown_by([&] { (void)llmcost::parse_config(text, "x"); });
}

}  // namespace

TEST_CASE("a file of another kind is named by its first bytes, and no more of it is read") {
    const auto is = [](const std::string& begin, const std::string& description) {
        const std::string message = get_stream_error(begin);
        INFO(message);
        CHECK(message.starts_with("x: this is " + description + "; expected "));
        CHECK(message.find("config.json") != std::string::npos);
    };
    is("GGUF\3\0\0\0"s, "a GGUF file (weights)");
    is("\x10\x27\0\0\0\0\0\0{\"__metadata__\":"s, "a safetensors file (weights)");
    is("version https://git-lfs.github.com/spec/v1\noid sha256:", "a Git LFS pointer to a file that was not fetched");
    is("PK\x03\x04", "a zip archive (weights of torch.save)");
    is("\x80\x02\x8a\x0a", "a pickle (weights of torch.save)");
    is("\x80\x04\x95", "a Python pickle");
    is("\x89HDF\r\n", "an HDF5 file (weights)");
    is("\x93NUMPY", "a NumPy array");
    is("\x1f\x8b\x08", "a gzip archive");
    is("\x28\xb5\x2f\xfd", "a zstd archive");
    is("\3757zXZ\0"s, "an xz archive");
    is("BZh9", "a bzip2 archive");
    is("config.json" + std::string(246, '\0') + "ustar", "a tar archive");
    is("%PDF-1.7", "a PDF document");
    for (const char* page : {"<!DOCTYPE html><html>", "\xEF\xBB\xBF\n <HTML lang=en>", "<head>", "<body>"})
        is(page, "an HTML page, such as a login or error page");
    is("<?xml version='1.0'?>", "XML or HTML");
    is("<!-- a comment -->\n# Llama\n", "Markdown, HTML or XML");
    for (const char* program :
         {"import torch\n", "from transformers import x", "class A:", "def f():", "#!/usr/bin/python", "\"\"\"A"})
        is(program, "a Python program");
    for (const char* text : {"---\nlicense: mit\n", "model_type: llama\n", "hidden_size = 8\n", "# Llama\n"})
        is(text, "YAML, Markdown or other text");
    CHECK(get_text_error("GGUF\3") == get_stream_error("GGUF\3"));
}

TEST_CASE("what may be JSON is read as JSON") {
    for (const char* text : {"{", "nul", "NaN", "tru: 1}", "[", "\"a: b\"", "{\"a\": 1} x", "12345678{"})
        CHECK(get_text_error(text).find("this is") == (text[0] == 't' ? 3 : std::string::npos));
    // eight bytes of a text are no length of a header
    CHECK(llmcost::parse_config("{\"a\" :  {}}", "x").root().size() == 1);
}

TEST_CASE("a JSON file that configures no model is named by its keys") {
    const auto is = [](const std::string& members, const std::string& description) {
        const std::string message = get_text_error("{" + members + "}");
        INFO(message);
        CHECK(message.starts_with("x: this is " + description + "; expected "));
        for (const char* model_key : {"model_type", "architectures", "hidden_size"})
            CHECK(
                llmcost::parse_config("{\"" + std::string(model_key) + "\": 1, " + members + "}", "x").root().size() >=
                2);
    };
    is(R"("peft_type": "LORA", "base_model_name_or_path": "a/b")", "an adapter configuration (PEFT)");
    is(R"("metadata": {}, "weight_map": {})", "a weight index");
    is(R"("image_processor_type": "x", "image_mean": [1])", "an image processor configuration");
    is(R"("feature_extractor_type": "x")", "a feature extractor configuration");
    is(R"("image_mean": [1])", "an image processor configuration");
    is(R"("tokenizer_class": "x", "eos_token": "y", "processor_class": "z")", "a tokenizer configuration");
    is(R"("added_tokens_decoder": {})", "a tokenizer configuration");
    is(R"("added_tokens": [], "pre_tokenizer": {})", "a tokenizer");
    is(R"("processor_class": "x")", "a processor configuration");
    is(R"("dim": 4096, "n_layers": 32, "n_heads": 32)", "a params.json of the original Llama or Mistral release");
    is(R"("_class_name": "x", "scheduler": ["a", "b"])", "the index of a diffusers pipeline");
    is(R"("_from_model_config": true)", "a generation configuration");
    is(R"("do_sample": true)", "a generation configuration");
    is(R"("max_new_tokens": 9)", "a generation configuration");
    is(R"("temperature": 0.5)", "a generation configuration");
    is(R"("eos_token_id": 2, "transformers_version": "5")", "a generation configuration");
    is(R"("eos_token": "</s>")", "a list of special tokens");
    is(R"("bits": 4, "group_size": 128)", "a quantization configuration");
    CHECK(llmcost::parse_config(R"({"dim": 1, "bits": 4, "eos_token_id": 1})", "x").root().size() == 3);
}
