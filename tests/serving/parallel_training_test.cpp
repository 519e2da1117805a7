// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../unit/laws.hpp"
#include "unmeasured.hpp"

#include <llmcost/devices/all.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/serving/parallel_training.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/serving/training_collectives.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

const workload microbatch{.batch = 2, .sequence = 512};
constexpr double parameters = 1235814400, layer_parameters = 16 * 60821504.0, embedding_parameters = 128256.0 * 2048;

parallel_training_cost time_of(const training_job& job, const training_plan& plan = {},
                               const workload& load = microbatch) {
    unmeasured no_measurements;
    return time_parallel_training(presets::llama_3_2_1b, load, {}, *find_device("h100_sxm"), no_measurements, plan,
                                  job);
}

training_job divided(std::int64_t tensor, std::int64_t pipeline, std::int64_t data, std::int64_t microbatches = 1) {
    training_job job;
    job.parallel.tensor = tensor;
    job.parallel.pipeline = pipeline;
    job.parallel.data = data;
    job.parallel.microbatches = microbatches;
    return job;
}

const training_communication& group_of(const parallel_training_cost& cost, mesh_axis axis) {
    for (const training_communication& c : cost.communication)
        if (c.axis == axis) return c;
    FAIL("no communication of the group");
    return cost.communication.front();
}

double passes_of(const parallel_training_cost& cost) {
    return cost.forward.seconds + cost.backward.seconds + cost.recomputed.seconds;
}

}  // namespace

TEST_CASE("a job on one device has no communication and no bubble") {
    const parallel_training_cost one = time_of(divided(1, 1, 1));
    CHECK(one.communication.empty());
    CHECK(one.bubble_seconds == 0);
    CHECK(one.total.seconds == doctest::Approx(passes_of(one) + one.optimizer_seconds));
    CHECK(one.parameters == parameters);
    unmeasured no_measurements;
    const training_cost undivided =
        training_of(presets::llama_3_2_1b, microbatch, {}, *find_device("h100_sxm"), no_measurements);
    CHECK(one.model_flops == doctest::Approx(3 * undivided.forward.flops));
    CHECK(one.hardware_flops == one.model_flops);
}

TEST_CASE("the stages of a pipeline compute what one device computes") {
    const parallel_training_cost one = time_of(divided(1, 1, 1));
    for (const std::int64_t stages : {2, 4, 16}) {
        training_job job = divided(1, stages, 1);
        job.overlap.pipeline = true;
        const parallel_training_cost cost = time_of(job);
        // one microbatch passes all stages one after the other
        CHECK((passes_of(cost) + cost.bubble_seconds) / passes_of(one) == doctest::Approx(1));
        CHECK(cost.model_flops * static_cast<double>(stages) == doctest::Approx(one.model_flops));
        CHECK(group_of(cost, mesh_axis::pipeline).bytes_sent ==
              2 * 2.0 * 512 * 2048 * 2 + 4 * embedding_parameters);  // messages, and the gradients of a tied embedding
    }
}

TEST_CASE("more microbatches never lengthen the share of the bubble") {
    for (const std::string schedule : {"1f1b", "gpipe", "zb-h1"}) {
        double share = 1;
        for (const std::int64_t microbatches : {4, 8, 16, 32, 64}) {
            training_job job = divided(1, 4, 1, microbatches);
            job.parallel.schedule = schedule;
            const parallel_training_cost cost = time_of(job);
            CHECK(cost.bubble_seconds / cost.total.seconds < share);
            share = cost.bubble_seconds / cost.total.seconds;
        }
        CHECK(share > 0);
    }
    // interleaved 1F1B divides the bubble by the stages of a rank: Megatron-LM, arXiv 2104.04473, section 2.2
    training_parallelism parallel{.pipeline = 4, .stages_per_rank = 2, .microbatches = 8};
    CHECK(bubble_fraction(parallel) == 3.0 / 16);
    parallel.stages_per_rank = 1;
    CHECK(bubble_fraction(parallel) == 3.0 / 8);
    CHECK(bubble_fraction({}) == 0);
}

// 16 layers with two all-reduces each in forward and in backward: a ring sends twice half of 2 x 512 x 2,048 elements
TEST_CASE("tensor parallelism sums the output of attention and MLP") {
    const double message = 2 * 512 * 2048 * 2.0;
    const parallel_training_cost cost = time_of(divided(2, 1, 1, 3));
    const training_communication& tensor = group_of(cost, mesh_axis::tensor);
    CHECK(tensor.size == 2);
    CHECK_FALSE(tensor.crosses_nodes);
    CHECK(tensor.bytes_sent == 3 * 16 * 4 * message);
    CHECK(tensor.exposed_seconds == tensor.seconds);
    training_job job = divided(2, 1, 1, 3);
    job.overlap.tensor = true;
    CHECK(group_of(time_of(job), mesh_axis::tensor).exposed_seconds == 0);
    training_plan recompute;
    recompute.schedule.recompute = recompute_mode::full;
    CHECK(group_of(time_of(divided(2, 1, 1, 3), recompute), mesh_axis::tensor).bytes_sent == 3 * 16 * 6 * message);
}

