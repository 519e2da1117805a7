// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/report/failing_module.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace llmcost;

namespace {

struct feed_forward {
    std::int64_t width, inner, next;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"My", "FeedForward"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.call("down", linear{next, width}, t.relu(t.call("up", linear{width, inner}, x)));
    }
};

/// Layers whose second matrix reads `vocab_size` features.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    tensor x = t.input({t.load().batch, t.load().sequence, config.hidden_size});
    for (loop layer = t.loop_modules(config.num_hidden_layers, x); layer.next();)
        x = t.call({"blocks", layer.index()},
                   feed_forward{config.hidden_size, config.intermediate_size, config.vocab_size}, x);
    return x;
}
constexpr model_spec spec = composed_spec("My", forward);

model of_inner(std::int64_t inner, std::int64_t next) {
    model_config config;
    config.hidden_size = 8;
    config.num_hidden_layers = 3;
    config.intermediate_size = inner;
    config.vocab_size = next;
    return composed_model(spec, config);
}

}  // namespace

TEST_CASE("a model that is composed in C++ is counted and evaluated like others") {
    const model m = of_inner(32, 32);
    const model_metrics f = count_model(m, {.batch = 2, .sequence = 5});
    CHECK(f.params == 3 * 2 * 8 * 32);
    CHECK(f.torch_flops == 3 * 2 * 2 * 10 * 8 * 32);
    CHECK(count_model(m, {.batch = 2, .sequence = 5}, scope_query{"mlp"}).params == f.params);
    cost_evaluator evaluate(m);
    CHECK(evaluate({.batch = 2, .sequence = 5}) == f);
    CHECK(failing_module(m, {.batch = 2, .sequence = 5}).empty());
}

TEST_CASE("an error has the sizes of both tensors, and the path of its module is found") {
    const model m = of_inner(32, 16);
    std::string message;
    try {
        (void)count_model(m, {.batch = 2, .sequence = 5});
    } catch (const description_error& e) {
        message = e.what();
    }
    CHECK(message == "linear: sizes do not match: (2, 5, 32) and (8, 16)");
    CHECK(failing_module(m, {.batch = 2, .sequence = 5}) == "blocks.0.down");
}
