// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/serving/mixed_batch.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

// Prompts and sequences that decode in one step.
using namespace llmcost;

namespace {

struct group {
    std::int64_t batch, sequence, past;
};
const std::string calibrations = LLMCOST_TEST_DIR "/../configs/calibrations";

/// Seconds of one layer's attention in a step of these groups, as `latency` prices it.
double attention_seconds(const std::string& device, const std::string& software, std::initializer_list<group> groups,
                         bool uses_fused_decodes = true) {
    static std::map<std::string, kernel_library> libraries;  // reading one takes longer than asking it
    kernel_library& library =
        libraries.try_emplace(device + software, device, software, "", calibrations).first->second;
    execution execution_config;
    const auto kernels = [&](const group& g) {
        return kernels_of(presets::llama_3_1_8b, {.batch = g.batch, .sequence = g.sequence, .past = g.past},
                          execution_config);
    };
    for (const group& g : groups)
        if (uses_fused_decodes && g.sequence > 1)
            execution_config.mixed_decode_mode = merge_decodes_into_prefill(kernels(g), library);
    std::vector<model_kernel> step;
    for (const group& g : groups) merge_step(step, kernels(g), execution_config.mixed_decode_mode);
    const std::vector<known_kernel> known = match_kernels(step, execution_config, library);
    const std::vector<latency_estimate> estimates = estimates_of(*find_device(device), known);
    double sum = 0;
    for (std::size_t i = 0; i < known.size(); ++i)
        if (known[i].kernel.shape.type->name == "context_attention" ||
            known[i].kernel.shape.type->name == "generation_attention")
            sum += estimates[i].seconds;
    return sum;
}

}  // namespace

// Llama-3.1-8B's attention in vLLM 0.19.0 (casys-kaist/LLMServingSim @5daddb21): FlashAttention-2 shares keys between
// heads only where all sequences have one new token
TEST_CASE("where heads share no keys beside prompts, sequences that decode take as long as tiles of prompts") {
    struct row {
        const char* device;
        group prompt, decodes;
        double microseconds;
    };
    const row rows[] = {{"rtx_4090", {1, 512, 0}, {64, 1, 2048}, 1236.07},
                        {"rtx_4090", {1, 512, 0}, {64, 1, 512}, 427.235},
                        {"rtx_4090", {1, 64, 2048}, {64, 1, 2048}, 1289.36},
                        {"rtx_4090", {1, 512, 2048}, {16, 1, 2048}, 460.097},
                        {"rtx_4090", {1, 512, 2048}, {16, 1, 16}, 234.987},
                        {"rtx_pro_6000_blackwell_server", {1, 512, 0}, {64, 1, 2048}, 602.668},
                        {"rtx_pro_6000_blackwell_server", {1, 512, 0}, {64, 1, 512}, 220.726},
                        {"rtx_pro_6000_blackwell_server", {1, 64, 2048}, {64, 1, 2048}, 578.849},
                        {"rtx_pro_6000_blackwell_server", {1, 512, 2048}, {16, 1, 2048}, 246.401},
                        {"rtx_pro_6000_blackwell_server", {1, 512, 2048}, {16, 1, 16}, 124.256}};
    double fused_error = 0, separate_error = 0;
    for (const row& r : rows) {
        INFO(r.device << ' ' << r.prompt.sequence << ' ' << r.prompt.past << ' ' << r.decodes.batch << ' '
                      << r.decodes.past);
        const auto compute_log_error = [&](bool uses_fused_decodes) {
            return std::fabs(std::log2(attention_seconds(r.device, "vllm", {r.prompt, r.decodes}, uses_fused_decodes) *
                                       1e6 / r.microseconds));
        };
        CHECK(compute_log_error(true) < 1);
        fused_error += compute_log_error(true);
        separate_error += compute_log_error(false);
    }
    CHECK(fused_error < separate_error / 2);
}

TEST_CASE("where they share them, each kernel is its own, in one launch where the engine makes one call") {
    const auto saves = [](const char* software) {
        const double prompt = attention_seconds("h200_sxm", software, {{1, 512, 0}}),
                     decodes = attention_seconds("h200_sxm", software, {{64, 1, 2048}}),
                     combined = attention_seconds("h200_sxm", software, {{1, 512, 0}, {64, 1, 2048}});
        CHECK(combined == attention_seconds("h200_sxm", software, {{64, 1, 2048}, {1, 512, 0}}));
        CHECK(combined >= std::max(prompt, decodes));
        return prompt + decodes - combined;
    };
    CHECK(saves("trtllm") == doctest::Approx(0));
    for (const char* software : {"vllm", "sglang"}) {
        CHECK(saves(software) > 9e-6);  // roofline.launch_us of both: 10 and 12
        CHECK(saves(software) < 13e-6);
    }
}

