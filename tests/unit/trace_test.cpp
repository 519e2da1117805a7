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
    std::map<std::string, int> seen;
    for (const torch_program& program : read_programs()) {
        INFO(program.kind << " program at line " << program.line);
        machine m(program.trains);
        std::string problems;
        for (const statement& s : program.statements) {
            ++seen[s.operation];
            const std::string where = s.name + " = " + s.operation + ": ";
            try {
                const count before = m.walk().sums().written;
                const value& v = m.execute(s);
                const count written = m.walk().sums().written - before;
                if (written != count(s.written))
                    problems += where + "writes " + std::string(count_text{written}.view()) + ", not " +
                                std::to_string(s.written) + "; ";
                problems += disagreement(s, v).empty() ? "" : where + disagreement(s, v) + "; ";
                if (program.trains && v.requires_grad != s.has('g')) problems += where + "gradient; ";
            } catch (const description_error& error) {
                problems += where + error.what();
                break;
            }
        }
        m.go_back();
        const std::vector<std::uint64_t> totals = totals_of(m.walk().sums());
        REQUIRE(totals.size() == program.totals.size());
        for (std::size_t i = 0; i < totals.size(); ++i)
            if (totals[i] != program.totals[i])
                problems += std::string(total_names[i]) + " " + std::to_string(totals[i]) + ", not " +
                            std::to_string(program.totals[i]) + "; ";
        CHECK(problems == "");
    }
    CHECK(seen.size() > 60);
}
