// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "model_exercise.hpp"
#include "model_mutator.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        llmcost::testing::exercise_model({reinterpret_cast<const char*>(data), size});
    } catch (const llmcost::testing::broken_promise& broken) {
        std::fprintf(stderr, "broken promise: %s\n", broken.message.c_str());
        std::abort();
    } catch (const std::exception& thrown) {
        std::fprintf(stderr, "thrown: %s\n", thrown.what());
        std::abort();
    }
    return 0;
}

namespace {

std::size_t write_back(const std::string& text, std::uint8_t* data, std::size_t size, std::size_t maximum) {
    if (text.empty() || text.size() > maximum) return size;
    std::copy(text.begin(), text.end(), data);
    return text.size();
}

}  // namespace

// libFuzzer calls these two where they are there; the seeds are the configurations of tests/golden
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maximum,
                                               unsigned seed) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    return write_back(llmcost::testing::mutated_config(text, seed), data, size, maximum);
}
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b,
                                                 std::size_t b_size, std::uint8_t* out, std::size_t maximum,
                                                 unsigned seed) {
    const std::string_view first(reinterpret_cast<const char*>(a), a_size),
        second(reinterpret_cast<const char*>(b), b_size);
    return write_back(llmcost::testing::crossed_configs(first, second, seed), out, 0, maximum);
}
