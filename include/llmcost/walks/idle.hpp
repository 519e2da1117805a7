// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Modules that a pass over text does not call: their tensors and classes, in the order in which they are registered.
///
/// Towers for images and sound are said in these words where nothing asks what they execute.
class idle_modules {
public:
    constexpr explicit idle_modules(trace& t) noexcept : t_(t), idle_(t) {}

    /// A module with children, which `inside` says.
    template <class Inside>
    constexpr void within(module_place at, class_name type, const Inside& inside, role what = role::none) {
        const module_info m{at.name, at.index, type, what, false};
        t_.enter(m);
        inside();
        t_.leave(m);
    }
    /// A list of `n` such modules.
    template <class Inside>
    constexpr void list(literal name, std::int64_t n, class_name type, const Inside& inside) {
        value x = trace::buffer({1});
        for (repetition each = t_.repeat(n, x); each.next();) within({name, each.index()}, type, inside);
    }
    constexpr void linear(module_place at, std::int64_t in, std::int64_t out, bool bias = true) {
        (void)t_.call(at, llmcost::linear{in, out, bias}, trace::buffer({1, in}));
    }
    constexpr void layer_norm(module_place at, std::int64_t width, bool bias = true) {
        within_leaf(at, {"", "LayerNorm"}, [&] { weight({width}, bias, width); });
    }
    /// A norm with a weight and a class of its own.
    constexpr void norm(module_place at, std::int64_t width, class_name type) {
        within_leaf(at, type, [&] { weight({width}, false, 0); });
    }
    /// `nn.BatchNorm1d` and the like, whose statistics are no parameters.
    constexpr void batch_norm(module_place at, std::int64_t width, literal type = "BatchNorm1d") {
        within_leaf(at, {"", type}, [&] { weight({width}, true, width); });
    }
    constexpr void embedding(module_place at, std::int64_t rows, std::int64_t width, class_name type = {"", "Embedding"}) {
        within_leaf(at, type, [&] { weight({rows, width}, false, 0); });
    }
    /// A module of this class with a weight of these sizes: a convolution has (out, in / groups, kernel…).
    constexpr void weighted(module_place at, class_name type, const extents& sizes, bool bias = true) {
        within_leaf(at, type, [&] { weight(sizes, bias, sizes.size[0]); });
    }
    constexpr void act(module_place at, activation kind) {
        within_leaf(at, activation_module{kind}.type(), [] {});
    }
    /// A module without tensors or children.
    constexpr void plain(module_place at, class_name type) {
        within_leaf(at, type, [] {});
    }
    constexpr void tensor(literal name, const extents& sizes) { (void)t_.param(name, sizes); }

private:
    template <class Inside>
    constexpr void within_leaf(module_place at, class_name type, const Inside& inside) {
        const module_info m{at.name, at.index, type, role::none, true};
        t_.enter(m);
        inside();
        t_.leave(m);
    }
    constexpr void weight(const extents& sizes, bool bias, std::int64_t out) {
        tensor("weight", sizes);
        if (bias) tensor("bias", {out});
    }

    trace& t_;
    recorder::idle_guard idle_;
};

}  // namespace llmcost
