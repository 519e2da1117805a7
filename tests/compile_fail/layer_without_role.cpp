// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// error: Layer
#include <llmcost/trace/trace.hpp>

using namespace llmcost;

struct doubling {
#ifndef MISUSE
    static constexpr role module_role = role::mlp;
#endif
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Doubling"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.add(x, x); }
};

constexpr count additions() {
    trace t{workload{}};
    return t.call("double", doubling{}, t.full({3, 5})).numel;
}
static_assert(additions() == count(15));
