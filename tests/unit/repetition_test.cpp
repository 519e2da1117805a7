// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/layers/linear.hpp>
#include <llmcost/trace/trace.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace llmcost;

namespace {

/// What a walk did, in words: modules entered, operations with what they read and write.
struct notes final : listener {
    std::vector<std::string> lines;
    void enter(const recorder&, const module_info& m) override {
        lines.push_back(std::string(m.name) + (m.index >= 0 ? "." + std::to_string(m.index) : ""));
    }
    void executed(const recorder&, const operation& o) override {
        lines.push_back(std::string(price_of(o.kind).name) + " " + std::string(count_text{o.elements_read()}.view()) +
                        " -> " + std::string(count_text{o.elements_written()}.view()));
    }
};
using lines = std::vector<std::string>;

constexpr linear square{4, 4};

count work_of(const trace& t, op kind) { return t.sums().operations[static_cast<std::size_t>(kind)].work; }

}  // namespace

TEST_CASE("an operation reads its inputs once and writes its output") {
    notes ear;
    trace t{{}, &ear};
    const value x = t.constant({2, 3, 4}), table = t.constant({100, 4});
    (void)t.add(x, t.constant({4}));
    (void)t.add(x.expand({5, 2, 3, 4}), x);
    (void)t.gather(table, {2, 3, 4});
    (void)t.softmax(x);
    (void)t.matmul(x, t.constant({4, 7}));
    value y = t.copy(x);
    t.in_place(op::clamp, y);
    CHECK(ear.lines == lines{"constant 0 -> 24", "constant 0 -> 400", "constant 0 -> 4", "add 28 -> 24", "add 48 -> 120",
                             "gather 24 -> 24", "softmax 24 -> 24", "constant 0 -> 28", "matmul 52 -> 42", "copy 24 -> 24",
                             "clamp 24 -> 24"});
}

TEST_CASE("modules of a kind are walked once, or one by one for a listener") {
    const auto walk = [](trace& t) {
        value x = t.constant({2, 4});
        for (repetition layer = t.repeat(3, x, 5); layer.next();) x = t.call({"layers", layer.index()}, square, x);
    };
    trace folded{{}};
    walk(folded);
    CHECK(folded.sums().parameters == count(3 * 16));
    CHECK(work_of(folded, op::matmul) == count(3 * 2 * 16));
    notes ear;
    trace listed{{}, &ear};
    walk(listed);
    CHECK(ear.lines == lines{"constant 0 -> 8", "layers.5", "matmul 24 -> 8", "layers.6", "matmul 24 -> 8", "layers.7",
                             "matmul 24 -> 8"});
    CHECK(listed.sums().parameters == folded.sums().parameters);
}

TEST_CASE("one module called several times has its parameters once") {
    const auto walk = [](trace& t) {
        value x = t.constant({2, 4});
        for (repetition call = t.again(3, x); call.next();) x = t.call("shared", square, x);
        return t.call("own", square, x);
    };
    notes ear;
    for (listener* const who : {static_cast<listener*>(nullptr), static_cast<listener*>(&ear)}) {
        trace t{{}, who};
        (void)walk(t);
        CHECK(t.sums().parameters == count(2 * 16));
        CHECK(work_of(t, op::matmul) == count(4 * 2 * 16));
    }
    CHECK(ear.lines.size() == 1 + 4 * 2);
}

TEST_CASE("layers of several kinds are walked once per kind, in their order for a listener") {
    layer_plan plan;
    for (const int i : {0, 1, 2, 3, 4})
        (void)plan.set(i, {i == 1 || i == 3 ? mixer_kind::recurrent : mixer_kind::full_attention});
    const auto walk = [&](trace& t) {
        value x = t.constant({2, 4});
        for (repetition layer = t.repeat(5, plan, x); layer.next();)
            x = layer.kind().mixer == mixer_kind::recurrent ? t.exp(x) : t.neg(x);
    };
    notes ear;
    for (listener* const who : {static_cast<listener*>(nullptr), static_cast<listener*>(&ear)}) {
        trace t{{}, who};
        walk(t);
        CHECK(work_of(t, op::exp) == count(2 * 8));
        CHECK(work_of(t, op::neg) == count(3 * 8));
    }
    CHECK(ear.lines == lines{"constant 0 -> 8", "neg 8 -> 8", "exp 8 -> 8", "neg 8 -> 8", "exp 8 -> 8", "neg 8 -> 8"});
}

TEST_CASE("steps through time are walked once, whoever listens; none and fewer are no steps") {
    notes ear;
    for (const std::int64_t n : {-1, 0, 1, 7}) {
        ear.lines.clear();
        trace t{{}, &ear};
        value x = t.constant({2, 4});
        for (repetition step = t.steps(n, x); step.next();) x = t.exp(x);
        CHECK(work_of(t, op::exp) == count(n > 0 ? n * 8 : 0));
        CHECK(ear.lines.size() == (n > 0 ? 2 : 1));
    }
}

TEST_CASE("what a layer keeps exists as often as the layer") {
    // exp keeps its result
    for (const std::int64_t n : {1, 2, 5}) {
        const workload step{.activations = dtype::float32, .training = true};
        notes ear;
        for (listener* const who : {static_cast<listener*>(nullptr), static_cast<listener*>(&ear)}) {
            trace t{step, who};
            value x = t.param("x", {2, 4});
            for (repetition layer = t.repeat(n, x); layer.next();) x = t.exp(x);
            CHECK(t.sums().saved_bytes == count(n * 8 * 4));
        }
    }
}
