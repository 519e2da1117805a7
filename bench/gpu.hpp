// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <llmcost/cuda/own_device.hpp>
#include <llmcost/latency/operator_types.hpp>

// The GPU functions of llmcost-calibrate. gpu.cu implements them by CUDA, tests/cuda/simulated_gpu.cpp without it.
namespace llmcost::bench {

/// Nothing runs on the device any more.
struct device_lost : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Why no GPU can be measured; empty where one can.
[[nodiscard]] std::string no_gpu();
/// The properties of the first GPU, by its driver.
[[nodiscard]] cuda::gpu_properties gpu_at_hand();
/// How many there are.
[[nodiscard]] int number_of_gpus();
/// CUDA's version: 13.0.
[[nodiscard]] std::string cuda_version();

/// What became of an operator: seconds of a launch, or why it was refused.
struct outcome {
    double seconds = 0;
    double spread = 0;              ///< relative standard error of the median
    std::string kernel{};           ///< that ran
    std::int64_t memory_bytes = 0;  ///< of the device that were allocated meanwhile, by any process
    std::string refused{};          ///< empty where it ran
};

/// Runs single operators of any size.
class operator_runner {
public:
    /// An operator may hold so many bytes; 0: half of what is free.
    explicit operator_runner(std::size_t memory_limit = 0);
    ~operator_runner();
    operator_runner(const operator_runner&) = delete;
    operator_runner& operator=(const operator_runner&) = delete;

    /// An operator by a kernel, or by the first that takes it where none is named, so many times in a row; throws
    /// `device_lost`.
    [[nodiscard]] outcome operator()(const operator_shape& shape, string_ref kernel, int copies);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace llmcost::bench
