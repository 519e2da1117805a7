// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../fuzz/model_exercise.hpp"
#include "../golden/for_models.hpp"

#include <doctest/doctest.h>

#include <llmcost/report/json_report.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <limits>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "registry.hpp"

using namespace llmcost;
using namespace llmcost::testing;
using namespace std::string_literals;

namespace {

model model_of(const std::string& text) {
    return parse_config(text, "x.json").read_with([](config_view root) { return parts::registry.read(root); });
}

// what is said of a configuration, or that it is accepted; every message must be fit for a terminal
std::string refusal_of_model(const std::string& text) {
    try {
        (void)model_of(text);
    } catch (const error& problem) {
        CHECK(is_clean(problem.what()));
        CHECK(problem.location().starts_with("x.json"));
        return problem.what();
    }
    return "accepted";
}

std::string repeated(std::string_view entry, std::size_t n) {
    std::string list = "[";
    for (std::size_t i = 0; i < n; ++i) (list += entry) += i + 1 < n ? "," : "]";
    return list;
}

constexpr std::int64_t maximum = max_input;
constexpr std::size_t million = 1'000'000;

/// A value that is no size but means something to the reference, and what.
struct meaning {
    std::string_view type, keys, values, reason;
};
constexpr meaning meanings[]{
    {"fast_vlm", "vision_feature_layer", "-1", "the last layer"},
    {"ernie4_5_moe", "moe_layer_start_index moe_layer_end_index", "-1", "in front of all layers, and the last one"},
    {"xlnet", "clamp_len", "-1", "distances are not clamped"},
    {"deberta-v2", "position_buckets max_relative_positions", "-1", "none, and as many as there are positions"},
    {"glm_moe_dsa", "index_topk_freq index_skip_topk_offset", "-1", "max(frequency, 1), max(layer - offset + 1, 0)"},
    {"mobilenet_v2", "expand_ratio", "0.5", "a factor of widths"},
    {"rwkv", "rescale_every", "-1 -9223372036854775808 1000000000000000000",
     "no layer is halved (`RwkvModel.forward`)"},
    {"reformer", "num_buckets", "[8]", "factors of buckets, one of them (`LSHSelfAttention._hash_vectors`)"},
    {"minicpm3", "scale_emb", "-1 0.5 -9223372036854775808 1000000000000000000 1e18", "a factor of embeddings"},
    {"video_llava llava_next_video llava_onevision aya_vision", "vision_feature_layer", "[8] -1", "layers of a tower"}};

bool has_meaning(std::string_view type, std::string_view key, std::string_view value) {
    if (value == "0.5" && key.find("drop") != std::string_view::npos) return true;  // a rate
    return std::ranges::any_of(meanings, [&](const meaning& m) {
        return has_listed(m.type, type) && has_listed(m.keys, key) && has_listed(m.values, value);
    });
}

/// A file that never ends.
class endless : public std::streambuf {
public:
    std::size_t blocks = 0;

protected:
    int_type underflow() override {
        ++blocks;
        setg(block_, block_, block_ + sizeof block_);
        return traits_type::to_int_type(block_[0]);
    }

private:
    char block_[65536] = {' '};
};

}  // namespace

TEST_CASE("numbers of layers that no integer holds are out of range") {
    const std::string range = " (out of range: at most 2147483647)";
    for (const char* n : {"1000000000000000000", "2147483648", "1e30", "1000000000000000000000000000000"})
        CHECK(refusal_of_model(R"({"model_type": "llama", "num_hidden_layers": )"s + n + "}") ==
              "x.json: /num_hidden_layers: expected a positive integer, found "s + n + range);
    CHECK(refusal_of_model(R"({"model_type": "llama", "num_hidden_layers": -1})") ==
          "x.json: /num_hidden_layers: expected a positive integer, found -1");
}

