// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A GPU that nobody has a datasheet of, for llmcost-calibrate without one: every kernel follows one roofline of what
// its driver says, within 2 %; it has one kernel of each family and refuses experts.
#include "../../bench/gpu.hpp"

#include <llmcost/devices/device_file.hpp>
#include <llmcost/json.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/roofline.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace llmcost::bench {

std::string no_gpu() { return ""; }
int number_of_gpus() { return 1; }
std::string cuda_version() { return "13.0"; }
cuda::gpu_properties gpu_at_hand() { return {"NVIDIA Simulation 1", 9, 0, 100, 1500, 2500, 5120, 64e9, 40e6}; }

struct operator_runner::parts {
    config_document file = parse_config(cuda::device_file_of(gpu_at_hand()), "simulation");
    device datasheet = file.read_with([](config_view root) { return parse_device(root); });
    std::size_t runs = 0;
};

operator_runner::operator_runner(std::size_t) : parts_(std::make_unique<parts>()) {}
operator_runner::~operator_runner() = default;

outcome operator_runner::operator()(const operator_shape& shape, string_ref kernel, int) {
    outcome o;
    if (shape.type->name == "moe") {
        o.refused = "a simulation has no experts";
        return o;
    }
    constexpr roofline truth{6e-6, 0.6, 0.7, 2};
    const device& datasheet = parts_->datasheet;
    const datasheet_seconds terms = roofline_terms(datasheet, shape.work());
    const double wobble = std::sin(static_cast<double>(++parts_->runs) * 12.9898) * 43758.5453;
    o.seconds = std::max(truth(terms.compute, terms.memory), roofline_seconds(datasheet, shape.work())) *
                (1 + 0.04 * (wobble - std::floor(wobble) - 0.5));
    o.spread = 0.004;
    o.kernel = kernel.empty() ? "simulated" : std::string(kernel);
    o.memory_bytes = 500'000'000 + static_cast<std::int64_t>(shape.work().bytes);
    return o;
}

}  // namespace llmcost::bench
