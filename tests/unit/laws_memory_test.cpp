// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/training_step.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

using namespace llmcost;
using namespace llmcost::testing;

// A tape hears every layer by itself, figures are sums over kinds of layers: two ways to the same bytes.
TEST_CASE("what a tape keeps for backward is what is counted") {
    for_all(
        {{.batch = 2, .sequence = 9, .weights = dtype::float32, .training = true, .is_train_mode = true}},
        [](const model& m, const workload& load) {
            const training_run run = train(m, load, {.loss = training_loss::sum});
            CHECK(count(run.memory.saved_bytes) == count_model(m, load).saved_bytes);
            CHECK(count(run.memory.peak_by_category[memory_category::parameters]) == count_model(m, load).weight_bytes);
            CHECK(run.memory.peak.bytes.total >= run.memory.after_step.total);
            CHECK(run.memory.peak_by_category[memory_category::gradients] <=
                  run.memory.peak_by_category[memory_category::parameters]);
        });
}

TEST_CASE("a step's tensors take more, the larger the batch is") {
    for_all(sample_workloads(), [](const model& m, workload load) {
        if (load.training) return;
        const count base_peak = peak_activation_bytes(m, load);
        load.batch *= 2;
        CHECK(peak_activation_bytes(m, load) >= base_peak);
    });
}

// a trace with explicit types casts where the reference does, and has other sizes and views than one without
TEST_CASE("every model has an eager walk in every type, with no fewer operations than in 32 bits") {
    for_all({{.batch = 1, .sequence = 1},
             {.batch = 2, .sequence = 64, .encoder_sequence = 33},
             {.batch = 2, .sequence = 7, .past = 130},
             {.batch = 1, .sequence = 200, .attention = attention_scores::causal},
             {.batch = 2, .sequence = 9, .training = true}},
            [](const model& m, workload load) {
                if (load.past > 0 && count_model(m, {.sequence = 1, .past = 1}).cache_elements == count{}) return;
                load.uses_workload_dtypes = true;
                std::size_t float32_nodes = 0;
                for (const dtype type : {dtype::float32, dtype::bfloat16})
                    for (const bool casts : {false, true}) {
                        if (casts && (type != dtype::float32 || !load.training)) continue;
                        load.weights = load.activations = type;
                        load.autocast = load.uses_cpu_kernels = casts;
                        tape recorded_tape;
                        detail::tape_listener listener{recorded_tape};
                        trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
                        (void)m.forward(t);
                        if (type == dtype::float32 && !casts) float32_nodes = recorded_tape.nodes.size();
                        CHECK(recorded_tape.nodes.size() >= float32_nodes);  // casts alone come to those of 32 bits
                    }
            });
}

// few layers stand for all; here all are walked
TEST_CASE("the most that layers take which come again and again is that of all") {
    for_all(sample_workloads(), [](const model& m, workload load) {
        if (load.training) return;
        load.uses_workload_dtypes = true;
        const auto all = [&](attention_implementation implementation) {
            load.implementation = implementation;
            return detail::peak_activation_bytes_of_full_trace(m, load);
        };
        count maximum;
        try {
            maximum = all(attention_implementation::sdpa);
        } catch (const description_error&) {  // no such call in this model
            maximum = all(attention_implementation::eager);
        }
        CHECK(peak_activation_bytes(m, load) == maximum);
    });
}
