// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "unmeasured.hpp"

#include <llmcost/graph/levels.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/serving/operator_times.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

// The PyTorch profiler tutorial walks one model through five tools on three levels; its metrics are those of
// MIT 6.5940: its own model of four convolutions, and AlexNet, whose figures the course gives.
namespace {

using namespace llmcost;

struct my_model {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "MyModel"}; }
    constexpr tensor forward(trace& t, tensor x) const {
        for (const literal name : {"conv1", "conv2", "conv3", "conv4"})
            x = t.call(name, convolution_2d{.in = 3, .out = 3, .kernel = 3, .padding = 1}, x);
        return x;
    }
};

struct relu_in_place {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "ReLU"}; }
    constexpr tensor forward(trace& t, tensor x) const {
        t.apply_inplace(op::relu, x);
        return x;
    }
};

/// AlexNet with its two groups, 224 x 224.
struct alex_net {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "AlexNet"}; }
    constexpr tensor forward(trace& t, tensor x) const {
        int n = 0;
        const auto next = [&](const auto& layer, const tensor& in) { return t.call({"features", n++}, layer, in); };
        const auto convolve = [&](const convolution_2d& layer, const tensor& in) {
            return next(relu_in_place{}, next(layer, in));
        };
        const max_pool_2d pool{3, 2};
        x = next(pool, convolve({3, 96, 11, 4, 2}, x));
        x = next(pool, convolve({96, 256, 5, 1, 2, 2}, x));
        x = convolve({256, 384, 3, 1, 1}, x);
        x = convolve({384, 384, 3, 1, 1, 2}, x);
        x = next(pool, convolve({384, 256, 3, 1, 1, 2}, x));
        x = x.view({x.dim(0), -1});
        for (const std::int64_t out : {4096, 4096}) x = next(relu_in_place{}, next(linear{x.dim(1), out, true}, x));
        return next(linear{4096, 1000, true}, x);
    }
};

template <class Net>
tensor pixels_through(const layer_context&, trace& t) {
    const Net net;
    const module_info m{"", -1, net.type_name(), Net::module_role, Net::is_leaf};
    t.enter(m);
    return t.leave(m, net.forward(t, t.input({t.load().batch, 3, 224, 224})));
}
template <class Net>
model model_of() {
    static constexpr model_spec row = [](model_spec spec) {
        spec.model_type = "own";
        spec.forward = pixels_through<Net>;
        return spec;
    }(model_spec{});
    model m;
    m.spec = &row;
    return m;
}

}  // namespace

TEST_CASE("PyTorch profiler tutorial: its own model on three levels") {
    const operator_graph g = graph_of(model_of<my_model>(), {.weights = dtype::float32});
    constexpr std::uint64_t plane = 224 * 224;
    const model_levels m = levels_of(g);
    CHECK(m.parameters == count(336));
    CHECK(g.total_metrics.params * count(4) == count(1344));  // its model size
    CHECK(m.total.macs() == count(81 * plane * 4));
    CHECK(m.total.macs() == count(16'257'024));
    CHECK(m.total.flops() == count(2 * 81 * plane * 4));  // a bias takes the place of the first addition
    CHECK(m.peak_activations == count(2 * 3 * plane));
    CHECK(m.total_activations == count(5 * 3 * plane));
    REQUIRE(m.layers.size() == 4);
    for (const layer_level& layer : m.layers) {
        CHECK(layer.group.type == "Conv2d");
        CHECK(layer.group.costs.parameters == count(84));
        CHECK(layer.group.costs.macs() == count(4'064'256));
        CHECK(layer.activations.total() == count(2 * 3 * plane));
    }
    REQUIRE(m.operators.size() == 1);
    CHECK(m.operators[0].name == "convolution_bias");
    CHECK(m.operators[0].operations == 4);
}

TEST_CASE("PyTorch profiler tutorial: AlexNet as MIT 6.5940 counts it") {
    const operator_graph g = graph_of(model_of<alex_net>(), {.weights = dtype::float32});
    const model_levels m = levels_of(g);
    CHECK(m.parameters == count(60'965'224));  // 61 M
    CHECK(m.total.macs() == count(724'406'816));
    CHECK(m.total_activations == count(932'264));
    CHECK(m.peak_activations == count(440'928));
    CHECK(m.peak_at == "features.0");
}

TEST_CASE("PyTorch profiler tutorial: latency and throughput on a device, slowest layers and operations first") {
    const model alexnet = model_of<alex_net>();
    const workload load{.batch = 8, .weights = dtype::bfloat16};
    execution execution_config;
    execution_config.launch = launch_mode::eager;
    testing::unmeasured no_measurements;
    const operator_times times = operator_times_of(alexnet, load, execution_config, testing::h200, no_measurements);
    const model_levels m = levels_of(graph_of(alexnet, load), {times.forward, times.backward});
    CHECK(m.total.seconds == doctest::Approx(times.device_seconds));
    double layers = 0, operators = 0;
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
        layers += m.layers[i].group.costs.seconds;
        if (i > 0) CHECK(m.layers[i - 1].group.costs.seconds >= m.layers[i].group.costs.seconds);
    }
    for (std::size_t i = 0; i < m.operators.size(); ++i) {
        operators += m.operators[i].costs.seconds;
        if (i > 0) CHECK(m.operators[i - 1].costs.seconds >= m.operators[i].costs.seconds);
    }
    CHECK(layers == doctest::Approx(times.device_seconds));
    CHECK(operators == doctest::Approx(times.device_seconds));
}
