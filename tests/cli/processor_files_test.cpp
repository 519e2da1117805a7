// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace llmcost::testing;

namespace {

constexpr const char* tiny_whisper =
    R"({"model_type": "whisper", "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,)"
    R"( "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "vocab_size": 97,)"
    R"( "max_source_positions": 750})";
constexpr const char* tiny_glmasr =
    R"({"model_type": "glmasr", "audio_config": {"num_hidden_layers": 1}, "text_config": {"num_hidden_layers": 1}})";

/// A folder with a configuration and the other files of a test.
struct model_folder : temporary_folder {
    explicit model_folder(const char* config) { write_file(path() / "config.json", config); }
    void write_sibling(const char* name, const std::string& text) const { write_file(path() / name, text); }
    [[nodiscard]] std::string line(const std::string& rest) const { return "--config " + path().string() + " " + rest; }
};

}  // namespace

TEST_CASE("how sound is made ready is read from the files beside a configuration") {
    const model_folder folder(tiny_glmasr);
    const std::string command_line = folder.line("--audio 50 --sequence 4 --format json");
    CHECK(has(printed(command_line), "\"audio_tokens\": 625"));
    CHECK(has(printed(command_line), "\"frames\": 6000"));
    // an older file has the keys of the extractor at its top level
    folder.write_sibling("preprocessor_config.json",
                         R"({"feature_extractor_type": "WhisperFeatureExtractor", "chunk_length": 20})");
    CHECK(has(printed(command_line), "\"frames\": 6000"));
    CHECK(has(printed(folder.line("--audio 10 --sequence 4")), "10 s of sound, 2,000 frames: 125 tokens"));
    // a newer one that says nothing of it leaves that standing, and cuts recordings off
    folder.write_sibling("processor_config.json", R"({"processor_class": "GlmAsrProcessor", "max_audio_len": 40})");
    CHECK(has(printed(command_line), "\"frames\": 4000"));
    CHECK(has(printed(command_line), "\"audio_tokens\": 500"));
    // one that does holds
    folder.write_sibling(
        "processor_config.json",
        R"({"feature_extractor": {"chunk_length": 30}, "max_audio_len": 30, "video_processor": {"fps": 2}})");
    CHECK(has(printed(command_line), "\"frames\": 3000"));
    // as does what the line says
    CHECK(has(printed(folder.line("--set processor_config.max_audio_len=60 --audio 50 --sequence 4 --format json")),
              "\"frames\": 6000"));
}

TEST_CASE("a file of several processors, as it is published, is read by each") {
    const model_folder folder(
        R"({"model_type": "qwen2_5_omni_thinker", "text_config": {"rope_parameters": {"mrope_section": [16, 24, 24]}}})");
    const std::string command_line = folder.line("--audio 40 --image 1920x1080 --sequence 4 --format json");
    CHECK(has(printed(command_line), "\"audio_tokens\": 750"));
    folder.write_sibling("preprocessor_config.json",
                         R"({"chunk_length": 300, "dither": 0.0, "feature_extractor_type": "WhisperFeatureExtractor",)"
                         R"( "feature_size": 128, "hop_length": 160, "image_mean": [0.48, 0.46, 0.41],)"
                         R"( "image_processor_type": "Qwen2VLImageProcessor", "max_pixels": 1003520, "merge_size": 2,)"
                         R"( "min_pixels": 3136, "n_fft": 400, "n_samples": 4800000, "nb_max_frames": 30000,)"
                         R"( "padding_side": "left", "patch_size": 14, "processor_class": "Qwen2_5OmniProcessor",)"
                         R"( "return_attention_mask": true, "sampling_rate": 16000, "temporal_patch_size": 2})");
    const outcome result = llmcost_line(command_line);
    CHECK(result.err == "");
    CHECK(has(result.out, "\"audio_tokens\": 1000"));
    CHECK(has(result.out, "\"image_tokens\": 1222"));
}

TEST_CASE("ModelOpt's file next to a configuration is its quantization") {
    const model_folder folder(
        R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "vocab_size": 128256,)"
        R"( "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,)"
        R"( "dtype": "bfloat16"})");
    const std::string command_line = folder.line("--format csv weight_bytes");
    CHECK(has(printed(command_line), "16060522496"));
    folder.write_sibling("hf_quant_config.json",
                         R"({"producer": {"name": "modelopt", "version": "0.29.0"}, "quantization": {"quant_algo":)"
                         R"( "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})");
    // linear layers in one byte per parameter, with two scales of 4 bytes each
    CHECK(has(printed(command_line), std::to_string(16060522496 - 6979321856 + 224 * 8)));
    CHECK(has(printed(folder.line("--format csv weight_bytes --quantization none")), "16060522496"));
    CHECK(has(printed(folder.line("--format csv weight_bytes --dtype bfloat16")), "16060522496"));
    folder.write_sibling("hf_quant_config.json", R"({"quantization": {"quant_algo": "W4A8_AWQ"}})");
    CHECK(has(refused(command_line, {}, 3), "/quantization_config/quantization/quant_algo: unsupported algorithm"));
    CHECK(has(printed(folder.line("--quantization fp8")), "weights as in fp8 checkpoints"));
    folder.write_sibling("hf_quant_config.json", R"({"quantization": )");
    CHECK(has(refused(command_line, {}, 3), "hf_quant_config.json"));
}

TEST_CASE("what files beside a configuration say that cannot be is an error of theirs") {
    const model_folder folder(tiny_whisper);
    const std::string command_line = folder.line("--audio 5 --sequence 4 --format csv flops");
    folder.write_sibling("preprocessor_config.json", R"({"chunk_length": 30})");
    CHECK(has(refused(command_line, {}, 3),
              "/preprocessor_config/chunk_length: expected chunk_length · sampling_rate / hop_length equal to"));
    folder.write_sibling("preprocessor_config.json", R"({"chunk_length": 15)");
    CHECK(has(refused(command_line, {}, 3), "preprocessor_config.json"));
    folder.write_sibling("preprocessor_config.json", "<html>");
    CHECK(has(refused(command_line, {}, 3), "preprocessor_config.json: this is "));
    CHECK(has(refused(command_line, {}, 3), "expected a processor configuration"));
    folder.write_sibling("preprocessor_config.json", R"({"chunk_length": 15})");
    CHECK(has(printed(command_line), "all,"));
    folder.write_sibling("processor_config.json", R"({"feature_extractor": {"sampling_rate": 0}})");
    CHECK(has(refused(command_line, {}, 3),
              "/processor_config/feature_extractor/sampling_rate: expected a positive integer, found 0"));
}