TEST_CASE("how a call mixes goes with the software and the chip that were measured") {
    const auto adds = [](const char* device, const char* software) {
        return attention_seconds(device, software, {{1, 512, 0}, {64, 1, 2048}}) -
               attention_seconds(device, software, {{1, 512, 0}, {64, 1, 2048}}, false);
    };
    CHECK(adds("rtx_4090", "vllm") > 500e-6);
    CHECK(adds("rtx_4090", "trtllm") == 0);  // vLLM's kernels stand in
    CHECK(adds("h100_pcie", "vllm") == 0);   // A100's do
}

TEST_CASE("what stands beside others in a call adds no more than it takes alone, and no less than waves of all parts") {
    for (const char* device : {"rtx_4090", "h100_sxm", "h200_sxm", "a100_sxm_80gb"}) {
        INFO(device);
        const auto step = [&](std::initializer_list<group> groups) {
            return attention_seconds(device, "vllm", groups);
        };
        const double small_group_seconds = step({{1, 2, 0}});
        for (const group& much : {group{128, 2048, 0}, group{8, 8192, 0}, group{64, 100, 0}}) {
            CHECK(step({much, {1, 2, 0}}) >= step({much}));
            CHECK(step({much, {1, 2, 0}}) <= step({much}) + small_group_seconds + 1e-12);
        }
        // five times 32 heads are two waves of 128 units, whether all lengths are equal or one is not
        const double equal = step({{5, 2, 32768}}), unequal = step({{4, 2, 32768}, {1, 2, 32769}});
        CHECK(unequal >= equal * (1 - 1e-9));
        CHECK(unequal < 1.2 * equal);
    }
}

TEST_CASE("groups are priced where nobody measured attention") {
    for (const char* device : {"l40s", "mi300x", "b200_sxm"}) {
        const auto step = [&](std::initializer_list<group> groups) {
            return attention_seconds(device, "vllm", groups);
        };
        const double combined = step({{1, 512, 0}, {1, 100, 0}});
        CHECK(combined >= step({{1, 512, 0}}));
        CHECK(combined <= step({{1, 512, 0}}) + step({{1, 100, 0}}));
    }
}

TEST_CASE("a state space's chains are launched once for all groups, however long") {
    const auto launches = [](std::initializer_list<group> groups) {
        std::vector<model_kernel> step;
        for (const group& g : groups)
            merge_step(step,
                       kernels_of(presets::mamba_2_8b, {.batch = g.batch, .sequence = g.sequence, .past = g.past}, {}));
        std::int64_t all = 0;
        for (const model_kernel& k : step)
            all += k.shared_launch_index == model_kernel::separate_launch ? k.num_runs : 0;
        return all;
    };
    CHECK(launches({{8, 64, 0}, {1, 3, 0}}) == launches({{8, 64, 0}}));
    CHECK(launches({{8, 64, 0}, {2, 3, 0}}) == launches({{8, 64, 0}}));
    CHECK(launches({{1, 3, 0}, {8, 64, 0}}) == launches({{8, 64, 0}}));
}

TEST_CASE("what parameters alone make is read and computed once for all groups") {
    const auto done = [](launch_mode issued, std::initializer_list<group> groups) {
        execution execution_config;
        execution_config.launch = issued;
        std::vector<model_kernel> step;
        for (const group& g : groups)
            merge_step(step, kernels_of(presets::mamba_2_8b, {.batch = g.batch, .sequence = g.sequence, .past = g.past},
                                        execution_config));
        double bytes = 0, flops = 0;
        for (const model_kernel& k : step) {
            const kernel_work work = k.shape.work();
            bytes += static_cast<double>(k.num_runs) * work.bytes;
            flops += static_cast<double>(k.num_runs) * work.flops;
        }
        return std::pair{bytes, flops};
    };
    for (const launch_mode issued :
         {launch_mode::cuda_graph, launch_mode::eager})  // nothing of a state space reads how many tokens it has seen
        CHECK(done(issued, {{3, 1, 7}, {1, 1, 8}, {4, 1, 900}}) == done(issued, {{8, 1, 7}}));
}