TEST_CASE("layers without number are counted, where they are of one kind, and never listed") {
    const auto layers = [](std::int64_t n) {
        return model_of(R"({"model_type": "llama", "num_hidden_layers": )" + std::to_string(n) + "}");
    };
    const workload load{.sequence = 3};
    const llmcost::model_metrics one = count_model(layers(1), load), two = count_model(layers(2), load);
    const llmcost::model_metrics all = count_model(layers(maximum), load);
    CHECK(all.params == one.params + (two.params - one.params) * count(maximum - 1));
    CHECK(all.mult == one.mult + (two.mult - one.mult) * count(maximum - 1));
    CHECK(all.cache_elements == two.cache_elements / count(2) * count(maximum));
    for (const std::int64_t n : {std::int64_t{4097}, maximum}) {
        CHECK_THROWS_AS((void)list_model(layers(n), load), overflow_error);
        CHECK_THROWS_AS((void)json_report(layers(n), {}, load, {}), overflow_error);
        CHECK_THROWS_AS((void)count_model(layers(n), load, scope_query{"model.layers.12.mlp"}), overflow_error);
    }
    CHECK(list_model(layers(4096), load).total == count_model(layers(4096), load));
}

TEST_CASE("rules for more layers than a plan holds are refused, not cut") {
    const std::string expected_message =
        "x.json: /num_hidden_layers: expected at most 512 layers whose kinds follow a rule, found 600";
    for (const char* rule :
         {R"("deepseek_v3", "first_k_dense_replace": 550)", R"("qwen2", "max_window_layers": 550)",
          R"("qwen3_moe", "mlp_only_layers": [550])", R"("lfm2", "full_attn_idxs": [550])", R"("gemma2")"}) {
        CHECK(refusal_of_model(R"({"model_type": )"s + rule + R"(, "num_hidden_layers": 600})") == expected_message);
        CHECK(refusal_of_model(R"({"model_type": )"s + rule + R"(, "num_hidden_layers": 512})") == "accepted");
    }
}

TEST_CASE("a number that is read refuses everything but numbers in its range") {
    const std::vector<std::string> invalid_values = {R"("8")", "NaN", "Infinity", "-Infinity", "1e400",
                                                     "[8]",    "{}",  "true",     R"("")"};
    const std::vector<std::string> no_size = {"-1", "0.5", "-9223372036854775808", "1000000000000000000", "1e18"};
    for_models([&](const golden_model& g) {
        const config_document original = read_config_file(g.golden.config_path.string());
        for (const config_view child : original.root()) {
            if (!child.is_number() || child.key() == "transformers_version") continue;
            std::vector<std::string> wrong = invalid_values;
            if (child.type() == config_view::kind::integer) wrong.insert(wrong.end(), no_size.begin(), no_size.end());
            std::erase_if(wrong, [&](const std::string& value) {
                return has_meaning(g.golden.model_type, std::string(child.key()), value);
            });
            std::size_t refused = 0;
            for (const std::string& value : wrong) {
                INFO(std::string(child.key()) << " = " << value);
                config_document changed = original;
                changed.set(child.key(), value);
                try {
                    const model read = changed.read_with([](config_view root) { return parts::registry.read(root); });
                    CHECK(read.config == g.built.config);  // no parser reads this key
                } catch (const error& problem) {
                    CHECK(std::string(problem.location()).find("/" + std::string(child.key())) != std::string::npos);
                    CHECK(is_clean(problem.what()));
                    ++refused;
                }
            }
            INFO(std::string(child.key()));
            CHECK((refused == 0 || refused == wrong.size()));
        }
    });
}

