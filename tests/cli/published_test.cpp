// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

// Files as they are published: heads that checkpoints store separately, classes of other code, and old layouts.
namespace llmcost::testing {
namespace {

using nlohmann::json;

std::uint64_t parameters_of(const std::string& config, const std::string& options = "") {
    const outcome got = llmcost_line("--config - --format json" + options, {.in = config});
    REQUIRE_MESSAGE(got.code == 0, got.err);
    return json::parse(got.out)["totals"]["params"];
}
std::string source_of(const std::string& config) {
    return json::parse(llmcost_line("--config - --format json", {.in = config}).out)["model"]["source"];
}
std::string refusal_of(const std::string& config, const std::string& options = "") {
    return refused("--config -" + options, {.in = config}, 3);
}

/// google/flan-t5-small.
std::string t5(const std::string& type, const std::string& more) {
    return R"({"model_type":")" + type +
           R"(","d_model":512,"d_kv":64,"d_ff":1024,"num_layers":8,"num_decoder_layers":8,"num_heads":6,)"
           R"("feed_forward_proj":"gated-gelu")" +
           more + '}';
}

/// mistralai/Mistral-Small-3.2-24B-Instruct-2506.
std::string mistral3(const std::string& keys, const std::string& keys_of_text) {
    return R"({"architectures":["Mistral3ForConditionalGeneration"],"model_type":"mistral3","spatial_merge_size":2,)" +
           keys + R"("text_config":{"head_dim":128,"hidden_act":"silu","hidden_size":5120,"intermediate_size":32768,)" +
           keys_of_text +
           R"("max_position_embeddings":131072,"model_type":"mistral","num_attention_heads":32,)"
           R"("num_hidden_layers":40,"num_key_value_heads":8,"sliding_window":null,"vocab_size":131072},)"
           R"("torch_dtype":"bfloat16","vision_config":{"head_dim":64,"hidden_act":"silu","hidden_size":1024,)"
           R"("image_size":1540,"intermediate_size":4096,"model_type":"pixtral","num_attention_heads":16,)"
           R"("num_channels":3,"num_hidden_layers":24,"patch_size":14}})";
}

const std::string qwen3 = R"({"model_type":"qwen3","hidden_size":64,"num_attention_heads":4,"head_dim":16,)"
                          R"("num_key_value_heads":2,"intermediate_size":128,"num_hidden_layers":2,"vocab_size":100)";

}  // namespace

// safetensors headers of the published checkpoints
TEST_CASE("T5 1.1 and mT5 are published with two tables, which their classes tie") {
    const std::string flan = t5("t5", R"(,"vocab_size":32128,"tie_word_embeddings":false)");
    CHECK(parameters_of(flan) == 76'961'152);
    CHECK(has(source_of(flan), "head separate (tie_word_embeddings is false)"));
    CHECK(has(printed("memory --config -", {.in = flan}), "head separate (tie_word_embeddings is false)"));
    CHECK(parameters_of(flan, " --set tie_word_embeddings=true") == 60'511'616);
    CHECK(parameters_of(t5("t5", R"(,"vocab_size":32128)")) == 60'511'616);
    // google/mt5-small
    CHECK(parameters_of(t5("mt5", R"(,"vocab_size":250112,"tie_word_embeddings":false)")) == 300'176'768);
    // the decoder's scaling of outputs is not that of tied weights
    CHECK(has(printed("--model google/mt5-base"), "head separate"));
    // LongT5 has the key and one table (configuration_longt5.py)
    CHECK(parameters_of(t5("longt5", R"(,"vocab_size":32128,"tie_word_embeddings":false)")) ==
          parameters_of(t5("longt5", R"(,"vocab_size":32128)")));
    // a bare encoder has no head
    const std::string encoder = R"(,"architectures":["T5EncoderModel"],"vocab_size":32128)";
    CHECK(parameters_of(t5("t5", encoder)) == parameters_of(t5("t5", encoder + R"(,"tie_word_embeddings":false)")));
}

