// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_models.hpp"

#include <doctest/doctest.h>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/text/error.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcost::testing;

namespace {

/// Counts in the order of the recorded columns: primitives, OUT, WRITTEN, cache.
std::vector<llmcost::count> recorded_counts(const llmcost::model_metrics& f) {
    std::vector<llmcost::count> counts = columns_of(f);
    counts.push_back(f.cache_elements);
    return counts;
}
/// The counts of a forward pass.
std::vector<llmcost::count> metrics_of(const llmcost::model& draft_head, llmcost::workload load) {
    load.weights = llmcost::dtype::float32;
    return recorded_counts(llmcost::count_model(draft_head, load));
}
std::vector<std::string> counts_of(const llmcost::model& draft_head, const llmcost::workload& load) {
    std::vector<std::string> out;
    for (const llmcost::count n : metrics_of(draft_head, load)) out.emplace_back(llmcost::count_text{n}.view());
    return out;
}

llmcost::model parse_draft_head(const std::string& json) {
    return llmcost::parse_config(json, "config.json").read_with([](llmcost::config_view root) {
        return parts::registry.read(root);
    });
}

}  // namespace

TEST_CASE("draft heads are exact") {
    std::ifstream in(golden_folder() / "draft_heads.txt");
    REQUIRE(in);
    llmcost::model model{};
    std::set<const llmcost::model_spec*> recorded;
    std::string name, parameters;
    int runs = 0;
    for (std::string line; std::getline(in, line);) {
        CAPTURE(name);
        std::istringstream line_stream(line);
        std::string text;
        line_stream >> text;
        if (text == "model") {
            line_stream >> name >> parameters;
        } else if (text == "config") {
            model = parse_draft_head(line.substr(text.size() + 1));
            recorded.insert(model.spec);
            CHECK(llmcost::count_text{llmcost::count_model(model, {}).params}.view() == parameters);
        } else if (text == "run") {
            CAPTURE(line);
            llmcost::workload load;
            line_stream >> load.batch >> load.sequence >> load.past;
            std::vector<std::string> expected;
            for (std::string n; line_stream >> n;) expected.push_back(n);
            const std::vector<std::string> found = counts_of(model, load);
            REQUIRE(found.size() == expected.size());
            for (std::size_t i = 0; i < found.size(); ++i) CHECK_MESSAGE(found[i] == expected[i], "column " << i);
            ++runs;
        }
    }
    CHECK(runs == 68);
    for (const llmcost::model_spec* row : parts::registry)
        CHECK_MESSAGE((row->draft != llmcost::draft_kind::none) == recorded.contains(row),
                      std::string(row->model_type));
}

TEST_CASE("closed forms of draft heads are exact, and sizes out of range are refused") {
    std::ifstream in(golden_folder() / "draft_heads.txt");
    int heads = 0;
    for (std::string line; std::getline(in, line);) {
        const std::string begin = "config ";
        if (line.compare(0, begin.size(), begin) != 0) continue;
        CAPTURE(line);
        const std::string json = line.substr(begin.size());
        const llmcost::model head = parse_draft_head(json);
        llmcost::cost_evaluator evaluate(head);
        for (const std::int64_t batch : {1, 4})
            for (const std::int64_t sequence : {1, 2, 29, 90})
                for (const std::int64_t past : {0, 1, 27, 31, 32, 200}) {
                    const llmcost::workload load{
                        .batch = batch, .sequence = sequence, .past = past, .weights = llmcost::dtype::float32};
                    CAPTURE(batch);
                    CAPTURE(sequence);
                    CAPTURE(past);
                    const std::vector<llmcost::count> traced = metrics_of(head, load);
                    CHECK((recorded_counts(evaluate(load)) == traced));
                    CHECK((recorded_counts(llmcost::list_model(head, load).total) == traced));
                }
        const llmcost::config_document original = llmcost::parse_config(json, "config.json");
        for (const llmcost::config_view child : original.root()) {
            if (child.type() != llmcost::config_view::kind::integer) continue;
            for (const std::string_view size : {"2147483647", "2147483648", "1073741824", "513", "7", "1", "0", "-1"}) {
                INFO(child.key() << " = " << size);
                llmcost::config_document changed = original;
                changed.set(child.key(), size);
                try {
                    const llmcost::model built =
                        changed.read_with([](llmcost::config_view root) { return parts::registry.read(root); });
                    (void)llmcost::count_model(built, {.batch = 2, .sequence = 3});
                } catch (const llmcost::error&) {
                } catch (const llmcost::overflow_error&) {
                }
            }
        }
        ++heads;
    }
    CHECK(heads == 17);
}

