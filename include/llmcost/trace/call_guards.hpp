// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/trace/recorder.hpp>

namespace llmcost {

class recorder::fused_kernel_guard {
public:
    constexpr fused_kernel_guard(const recorder& r, const fused_kernel& part)
        : recorder_(r), is_active_(r.listener_ != nullptr && !r.is_not_executed()) {
        if (is_active_) recorder_.listener_->on_fused_kernel_begin(recorder_, part);
    }
    constexpr ~fused_kernel_guard() {
        if (is_active_) recorder_.listener_->on_fused_kernel_end(recorder_);
    }
    fused_kernel_guard(const fused_kernel_guard&) = delete;
    fused_kernel_guard& operator=(const fused_kernel_guard&) = delete;

private:
    const recorder& recorder_;
    bool is_active_;
};

class recorder::function_call_guard {
public:
    constexpr function_call_guard(const recorder& r, const function_call& call)
        : recorder_(r), is_active_(r.listener_ != nullptr && !r.is_not_executed()) {
        if (is_active_) recorder_.listener_->on_function_begin(recorder_, call);
    }
    constexpr ~function_call_guard() {
        if (is_active_) recorder_.listener_->on_function_end(recorder_);
    }
    function_call_guard(const function_call_guard&) = delete;
    function_call_guard& operator=(const function_call_guard&) = delete;

private:
    const recorder& recorder_;
    bool is_active_;
};

}  // namespace llmcost