TEST_CASE("heads that do not divide are refused with what would") {
    const auto check_refusal = [](const std::string& config, const std::string& message) {
        CHECK(refusal_of_model("{\"model_type\": " + config + "}") == "x.json: " + message);
    };
    check_refusal(R"("llama", "num_attention_heads": 32, "num_key_value_heads": 5)",
                  "/num_key_value_heads: expected a divisor of num_attention_heads, found 5");
    check_refusal(R"("llama", "num_key_value_heads": 0)", "/num_key_value_heads: expected a positive integer, found 0");
    check_refusal(R"("llama", "num_attention_heads": 5000)",
                  "/num_attention_heads: expected at most hidden_size heads, found 5000");
    check_refusal(R"("llama", "head_dim": 7)", "/head_dim: the number of rotated elements per head is not even: 7");
    check_refusal(R"("llama", "head_dim": 2, "rope_scaling": {"rope_type": "dynamic", "factor": 2.5})",
                  "/rope_scaling/factor: dynamic RoPE requires more than two rotated elements per head: 2.5");
    check_refusal(R"("llama", "rope_parameters": {"full_attention": {"rope_type": "dynamic", "factor": 2.0}})",
                  "/rope_parameters/full_attention: input-dependent RoPE frequencies per layer type are not supported");
    check_refusal(R"("llama", "rope_scaling": {"type": "dynamic"})",
                  "/rope_scaling/factor: missing; expected a finite number");
    check_refusal(R"("gpt2", "n_head": 7)", "/n_head: expected a divisor of hidden_size, found 7");
    check_refusal(R"("bert", "num_attention_heads": 7)",
                  "/num_attention_heads: expected a divisor of hidden_size, found 7");
    check_refusal(R"("vit", "num_attention_heads": 7)",
                  "/num_attention_heads: expected a divisor of hidden_size, found 7");
    check_refusal(R"("bart", "architectures": ["BartModel"], "d_model": 1000)",
                  "/d_model: expected a multiple of the number of attention heads, found 1000");
    check_refusal(R"("mamba2", "num_heads": 7)", "/num_heads: expected hidden_size * expand / head_dim heads, found 7");
    check_refusal(R"("qwen3_next", "linear_num_value_heads": 33)",
                  "/linear_num_value_heads: expected a multiple of linear_num_key_heads, found 33");
    check_refusal(R"("qwen2_vl_text", "rope_scaling": {"mrope_section": [16, 24, 25]})",
                  "/rope_scaling/mrope_section: expected frequencies per axis that add up to half of a head, found an "
                  "array of 3");
    check_refusal(R"("qwen2_vl_text", "hidden_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2)",
                  "/rope_parameters: missing; expected frequencies per axis that add up to half of a head");
    check_refusal(
        R"("qwen2_vl_text", "rope_scaling": {"mrope_section": [-1, 65]})",
        "/rope_scaling/mrope_section: expected a list with the number of frequencies per axis, found an array of 2");
    check_refusal(R"("qwen2_vl_text", "head_dim": 64)",
                  "/head_dim: expected hidden_size / num_attention_heads, or no such key, found 64");
    check_refusal(R"("qwen3_5_text", "rope_parameters": {"mrope_section": [11, 11]})",
                  "/rope_parameters/mrope_section: expected frequencies of three axes, found an array of 2");
    check_refusal(R"("deepseek_v3", "qk_rope_head_dim": 63)", "/qk_rope_head_dim: expected an even number, found 63");
}

TEST_CASE("lists of layers have one entry per layer, and entries that the type knows") {
    const auto get_refusal = [](const std::string& config) {
        return refusal_of_model("{\"model_type\": " + config + "}");
    };
    const std::string wrong_length =
        "x.json: /layer_types: expected a list with one kind per hidden layer, found an array of ";
    CHECK(get_refusal(R"("qwen2", "num_hidden_layers": 3, "layer_types": ["full_attention"])") == wrong_length + "1");
    CHECK(get_refusal(R"("qwen2", "num_hidden_layers": 1, "layer_types": )" + repeated("\"a\"", million)) ==
          wrong_length + "1000000");
    CHECK(get_refusal(R"("qwen2", "num_hidden_layers": 1000000, "layer_types": )" + repeated("\"a\"", million)) ==
          "x.json: /layer_types: expected at most 512 layers of mixed kinds, found an array of 1000000");
    CHECK(get_refusal(R"("qwen2", "num_hidden_layers": 1, "layer_types": ["linear_attention"])") ==
          "x.json: /layer_types: layer type not supported by this model type");
    CHECK(get_refusal(R"("qwen2", "num_hidden_layers": 1, "layer_types": [[]])") ==
          "x.json: /layer_types/0: expected a string, found an empty array");
    CHECK(get_refusal(R"("qwen2", "num_hidden_layers": 1, "layer_types": "full_attention")") ==
          "x.json: /layer_types: expected a list with one kind per hidden layer, found \"full_attention\"");
}

