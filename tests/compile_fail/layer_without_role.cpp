// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// error: Layer
#include <llmcost/trace/trace.hpp>

using namespace llmcost;

struct doubling {
#ifndef MISUSE
    static constexpr role what = role::mlp;
#endif
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Doubling"}; }
    constexpr value describe(trace& t, const value& x) const { return t.add(x, x); }
};

constexpr count additions() {
    trace t{workload{}};
    return t.call("double", doubling{}, t.constant({3, 5})).elements;
}
static_assert(additions() == count(15));