TEST_CASE("EAGLE has the published parameters") {
    // "EAGLE Parameters" of README.md in SafeAILab/EAGLE, in billions; sizes of the target models. Its row of
    // Vicuna-33B (0.56) is not compared: one layer of that target (0.535) and `fc` (0.089) have more parameters.
    struct published {
        const char* target;
        std::int64_t hidden_size, intermediate_size, num_attention_heads, num_key_value_heads;
        double billions;
    };
    for (const published& head : {published{"Vicuna-7B-v1.3", 4096, 11008, 32, 32, 0.24},
                                  published{"Vicuna-13B-v1.3", 5120, 13824, 40, 40, 0.37},
                                  published{"LLaMA2-Chat 70B", 8192, 28672, 64, 8, 0.99},
                                  published{"LLaMA3-Instruct 8B", 4096, 14336, 32, 8, 0.25}}) {
        CAPTURE(head.target);
        const std::string json = R"({"model_type":"llama","architectures":["EagleLlamaForCausalLM"],)"
                                 R"("num_hidden_layers":1,"hidden_size":)" +
                                 std::to_string(head.hidden_size) +
                                 ",\"intermediate_size\":" + std::to_string(head.intermediate_size) +
                                 ",\"num_attention_heads\":" + std::to_string(head.num_attention_heads) +
                                 ",\"num_key_value_heads\":" + std::to_string(head.num_key_value_heads) + '}';
        const auto parameters = static_cast<double>(llmcost::count_model(parse_draft_head(json), {}).params);
        CHECK(std::abs(parameters / 1e9 - head.billions) <= 0.005);
    }
}

TEST_CASE("a multi-token prediction module as a draft head is what --mtp adds to its model") {
    int types = 0;
    for (const llmcost::model_spec* row : parts::registry) {
        if (row->multi_token_prediction == nullptr || !llmcost::is_empty(row->text_model.key)) continue;
        const std::string type(row->model_type);
        CAPTURE(type);
        const auto parsed = [&](const std::string& suffix) {
            // some types require keys, which those of a golden file are
            const auto variant = golden_folder() / ("variant__" + type + "_small.json");
            llmcost::config_document document = std::filesystem::exists(variant)
                                                    ? llmcost::read_config_file(variant.string())
                                                    : llmcost::parse_config("{\"model_type\":\"" + type + "\"}", "c");
            document.set("architectures", "[\"" + std::string(row->class_prefix) + suffix + "\"]");
            return document.read_with([](llmcost::config_view root) { return parts::registry.read(root); });
        };
        llmcost::model model = parsed(std::string(row->names.causal_lm_class));
        const llmcost::model head = parsed("MTP");
        CHECK(llmcost::draft_kind_of(head) == llmcost::draft_kind::sequential);
        CHECK(llmcost::draft_kind_of(model) == llmcost::draft_kind::none);
        for (const llmcost::workload& load : {llmcost::workload{.batch = 2, .sequence = 7, .past = 5},
                                              llmcost::workload{.batch = 1, .sequence = 1, .past = 40}}) {
            model.config.mtp_layers = 0;
            const std::vector<llmcost::count> before = metrics_of(model, load);
            model.config.mtp_layers = 1;
            const std::vector<llmcost::count> with_module = metrics_of(model, load), alone = metrics_of(head, load);
            for (std::size_t i = 0; i < alone.size(); ++i)
                CHECK_MESSAGE(alone[i] == with_module[i] - before[i], "column " << i);
        }
        ++types;
    }
    CHECK(types >= 10);
}

