// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_models.hpp"

#include <doctest/doctest.h>

#include <llmcost/analysis/counts.hpp>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcost::testing;

namespace {

/// What modules add to a pass, in the order of the recorded columns: primitives, OUT, WRITTEN, cache.
std::vector<std::string> figures_of(const llmcost::model& mtp_model, const llmcost::workload& load) {
    llmcost::model base_model = mtp_model;
    base_model.config.mtp_layers = 0;
    const llmcost::model_metrics f = llmcost::count_model(mtp_model, load), g = llmcost::count_model(base_model, load);
    const llmcost::count found[]{f.add - g.add,
                                 f.mult - g.mult,
                                 f.div - g.div,
                                 f.sqrt - g.sqrt,
                                 f.exp - g.exp,
                                 f.log - g.log,
                                 f.tanh - g.tanh,
                                 f.erf - g.erf,
                                 f.trig - g.trig,
                                 f.pow - g.pow,
                                 f.neg - g.neg,
                                 f.cmp - g.cmp,
                                 f.module_output_elements - g.module_output_elements,
                                 f.written_elements - g.written_elements,
                                 f.cache_elements - g.cache_elements};
    std::vector<std::string> out;
    for (const llmcost::count n : found) out.emplace_back(llmcost::count_text{n}.view());
    return out;
}

}  // namespace

TEST_CASE("modules that predict further tokens are exact") {
    std::ifstream in(golden_folder() / "further_tokens.txt");
    REQUIRE(in);
    llmcost::model model{};
    int runs = 0;
    for (std::string line; std::getline(in, line);) {
        CAPTURE(line);
        std::istringstream line_stream(line);
        std::string text;
        line_stream >> text;
        if (text == "model") {
            std::string name, parameters;
            line_stream >> name >> parameters;
            model = built_from(read_golden(golden_folder() / (name + ".golden")));
            const llmcost::count base_parameters = llmcost::count_model(model, {}).params;
            model.config.mtp_layers = 2;
            const llmcost::count added = llmcost::count_model(model, {}).params - base_parameters;
            CHECK(llmcost::count_text{added}.view() == parameters);
        } else if (text == "run") {
            llmcost::workload load;
            line_stream >> load.batch >> load.sequence >> load.past;
            std::vector<std::string> expected;
            for (std::string n; line_stream >> n;) expected.push_back(n);
            const std::vector<std::string> found = figures_of(model, load);
            REQUIRE(found.size() == expected.size());
            for (std::size_t i = 0; i < found.size(); ++i) CHECK_MESSAGE(found[i] == expected[i], "column " << i);
            ++runs;
        }
    }
    CHECK(runs == 20);
}

TEST_CASE("modules that predict further tokens fill published checkpoints") {
    // elements of all tensors of a repository: with them its copies of embedding and head, and corrections of its
    // routers
    struct published {
        const char* name;
        std::int64_t routers;
        const char* total;
    };
    for (const published& checkpoint : {published{"deepseek-ai__DeepSeek-V3", 59, "684489845504"},
                                        published{"zai-org__GLM-4.5-Air-Base", 46, "110468824832"}}) {
        CAPTURE(checkpoint.name);
        llmcost::model model = built_from(read_golden(golden_folder() / (std::string(checkpoint.name) + ".golden")));
        model.config.mtp_layers = 1;
        const std::int64_t copies = 2 * model.config.vocab_size * model.config.hidden_size;
        const std::int64_t corrections = checkpoint.routers * model.config.moe.num_experts;
        const llmcost::count all = llmcost::count_model(model, {}).params + llmcost::count(copies + corrections);
        CHECK(llmcost::count_text{all}.view() == checkpoint.total);
    }
}
