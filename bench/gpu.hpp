// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <llmcost/cuda/own_device.hpp>
#include <llmcost/latency/families.hpp>

// What llmcost-calibrate asks of the GPU at hand; gpu.cu answers, so that all else is compiled without CUDA.
namespace llmcost::bench {

/// Why no GPU can be measured; empty where one can.
[[nodiscard]] std::string no_gpu();
/// What the driver says of the first GPU.
[[nodiscard]] cuda::gpu_properties gpu_at_hand();

/// Measures a sweep of operators into FOLDER/measured/*.csv, as long as its budget lasts, and fits FOLDER/calibrations to
/// all that is there; throws where the device fails.
void calibrate(const device& on, const std::filesystem::path& folder, bool full);

/// Runs single operators of any size.
class operator_runner {
public:
    operator_runner();
    ~operator_runner();
    operator_runner(const operator_runner&) = delete;
    operator_runner& operator=(const operator_runner&) = delete;

    /// An operator that was run: seconds, kernel, and the most of the device's memory that was taken meanwhile.
    struct result {
        double seconds = 0;
        std::string kernel;
        std::int64_t memory_bytes = 0;
    };
    /// Nothing where no kernel here takes such an operator.
    [[nodiscard]] std::optional<result> operator()(const operator_shape& shape);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace llmcost::bench
