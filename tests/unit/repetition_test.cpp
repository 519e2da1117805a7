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
    void on_module_enter(const recorder&, const module_info& m) override {
        lines.push_back(std::string(m.name) + (m.index >= 0 ? "." + std::to_string(m.index) : ""));
    }
    void on_op(const recorder&, const operation& o) override {
        lines.push_back(std::string(op_cost_of(o.kind).name) + " " +
                        std::string(count_text{o.num_elements_read()}.view()) + " -> " +
                        std::string(count_text{o.num_elements_written()}.view()));
    }
};
using lines = std::vector<std::string>;

constexpr linear square{4, 4};

count work_of(const trace& t, op kind) { return t.totals().operations[static_cast<std::size_t>(kind)].work; }

}  // namespace

TEST_CASE("an operation reads its inputs once and writes its output") {
    notes listener;
    trace t{{}, &listener};
    const tensor x = t.full({2, 3, 4}), table = t.full({100, 4});
    (void)t.add(x, t.full({4}));
    (void)t.add(x.expand({5, 2, 3, 4}), x);
    (void)t.gather(table, {2, 3, 4});
    (void)t.softmax(x);
    (void)t.matmul(x, t.full({4, 7}));
    tensor y = t.copy(x);
    t.apply_inplace(op::clamp, y);
    CHECK(listener.lines == lines{"constant 0 -> 24", "constant 0 -> 400", "constant 0 -> 4", "add 28 -> 24",
                                  "add 48 -> 120", "gather 24 -> 24", "softmax 24 -> 24", "constant 0 -> 28",
                                  "matmul 52 -> 42", "copy 24 -> 24", "clamp 24 -> 24"});
}

TEST_CASE("modules of a kind are walked once, or one by one for a listener") {
    const auto forward = [](trace& t) {
        tensor x = t.full({2, 4});
        for (loop layer = t.loop_modules(3, x, 5); layer.next();) x = t.call({"layers", layer.index()}, square, x);
    };
    trace folded{{}};
    forward(folded);
    CHECK(folded.totals().parameters == count(3 * 16));
    CHECK(work_of(folded, op::matmul) == count(3 * 2 * 16));
    notes listener;
    trace listed{{}, &listener};
    forward(listed);
    CHECK(listener.lines == lines{"constant 0 -> 8", "layers.5", "matmul 24 -> 8", "layers.6", "matmul 24 -> 8",
                                  "layers.7", "matmul 24 -> 8"});
    CHECK(listed.totals().parameters == folded.totals().parameters);
}

TEST_CASE("one module called several times has its parameters once") {
    const auto forward = [](trace& t) {
        tensor x = t.full({2, 4});
        for (loop call = t.loop_calls(3, x); call.next();) x = t.call("shared", square, x);
        return t.call("own", square, x);
    };
    notes listener;
    for (llmcost::listener* const observer :
         {static_cast<llmcost::listener*>(nullptr), static_cast<llmcost::listener*>(&listener)}) {
        trace t{{}, observer};
        (void)forward(t);
        CHECK(t.totals().parameters == count(2 * 16));
        CHECK(work_of(t, op::matmul) == count(4 * 2 * 16));
    }
    CHECK(listener.lines.size() == 1 + 4 * 2);
}

TEST_CASE("layers of several kinds are walked once per kind, in their order for a listener") {
    layer_plan plan;
    for (const int i : {0, 1, 2, 3, 4})
        (void)plan.set(i, {i == 1 || i == 3 ? token_mixer_kind::recurrent : token_mixer_kind::full_attention});
    const auto forward = [&](trace& t) {
        tensor x = t.full({2, 4});
        for (loop layer = t.loop_modules(5, plan, x); layer.next();)
            x = layer.layer().token_mixer == token_mixer_kind::recurrent ? t.exp(x) : t.neg(x);
    };
    notes listener;
    for (llmcost::listener* const observer :
         {static_cast<llmcost::listener*>(nullptr), static_cast<llmcost::listener*>(&listener)}) {
        trace t{{}, observer};
        forward(t);
        CHECK(work_of(t, op::exp) == count(2 * 8));
        CHECK(work_of(t, op::neg) == count(3 * 8));
    }
    CHECK(listener.lines ==
          lines{"constant 0 -> 8", "neg 8 -> 8", "exp 8 -> 8", "neg 8 -> 8", "exp 8 -> 8", "neg 8 -> 8"});
}

TEST_CASE("steps through time are walked once, whoever listens; none and fewer are no steps") {
    notes listener;
    for (const std::int64_t n : {-1, 0, 1, 7}) {
        listener.lines.clear();
        trace t{{}, &listener};
        tensor x = t.full({2, 4});
        for (loop step = t.loop_time_steps(n, x); step.next();) x = t.exp(x);
        CHECK(work_of(t, op::exp) == count(n > 0 ? n * 8 : 0));
        CHECK(listener.lines.size() == (n > 0 ? 2 : 1));
    }
}

TEST_CASE("what a layer keeps exists as often as the layer") {
    // exp keeps its result
    for (const std::int64_t n : {1, 2, 5}) {
        const workload step{.activations = dtype::float32, .training = true};
        notes listener;
        for (llmcost::listener* const observer :
             {static_cast<llmcost::listener*>(nullptr), static_cast<llmcost::listener*>(&listener)}) {
            trace t{step, observer};
            tensor x = t.param("x", {2, 4});
            for (loop layer = t.loop_modules(n, x); layer.next();) x = t.exp(x);
            CHECK(t.totals().saved_bytes == count(n * 8 * 4));
        }
    }
}