TEST_CASE("composite types without the key are published as their text model ties") {
    CHECK(parameters_of(mistral3("", "")) == 24'011'361'280);
    CHECK(has(source_of(mistral3("", "")), "head separate (the text model does not tie it)"));
    const std::uint64_t tied = 24'011'361'280 - std::uint64_t{131072} * 5120;
    CHECK(parameters_of(mistral3("", R"("tie_word_embeddings":true,)")) == tied);
    CHECK(parameters_of(mistral3(R"("tie_word_embeddings":true,)", "")) == tied);
    CHECK(parameters_of(mistral3(R"("tie_word_embeddings":false,)", "")) == 24'011'361'280);
    CHECK(json_of("--model OpenGVLab/InternVL3-14B-hf")["totals"]["params"] == 15'117'256'704);
}

TEST_CASE("a class that the type does not have is refused") {
    const auto with_class = [](const std::string& name) { return qwen3 + R"(,"architectures":[")" + name + "\"]}"; };
    for (const char* name : {"Qwen3DSparkModel", "MedusaModel", "RewardModel", "FooForCausalLM", "Qwen3ForFoo"}) {
        CHECK(refusal_of(with_class(name)) ==
              "llmcost: standard input: /architectures/0: unsupported class \"" + std::string(name) +
                  "\"; --as-class NAME selects a class of qwen3: Qwen3Model, Qwen3ForCausalLM, "
                  "Qwen3ForSequenceClassification, Qwen3ForTokenClassification, Qwen3ForQuestionAnswering\n");
        CHECK(parameters_of(with_class(name), " --as-class Qwen3Model") == parameters_of(with_class("Qwen3Model")));
        CHECK(has(refusal_of(with_class(name), " --as qwen3"), "unsupported class"));
    }
    CHECK(has(refusal_of(with_class("Qwen3Model"), " --as-class Foo"), "unsupported class \"Foo\""));
    CHECK(has(refused("--config - --as-class a\"b", {.in = with_class("Qwen3Model")}),
              "--as-class: expected a class name"));
    // names differ in case and underscores
    CHECK(parameters_of(with_class("QWEN3ForCausalLM")) == parameters_of(with_class("Qwen3ForCausalLM")));
    CHECK(parameters_of(qwen3 + R"(,"architectures":["Foo","Qwen3Model"]})") ==
          parameters_of(with_class("Qwen3Model")));
}

TEST_CASE("a draft head is read as its class") {
    // a file of a Qwen3-type draft head whose tensors have 695,497,216 elements
    const std::string dflash2 = R"({"model_type":"qwen3","architectures":["DFlash2DraftModel"],)"
                                R"("auto_map":{"AutoModel":"dflash2.DFlash2DraftModel"},"hidden_size":2560,)"
                                R"("intermediate_size":8704,"num_hidden_layers":6,"num_attention_heads":20,)"
                                R"("num_key_value_heads":4,"head_dim":128,"vocab_size":248320,"num_target_layers":48,)"
                                R"("sliding_window":4096,"use_sliding_window":true,"block_size":16,"layer_types":[)"
                                R"("sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
                                R"("sliding_attention","full_attention"],"dflash_config":{"selector_rank":256,)"
                                R"("conv_group_size":16,"conv_kernel_size":2,)"
                                R"("target_layer_ids":[1,7,13,20,26,33,39,46]}})";
    CHECK(parameters_of(dflash2) == 695'497'216);
    CHECK(has(refusal_of(qwen3 + R"(,"architectures":["DFlash2DraftModel"]})"),
              "/conv_kernel_size: missing; expected a positive integer"));
    // files of SafeAILab/EAGLE have the class of Llama; --as-class selects the draft head
    const std::string llama = R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,)"
                              R"("intermediate_size":14336,"num_hidden_layers":1,"num_attention_heads":32,)"
                              R"("num_key_value_heads":8,"vocab_size":128256,"bias":false})";
    CHECK(parameters_of(llama, " --as-class EagleLlamaForCausalLM") == 251'662'336);
    CHECK(parameters_of(llama, " --as-class EagleLlamaForCausalLM --set bias=true") == 251'662'336 + 4096);
    const std::string with_vocabulary = " --config - --set draft_vocab_size=32000";
    CHECK(has(llmcost_line(with_vocabulary, {.in = llama}).err,
              "/draft_vocab_size: read as a language model without this key of EAGLE-3; --as-class "
              "LlamaForCausalLMEagle3 selects the draft head"));
    CHECK(llmcost_line(with_vocabulary + " --as-class LlamaForCausalLMEagle3", {.in = llama}).err == "");
    CHECK(parameters_of(llama, " --set draft_vocab_size=32000 --as-class LlamaForCausalLMEagle3") == 424'689'664);
}

TEST_CASE("remote code is refused unless its class or its module is the type's own") {
    const auto with_module = [](const std::string& name) {
        return qwen3 + R"(,"architectures":["Qwen3ForCausalLM"],"auto_map":{"AutoConfig":"a.B","AutoModel":")" + name +
               "\"}}";
    };
    CHECK(has(refusal_of(with_module("dflash2.DFlash2DraftModel")),
              "/auto_map/AutoModel: unsupported class \"dflash2.DFlash2DraftModel\""));
    CHECK(has(refusal_of(with_module("org/name--modeling_qwen3_reward.RewardModel")), "/auto_map/AutoModel"));
    for (const char* name : {"modeling_qwen3.Foo", "org/name--modeling_foo.Qwen3Model", "modeling_qwen.Foo"})
        CHECK(parameters_of(with_module(name)) > 0);
    CHECK(parameters_of(with_module("dflash2.DFlash2DraftModel"), " --as-class Qwen3ForCausalLM") ==
          parameters_of(with_module("modeling_qwen3.Foo")));
}

