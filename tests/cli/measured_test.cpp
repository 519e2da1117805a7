// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/measurement_comparison.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "parts.hpp"

using namespace llmcost;
using nlohmann::json;

namespace {

/// A device that is a tenth slower than its datasheet with typical efficiencies. Its memory fits the operands and half
/// a gigabyte of its own.
struct simulated_device {
    std::set<std::string>& ran;
    std::string refuses{};

    std::optional<cli::timed_operator> operator()(const operator_shape& shape) const {
        CHECK(ran.insert(cli::detail::key_of(shape)).second);  // each once
        if (std::string_view(shape.type->name) == refuses) return std::nullopt;
        const device& h200 = *find_device("h200_sxm");
        const double bytes = shape.work().bytes;
        return cli::timed_operator{1.1 * estimate(h200, shape, nullptr).seconds, "simulated",
                                   500'000'000 + static_cast<std::int64_t>(bytes)};
    }
};

std::string answer(const std::vector<std::string>& arguments, const cli::operator_timer& run) {
    std::istringstream in;
    std::ostringstream out, err;
    std::vector<std::string_view> args(arguments.begin(), arguments.end());
    return cli::run_measured(args, run, parts::full_program({out, err, in}));
}

const std::vector<std::string> base_arguments{"--model", "meta-llama/Llama-3.2-1B", "--device", "h200",       "--batch",
                                              "1",       "--calibration",           "none",     "--sequence", "128"};

std::vector<std::string> append_arguments(std::vector<std::string> arguments,
                                          std::initializer_list<const char*> extra_arguments) {
    arguments.insert(arguments.end(), extra_arguments.begin(), extra_arguments.end());
    return arguments;
}

}  // namespace

TEST_CASE("each distinct operator of a model is run once, and stands for all of its runs") {
    std::set<std::string> ran;
    const json j = json::parse(answer(append_arguments(base_arguments, {"--format", "json"}), simulated_device{ran}));
    CHECK(j["distinct"] == ran.size());
    CHECK(j["left_out"] == 0);
    CHECK(j["seconds"].get<double>() == doctest::Approx(1.1 * j["predicted_seconds"].get<double>()));
    double forward = 0, runs = 0;
    for (const json& op : j["ops"]) {
        CHECK(op["forward_seconds"].get<double>() == doctest::Approx(1.1 * op["predicted_seconds"].get<double>()));
        if (op["kind"] == "gemm") CHECK(op["backward_was_run"]);
        if (op["kind"] != "gemm")
            CHECK(op["backward_seconds"].get<double>() == doctest::Approx(2 * op["forward_seconds"].get<double>()));
        forward += op["times"].get<double>() * op["forward_seconds"].get<double>();
        runs += op["times"].get<double>();
    }
    CHECK(forward == doctest::Approx(j["seconds"].get<double>()));
    CHECK(runs > 5 * static_cast<double>(ran.size()));  // sixteen layers are alike
}

TEST_CASE("what a device cannot run is told and in no sum") {
    std::set<std::string> ran, rerun;
    const json all = json::parse(answer(append_arguments(base_arguments, {"--format", "json"}), simulated_device{ran}));
    const json partial =
        json::parse(answer(append_arguments(base_arguments, {"--format", "json"}), simulated_device{rerun, "softmax"}));
    CHECK(partial["left_out"] == 16);
    CHECK(partial["seconds"].get<double>() < all["seconds"].get<double>());
    CHECK(partial["predicted_seconds"].get<double>() == doctest::Approx(partial["seconds"].get<double>() / 1.1));
    rerun.clear();
    CHECK(answer(base_arguments, simulated_device{rerun, "softmax"}).find("16 kernels not supported here") !=
          std::string::npos);
}

TEST_CASE("the table has a row for each kernel, with its target, sizes and both times") {
    std::set<std::string> ran;
    const std::string text = answer(base_arguments, simulated_device{ran});
    CHECK(text.find("name") != std::string::npos);
    CHECK(text.find("self_attn.q_proj") != std::string::npos);
    CHECK(text.find("128 x 2048 x 2048") != std::string::npos);
    CHECK(text.find("simulated") != std::string::npos);
    CHECK(text.find("-9.1 %") != std::string::npos);  // 1 / 1.1 - 1
    ran.clear();
    const std::string rows = answer(append_arguments(base_arguments, {"--format", "csv"}), simulated_device{ran});
    CHECK(rows.starts_with("name,op,target,input,runs,forward_us,backward_us,predicted_us,off\n"));
    CHECK(rows.find("model.layers.*.mlp.down_proj,gemm,simulated,128 x 2048 x 8192,16,") != std::string::npos);
}

// GPT-3's sizes (arXiv 2005.14165, table 2.1): 96 layers of 12288 with 96 heads
TEST_CASE("a model of 175 billion parameters is measured in less than 2.5 GB, one operator at a time") {
    const std::string path = (std::filesystem::temp_directory_path() / "llmcost_gpt3_shape.json").string();
    {
        std::ofstream out(path);
        out << R"({"model_type": "opt", "hidden_size": 12288, "ffn_dim": 49152, "num_hidden_layers": 96,
                   "num_attention_heads": 96, "vocab_size": 50272, "max_position_embeddings": 2048,
                   "word_embed_proj_dim": 12288})";
    }
    for (const char* execution : {"eager", "graph"}) {
        std::set<std::string> ran;
        const json j = json::parse(answer({"--config", path, "--device", "h200", "--calibration", "none", "--batch",
                                           "1", "--sequence", "1024", "--execution", execution, "--format", "json"},
                                          simulated_device{ran}));
        CHECK(j["memory_bytes"].get<double>() < 2.5e9);
        CHECK(j["memory_bytes"].get<double>() > 1.2e9 + 0.5e9);  // the head alone
        CHECK(ran.size() < 60);
    }
    std::filesystem::remove(path);
}

TEST_CASE("what cannot be measured is refused") {
    std::set<std::string> ran;
    const auto refused = [&](std::initializer_list<const char*> extra_arguments) -> std::string {
        try {
            return answer(append_arguments(base_arguments, extra_arguments), simulated_device{ran});
        } catch (const error& e) {
            return e.what();
        }
    };
    CHECK(refused({"--tp", "2"}).find("expected --tp 1 --dp 1") != std::string::npos);
    CHECK(refused({"--format", "xml"}).find("expected one of text, json, csv") != std::string::npos);
    CHECK(refused({"--engine", "vlm"}).find("nearest: vllm") != std::string::npos);
    CHECK(ran.empty());
}
