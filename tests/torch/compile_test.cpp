// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/torch/compiled_memory.hpp>
#include <llmcost/torch/compiled_step.hpp>
#include <llmcost/torch/kernel_list.hpp>
#include <llmcost/torch/minimum_cut.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry.hpp"

// Compiled training steps, against recordings of torch.compile (tests/oracle/torch_compile.py).
namespace llmcost {
namespace {

/// Triton kernels of a graph, without those that read an embedding table.
struct recorded_kernels {
    std::int64_t number = 0;
    std::uint64_t bytes = 0;
};

struct recorded_graphs {
    std::string name, config;
    workload load{};
    std::map<std::pair<std::string, std::uint64_t>, int> saved;  ///< floating-point tensors: type and elements
    recorded_kernels forward, backward;
};

std::vector<recorded_graphs> read_recordings() {
    std::ifstream in(LLMCOST_TEST_DIR "/torch/compiled_graphs.txt");
    std::vector<recorded_graphs> all;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string word;
        fields >> word;
        if (word == "model") {
            recorded_graphs& r = all.emplace_back();
            std::string name, attention, type;
            std::int64_t side = 0;
            fields >> name >> attention >> type >> r.load.batch >> r.load.sequence >> side;
            r.name = name + ' ' + attention + ' ' + type;
            r.load.image_height = r.load.image_width = side;
            r.load.weights = r.load.activations = r.load.cache = dtype_from(type);
            r.load.uses_workload_dtypes = r.load.has_training_cache = true;
            r.load.cuda_capability = 90;
            r.load.implementation =
                attention == "sdpa" ? attention_implementation::sdpa : attention_implementation::eager;
        } else if (word == "config") {
            all.back().config = line.substr(word.size() + 1);
        } else if (word == "saved") {
            std::string type;
            std::uint64_t elements = 0;
            int times = 0;
            fields >> type >> elements >> times;
            if (type.find("float") != std::string::npos) all.back().saved[{type, elements}] += times;
        } else if (word == "kernel") {
            std::string part, kind;
            std::uint64_t elements = 0, reduced = 0, read = 0, written = 0, times = 0;
            fields >> part >> kind >> elements >> reduced >> read >> written >> times;
            if (kind == "embedding") continue;
            recorded_kernels& kernels = part == "forward" ? all.back().forward : all.back().backward;
            kernels.number += static_cast<std::int64_t>(times);
            kernels.bytes += times * (read + written);
        }
    }
    return all;
}

recorded_kernels triton_kernels(const std::vector<fusion_group>& groups) {
    recorded_kernels out;
    for (const fusion_group& group : groups) {
        if (group.is_external || group.operators.find("embedding") != std::string::npos) continue;
        ++out.number;
        out.bytes += group.bytes_read + group.bytes_written;
    }
    return out;
}

recorded_training trace_of(const recorded_graphs& r) {
    const model m =
        parse_config(r.config, r.name).read_with([](config_view root) { return parts::registry.read(root); });
    return record_training(m, r.load, {}, true);
}

/// Whether the kernels of a recording are outside of the model (docs/latency-pytorch.md, "torch.compile").
bool has_other_kernels(const recorded_graphs& r) {
    for (const char* name : {"resnet", "convnext", "mixtral", "vit", "opt", "gpt2"})
        if (r.name.starts_with(name)) return true;
    return false;
}

}  // namespace

TEST_CASE("a minimum cut is the one nearest to the sink") {
    // two equal cuts of a chain: the second edge is nearer to the sink
    flow_network chain(4);
    chain.add_edge(0, 1, 5);
    chain.add_edge(1, 2, 5);
    chain.add_edge(2, 3, flow_network::infinite);
    CHECK(chain.sink_side(0, 3) == std::vector<bool>{false, false, true, true});

    // Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms", figure 26.6: the maximal flow is 23
    flow_network flow(6);
    const std::uint64_t edges[][3]{{0, 1, 16}, {0, 2, 13}, {1, 3, 12}, {2, 1, 4}, {2, 4, 14},
                                   {3, 2, 9},  {3, 5, 20}, {4, 3, 7},  {4, 5, 4}};
    for (const auto& [start, end, capacity] : edges) flow.add_edge(start, end, capacity);
    const std::vector<bool> sink_side = flow.sink_side(0, 5);
    std::uint64_t capacity_of_cut = 0;
    for (const auto& [start, end, capacity] : edges)
        if (!sink_side[start] && sink_side[end]) capacity_of_cut += capacity;
    CHECK(capacity_of_cut == 23);
}

TEST_CASE("saved tensors of compiled steps are those of torch.compile") {
    const std::vector<recorded_graphs> all = read_recordings();
    REQUIRE(all.size() == 20);
    for (const recorded_graphs& r : all) {
        INFO(r.name);
        const recorded_training traced = trace_of(r);
        const compiled_model compiled = compile_training(traced.pass, {});
        std::map<std::pair<std::string, std::uint64_t>, int> saved;
        for (const std::int32_t i : compiled.partition.saved) {
            const fx_node& n = compiled.graph.nodes[static_cast<std::size_t>(i)];
            if (n.type != dtype::int8) ++saved[{std::string(name_of(n.type)), n.numel}];
        }
        if (r.name.starts_with("mixtral")) {  // experts keep the operators of eager PyTorch
            CHECK(saved != r.saved);
            continue;
        }
        CHECK(saved == r.saved);
    }
}