TEST_CASE("a multi-token prediction module of a composite type is that of its text model") {
    for (const char* const name : {"Qwen__Qwen3.5-0.8B", "Qwen__Qwen3.5-122B-A10B"}) {
        CAPTURE(name);
        llmcost::config_document document =
            llmcost::read_config_file((golden_folder() / (std::string(name) + ".json")).string());
        const auto read = [&] {
            return document.read_with([](llmcost::config_view root) { return parts::registry.read(root); });
        };
        llmcost::model composite = read();
        document.set("architectures", "[\"" + std::string(composite.spec->class_prefix) + "MTP\"]");
        const llmcost::model head = read();
        CHECK(llmcost::draft_kind_of(head) == llmcost::draft_kind::sequential);
        const llmcost::count before = llmcost::count_model(composite, {}).params;
        composite.config.mtp_layers = 1;
        CHECK((llmcost::count_model(head, {}).params == llmcost::count_model(composite, {}).params - before));
        for (const llmcost::workload& load : {llmcost::workload{.batch = 2, .sequence = 7, .past = 5},
                                              llmcost::workload{.batch = 1, .sequence = 1, .past = 40}}) {
            composite.config.mtp_layers = 0;
            const std::vector<llmcost::count> without_module = metrics_of(composite, load);
            composite.config.mtp_layers = 1;
            const std::vector<llmcost::count> with_module = metrics_of(composite, load), alone = metrics_of(head, load);
            for (std::size_t i = 0; i < alone.size(); ++i)
                CHECK_MESSAGE(alone[i] == with_module[i] - without_module[i], "column " << i);
        }
    }
}

TEST_CASE("files of a multi-token prediction module alone have experts") {
    // scripts/export_deepseek_nextn.py of SGLang sets one hidden layer and the class, and keeps the other keys
    const std::string nextn = R"({"model_type":"deepseek_v3","architectures":["DeepseekV3ForCausalLMNextN"],)"
                              R"("first_k_dense_replace":3,"num_hidden_layers":1,"num_nextn_predict_layers":)";
    const llmcost::model head = parse_draft_head(nextn + "1}");
    // the checkpoint of DeepSeek-V3 without its copies of embedding and head: 684,489,845,504 − 671,026,404,352
    // elements, of which 2 · 129,280 · 7,168 are copies and 59 · 256 are corrections of the routers
    CHECK(llmcost::count_text{llmcost::count_model(head, {}).params}.view() == "11610067968");
    CHECK_THROWS((void)parse_draft_head(nextn + "2}"));
}

TEST_CASE("a class selects a draft head in a file of any type") {
    const auto spec_of = [](const std::string& keys) {
        return std::string(parse_draft_head("{" + keys + R"(,"hidden_size":64,"vocab_size":96})").spec->model_type);
    };
    CHECK(spec_of(R"("model_type":"qwen3","architectures":["Eagle3LlamaForCausalLM"])") == "eagle3");
    CHECK(spec_of(R"("model_type":"unknown","architectures":["LlamaForCausalLMEagle3"])") == "eagle3");
    CHECK(spec_of(R"("architectures":["MedusaModel"],"num_heads":2)") == "medusa");
    CHECK_THROWS((void)spec_of(R"("model_type":"qwen3","architectures":["MedusaModel"])"));
    // a class of the type itself is not a draft head
    CHECK(spec_of(R"("model_type":"llama","architectures":["LlamaForCausalLM","EagleModel"])") == "llama");
}

