// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>

namespace llmcost {

/// A tensor as a file holds it.
struct stored_tensor {
    std::string name;
    std::string type;                  ///< as the file's format calls it: `BF16`, `Q4_K`
    std::vector<std::uint64_t> sizes;  ///< in PyTorch's order, the last one lies densest
    std::uint64_t bytes = 0;
    std::string file{};        ///< path of the safetensors file; empty for other formats
    std::uint64_t offset = 0;  ///< first byte of the data in `file`
};

/// What all tensors of one type hold.
struct bytes_by_type {
    std::string type;
    count tensors;
    count elements;
    count bytes;
};

/// Elements of a tensor; what does not fit 128 bits ends in `overflow_error`, and no reader lets it through.
[[nodiscard]] count elements_of(const stored_tensor& t);

/// The tensors of a file or of all files of a model, and what they hold by type, in order of first appearance.
struct stored_tensors {
    std::vector<stored_tensor> tensors;
    std::vector<bytes_by_type> totals;

    void add(stored_tensor t);
    [[nodiscard]] count bytes() const;
    [[nodiscard]] count elements() const;
    /// The tensor of this name, or nothing.
    [[nodiscard]] const stored_tensor* find(std::string_view name) const;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/stored_tensor.ipp>  // IWYU pragma: export
#endif
