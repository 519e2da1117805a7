// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

// The output of two profilers of PyTorch's vision models, found in llmcost's commands.
//
// The first, pytorch-model-profiler (gslama12/pytorch-model-profiler), runs a training step. It prints FLOPs of each
// ATen call, forward and backward. It prints the peak of each category of memory (PARAM, BUFFER, GRAD, ACT, TEMP, OPT,
// OTH), each at its own time.
//
// The PyTorch profiler tutorial traces a model of four convolutions, ResNet-50 and a vision Transformer. It prints
// views of the model (parameters, size, MACs), of its layers and of its operations.
namespace llmcost::testing {
namespace {

using nlohmann::json;

/// A convolution of ResNet over squares of so many pixels.
struct square_convolution {
    std::int64_t in, out, kernel, side;  ///< of its output

    [[nodiscard]] std::int64_t macs() const { return in * out * kernel * kernel * side * side; }
    [[nodiscard]] std::int64_t parameters() const { return in * out * kernel * kernel; }
};

/// The convolutions of ResNet-18 (basic blocks) or ResNet-50 (bottlenecks) over 224 x 224, as He et al. (2015) list
/// them.
std::vector<square_convolution> convolutions_of(bool bottleneck) {
    std::vector<square_convolution> all{{3, 64, 7, 112}};
    const std::int64_t depths[2][4]{{2, 2, 2, 2}, {3, 4, 6, 3}}, expanded_width = bottleneck ? 4 : 1;
    std::int64_t in = 64;
    for (int stage = 0; stage < 4; ++stage) {
        const std::int64_t width = std::int64_t{64} << stage, side = 56 >> stage, out = width * expanded_width;
        for (std::int64_t block = 0; block < depths[bottleneck][stage]; ++block) {
            const std::int64_t input_side = block == 0 && stage > 0 ? 2 * side : side;
            if (bottleneck) {
                all.push_back({in, width, 1, input_side});
                all.push_back({width, width, 3, side});
                all.push_back({width, out, 1, side});
            } else {
                all.push_back({in, width, 3, side});
                all.push_back({width, width, 3, side});
            }
            if (in != out) all.push_back({in, out, 1, side});
            in = out;
        }
    }
    return all;
}

json trained(const std::string& arguments) {
    return json::parse(printed("train --batch 1 --optimizer sgd --format json " + arguments));
}

const std::string four_convolutions = [] {
    std::string layers;
    for (const char* name : {"conv1", "conv2", "conv3", "conv4"})
        layers += std::string(layers.empty() ? "" : ", ") + R"({"type": "Conv2d", "name": ")" + name +
                  R"(", "in_channels": 3, "out_channels": 3, "kernel_size": 3, "padding": 1})";
    return R"({"class": "MyModel", "image_size": 224, "inputs": {"x1": {"shape": ["batch", 3, "image_height", "image_width"]}}, "layers": [)" +
           layers + "]}";
}();

}  // namespace

TEST_CASE("pytorch-model-profiler: FLOPs of a ResNet's step, forward and backward") {
    for (const bool bottleneck : {false, true}) {
        const std::string model = bottleneck ? "torchvision/resnet50" : "torchvision/resnet18";
        INFO(model);
        std::int64_t macs = 0;
        for (const square_convolution& c : convolutions_of(bottleneck)) macs += c.macs();
        const std::int64_t head = 1000 * (bottleneck ? 2048 : 512), first = convolutions_of(bottleneck).front().macs();
        // aten.convolution of its table, which counts a convolution without bias as twice its MACs
        CHECK(printed("--model " + model + " --format csv torch_flops Conv2d") ==
              "scope,torch_flops\nConv2d," + std::to_string(2 * macs) + "\n");
        const json step = trained("--model " + model);
        CHECK(step["torch_flops"]["forward"] == 2 * (macs + head));
        // each product once more for its weight and, except the images', for its input
        CHECK(step["torch_flops"]["backward"] == 4 * (macs + head) - 2 * first);
    }
    CHECK(printed("--model torchvision/resnet18 --format csv torch_flops Conv2d") ==
          "scope,torch_flops\nConv2d,3627122688\n");
}

