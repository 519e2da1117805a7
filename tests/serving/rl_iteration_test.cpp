// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/serving/rl_iteration.hpp>

// The composition of an iteration of reinforcement learning, with values computed by hand.
using namespace llmcost;

TEST_CASE("an iteration is the sum of its phases, and the longer side if it is asynchronous") {
    rl_workload load;
    load.train_batch_size = 64;
    load.mini_batch_size = 16;
    load.epochs = 2;
    const rl_parts parts{.rollout_seconds = 10,
                         .training_step_seconds = 1,
                         .forward_seconds = 0.25,
                         .weight_transfer_seconds = 0.5,
                         .offload_seconds = 0};
    // 10 rollout; 4 forwards of 0.25 for each of two models; 2 · 4 steps; 0.5 transfer
    CHECK(compose_iteration(load, parts).seconds == doctest::Approx(10 + 1 + 1 + 8 + 0.5));
    load.is_async = true;
    CHECK(compose_iteration(load, parts).seconds == doctest::Approx(10.5));
    load.epochs = 3;  // the trainer takes 1 + 1 + 12
    CHECK(compose_iteration(load, parts).seconds == doctest::Approx(14.5));
    load.is_async = false;
    load.algorithm = rl_algorithm::ppo;
    load.has_reward_model = true;
    CHECK(compose_iteration(load, parts).seconds == doctest::Approx(10 + 4 * 1 + 2 * 12 + 0.5));
    CHECK(compose_iteration(load, parts).phases.size() == 8);
}

TEST_CASE("a forward pass has its share of a step without the optimizer") {
    parallel_training_cost step;
    step.forward.seconds = 1;
    step.backward.seconds = 2;
    step.recomputed.seconds = 1;
    step.optimizer_seconds = 0.5;
    step.total.seconds = 6.5;  // 2 seconds of communication and bubbles
    CHECK(forward_pass_seconds(step) == doctest::Approx(1.5));
    CHECK(forward_pass_seconds({}) == 0);
}