TEST_CASE("sizes of a text model at the top level are read in the layout of the class, or refused") {
    const std::string sizes = R"("hidden_size":5120,"intermediate_size":13824,"num_hidden_layers":40,)"
                              R"("num_attention_heads":40,"num_key_value_heads":40,"vocab_size":32000)";
    const auto llava = [&](const std::string& name, const std::string& keys) {
        return R"({"model_type":"llava","architectures":[")" + name + "\"]," + sizes + keys + '}';
    };
    // a Llama of 13,015,864,320 parameters, CLIP ViT-L/14 at 336 pixels, two projections
    const std::string original = R"(,"mm_hidden_size":1024,"mm_projector_type":"mlp2x_gelu",)"
                                 R"("mm_vision_tower":"openai/clip-vit-large-patch14-336")";
    CHECK(parameters_of(llava("LlavaLlamaForCausalLM", original)) ==
          std::uint64_t{13'015'864'320} + 303'507'456 + std::uint64_t{1025 + 5121} * 5120);
    CHECK(has(refusal_of(llava("LlavaForConditionalGeneration", "")),
              "/hidden_size: not read by llava, whose text model is text_config; expected the sizes there"));
    CHECK(has(refusal_of(llava("LlavaLlamaForCausalLM", R"(,"mm_projector_type":"linear")")),
              "/mm_projector_type: expected mlp2x_gelu"));
    for (const char* type : {"internvl", "mistral3", "llava_onevision", "janus", "got_ocr2", "gemma3", "idefics3"})
        CHECK_MESSAGE(has(refusal_of(R"({"model_type":")" + std::string(type) + "\"," + sizes + '}'),
                          "/hidden_size: not read by " + std::string(type)),
                      type);
}

TEST_CASE("bundled configurations have their multi-token prediction layers") {
    for (const char* name : {"deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-V3.2-Exp",
                             "zai-org/GLM-4.5-Air-Base", "tencent/Hy3-preview"})
        CHECK_MESSAGE(has(printed("--mtp --format csv params mtp --model " + std::string(name)), "\nmtp,"), name);
    // 14 B more than 671 B (DeepSeek-V3 README), with the shared embeddings and head
    CHECK(printed("--mtp --format csv params mtp --model deepseek-ai/DeepSeek-V3") ==
          "scope,params\nmtp,11610067968\n");
}

}  // namespace llmcost::testing