TEST_CASE("files of vLLM and speculators have the sizes in a nested object") {
    const std::string sizes = R"("hidden_size":64,"intermediate_size":160,"num_attention_heads":4,"vocab_size":96)";
    const std::string layers = R"("num_hidden_layers":1,)" + sizes;
    const auto text_of = [](const llmcost::model& head) {
        return std::string(llmcost::count_text{llmcost::count_model(head, {}).params}.view());
    };
    const auto flat = [&](const std::string& name, const std::string& keys) {
        return text_of(parse_draft_head(R"({"architectures":[")" + name + "\"]," + keys + layers + '}'));
    };
    const auto speculators = [&](const std::string& name, const std::string& keys, const std::string& type = "llama") {
        return parse_draft_head(R"({"architectures":[")" + name + R"("],"dtype":"bfloat16",)" + keys +
                                R"("transformer_layer_config":{"model_type":")" + type + "\"," + layers + "}}");
    };
    const std::string draft = R"("draft_vocab_size":56,"norm_before_fc":true,"target_hidden_size":null,)";
    const llmcost::model nested = speculators("Eagle3DraftModel", draft);
    CHECK(text_of(nested) == flat("Eagle3LlamaForCausalLM", draft));
    CHECK(nested.config.dtype_of_weights == llmcost::dtype::bfloat16);
    CHECK_THROWS((void)speculators("Eagle3DraftModel", draft, "qwen3"));

    const auto vllm = [&](const std::string& keys) {
        return parse_draft_head(R"({"model_type":"eagle",)" + keys + R"("model":{"model_type":"llama",)" + layers +
                                "}}");
    };
    const std::string eagle = flat("EagleLlamaForCausalLM", R"("bias":true,)");
    CHECK(text_of(vllm(R"("eagle_fc_bias":true,)")) == eagle);
    CHECK(text_of(vllm("")) == flat("EagleLlamaForCausalLM", ""));
    CHECK_THROWS((void)vllm(R"("truncated_vocab_size":56,)"));
    CHECK(text_of(speculators("EagleSpeculator", R"("fusion_bias":true,)")) == eagle);
    CHECK_THROWS((void)speculators("EagleSpeculator", R"("layernorms":true,)"));
}

TEST_CASE("draft heads refuse invalid sizes") {
    const auto refusal_of = [](const std::string& keys) -> std::string {
        try {
            (void)parse_draft_head("{" + keys + '}');
        } catch (const llmcost::error& e) {
            return e.what();
        }
        return {};
    };
    CHECK(refusal_of(R"("architectures":["LlamaForCausalLMEagle3"],"vocab_size":96,"draft_vocab_size":97)") ==
          "config.json: /draft_vocab_size: expected at most vocab_size, found 97");
    CHECK(refusal_of(R"("architectures":["LlamaForCausalLMEagle3"],"num_aux_hidden_states":65)") ==
          "config.json: /num_aux_hidden_states: expected at most 64, found 65");
    CHECK(refusal_of(R"("architectures":["MedusaModel"],"medusa_num_heads":4)") ==
          "config.json: /hidden_size: missing; expected that of the target model");
    const std::string dflash2 = R"("architectures":["DFlash2DraftModel"],"vocab_size":96,"hidden_size":64,)"
                                R"("num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":4,)";
    CHECK(refusal_of(dflash2 + R"("dflash_config":{"conv_kernel_size":2,"conv_group_size":16})") ==
          "config.json: /selector_rank: missing; expected a positive integer");
    CHECK(refusal_of(dflash2 + R"("dflash_config":{"conv_kernel_size":2,"conv_group_size":12,"selector_rank":8})") ==
          "config.json: /dflash_config/conv_group_size: expected a divisor of hidden_size, found 12");
    CHECK(refusal_of(dflash2 + R"("dflash_config":{"attention_mode":"mla"})") ==
          "config.json: /dflash_config/attention_mode: not supported by this draft head: \"mla\"");
    CHECK(refusal_of(R"("architectures":["MedusaModel"],"num_heads":65)") ==
          "config.json: /num_heads: expected at most 64, found 65");
}
