// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/trace/recorder.hpp>

namespace llmcost {

class recorder::fused_guard {
public:
    constexpr fused_guard(const recorder& r, const fused_part& part) : r_(r), told_(r.listener_ != nullptr && !r.idle()) {
        if (told_) r_.listener_->fused_begins(r_, part);
    }
    constexpr ~fused_guard() {
        if (told_) r_.listener_->fused_ends(r_);
    }
    fused_guard(const fused_guard&) = delete;
    fused_guard& operator=(const fused_guard&) = delete;

private:
    const recorder& r_;
    bool told_;
};

class recorder::call_guard {
public:
    constexpr call_guard(const recorder& r, const function_call& call) : r_(r), told_(r.listener_ != nullptr && !r.idle()) {
        if (told_) r_.listener_->call_begins(r_, call);
    }
    constexpr ~call_guard() {
        if (told_) r_.listener_->call_ends(r_);
    }
    call_guard(const call_guard&) = delete;
    call_guard& operator=(const call_guard&) = delete;

private:
    const recorder& r_;
    bool told_;
};

}  // namespace llmcost
