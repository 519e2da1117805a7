// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry.hpp"

using namespace llmcost;
using namespace llmcost::testing;

TEST_CASE("a walk by kinds of layers counts what a walk by layers counts, in bfloat16 as well") {
    for_all(training_workloads(dtype::bfloat16), [](const model& m, const workload& load) {
        CHECK(unequal(count_model(m, load), list_model(m, load).total) == "");
    });
}

TEST_CASE("a model whose reference takes no step says so") {
    std::size_t num_refused = 0;
    for_models([&](const golden_model& g) {
        if (!is_exception(untrained_types, g.golden.model_type)) return;
        for (const workload& step : training_workloads(dtype::float32))
            CHECK_THROWS_AS((void)count_model(g.built, step), description_error);
        CHECK(g.golden.trainings.empty());
        ++num_refused;
    });
    CHECK(num_refused > 0);
}

TEST_CASE("the path of a list of modules is found") {
    for_all({{.batch = 2, .sequence = 9, .weights = dtype::float32}}, [](const model& m, const workload& load) {
        for (const scope_figures& s : list_model(m, load).scopes) {
            if (s.type != "ModuleList") continue;
            CAPTURE(s.path);
            const llmcost::model_metrics f = count_model(m, load, scope_query{s.path});
            CHECK(unequal(additive(f), additive(model_metrics_of(s.sums, storage_types_of(m, load)))) == "");
        }
    });
}

TEST_CASE("a configuration with one other number is refused, counted, or overflows") {
    for_models([&](const golden_model& g) {
        const config_document original = read_config_file(g.golden.config_path.string());
        for (const config_view child : original.root()) {
            if (child.type() != config_view::kind::integer) continue;
            for (const std::string_view size : {"2147483647", "2147483648", "1073741824", "9223372036854775807", "513",
                                                "127", "100", "63", "7", "3", "1", "0", "-1"}) {
                INFO(child.key() << " = " << size);
                config_document changed = original;
                changed.set(child.key(), size);
                std::optional<model> built;
                try {
                    built = changed.read_with([](config_view root) { return parts::registry.read(root); });
                } catch (const llmcost::error&) {
                    continue;
                } catch (const std::exception& problem) {
                    FAIL_CHECK(std::string(problem.what()));
                    continue;
                }
                const auto small = counted_unless_overflow(*built, {.batch = 2, .sequence = 3});
                const auto large = counted_unless_overflow(*built, {.batch = 2, .sequence = 300});
                if (small && large) CHECK(find_exceeding(*small, *large) == "");
            }
        }
    });
}
