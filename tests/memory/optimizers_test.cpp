// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "recorded_parameters.hpp"

#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/optimizer_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

using namespace llmcost;

namespace {

/// A recorded optimizer: bytes of state, and the maximum of state and temporaries in the first and the third step.
struct recorded_optimizer {
    std::string_view name;
    std::uint64_t element_bytes, state, first_maximum, later_maximum;
};
// Recorded with a TorchDispatchMode that follows storages: PyTorch 2.15 (foreach), Transformers 5.23, apollo-torch
// 1.0.3 (rank 4, random, by channel), torch-optimizer 0.3.0, schedulefree 1.4.1. Parameters: an embedding of 100 x 32,
// a matrix of a layer of 64 x 40, a vector of 300, a matrix of a layer of 20 x 30.
constexpr recorded_optimizer recorded[]{
    {"adamw", 4, 53296, 79936, 79936},
    {"nadam", 4, 53312, 79952, 79952},
    {"radam", 4, 53296, 79936, 79936},
    {"adagrad", 4, 26656, 79936, 79936},
    {"adadelta", 4, 53296, 106576, 106576},
    {"adamax", 4, 53296, 79936, 79936},
    {"asgd", 4, 26688, 53328, 53328},
    {"rmsprop", 4, 26656, 53296, 53296},
    {"lamb", 4, 53328, 79376, 86612},
    {"schedule-free", 4, 53280, 79920, 79920},
    {"schedule-free:sgd", 4, 26640, 26640, 26640},
    {"adafactor:transformers", 4, 2360, 34236, 35644},
    {"apollo", 4, 31976, 54800, 58776},
    {"adamw", 2, 26656, 39976, 39976},
    {"nadam", 2, 26672, 39992, 39992},
    {"radam", 2, 26656, 39976, 39976},
    {"adagrad", 2, 13336, 39976, 39976},
    {"adadelta", 2, 26656, 53296, 53296},
    {"adamax", 2, 26656, 39976, 39976},
    {"asgd", 2, 13368, 26688, 26688},
    {"rmsprop", 2, 13336, 26656, 26656},
    {"lamb", 2, 26664, 39688, 43306},
    {"schedule-free", 2, 26640, 39960, 39960},
    {"schedule-free:sgd", 2, 13320, 13320, 13320},
    {"adafactor:transformers", 2, 2360, 54716, 56124},
    {"apollo", 2, 15988, 27400, 29388},
};

}  // namespace

TEST_CASE("optimizers have the state and the temporaries of their libraries") {
    for (const recorded_optimizer& one : recorded) {
        CAPTURE(one.name);
        CAPTURE(one.element_bytes);
        const std::vector<tape_parameter> trained = testing::recorded_parameters(one.element_bytes);
        const optimizer_spec* const o = find_optimizer(one.name);
        REQUIRE(o != nullptr);
        for (const bool is_first : {true, false}) {
            const detail::optimizer_memory m = detail::compute_optimizer_memory(*o, 4, trained, is_first);
            CHECK(m.state == one.state);
            CHECK(m.maximum == (is_first ? one.first_maximum : one.later_maximum));
        }
    }
}

TEST_CASE("names of optimizers may have either dash") {
    CHECK(find_optimizer("schedule_free") == find_optimizer("schedule-free"));
    CHECK(find_optimizer("sgd-momentum") == find_optimizer("sgd_momentum"));
    CHECK(find_optimizer("sgdmomentum") == nullptr);
}
