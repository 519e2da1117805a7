// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../unit/laws.hpp"
#include "unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/step_time_model.hpp>
#include <llmcost/serving/training.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

execution issued_as(launch_mode mode) {
    execution e;
    e.launch = mode;
    return e;
}

}  // namespace

// the golden's FLOPs are FlopCounterMode's, whose own tests hold; here nothing is fused, so that none may be missing
TEST_CASE("every product that the reference executes is a kernel of its own when it runs eagerly") {
    std::size_t num_checked = 0;
    for_all({{.batch = 2, .sequence = 9}, {.batch = 3, .sequence = 1, .past = 4}},
            [&](const model& m, const workload& load) {
                double flops = 0;
                for (const model_kernel& k : kernels_of(m, load, issued_as(launch_mode::eager)))
                    flops += static_cast<double>(k.num_runs) * k.shape.work().flops;
                CHECK(flops == static_cast<double>(count_model(m, load).torch_flops.to_64()));
                ++num_checked;
            });
    CHECK(num_checked == 2 * golden_models().size());
    CHECK(num_checked > 150);
}

// Llama-3.2-1B with two prompts of three tokens: 16 layers of 7 products, 2 products of activations and a softmax, and
// the head
TEST_CASE("eager operations are products, softmaxes and maps") {
    const auto kernels = kernels_of(presets::llama_3_2_1b, {.batch = 2, .sequence = 3, .head = logits::last},
                                    issued_as(launch_mode::eager));
    std::int64_t products = 0, batched = 0, softmaxes = 0;
    for (const model_kernel& k : kernels) {
        if (k.shape.type->name == "gemm") products += k.num_runs;
        if (k.shape.type->name == "softmax") softmaxes += k.num_runs;
        if (k.shape.type->name == "batched_gemm") batched += k.num_runs;
        if (k.module_path.ends_with(
                "mlp.act_fn")) {  // silu of 6 x 8192: each element read and written, 28 additions' worth
            CHECK(k.shape.variant == "silu");
            CHECK(k.shape.sizes[0] == 2 * 3);
            CHECK(k.shape.sizes[1] == 8192);
            CHECK(k.shape.sizes[2] == 2 * 6 * 8192);
            CHECK(k.shape.sizes[3] == 28 * 6 * 8192);
        }
    }
    CHECK(products == 16 * 7 + 1);
    CHECK(softmaxes == 16);
    CHECK(batched == 2 * 16);  // frequencies times positions sum over nothing: torch multiplies them
}

TEST_CASE("a step takes as long as its kernels, or as the host that issues them") {
    unmeasured no_measurements;
    const model& m = presets::llama_3_2_1b;
    const auto plan = [&](launch_mode mode) { return step_time_model(m, issued_as(mode), h200, no_measurements); };
    step_time_model graph = plan(launch_mode::cuda_graph), stream = plan(launch_mode::stream),
                    eager = plan(launch_mode::eager);
    const step_cost of_graph = graph(1, 1, 1000), of_stream = stream(1, 1, 1000), of_eager = eager(1, 1, 1000);
    CHECK(of_stream.launches == of_graph.launches);
    CHECK(of_stream.seconds == doctest::Approx(of_graph.seconds));  // 146 kernels of 8 µs hide launches of 4 µs
    CHECK(of_eager.launches > 4 * of_graph.launches);
    CHECK(of_eager.seconds == doctest::Approx(16e-6 * of_eager.launches));
    CHECK(eager(64, 1, 8000).seconds > 16e-6 * of_eager.launches);  // the device is busy for longer than that

    const step_cost small_step{.seconds = 1e-3, .launches = 100};
    CHECK(small_step.issued_in(0).seconds == 1e-3);
    CHECK(small_step.issued_in(9e-6).seconds == 1e-3);
    CHECK(small_step.issued_in(11e-6).seconds == doctest::Approx(1.1e-3));
}

TEST_CASE("a training step that runs eagerly waits for its host") {
    unmeasured no_measurements;
    const workload load{.batch = 1, .sequence = 16};
    const training_cost graph = training_of(presets::llama_3_2_1b, load, {}, h200, no_measurements);
    const training_cost eager =
        training_of(presets::llama_3_2_1b, load, issued_as(launch_mode::eager), h200, no_measurements);
    CHECK(graph.total.seconds ==
          doctest::Approx(graph.forward.seconds + graph.backward.seconds + graph.optimizer.seconds));
    CHECK(eager.backward.launches == doctest::Approx(2 * eager.forward.launches).epsilon(0.01));
    CHECK(eager.total.seconds ==
          doctest::Approx(16e-6 * (eager.forward.launches + eager.backward.launches + eager.optimizer.launches)));
}