// FSDP gathers all parameters in forward and in backward in 2 bytes, and reduces their gradients in 4
TEST_CASE("FSDP gathers twice and reduces once") {
    training_job job = divided(1, 1, 8);
    job.sharding = sharding_strategy::fsdp;
    job.reduces_each_microbatch = true;
    const auto sent = [&] { return group_of(time_of(job), mesh_axis::data).bytes_sent; };
    CHECK(sent() == doctest::Approx(7.0 / 8 * parameters * (2 * 2 + 4)));
    job.reshards_after_forward = false;
    CHECK(sent() == doctest::Approx(7.0 / 8 * parameters * (2 + 4)));
    job.parallel.microbatches = 2;
    CHECK(sent() == doctest::Approx(2 * 7.0 / 8 * parameters * (2 + 4)));
    job.sharding = sharding_strategy::zero1;  // one reduction and one gather of a step
    job.reduces_each_microbatch = false;
    CHECK(sent() == doctest::Approx(7.0 / 8 * parameters * (2 + 4)));
    job.sharding = sharding_strategy::ddp;
    CHECK(sent() == doctest::Approx(2 * 7.0 / 8 * parameters * 4));
}

TEST_CASE("every byte that a device sends is received") {
    training_job job = divided(2, 2, 2, 4);
    job.parallel.context = 2;
    job.sharding = sharding_strategy::zero1;
    const parallel_training_cost cost = time_of(job);
    CHECK(cost.communication.size() == 4);
    double exposed = 0;
    for (const training_communication& c : cost.communication) {
        CHECK(c.bytes_sent == c.bytes_received);
        CHECK(c.bytes_sent > 0);
        CHECK(c.exposed_seconds <= c.seconds * (1 + 1e-12));
        exposed += c.exposed_seconds;
    }
    CHECK(cost.exposed_seconds() == doctest::Approx(exposed));
    CHECK(cost.total.seconds == doctest::Approx(passes_of(cost) + exposed + cost.bubble_seconds + cost.host_seconds +
                                                cost.optimizer_seconds));
    CHECK(cost.total.lower < cost.total.seconds);
    CHECK(cost.total.upper > cost.total.seconds);
    // the tied head of the last stage is a copy of the embedding
    CHECK(cost.parameters < (embedding_parameters + layer_parameters / 2) / 2 * 1.01);
}

TEST_CASE("messages of layers wait for computation or for each other") {
    CHECK(exposed_after_layers(10, 1, 0.5) == doctest::Approx(0.5));
    CHECK(exposed_after_layers(10, 1, 1) == doctest::Approx(1));
    CHECK(exposed_after_layers(10, 1, 2) == doctest::Approx(11));
    CHECK(exposed_after_layers(0, 1, 2) == 0);
}

TEST_CASE("recomputation repeats forward passes of layers") {
    training_plan plan;
    training_job job = divided(1, 1, 1);
    const parallel_training_cost none = time_of(job, plan);
    plan.schedule.recompute = recompute_mode::full;
    const parallel_training_cost full = time_of(job, plan);
    CHECK(full.recomputed_share == doctest::Approx(1));
    CHECK(full.hardware_flops > full.model_flops);
    job.recomputed_layers = 4;
    CHECK(time_of(job, plan).recomputed.seconds == doctest::Approx(full.recomputed.seconds / 4));
    plan.schedule.recompute = recompute_mode::selective;
    const double attention = time_of(job, plan).recomputed.seconds;
    job.recomputed_modules = {"core_attn", "layernorm"};
    CHECK(time_of(job, plan).recomputed.seconds > attention);
    CHECK(attention > 0);
    CHECK(full.recomputed.seconds < none.forward.seconds);  // embedding, head and loss are not repeated
}

// FlashAttention-2: 335 TFLOP/s for both passes on an H100, arXiv 2307.08691, section 4.1
TEST_CASE("attention kernels of training reach their published rates") {
    const device& h100 = *find_device("h100_sxm");
    const double flops = 1e14;
    const auto rate = [&](const char* name) {
        const attention_kernel_spec& kernel = *find_attention_kernel(name);
        return 3.5 * flops /
               (attention_seconds(h100, kernel, flops, 0, 128, false) +
                attention_seconds(h100, kernel, flops, 0, 128, true));
    };
    CHECK(rate("flash2") == doctest::Approx(335e12).epsilon(0.1));
    CHECK(rate("flash1") < rate("flash2"));
    CHECK(rate("flash3") > rate("flash2"));
    CHECK(find_attention_kernel("flash9") == nullptr);
}

TEST_CASE("a collective between nodes takes the time of the slower of links and network") {
    unmeasured no_measurements;
    const device& h100 = *find_device("h100_sxm");
    const auto seconds = [&](std::int64_t size, std::int64_t stride = 1) {
        return time_collective(collective_kind::all_gather, 1e9, size, stride, {}, h100, no_measurements).seconds;
    };
    CHECK(seconds(1) == 0);
    CHECK(seconds(16) >= seconds(8));
    CHECK(seconds(8, 8) > seconds(8));  // ranks of different nodes
    // two nodes: a port of 50 GB/s sends half of the message
    CHECK(seconds(2, 8) / (1e9 / 2 / (0.9 * 50e9)) == doctest::Approx(1).epsilon(0.01));
    const collective_time local = time_token_exchange(1e6, 8, 8, 1, {}, h100, no_measurements),
                          remote = time_token_exchange(1e6, 8, 16, 1, {}, h100, no_measurements);
    CHECK(local.sent_bytes == doctest::Approx(8e6 * 7 / 8));
    CHECK(remote.sent_bytes == doctest::Approx(8e6 * 7 / 8 + 1e6 * (1 - 1.0 / 256)));
}