TEST_CASE("operations that look alike in one group are launched once with another's") {
    const auto launches = [](std::initializer_list<group> groups) {
        execution execution_config;
        execution_config.launch = launch_mode::eager;
        std::vector<model_kernel> step;
        for (const group& g : groups)
            merge_step(step, kernels_of(presets::llama_3_2_1b,
                                        {.batch = g.batch, .sequence = g.sequence, .past = g.past}, execution_config));
        std::int64_t all = 0;
        for (const model_kernel& k : step)
            all += k.shared_launch_index == model_kernel::separate_launch ? k.num_runs : 0;
        return all;
    };
    // of 64 tokens behind none both products of attention multiply 64 by 64, and one behind none looks like many others
    CHECK(launches({{2, 64, 0}, {3, 5, 0}}) == launches({{2, 63, 0}, {3, 5, 0}}));
    CHECK(launches({{3, 5, 0}, {2, 64, 0}}) == launches({{3, 5, 0}, {2, 63, 0}}));
    CHECK(launches({{3, 5, 0}, {2, 64, 0}, {1, 9, 0}}) == launches({{3, 5, 0}, {2, 63, 0}, {1, 9, 0}}));
    CHECK(launches({{84, 1, 9}, {1, 1, 4}}) == launches({{84, 1, 9}, {2, 1, 4}}));
}

TEST_CASE("a group that grows beside others takes no less") {
    const group companion_groups[] = {{1, 512, 0}, {64, 1, 2048}, {2, 100, 3000}};
    for (const char* device : {"rtx_4090", "h100_sxm", "h200_sxm", "a100_sxm_80gb", "b200_sxm"})
        for (const char* software : {"vllm", "trtllm"})
            for (const group& companion : companion_groups)
                for (const group& initial_group :
                     {group{1, 1, 0}, group{8, 2, 0}, group{64, 1, 700}, group{4, 100, 1000}})
                    for (std::int64_t group::*const size : {&group::batch, &group::sequence, &group::past}) {
                        if (initial_group.sequence == 1 && size == &group::sequence)
                            continue;  // two tokens are another kernel's
                        group g = initial_group;
                        double previous_seconds = 0;
                        for (int i = 0; i < 24; ++i, g.*size += 1 + g.*size / 3) {
                            INFO(device << ' ' << software << ' ' << g.batch << 'x' << g.sequence << '@' << g.past
                                        << " beside " << companion.batch << 'x' << companion.sequence << '@'
                                        << companion.past);
                            const double now = attention_seconds(device, software, {companion, g});
                            CHECK(now >= previous_seconds * (1 - 1e-9));
                            previous_seconds = now;
                        }
                    }
}

TEST_CASE("layers of two kinds are no groups of one launch") {
    execution execution_config;
    for (const std::int64_t tokens : {1, 128}) {
        std::vector<model_kernel> step;
        for (int group = 0; group < 2; ++group) {
            merge_step(step, kernels_of(presets::gpt_oss_20b, {.batch = 1, .sequence = tokens, .past = 5 + 100 * group},
                                        execution_config));
            std::int64_t separate_launches = 0, joined_launches = 0;
            for (const model_kernel& k : step)
                if (k.shape.type->num_axes > 1)
                    (k.shared_launch_index == model_kernel::separate_launch ? separate_launches : joined_launches) +=
                        k.num_runs;
            CHECK(separate_launches == 24);  // 12 with a window, 12 without
            CHECK(joined_launches == 24 * group);
        }
    }
}

TEST_CASE("prompts of different lengths fill each other's idle units") {
    for (const char* device : {"rtx_4090", "h200_sxm"}) {
        const auto step = [&](std::initializer_list<group> groups) {
            return attention_seconds(device, "vllm", groups);
        };
        const double one = step({{1, 64, 0}}), combined = step({{1, 64, 0}, {1, 65, 0}});
        CHECK(combined >= step({{1, 65, 0}}));
        CHECK(combined < 1.5 * one);
        CHECK(combined == doctest::Approx(step({{1, 65, 0}, {1, 64, 0}})));  // whatever their order
        const double longest = step({{1, 4000, 0}});
        CHECK(step({{1, 4000, 0}, {1, 16, 8000}, {1, 64, 0}}) >= longest);
    }
}
