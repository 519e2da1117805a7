// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../memory/recorded_parameters.hpp"

#include <llmcost/memory/optimizer.hpp>
#include <llmcost/torch/optimizer_kernels.hpp>
#include <llmcost/torch/optimizer_table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

using namespace llmcost;
using testing::parameter;
using testing::recorded_parameters;

namespace {

/// A recorded optimizer step: its kernels, and the bytes that they read and write.
struct recorded_step {
    std::string_view optimizer;
    std::uint64_t element_bytes;
    std::size_t num_kernels;
    std::uint64_t bytes_read, bytes_written;
};
// Third steps, recorded with a TorchDispatchMode: PyTorch 2.15, Transformers 5.23, lion-pytorch 0.2.5, galore-torch 1.0
// and apollo-torch 1.0.3 (rank 4), torch-optimizer 0.3.0, schedulefree 1.4.1. Parameters: an embedding of 100 x 32, a
// matrix of a layer of 64 x 40, a vector of 300, a matrix of a layer of 20 x 30. Operands of one element next to larger
// ones and step counters on the host are left out, a boolean counts as an element, `addmm` is also a copy. The update
// of APOLLO stays below its norm limit.
constexpr recorded_step recorded[]{
    {"sgd", 4, 1, 53280, 26640},
    {"sgd_momentum", 4, 3, 133200, 79920},
    {"sgd_nesterov", 4, 4, 186480, 106560},
    {"sgd_nesterov:single", 4, 16, 186480, 106560},
    {"adam", 4, 7, 293040, 186480},
    {"adam:single", 4, 28, 293040, 186480},
    {"adam:amsgrad", 4, 8, 346320, 213120},
    {"adamw", 4, 8, 319680, 213120},
    {"adamw:single", 4, 32, 319680, 213120},
    {"adamw:amsgrad", 4, 9, 372960, 239760},
    {"adafactor", 4, 71, 300740, 165704},
    {"rmsprop", 4, 5, 213120, 133200},
    {"nadam", 4, 8, 372960, 213120},
    {"radam", 4, 9, 346320, 239760},
    {"adamax", 4, 6, 266400, 159840},
    {"adagrad", 4, 5, 213120, 133200},
    {"adadelta", 4, 11, 426240, 293040},
    {"schedule-free", 4, 9, 372960, 239760},
    {"schedule-free:sgd", 4, 3, 159840, 79920},
    {"lamb", 4, 72, 373088, 213280},
    {"adafactor:transformers", 4, 100, 356024, 220988},
    {"apollo", 4, 62, 277040, 176152},
    {"lion", 4, 32, 293040, 213120},
    {"muon", 4, 74, 533444, 298408},
    {"galore", 4, 38, 237024, 161952},
    {"sgd", 2, 1, 26640, 13320},
    {"sgd_momentum", 2, 3, 66600, 39960},
    {"sgd_nesterov", 2, 4, 93240, 53280},
    {"sgd_nesterov:single", 2, 16, 93240, 53280},
    {"adam", 2, 7, 146520, 93240},
    {"adam:single", 2, 28, 146520, 93240},
    {"adam:amsgrad", 2, 8, 173160, 106560},
    {"adamw", 2, 8, 159840, 106560},
    {"adamw:single", 2, 32, 159840, 106560},
    {"adamw:amsgrad", 2, 9, 186480, 119880},
    {"adafactor", 2, 71, 150370, 82852},
    {"rmsprop", 2, 5, 106560, 66600},
    {"nadam", 2, 8, 186480, 106560},
    {"radam", 2, 9, 173160, 119880},
    {"adamax", 2, 6, 133200, 79920},
    {"adagrad", 2, 5, 106560, 66600},
    {"adadelta", 2, 11, 213120, 146520},
    {"schedule-free", 2, 9, 186480, 119880},
    {"schedule-free:sgd", 2, 3, 79920, 39960},
    {"lamb", 2, 72, 186544, 106640},
    {"adafactor:transformers", 2, 112, 409304, 287588},
    {"apollo", 2, 62, 138520, 88076},
    {"lion", 2, 32, 146520, 106560},
    {"muon", 2, 74, 405204, 217128},
    {"galore", 2, 38, 118512, 80976},
};

std::vector<torch_kernel> step_of(std::string_view optimizer, const std::vector<tape_parameter>& parameters) {
    return optimizer_step_kernels(*find_optimizer(optimizer), 4, parameters);
}

std::size_t num_launches(const std::vector<torch_kernel>& kernels, std::string_view name) {
    return static_cast<std::size_t>(
        std::ranges::count_if(kernels, [&](const torch_kernel& k) { return k.name == name; }));
}

}  // namespace