TEST_CASE("pytorch-model-profiler: the peak of each category of memory, at its own time") {
    const json category_peaks = trained("--model torchvision/resnet18")["own_peaks"];
    CHECK(category_peaks["PARAM"] == 46758048);  // 11,689,512 x 4
    CHECK(category_peaks["GRAD"] == 46758048);   // all of them at the end of backward
    CHECK(category_peaks["BUFFER"] == 38560);    // 2 x 4,800 statistics x 4 and 20 counters x 8
    CHECK(category_peaks["OPT"] == 0);           // SGD without momentum keeps nothing
    CHECK(category_peaks["ACT"] >= trained("--model torchvision/resnet18")["snapshots"]["after_forward"]["ACT"]);
    const json with_momentum =
        json::parse(printed("train --batch 1 --optimizer sgd_momentum --format json --model torchvision/resnet18"));
    CHECK(with_momentum["own_peaks"]["OPT"] == 46758048);
    // its tested models, and a vision Transformer
    for (const char* name :
         {"mobilenet_v2", "mobilenet_v3_small", "wide_resnet50_2", "googlenet", "alexnet", "vgg11", "vit_b_16"}) {
        INFO(name);
        const json step = trained("--model torchvision/" + std::string(name));
        CHECK(step["own_peaks"]["PARAM"] == 4 * step["parameters"].get<std::int64_t>());
        CHECK(step["own_peaks"]["GRAD"] == step["own_peaks"]["PARAM"]);
        CHECK(step["own_peaks"]["TEMP"] > 0);
        CHECK(step["torch_flops"]["backward"] > step["torch_flops"]["forward"]);
    }
    // LoRA: gradients of the adapters alone
    const json adapted = trained("--model torchvision/vit_b_16 --adapter lora:r=4,targets=all-linear");
    CHECK(adapted["own_peaks"]["GRAD"] == 4 * adapted["trainable"].get<std::int64_t>());
}

TEST_CASE("the PyTorch profiler tutorial: its own model, of four convolutions") {
    const std::string mine = "--config - --format csv ";
    CHECK(printed(mine + "params weight_bytes macs torch_flops", {.in = four_convolutions}) ==
          "scope,params,weight_bytes,macs,torch_flops\nall,336,1344,16257024,32514048\n");
    for (const char* layer : {"conv1", "conv2", "conv3", "conv4"})
        CHECK(printed(mine + "macs params " + layer, {.in = four_convolutions}) ==
              "scope,macs,params\n" + std::string(layer) + ",4064256,84\n");
    const json rows = json::parse(
        printed("ops --config - --dtype float32 --device h200 --format json", {.in = four_convolutions}))["rows"];
    REQUIRE(rows.size() == 4);
    for (const json& row : rows) {
        CHECK(row["op"] == "convolution_bias");
        CHECK(row["torch_flops"] == 2 * 4064256);
        // its peak of activations: a layer's input and output together
        CHECK(row["bytes_written"] == 4 * 150528);
        CHECK(row["bytes_read"] == 4 * (150528 + 84));
        CHECK(row["seconds"].get<double>() > 0);
    }
}

TEST_CASE("the PyTorch profiler tutorial: ResNet-50 and a vision Transformer, model, layers and operations") {
    std::int64_t macs = 2048 * 1000, parameters = 2048 * 1000 + 1000;
    for (const square_convolution& c : convolutions_of(true)) {
        macs += c.macs();
        parameters += c.parameters() + 2 * c.out;
    }
    CHECK(printed("--model torchvision/resnet50 --format csv params weight_bytes macs") ==
          "scope,params,weight_bytes,macs\nall," + std::to_string(parameters) + ',' + std::to_string(4 * parameters) +
              ',' + std::to_string(macs) + "\n");
    // width, layers, tokens of ViT-B/16
    const std::int64_t w = 768, n = 12, s = 197;
    const std::int64_t products = n * (s * 12 * w * w + 2 * s * s * w) + 196 * 3 * 256 * w + w * 1000;
    CHECK(printed("--model torchvision/vit_b_16 --format csv params macs") ==
          "scope,params,macs\nall,86567656," + std::to_string(products) + "\n");
    for (const char* model : {"torchvision/resnet50", "torchvision/vit_b_16"}) {
        const json rows = json::parse(printed("ops --format json --model " + std::string(model)))["rows"];
        std::int64_t flops = 0;
        for (const json& row : rows) flops += row["torch_flops"].get<std::int64_t>();
        const std::string all = printed("--format csv torch_flops --model " + std::string(model));
        CHECK(all == "scope,torch_flops\nall," + std::to_string(flops) + "\n");
    }
}

}  // namespace llmcost::testing
