// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <initializer_list>

#include <pthread.h>
#include <signal.h>

namespace llmcost::detail::hub {

/// Turns SIGPIPE and SIGXFSZ, during its lifetime and in its own thread, into the error codes of the writes that raise
/// them.
///
/// A TLS library may write to a closed connection, and a limit on the size of files may be in force. Neither may end
/// the program and leave an unfinished file. The handling of these signals elsewhere in the program does not change.
class write_signal_guard {
public:
    write_signal_guard() noexcept {
        sigemptyset(&blocked_);
        for (const int signal : {SIGPIPE, SIGXFSZ}) {
            if (!pending(signal)) sigaddset(&blocked_, signal);
        }
        changed_ = pthread_sigmask(SIG_BLOCK, &blocked_, &previous_mask_) == 0;
    }
    write_signal_guard(const write_signal_guard&) = delete;
    write_signal_guard& operator=(const write_signal_guard&) = delete;
    ~write_signal_guard() {
        if (!changed_) return;
        for (const int signal : {SIGPIPE, SIGXFSZ}) {
            if (sigismember(&blocked_, signal) == 1 && pending(signal)) consume(signal);
        }
        pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
    }

private:
    static bool pending(int signal) noexcept {
        sigset_t all;
        return sigpending(&all) == 0 && sigismember(&all, signal) == 1;
    }

    static void consume(int signal) noexcept {
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

    sigset_t blocked_{};
    sigset_t previous_mask_{};
    bool changed_ = false;
};

}  // namespace llmcost::detail::hub
