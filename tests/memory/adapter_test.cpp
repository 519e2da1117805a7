// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/adapter_match.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/module_names.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "registry.hpp"

// PEFT's configurations: what is read of them, which modules they name, what adapted models execute.
namespace llmcost {
namespace {

model read_small(const std::string& name, const std::string& changes) {
    config_document document = read_config_file(LLMCOST_TEST_DIR "/golden/" + name + ".json");
    std::istringstream in(changes == "- " ? std::string() : changes);
    for (std::string change; in >> change;) {
        const std::size_t sign = change.find('=');
        document.set(change.substr(0, sign), change.substr(sign + 1));
    }
    return document.read_with([](config_view root) { return parts::registry.read(root); });
}
adapter read_json(const std::string& text) {
    return parse_config(text, "a.json", {}, document_kind::adapter).read_with([](config_view root) {
        return parse_adapter(root).adapts;
    });
}
std::string refused(const std::string& text) {
    try {
        (void)read_json(text);
    } catch (const error& e) {
        return e.what();
    }
    return "read";
}
adapter settled(const std::string& text, const model& m) {
    cli::requested_adapter request{.file = {read_json(text), {}}, .is_file = true};
    std::ostringstream notes;
    cli::detail::resolve_adapter(request, m, notes);
    CHECK(notes.str() == "");
    return request.file.adapts;
}
std::vector<std::string> adapted_of(const std::string& text, const model& m) {
    return find_adapter_targets(settled(text, m), m).adapted;
}

}  // namespace

TEST_CASE("an adapted model executes what was recorded") {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/adapted_counts.txt");
    int num_checked = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        INFO(line);
        std::istringstream parts(line);
        std::string name, changes, adapter_json;
        std::getline(parts, name, ' ');
        parts.ignore(2);
        std::getline(parts, changes, '|');
        workload load;
        parts >> load.batch >> load.sequence;
        parts.ignore(3);
        std::getline(parts, adapter_json);
        model m = read_small(name, changes);
        adapter_policy policy{settled(adapter_json, m), m};
        m.policy = &policy;
        const model_metrics f = count_model(m, load);
        std::string numbers;
        std::getline(in, numbers);
        std::istringstream expected(numbers);
        for (const auto primitive : primitive_members<count>) {
            std::uint64_t n = 0;
            expected >> n;
            REQUIRE_FALSE(expected.fail());
            const std::uint64_t got = (f.*primitive).to_64();
            CHECK(got == n);
        }
        // a walk of the same model by itself is untouched by the one before
        CHECK(count_model(m, load) == f);
        ++num_checked;
    }
    CHECK(num_checked == 19);
}

TEST_CASE("a path is named by its end, an expression by all of it") {
    const module_names ends{{"q_proj", "layers.1.mlp"}, {}};
    CHECK(ends.names("q_proj"));
    CHECK(ends.names("model.layers.0.self_attn.q_proj"));
    CHECK(ends.names("model.layers.1.mlp"));
    CHECK_FALSE(ends.names("model.layers.0.self_attn.my_q_proj"));
    CHECK_FALSE(ends.names("model.layers.11.mlp"));
    const auto matches = [](const char* expression, const char* path) {
        const auto read = path_expression::parse(expression);
        REQUIRE(read);
        return read->matches(path);
    };
    CHECK(matches(".*\\.(q|v)_proj", "model.layers.0.v_proj"));
    CHECK_FALSE(matches(".*\\.(q|v)_proj", "model.layers.0.v_proj.x"));
    CHECK_FALSE(matches("q_proj", "model.q_proj"));
    CHECK(matches("q_proj|k_proj", "k_proj"));
    CHECK(matches("^(?!.*vision).*proj$", "model.text.q_proj"));
    CHECK_FALSE(matches("^(?!.*vision).*proj$", "model.vision.q_proj"));
    CHECK(matches("(?=model)(?!.*[0-3]).*", "model.layers.4"));
    CHECK_FALSE(matches("(?=model)(?!.*[0-3]).*", "model.layers.3"));
    CHECK(matches("(?:.*?(?:language|text).*?(?:q_proj|k_proj).*?)|(?:\\bmodel\\.layers\\.[\\d]{1,}\\.mlp)",
                  "model.layers.10.mlp"));
    CHECK_FALSE(path_expression::parse("(?!open"));
    CHECK_FALSE(path_expression::parse("a(?<!b)c"));
}

