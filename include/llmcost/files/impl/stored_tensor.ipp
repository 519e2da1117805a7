// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/stored_tensor.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE count elements_of(const stored_tensor& t) {
    // the other sizes do not matter then
    for (const std::uint64_t size : t.sizes)
        if (size == 0) return 0;
    count n = 1;
    for (const std::uint64_t size : t.sizes) n *= size;
    return n;
}

LLMCOST_INLINE void stored_tensors::add(stored_tensor t) {
    bytes_by_type* total = nullptr;
    for (bytes_by_type& known : totals)
        if (known.type == t.type) total = &known;
    if (total == nullptr) total = &totals.emplace_back(bytes_by_type{t.type, {}, {}, {}});
    total->tensors += 1;
    total->elements += elements_of(t);
    total->bytes += t.bytes;
    tensors.push_back(std::move(t));
}

LLMCOST_INLINE count stored_tensors::bytes() const {
    count n;
    for (const bytes_by_type& t : totals) n += t.bytes;
    return n;
}

LLMCOST_INLINE count stored_tensors::elements() const {
    count n;
    for (const bytes_by_type& t : totals) n += t.elements;
    return n;
}

LLMCOST_INLINE const stored_tensor* stored_tensors::find(std::string_view name) const {
    for (const stored_tensor& t : tensors)
        if (t.name == name) return &t;
    return nullptr;
}

}  // namespace llmcost