TEST_CASE("fused kernels of compiled steps move the bytes of those of Inductor") {
    constexpr double max_forward_error = 0.06, max_backward_error = 0.10;
    constexpr std::int64_t max_difference = 4;
    for (const recorded_graphs& r : read_recordings()) {
        if (has_other_kernels(r)) continue;
        INFO(r.name);
        const compiled_model compiled = compile_training(trace_of(r).pass, {});
        const recorded_kernels forward = triton_kernels(compiled.forward), backward = triton_kernels(compiled.backward);
        const auto error = [](const recorded_kernels& a, const recorded_kernels& b) {
            return std::abs(static_cast<double>(a.bytes) / static_cast<double>(b.bytes) - 1);
        };
        CHECK(error(forward, r.forward) < max_forward_error);
        CHECK(error(backward, r.backward) < max_backward_error);
        CHECK(std::abs(forward.number - r.forward.number) <= max_difference);
        CHECK(std::abs(backward.number - r.backward.number) <= max_difference);
    }
}

TEST_CASE("a compiled step launches fewer kernels, saves less and takes less memory than an eager one") {
    const recorded_graphs r = read_recordings().front();
    const model m =
        parse_config(r.config, r.name).read_with([](config_view root) { return parts::registry.read(root); });
    const training_run eager = train(m, r.load, {}), compiled = train_compiled(m, r.load, {});
    CHECK(compiled.memory.saved_bytes < eager.memory.saved_bytes);
    CHECK(compiled.memory.peak_by_category[memory_category::activations] <
          eager.memory.peak_by_category[memory_category::activations]);
    CHECK(compiled.memory.peak.bytes[memory_category::parameters] ==
          eager.memory.peak.bytes[memory_category::parameters]);
    CHECK(compiled.memory.after_step == eager.memory.after_step);
    CHECK(compiled.memory.num_trainable == eager.memory.num_trainable);

    const std::vector<torch_kernel> kernels = compiled_training_kernels(m, r.load, {}, {});
    const std::vector<torch_kernel> all = training_kernels(m, r.load, {});
    CHECK(kernels.size() < all.size() / 2);
}

TEST_CASE("a compiled step has the FLOPs of an eager one") {
    const auto sum_of_flops = [](const std::vector<torch_kernel>& kernels) {
        std::uint64_t flops = 0;
        for (const torch_kernel& k : kernels) flops += k.flops;
        return flops;
    };
    int num_added_products = 0;
    for (const recorded_graphs& r : read_recordings()) {
        INFO(r.name);
        const model m =
            parse_config(r.config, r.name).read_with([](config_view root) { return parts::registry.read(root); });
        const std::vector<torch_kernel> kernels = compiled_training_kernels(m, r.load, {}, {});
        CHECK(sum_of_flops(kernels) == sum_of_flops(training_kernels(m, r.load, {})));  // no product is recomputed
        for (const torch_kernel& k : kernels)
            if (k.phase == step_phase::backward && std::string_view(k.name) == "aten::addmm") ++num_added_products;
    }
    CHECK(num_added_products > 0);  // gradients of a weight that two operations read
}

TEST_CASE("the shares of the operations of a fused kernel add up to its time") {
    for (const recorded_graphs& r : read_recordings()) {
        INFO(r.name);
        const model m =
            parse_config(r.config, r.name).read_with([](config_view root) { return parts::registry.read(root); });
        int num_shared = 0;
        for (const torch_kernel& k : compiled_training_kernels(m, r.load, {}, {})) {
            double sum = 0;
            for (const operation_share& s : k.shares) {
                CHECK(s.operation >= 0);
                CHECK(s.share > 0);
                sum += s.share;
            }
            if (k.shares.empty()) {
                CHECK((k.operation >= 0 || k.phase == step_phase::optimizer));
                continue;
            }
            ++num_shared;
            CHECK(sum == doctest::Approx(1).epsilon(1e-12));
        }
        CHECK(num_shared > 0);
    }
}

TEST_CASE("a compiled step rejects plans that it does not model") {
    training_plan plan;
    CHECK(std::string(compile_conflict(plan)).empty());
    plan.schedule.recompute = recompute_mode::full;
    CHECK(std::string(compile_conflict(plan)) == "activation checkpointing");
    const recorded_graphs r = read_recordings().front();
    const model m =
        parse_config(r.config, r.name).read_with([](config_view root) { return parts::registry.read(root); });
    CHECK_THROWS_AS((void)train_compiled(m, r.load, plan), description_error);
    CHECK_THROWS_AS((void)compiled_training_kernels(m, r.load, plan, {}), description_error);
}

}  // namespace llmcost
