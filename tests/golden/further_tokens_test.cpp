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
std::vector<std::string> figures_of(const llmcost::model& with, const llmcost::workload& load) {
    llmcost::model without = with;
    without.dims.mtp_layers = 0;
    const llmcost::figures f = llmcost::count_model(with, load), g = llmcost::count_model(without, load);
    const llmcost::count found[]{f.add - g.add, f.mult - g.mult, f.div - g.div, f.sqrt - g.sqrt,       f.exp - g.exp,
                                 f.log - g.log, f.tanh - g.tanh, f.erf - g.erf, f.trig - g.trig,       f.pow - g.pow,
                                 f.neg - g.neg, f.cmp - g.cmp,   f.out - g.out, f.written - g.written, f.cache - g.cache};
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
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "model") {
            std::string name, parameters;
            words >> name >> parameters;
            model = built_from(read_golden(golden_folder() / (name + ".golden")));
            const llmcost::count before = llmcost::count_model(model, {}).params;
            model.dims.mtp_layers = 2;
            const llmcost::count added = llmcost::count_model(model, {}).params - before;
            CHECK(llmcost::count_text{added}.view() == parameters);
        } else if (word == "run") {
            llmcost::workload load;
            words >> load.batch >> load.sequence >> load.past;
            std::vector<std::string> expected;
            for (std::string n; words >> n;) expected.push_back(n);
            const std::vector<std::string> found = figures_of(model, load);
            REQUIRE(found.size() == expected.size());
            for (std::size_t i = 0; i < found.size(); ++i) CHECK_MESSAGE(found[i] == expected[i], "column " << i);
            ++runs;
        }
    }
    CHECK(runs == 20);
}

TEST_CASE("modules that predict further tokens fill published checkpoints") {
    // elements of all tensors of a repository: with them its copies of embedding and head, and corrections of its routers
    struct published {
        const char* name;
        std::int64_t routers;
        const char* total;
    };
    for (const published& each : {published{"deepseek-ai__DeepSeek-V3", 59, "684489845504"},
                                  published{"zai-org__GLM-4.5-Air-Base", 46, "110468824832"}}) {
        CAPTURE(each.name);
        llmcost::model model = built_from(read_golden(golden_folder() / (std::string(each.name) + ".golden")));
        model.dims.mtp_layers = 1;
        const std::int64_t copies = 2 * model.dims.vocab_size * model.dims.hidden_size;
        const std::int64_t corrections = each.routers * model.dims.moe.num_experts;
        const llmcost::count all = llmcost::count_model(model, {}).params + llmcost::count(copies + corrections);
        CHECK(llmcost::count_text{all}.view() == each.total);
    }
}