// one look per layer or entry at such a list would take minutes
TEST_CASE("lists of a million entries are read once") {
    const auto get_refusal = [](const std::string& config) {
        return refusal_of_model("{\"model_type\": " + config + "}");
    };
    const std::string ones = repeated("1", million);
    CHECK(get_refusal(R"("lfm2", "num_hidden_layers": 512, "full_attn_idxs": )" + ones) == "accepted");
    CHECK(get_refusal(R"("qwen3_moe", "num_hidden_layers": 512, "mlp_only_layers": )" + ones) == "accepted");
    std::string classes = repeated("\"A\"", million);
    classes.back() = ',';
    CHECK(get_refusal(R"("llama", "architectures": )" + classes + "[[]]]") ==
          "x.json: /architectures/1000000: expected a string, found an array of 1");
}

TEST_CASE("labels are counted, and as many as a file may hold") {
    const auto labels = [](std::size_t n) {
        std::string text = R"({"model_type": "vit", "id2label": {)";
        for (std::size_t i = 0; i < n; ++i) ((text += '"') += std::to_string(i)) += i + 1 < n ? "\":0," : "\":0}}";
        return text;
    };
    CHECK(model_of(labels(300'000)).config.num_labels == 300'000);
    CHECK(refusal_of_model(labels(million)) == "x.json: expected at most 4194304 bytes");
    CHECK(refusal_of_model(R"({"model_type": "vit", "id2label": ["a", "b"]})") ==
          "x.json: /id2label: expected an object, found an array of 2");
}

TEST_CASE("nesting ends where the reader says") {
    const auto nested = [](std::size_t n) {
        std::string text = R"({"model_type": "llama", "rope_scaling": )";
        for (std::size_t i = 0; i < n; ++i) text += "{\"a\": ";
        return text + "1" + std::string(n, '}') + "}";
    };
    CHECK(refusal_of_model(nested(63)) == "accepted");
    CHECK(refusal_of_model(nested(64)).ends_with("expected at most 64 levels of arrays and objects"));
    CHECK(refusal_of_model(nested(500'000)).ends_with("expected at most 64 levels of arrays and objects"));
}

TEST_CASE("rotated parts are parts") {
    const std::string expected = "/partial_rotary_factor: expected a fraction above 0 and at most 1, found ";
    for (const char* factor : {"0", "-0.5", "1.5", "1e300"}) {
        const std::string entry = R"("partial_rotary_factor": )"s + factor;
        CHECK(refusal_of_model(R"({"model_type": "phi3", )" + entry + "}") == "x.json: " + expected + factor);
        CHECK(refusal_of_model(R"({"model_type": "stablelm", "rope_parameters": {)" + entry + "}}") ==
              "x.json: /rope_parameters" + expected + factor);
    }
    for (const char* factor : {"NaN", "Infinity", "1e400"})
        CHECK(
            refusal_of_model(R"({"model_type": "phi3", "rope_scaling": {"partial_rotary_factor": )"s + factor + "}}") ==
            "x.json: /rope_scaling/partial_rotary_factor: expected a finite number, found "s + factor);
    CHECK(refusal_of_model(R"({"model_type": "llama", "rope_scaling": "linear"})") ==
          "x.json: /rope_scaling: expected an object, found \"linear\"");
    CHECK(refusal_of_model(R"({"model_type": "lfm2", "block_ffn_dim_multiplier": 1e300})") ==
          "x.json: /block_ffn_dim_multiplier: expected a factor that gives a width up to 2147483647, found 1e300");
}

TEST_CASE("widths that no layer could add up are refused by the key that makes them") {
    const auto check_refusal = [](const std::string& config, const std::string& key) {
        CHECK(refusal_of_model("{\"model_type\": " + config + "}")
                  .starts_with("x.json: " + key + ": the resulting size exceeds 2147483647"));
    };
    check_refusal(R"("llama", "num_attention_heads": 2147483647, "head_dim": 2147483646)", "/head_dim");
    check_refusal(R"("phi3", "num_attention_heads": 32768, "head_dim": 65536)", "/head_dim");
    check_refusal(R"("t5", "num_heads": 65536, "d_kv": 32768)", "/d_kv");
    check_refusal(R"("deepseek_v3", "v_head_dim": 2147483647)", "/v_head_dim");
    check_refusal(R"("deepseek_v3", "n_shared_experts": 2147483647)", "/n_shared_experts");
    check_refusal(R"("jamba", "mamba_expand": 2147483647)", "/mamba_expand");
    check_refusal(R"("qwen3_next", "linear_key_head_dim": 2147483647)", "/linear_key_head_dim");
}

TEST_CASE("control characters never reach the terminal") {
    CHECK(refusal_of_model("{\"model_type\": \"\\u001b[2Jlla\\u0007ma\"}")
              .starts_with("x.json: /model_type: \"\\u001b[2Jlla\\u0007ma\" is not supported; llmcost models lists"));
    CHECK(refusal_of_model("{\"model_type\": \"llama\", \"hidden_act\": \"\\u009b31m\\u202e\"}") ==
          "x.json: /hidden_act: unsupported activation function: \"\\u009b31m\\u202e\"");
    CHECK(refusal_of_model("{\"model_type\": \"llama\", \"torch_dtype\": \"\\u0000\"}").find('\0') ==
          std::string::npos);
}

TEST_CASE("a key that stands twice is refused") {
    CHECK(refusal_of_model(R"({"model_type": "llama", "hidden_size": 64, "hidden_size": 128})") ==
          "x.json: /hidden_size: duplicated key");
}

TEST_CASE("the largest workload overflows and never wraps") {
    const model m =
        model_of(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 2, "num_attention_heads": 1})");
    for (const attention_scores scores : {attention_scores::full, attention_scores::causal}) {
        CHECK_THROWS_AS((void)count_model(m, {.batch = maximum, .sequence = maximum, .attention = scores}),
                        overflow_error);
        CHECK_THROWS_AS(
            (void)list_model(m, {.batch = maximum, .sequence = maximum, .past = maximum, .attention = scores}),
            overflow_error);
    }
}

TEST_CASE("a workload out of its range is no workload") {
    const model m = model_of(R"({"model_type": "llama", "num_hidden_layers": 1})");
    for (const workload& load :
         {workload{.batch = 0}, workload{.batch = -1}, workload{.sequence = 0}, workload{.past = -1},
          workload{.sequence = maximum + 1}, workload{.batch = std::numeric_limits<std::int64_t>::max()},
          workload{.encoder_sequence = std::numeric_limits<std::int64_t>::min()}}) {
        CHECK_FALSE(load.is_valid());
        CHECK_THROWS_WITH_AS((void)count_model(m, load),
                             "workload: batch and sequence must be at least 1, all numbers at most 2147483647",
                             description_error);
    }
    CHECK_THROWS_WITH_AS((void)count_model(m, {.past = 1, .training = true}), "a training step has no past",
                         description_error);
}

TEST_CASE("a large file is refused before it costs time or memory") {
    endless spaces;
    std::istream in(&spaces);
    CHECK_THROWS_AS((void)read_config_file(in, "-"), error);
    CHECK(spaces.blocks < 80);
    CHECK(refusal_of_model(std::string(std::size_t{100} << 20, '[')) == "x.json: expected at most 4194304 bytes");
}

TEST_CASE("what the fuzzer of models kept still holds") {
    std::size_t inputs = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(LLMCOST_TEST_DIR) / "fuzz/corpus/model")) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        INFO(entry.path().filename().string());
        try {
            exercise_model(text);
        } catch (const broken_promise& broken) {
            FAIL_CHECK(broken.message);
        }
        ++inputs;
    }
    CHECK(inputs > 20);
}
