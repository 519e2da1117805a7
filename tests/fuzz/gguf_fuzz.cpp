// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Feeds the reader of GGUF whole files; what it accepts is held to the format's rules, and its configuration is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include <llmcost/files/gguf_config.hpp>
#include <llmcost/json.hpp>

#include "memory_file.hpp"
#include "registry.hpp"

namespace {

void hold_gguf(const llmcost::gguf_file& file, std::size_t size) {
    std::set<std::string> names;
    llmcost::count bytes;
    for (const llmcost::stored_tensor& t : file.weights.tensors) {
        if (!names.insert(t.name).second) std::abort();
        bytes += t.bytes;
    }
    if (bytes != file.weights.bytes() || bytes > llmcost::count(size) || file.data_begin > size + file.alignment)
        std::abort();
    const std::string text = llmcost::make_config(file);
    llmcost::parse_config(text, "from GGUF").read_with([](llmcost::config_view v) { return parts::registry.read(v); });
}

}  // namespace

// libFuzzer: clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/gguf_fuzz.cpp
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const llmcost::testing::memory_file file(data, size);
    try {
        hold_gguf(llmcost::read_gguf(file.path()), size);
    } catch (const llmcost::error& problem) {
        if (problem.code() == llmcost::errc::io) std::abort();
    }
    return 0;
}
