// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <llmcost/cli/args/text.hpp>

using namespace llmcost::testing;

namespace {

std::size_t widest(const std::string& text) {
    std::size_t width = 0;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) width = std::max(width, llmcost::cli::width_of(line));
    return width;
}

/// A configuration as a text, so that no path stands on the page.
std::string text_of(const std::string& name) {
    std::ifstream in(config_of(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

// Counts: the golden's prefill of 3 x 67 and its modules, summed by role. Bytes: 2 per element of bfloat16. Parameters
// of the roles: the golden's tensors. Cache per token: 16 layers x 2 x 8 heads x 64 elements x 2 bytes.
TEST_CASE("the front page of Llama-3.2-1B") {
    CHECK(printed("--model meta-llama/Llama-3.2-1B --batch 3 --sequence 67") ==
          "meta-llama/Llama-3.2-1B                              LlamaForCausalLM · bfloat16\n"
          "16 layers · hidden 2,048 · 32 heads, 8 kv of 64 · mlp 8,192 · vocabulary 128,256\n"
          "context 131,072\n"
          "\n"
          "Parameters    1,235,814,400               Weights          2.30 GiB\n"
          "  embedding     262,668,288  21.3 %  tied Cache per token  32.0 KiB\n"
          "  attn          167,772,160  13.6 %       Cache size       6.28 MiB  3 × 67\n"
          "  mlp           805,306,368  65.2 %       Cache maximum    12.0 GiB  3 × 131,072\n"
          "  norm               67,584  0.01 %\n"
          "\n"
          "Prefill, batch 3, sequence 67                            FLOPs per token 2.481 G\n"
          "                      ADD       MULT        DIV       SQRT        EXP      FLOPs\n"
          "all               249.2 G    249.4 G    33.25 M      6,633    33.24 M    498.6 G\n"
          "  attn            34.60 G    34.63 G    6.895 M          0    6.895 M    69.23 G\n"
          "  mlp             161.8 G    161.9 G    26.35 M          0    26.35 M    323.8 G\n"
          "  norm            13.58 M    40.75 M    13.27 k      6,633          0    54.34 M\n"
          "  rotary                0    10.72 k          0          0          0    10.72 k\n"
          "  head            52.77 G    52.80 G          0          0          0    105.6 G\n"
          "  other           13.17 M          0          0          0          0    13.17 M\n"
          "other:   TRIG 8,576 · NEG 30.46 M · CMP 6.792 M · PyTorch FLOPs 498.5 G\n"
          "         act 141.9 M\n"
          "\n"
          "bundled configuration · eager, all scores · FLOPs = ADD + MULT · all logits\n"
          "try: mult attn · --tree · --input 1000 --output 200 · llmcost --help\n");
}

// the golden's training step: 717,563,300 bytes, 498,535,366,656 and 997,070,733,312 FLOPs
TEST_CASE("a training step beside a forward pass") {
    const std::string page = printed(llama + " --batch 3 --sequence 67 --training --dtype float32");
    CHECK(has(page, "LlamaForCausalLM · float32\n"));
    CHECK(has(page,
              "Training step: 684 MiB saved for backward\n  FLOPs 498.6 G forward, 996.4 G backward\n"
              "  PyTorch FLOPs 498.5 G forward, 997.1 G backward\n"));
    CHECK(has(page, "Weights          4.60 GiB\n"));
}

// the golden's decode of 2 x 1 after 5000: ADD 3,136,760,320, MULT 3,133,199,520; cache 163,872,768 elements
TEST_CASE("a decode step") {
    const std::string page = printed(llama + " --batch 2 --sequence 1 --past 5000");
    CHECK(has(page, "\nDecode, batch 2, sequence 1 after 5,000                  FLOPs per token 3.135 G\n"));
    CHECK(has(page, "\nall               3.137 G    3.133 G    5.383 M         66    5.383 M    6.270 G\n"));
    CHECK(has(page, "Cache size        313 MiB  2 × 5,001\n"));
}

TEST_CASE("provenance tells what the figures rest on") {
    CHECK(
        has(printed(llama + " --attention causal --logits last"), "causal, visible scores only · FLOPs = ADD + MULT"));
    CHECK(has(printed(llama + " --logits none"), "no logits"));
    CHECK(has(printed(llama + " --set num_hidden_layers=2"), "with num_hidden_layers=2"));
    CHECK(has(printed(llama + " --sequence 131073"), "exceeds the context length"));
    CHECK(!has(printed(llama + " --sequence 131072"), "exceeds the context length"));
    CHECK(has(printed(llama + " --ragged 1@131071,2@131072"), "exceeds the context length"));
    CHECK(!has(printed(llama + " --ragged 1@131071"), "exceeds the context length"));
    CHECK(has(printed(llama + " --set torch_dtype=null"), "float32 assumed"));
    CHECK(has(printed(llama + " --cache-dtype float8_e4m3fn"), "bfloat16, float8_e4m3fn cache\n"));
    const std::string quantized = R"(quantization_config={"quant_method":"fp8"})";
    const outcome got = llmcost_program({"--config", config_of("meta-llama__Llama-3.2-1B"), "--set", quantized});
    CHECK(has(got.out, "weights as in quantization_config (78.7 % quantized)"));
    const std::string unknown = R"(quantization_config={"quant_method":"nobody"})";
    // weights whose layout is not known have no size; other metrics do not depend on it
    for (const char* command : {"", " memory", " fit", " weight_bytes"}) {
        CAPTURE(command);
        CHECK(has(refused(command + (" " + llama) + " --set " + unknown +
                              (std::string(command) == " fit" ? " --memory 80GiB" : ""),
                          {}, 3),
                  "unsupported method; expected fp8"));
    }
    CHECK(has(printed(llama + " --set " + unknown + " params --format csv"), "all,1235814400"));
    CHECK(has(printed(llama + " --set " + unknown + " --dtype bfloat16"), "quantization_config not applied"));
    CHECK(has(printed(llama + " --set quantization_config={\"quant_method\":\"fp8\"} --dtype bfloat16"),
              "quantization_config not applied"));
    CHECK(has(printed("--config " + config_of("google-t5__t5-small")), "encoder sequence as the decoder"));
    CHECK(
        has(printed("--config " + config_of("google-t5__t5-small") + " --encoder-sequence 77"), "encoder sequence 77"));
}

// goldens' parameters; what one token meets of experts is not in them
TEST_CASE("pages of other kinds of models") {
    const std::string experts = printed("--model mistralai/Mixtral-8x7B-v0.1");
    CHECK(has(experts, "Parameters   46,702,792,704"));
    CHECK(has(experts, "2 of 8 experts of 14,336"));
    CHECK(has(experts, "\n    router"));
    const std::string bert = printed("--config " + config_of("google-bert__bert-base-uncased"));
    CHECK(has(bert, "Cache                none\n"));
    const std::string image = printed("--config " + config_of("facebook__deit-base-patch16-224") + " --batch 2");
    CHECK(has(image, "Forward pass, 2 images"));
    CHECK(has(image, "FLOPs per image"));
    const std::string sliding = printed("--config " + config_of("google__gemma-2-2b-it"));
    // 26 layers x 2 x 4 heads x 256 x 2 bytes, half of them sliding
    CHECK(has(sliding, "Cache per token   104 KiB\n"));
    CHECK(has(sliding, "52.0 KiB beyond the window\n"));
    // compressed every so many tokens, so that it shrinks with some: what 1,048,576 tokens hold tells how much one adds
    const std::string compressed = printed("--config " + config_of("deepseek-ai__DeepSeek-V4-Flash-Base"));
    CHECK(has(compressed, "6.72 KiB beyond the window\n"));
    CHECK(has(compressed, "Cache maximum    6.72 GiB\n"));
}

TEST_CASE("a model with a table of positions is asked for no more tokens than it has") {
    const std::string bert = "--config " + config_of("google-bert__bert-base-uncased");
    CHECK(has(printed(bert), "\nForward pass, batch 1, sequence 512 "));
    CHECK(has(printed(bert + " --sequence 512"), "\nForward pass, batch 1, sequence 512 "));
    CHECK(llmcost_line(bert + " --sequence 513").err ==
          "llmcost: the workload requires 513 positions and the model has 512 (--sequence, --past, "
          "--encoder-sequence)\n");
    CHECK(llmcost_line(bert + " --sequence 513").code == 2);
    CHECK(has(printed("--config " + config_of("openai-community__gpt2") + " --past 1000"),
              "\nExtension, batch 1, sequence 24 after 1,000 "));
}

TEST_CASE("no page is wider than 80 columns") {
    for (const char* name :
         {"meta-llama__Llama-3.2-1B", "google-t5__t5-small", "mistralai__Mixtral-8x7B-v0.1", "Qwen__Qwen3-0.6B",
          "deepseek-ai__DeepSeek-V3", "google-bert__bert-base-uncased", "facebook__deit-base-patch16-224"})
        for (const char* work : {"", " --batch 2147 --sequence 2000000 --training", " --sequence 1 --past 99999"}) {
            const outcome got = llmcost_line("--config - " + std::string(work), {.in = text_of(name)});
            CHECK_MESSAGE(widest(got.out) <= 80, name);
            // a table of positions has an end
            CHECK_MESSAGE((got.code == 0 || (got.code == 2 && has(got.err, "positions and the model has 512"))),
                          got.err);
        }
}

TEST_CASE("colour is for terminals, and for those who want it") {
    const auto colours = [](const surroundings& settings, const std::string& extra_args = "") {
        return has(printed(llama + extra_args, settings), "\x1b[");
    };
    CHECK(!colours({}));
    CHECK(colours({.terminal = true}));
    CHECK(!colours({.variables = {{"NO_COLOR", "1"}}, .terminal = true}));
    CHECK(colours({.variables = {{"NO_COLOR", ""}}, .terminal = true}));
    CHECK(!colours({.variables = {{"TERM", "dumb"}}, .terminal = true}));
    CHECK(colours({.variables = {{"FORCE_COLOR", "1"}}}));
    CHECK(!colours({.variables = {{"FORCE_COLOR", "1"}, {"NO_COLOR", "1"}}, .terminal = true}));
    CHECK(colours({}, " --color"));
    CHECK(!colours({.terminal = true}, " --no-color"));
    CHECK(llmcost_line(llama + " --color --no-color").code == 2);
    // nothing but colour is different
    std::string page = printed(llama + " --color");
    for (std::size_t position = page.find('\x1b'); position != std::string::npos; position = page.find('\x1b'))
        page.erase(position, page.find('m', position) + 1 - position);
    CHECK(page == printed(llama));
}
