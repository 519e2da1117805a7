// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>

namespace llmcost {

/// A tensor as a file holds it.
struct stored_tensor {
    std::string name;
    std::string type;                  ///< as the file's format calls it: `BF16`, `Q4_K`
    std::vector<std::uint64_t> sizes;  ///< in PyTorch's order, the last one lies densest
    std::uint64_t bytes = 0;
};

/// What all tensors of one type hold.
struct bytes_by_type {
    std::string type;
    count tensors;
    count elements;
    count bytes;
};

/// Elements of a tensor; what does not fit 128 bits ends in `overflow_error`, and no reader lets it through.
[[nodiscard]] inline count elements_of(const stored_tensor& t) {
    // the other sizes do not matter then
    for (const std::uint64_t size : t.sizes)
        if (size == 0) return 0;
    count n = 1;
    for (const std::uint64_t size : t.sizes) n *= size;
    return n;
}

/// The tensors of a file or of all files of a model, and what they hold by type, in order of first appearance.
struct stored_tensors {
    std::vector<stored_tensor> tensors;
    std::vector<bytes_by_type> totals;

    void add(stored_tensor t) {
        bytes_by_type* total = nullptr;
        for (bytes_by_type& known : totals)
            if (known.type == t.type) total = &known;
        if (total == nullptr) total = &totals.emplace_back(bytes_by_type{t.type, {}, {}, {}});
        total->tensors += 1;
        total->elements += elements_of(t);
        total->bytes += t.bytes;
        tensors.push_back(std::move(t));
    }
    [[nodiscard]] count bytes() const {
        count n;
        for (const bytes_by_type& t : totals) n += t.bytes;
        return n;
    }
    [[nodiscard]] count elements() const {
        count n;
        for (const bytes_by_type& t : totals) n += t.elements;
        return n;
    }
    /// The tensor of this name, or nothing.
    [[nodiscard]] const stored_tensor* find(std::string_view name) const {
        for (const stored_tensor& t : tensors)
            if (t.name == name) return &t;
        return nullptr;
    }
};

}  // namespace llmcost
