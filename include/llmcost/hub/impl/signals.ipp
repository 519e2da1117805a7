// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/signals.hpp>

#include <initializer_list>

#include <llmcost/base/inline.hpp>

namespace llmcost::detail::hub {

#ifdef _WIN32

LLMCOST_INLINE write_signal_guard::write_signal_guard(std::initializer_list<int>) noexcept {}
LLMCOST_INLINE write_signal_guard::~write_signal_guard() = default;

#else

LLMCOST_INLINE write_signal_guard::write_signal_guard(std::initializer_list<int> signals) noexcept {
    sigemptyset(&blocked_);
    for (const int signal : signals) {
        if (!pending(signal)) sigaddset(&blocked_, signal);
    }
    is_changed_ = pthread_sigmask(SIG_BLOCK, &blocked_, &previous_mask_) == 0;
}

LLMCOST_INLINE write_signal_guard::~write_signal_guard() {
    if (!is_changed_) return;
    for (const int signal : {SIGPIPE, SIGXFSZ}) {
        if (sigismember(&blocked_, signal) == 1 && pending(signal)) consume(signal);
    }
    pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

LLMCOST_INLINE bool write_signal_guard::pending(int signal) noexcept {
    sigset_t all;
    return sigpending(&all) == 0 && sigismember(&all, signal) == 1;
}

LLMCOST_INLINE void write_signal_guard::consume(int signal) noexcept {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
#ifdef __APPLE__
    int taken = 0;
    sigwait(&one, &taken);
#else
    const timespec at_once{};
    sigtimedwait(&one, nullptr, &at_once);
#endif
}

#endif

}  // namespace llmcost::detail::hub
