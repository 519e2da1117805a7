// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "config_exercise.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// libFuzzer: clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/config_fuzz.cpp
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        llmcost::testing::exercise_config({reinterpret_cast<const char*>(data), size});
    } catch (const llmcost::testing::broken_promise&) {
        std::abort();
    }
    return 0;
}