TEST_CASE("optimizer kernels: every optimizer has a list") {
    for (const optimizer_spec& o : optimizers) {
        CAPTURE(o.name);
        CHECK(std::ranges::count_if(optimizer_table,
                                    [&](const optimizer_kernel_list& row) { return row.optimizer == o.name; }) == 1);
    }
}

TEST_CASE("optimizer kernels: launches and bytes of recorded steps") {
    for (const recorded_step& row : recorded) {
        const std::vector<torch_kernel> kernels = step_of(row.optimizer, recorded_parameters(row.element_bytes));
        std::uint64_t read = 0, written = 0;
        for (const torch_kernel& k : kernels) {
            read += k.bytes_read;
            written += k.bytes_written;
            CHECK(k.phase == step_phase::optimizer);
        }
        CAPTURE(row.optimizer);
        CAPTURE(row.element_bytes);
        CHECK(kernels.size() == row.num_kernels);
        CHECK(read == row.bytes_read);
        CHECK(written == row.bytes_written);
    }
}

// AdamW of Qwen3-0.6B on an H200, PyTorch 2.11: 596,049,920 elements of the tied embedding and 28 layers; 29 launches
// of each foreach function, 58 of `_foreach_mul_`.
TEST_CASE("optimizer kernels: launches of foreach functions") {
    std::vector<tape_parameter> parameters{parameter({151936, 1024}, false, 2)};
    for (int layer = 0; layer < 28; ++layer)
        for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{{2048, 1024},
                                                                                             {1024, 1024},
                                                                                             {1024, 1024},
                                                                                             {1024, 2048},
                                                                                             {128},
                                                                                             {128},
                                                                                             {3072, 1024},
                                                                                             {3072, 1024},
                                                                                             {1024, 3072},
                                                                                             {1024},
                                                                                             {1024}})
            parameters.push_back(parameter(sizes, true, 2));
    parameters.push_back(parameter({1024}, false, 2));
    const std::vector<torch_kernel> kernels = step_of("adamw", parameters);
    CHECK(num_launches(kernels, "aten::_foreach_mul_") == 58);
    for (const std::string_view name : {"aten::_foreach_lerp_", "aten::_foreach_addcmul_", "aten::_foreach_sqrt",
                                        "aten::_foreach_div_", "aten::_foreach_add_", "aten::_foreach_addcdiv_"}) {
        CAPTURE(name);
        CHECK(num_launches(kernels, name) == 29);
    }
}

// MultiTensorApply.cuh, `depth_to_max_tensors`: 110, 64 and 48 tensors of one, two and three lists, 96 with scalars.
TEST_CASE("optimizer kernels: a launch has a limited number of tensors") {
    const std::vector<tape_parameter> parameters(111, parameter({16}, false, 4));
    const std::vector<torch_kernel> kernels = step_of("adam", parameters);
    CHECK(num_launches(kernels, "aten::_foreach_mul_") == 2);
    CHECK(num_launches(kernels, "aten::_foreach_div_") == 2);
    CHECK(num_launches(kernels, "aten::_foreach_sqrt") == 2);
    CHECK(num_launches(kernels, "aten::_foreach_addcdiv_") == 3);
    CHECK(num_launches(step_of("adam", {parameters.begin(), parameters.end() - 1}), "aten::_foreach_mul_") == 1);
    CHECK(num_launches(step_of("adam", {parameters.begin(), parameters.end() - 1}), "aten::_foreach_div_") == 2);
}
