// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/bundled/all.hpp>

using llmcost::testing::json_of;
using llmcost::testing::llmcost_line;
using llmcost::testing::printed;

namespace {

struct role_table {
    std::vector<std::string> scopes;
    std::vector<std::vector<llmcost::count>> figures;
};

/// The CSV of a front page without quotes: scope, then integers.
role_table roles_of(const std::string& text) {
    role_table out;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        std::istringstream fields(line);
        std::string field;
        std::getline(fields, field, ',');
        out.scopes.push_back(field);
        out.figures.emplace_back();
        while (std::getline(fields, field, ',')) {
            llmcost::count n;
            for (const char c : field) n = n * llmcost::count(10) + llmcost::count(static_cast<unsigned>(c - '0'));
            out.figures.back().push_back(n);
        }
    }
    return out;
}

std::string parent_of(const std::string& scope) {
    const std::size_t slash = scope.rfind('/');
    return slash == std::string::npos ? "all" : scope.substr(0, slash);
}

}  // namespace

TEST_CASE("the lines below a role add up to it, for every bundled model") {
    for (const auto& bundled : llmcost::bundled_configs) {
        const std::string name(bundled.name);
        const auto page = llmcost_line("--model " + name + " --sequence 64 --format csv");
        REQUIRE_MESSAGE(page.code == 0, name << ' ' << page.err);
        const role_table table = roles_of(page.out);
        std::map<std::string, std::vector<llmcost::count>> sums;
        for (std::size_t i = 1; i < table.scopes.size(); ++i) {
            std::vector<llmcost::count>& sum = sums[parent_of(table.scopes[i])];
            sum.resize(table.figures[i].size());
            for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += table.figures[i][k];
        }
        for (std::size_t i = 0; i < table.scopes.size(); ++i)
            if (const auto children = sums.find(table.scopes[i]); children != sums.end())
                CHECK_MESSAGE(children->second == table.figures[i], name << ' ' << table.scopes[i]);
    }
}

// layers x (two matrices and two biases), from the published sizes
TEST_CASE("an MLP whose layers are children of the decoder layer has its role") {
    const auto parameters = [](unsigned layers, unsigned width, unsigned inner) {
        return layers * (2UL * width * inner + width + inner);
    };
    const auto check = [](const std::string& model, const std::string& scope, std::size_t expected) {
        const auto page = json_of("--model " + model + " --sequence 64");
        std::size_t found = 0;
        for (const auto& line : page["roles"])
            if (line["scope"] == scope) found = line["params"].get<std::size_t>();
        CHECK_MESSAGE(found == expected, model << ' ' << scope);
    };
    for (const std::string stack : {"encoder/mlp", "decoder/mlp"}) {
        check("openai/whisper-large-v3", stack, parameters(32, 1280, 5120));
        check("facebook/bart-large", stack, parameters(12, 1024, 4096));
        check("Helsinki-NLP/opus-mt-ROMANCE-en", stack, parameters(6, 512, 2048));
        check("google/pegasus-arxiv", stack, parameters(16, 1024, 4096));
    }
    check("facebook/wmt19-de-en", "decoder/mlp", parameters(6, 1024, 4096));
    check("Qwen/Qwen2-Audio-7B-Instruct", "audio/mlp", parameters(32, 1280, 5120));
    check("facebook/data2vec-vision-base-ft1k", "mlp", parameters(12, 768, 3072));
    check("hustvl/yolos-tiny", "mlp", parameters(12, 192, 768));
}

// Megatron-LM: one all-reduce after attention and one after the MLP of a layer (arXiv 1909.08053)
TEST_CASE("tensor parallelism reduces once after an MLP of several modules") {
    for (const std::string model : {"facebook/opt-125m", "google-bert/bert-base-uncased", "facebook/bart-large"}) {
        const std::string kernels =
            printed("latency --model " + model + " --device h100 --tp 2 --sequence 64 --format csv --dtype bfloat16");
        std::istringstream lines(kernels);
        std::size_t after_first = 0, after_last = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line.find(",nccl,") == std::string::npos) continue;
            const std::string path = line.substr(0, line.find(','));
            after_first += path.ends_with(".fc1") || path.ends_with("activation_fn") || path.ends_with(".intermediate");
            after_last += path.ends_with(".fc2") || path.ends_with("layer.*.output");
        }
        CHECK_MESSAGE(after_first == 0, model);
        CHECK_MESSAGE(after_last == (model == "facebook/bart-large" ? 2 : 1), model);
    }
}
