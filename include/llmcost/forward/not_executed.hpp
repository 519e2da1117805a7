// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Declares modules that the forward pass does not execute: parameters and classes, in registration order.
///
/// Used for encoders of images and audio whose operations are not supported.
class not_executed_modules {
public:
    constexpr explicit not_executed_modules(trace& t) noexcept : trace_(t), not_executed_(t) {}

    /// A module with children, which `inside` declares.
    template <class Inside>
    constexpr void module(child_name child, class_name type, const Inside& declare_children,
                          role module_role = role::none) {
        const module_info m{child.name, child.index, type, module_role, false};
        trace_.enter(m);
        declare_children();
        trace_.leave(m);
    }
    /// A list of `n` modules with the children that `inside` declares.
    template <class Inside>
    constexpr void list(literal name, std::int64_t n, class_name type, const Inside& declare_children) {
        tensor x = trace::buffer({1});
        for (loop layer_loop = trace_.loop_modules(n, x); layer_loop.next();)
            module({name, layer_loop.index()}, type, declare_children);
    }
    constexpr void linear(child_name child, std::int64_t in, std::int64_t out, bool bias = true) {
        (void)trace_.call(child, llmcost::linear{in, out, bias}, trace::buffer({1, in}));
    }
    constexpr void layer_norm(child_name child, std::int64_t width, bool bias = true) {
        leaf_module(child, {"", "LayerNorm"}, [&] { weight({width}, bias, width); });
    }
    /// A norm with a weight.
    constexpr void norm(child_name child, std::int64_t width, class_name type) {
        leaf_module(child, type, [&] { weight({width}, false, 0); });
    }
    /// `nn.BatchNorm1d` and similar modules, whose statistics are buffers.
    constexpr void batch_norm(child_name child, std::int64_t width, literal type = "BatchNorm1d") {
        leaf_module(child, {"", type}, [&] {
            weight({width}, true, width);
            register_batch_statistics(trace_, width);
        });
    }
    constexpr void embedding(child_name child, std::int64_t rows, std::int64_t width,
                             class_name type = {"", "Embedding"}) {
        leaf_module(child, type, [&] { weight({rows, width}, false, 0); });
    }
    /// An embedding that is not trained (`requires_grad=False`).
    constexpr void frozen_embedding(child_name child, std::int64_t rows, std::int64_t width) {
        leaf_module(child, {"", "Embedding"}, [&] { (void)trace_.frozen_parameter("weight", {rows, width}); });
    }
    /// A module with a weight of these sizes. A convolution has (out, in / groups, kernel…).
    constexpr void module_with_weight(child_name child, class_name type, const shape& sizes, bool bias = true) {
        leaf_module(child, type, [&] { weight(sizes, bias, sizes.size[0]); });
    }
    constexpr void act(child_name child, activation kind) {
        leaf_module(child, activation_module{kind}.type_name(), [] {});
    }
    /// A module without parameters and children.
    constexpr void module_without_parameters(child_name child, class_name type) {
        leaf_module(child, type, [] {});
    }
    /// A module without children, whose parameters and buffers `inside` declares.
    template <class Inside>
    constexpr void leaf_module(child_name child, class_name type, const Inside& declare_children) {
        const module_info m{child.name, child.index, type, role::none, true};
        trace_.enter(m);
        declare_children();
        trace_.leave(m);
    }
    constexpr void parameter(literal name, const shape& sizes) { (void)trace_.param(name, sizes); }
    /// A buffer with the element type of the weights.
    constexpr void buffer(std::initializer_list<std::int64_t> sizes) const { buffer(sizes, trace_.activation_type()); }
    constexpr void buffer(std::initializer_list<std::int64_t> sizes, dtype type) const {
        trace_.register_buffer(sizes, type);
    }
    /// A buffer of `n` 64-bit integers.
    constexpr void integer_buffer(std::int64_t n) const { trace_.register_integer_buffer(n); }

private:
    constexpr void weight(const shape& sizes, bool bias, std::int64_t out) {
        parameter("weight", sizes);
        if (bias) parameter("bias", {out});
    }

    trace& trace_;
    recorder::not_executed_guard not_executed_;
};

}  // namespace llmcost
