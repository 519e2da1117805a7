// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "torch_machine.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

TEST_CASE("operations lay out, write, cost and keep what torch does") {
    std::map<std::string, int> num_executions;
    for (const torch_program& program : read_programs()) {
        INFO(program.kind << " program at line " << program.line);
        machine m(program.trains);
        std::string problems;
        for (const statement& s : program.statements) {
            ++num_executions[s.operation];
            const std::string location = s.name + " = " + s.operation + ": ";
            try {
                const count previous = m.get_trace().totals().written_elements;
                const tensor& v = m.execute(s);
                const count written = m.get_trace().totals().written_elements - previous;
                if (written != count(s.written))
                    problems += location + "writes " + std::string(count_text{written}.view()) + ", not " +
                                std::to_string(s.written) + "; ";
                problems += disagreement(s, v).empty() ? "" : location + disagreement(s, v) + "; ";
                if (program.trains && v.requires_grad != s.has('g')) problems += location + "gradient; ";
            } catch (const description_error& error) {
                problems += location + error.what();
                break;
            }
        }
        m.go_back();
        const std::vector<std::uint64_t> totals = totals_of(m.get_trace().totals());
        REQUIRE(totals.size() == program.totals.size());
        for (std::size_t i = 0; i < totals.size(); ++i)
            if (totals[i] != program.totals[i])
                problems += std::string(total_names[i]) + " " + std::to_string(totals[i]) + ", not " +
                            std::to_string(program.totals[i]) + "; ";
        CHECK(problems == "");
    }
    CHECK(num_executions.size() > 60);
}