TEST_CASE("layers, ranks and exclusions choose the modules that PEFT chooses") {
    const model m = read_small("meta-llama__Llama-3.2-1B", "num_hidden_layers=3");
    using list = std::vector<std::string>;
    CHECK(adapted_of(R"({"peft_type":"LORA","target_modules":["q_proj"],"layers_to_transform":[0,2]})", m) ==
          list{"model.layers.0.self_attn.q_proj", "model.layers.2.self_attn.q_proj"});
    CHECK(adapted_of(
              R"({"peft_type":"LORA","target_modules":["q_proj"],"layers_to_transform":1,"layers_pattern":"layers"})",
              m) == list{"model.layers.1.self_attn.q_proj"});
    CHECK(adapted_of(R"({"peft_type":"LORA","target_modules":["up_proj"],"exclude_modules":".*\\.[01]\\..*"})", m) ==
          list{"model.layers.2.mlp.up_proj"});
    const adapter a = read_json(R"({"peft_type":"LORA","r":4,"rank_pattern":{"q_proj":2,"^model.layers.1.*":9}})");
    CHECK(a.rank_at("model.layers.1.self_attn.q_proj") == 2);
    CHECK(a.rank_at("model.layers.1.self_attn.k_proj") == 9);
    CHECK(a.rank_at("model.layers.0.self_attn.k_proj") == 4);
    CHECK(a.rank_at("model.layers.0.self_attn.my_q_proj") == 4);
}

TEST_CASE("what is no adapter that is described is refused where it stands") {
    const auto check_refusal = [](const char* text, const char* part) {
        const std::string got = refused(text);
        CAPTURE(got);
        CHECK(got.find(part) != std::string::npos);
    };
    check_refusal(R"({"peft_type":"LORRA"})", "a.json: /peft_type: unsupported adapter type");
    check_refusal(R"({"peft_type":"LORRA"})", "nearest: LORA");
    check_refusal(R"({"r":8})", "a.json: /peft_type: missing");
    check_refusal(R"({"model_type":"llama"})",
                  "this is the configuration of a model; expected the adapter_config.json");
    check_refusal(R"({"peft_type":"LORA","r":-1})", "a.json: /r: expected a positive integer, found -1");
    check_refusal(R"({"peft_type":"LORA","r":1e300})", "/r: ");
    check_refusal(R"({"peft_type":"LORA","target_module":["q"]})",
                  "/target_module: unknown key of this kind of adapter; nearest: target_modules");
    check_refusal(R"({"peft_type":"LORA","target_modules":[1]})", "/target_modules/0: expected a string");
    check_refusal(R"({"peft_type":"LORA","target_modules":[""]})", "/target_modules/0: expected a name");
    check_refusal(R"({"peft_type":"LORA","target_modules":"("})", "/target_modules: unsupported regular expression");
    check_refusal(R"({"peft_type":"LORA","layer_replication":[[0,4],[2,5]]})",
                  "/layer_replication: not supported: changes the computation or memory of the adapter");
    check_refusal(R"({"peft_type":"LORA","target_modules":".*","layers_to_transform":[1]})",
                  "/layers_to_transform: PEFT supports layer indices only");
    check_refusal(R"({"peft_type":"LORA","layers_pattern":"h"})", "/layers_to_transform: missing");
    check_refusal(R"({"peft_type":"LORA","use_dora":true,"lora_bias":true})",
                  "/lora_bias: PEFT does not support it with DoRA");
    check_refusal(R"({"peft_type":"LORA","use_dora":true,"target_parameters":["a.b"]})",
                  "/target_parameters: PEFT does not support DoRA");
    check_refusal(R"({"peft_type":"LORA","rank_pattern":{"q":0}})",
                  "/rank_pattern/q: expected a positive integer, found 0");
    check_refusal(R"({"peft_type":"LORA","init_lora_weights":"mica"})", "/init_lora_weights: ");
    check_refusal(R"({"peft_type":"LORA","bias":"some"})", "/bias: expected \"none\", \"all\" or \"lora_only\"");
    check_refusal(R"({"peft_type":"IA3","target_modules":["k"],"feedforward_modules":["w"]})",
                  "/feedforward_modules: expected a subset of");
    check_refusal(R"({"peft_type":"PROMPT_TUNING"})", "/num_virtual_tokens: missing");
    check_refusal(R"({"peft_type":"P_TUNING","num_virtual_tokens":3,"encoder_reparameterization_type":"LSTM"})",
                  "only MLP is supported");
    CHECK(refused(R"({"peft_type":"LORA","layer_replication":null,"use_qalora":false,"a_key_of_later":null})") ==
          "read");
}

TEST_CASE("a rank without room, and modules without an adapter, are refused") {
    const model m = read_small("meta-llama__Llama-3.2-1B", "num_hidden_layers=1");
    CHECK(find_adapter_targets(read_json(R"({"peft_type":"LORA","r":2049,"target_modules":["k_proj"]})"), m).problem ==
          "model.layers.0.self_attn.k_proj has 2048 inputs and 512 outputs, too few for rank 2049");
    CHECK(find_adapter_targets(read_json(R"({"peft_type":"LORA","target_modules":["mlp"]})"), m).problem ==
          "model.layers.0.mlp is a LlamaMLP, for which PEFT has no such adapter");
    CHECK(
        find_adapter_targets(read_json(R"({"peft_type":"LORA","target_modules":["q_proj","c_attn"]})"), m).unmatched ==
        std::vector<std::string>{"c_attn"});
}

}  // namespace llmcost
