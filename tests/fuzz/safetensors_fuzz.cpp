// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Feeds the reader of safetensors whole files, and indexes, by the first letter; what it accepts is held to the
// format's rules.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include <llmcost/files/check_tensors.hpp>
#include <llmcost/files/safetensors.hpp>

#include "memory_file.hpp"

namespace {

void hold_safetensors(const llmcost::stored_tensors& all, std::size_t file) {
    std::set<std::string> names;
    llmcost::count bytes;
    for (const llmcost::stored_tensor& t : all.tensors) {
        if (!names.insert(t.name).second) std::abort();
        const llmcost::count bits = llmcost::elements_of(t) * llmcost::detail::safetensors_bits(t.type);
        if (bits != llmcost::count(t.bytes) * 8) std::abort();
        bytes += t.bytes;
    }
    if (bytes != all.bytes() || bytes > llmcost::count(file)) std::abort();
    if (llmcost::check_tensors({}, all.tensors).agree != 0) std::abort();
}

}  // namespace

// libFuzzer: clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/safetensors_fuzz.cpp
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const llmcost::testing::memory_file file(data + 1, size - 1);
    try {
        if (data[0] == 'i') (void)llmcost::detail::read_safetensors_index(file.path(), {});
        if (data[0] == 'f') hold_safetensors(llmcost::read_safetensors(file.path()), size);
    } catch (const llmcost::error& problem) {
        if (problem.code() != llmcost::errc::bad_value && problem.code() != llmcost::errc::missing_key &&
            (problem.code() != llmcost::errc::io || data[0] == 'f'))
            std::abort();
    }
    return 0;
}
