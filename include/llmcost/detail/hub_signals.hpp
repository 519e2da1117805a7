// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <initializer_list>

#include <pthread.h>
#include <signal.h>

namespace llmcost::detail::hub {

/// Turns SIGPIPE and SIGXFSZ, while it lives and in its own thread, into the error codes of the writes that raise them.
///
/// A TLS library may write to a closed connection, and a limit on the size of files may be in force: neither may end the
/// program and leave an unfinished file behind. What the program does with these signals elsewhere stays as it is.
class write_signals_held {
public:
    write_signals_held() noexcept {
        sigemptyset(&held_);
        for (const int signal : {SIGPIPE, SIGXFSZ}) {
            if (!pending(signal)) sigaddset(&held_, signal);
        }
        changed_ = pthread_sigmask(SIG_BLOCK, &held_, &before_) == 0;
    }
    write_signals_held(const write_signals_held&) = delete;
    write_signals_held& operator=(const write_signals_held&) = delete;
    ~write_signals_held() {
        if (!changed_) return;
        for (const int signal : {SIGPIPE, SIGXFSZ}) {
            if (sigismember(&held_, signal) == 1 && pending(signal)) take(signal);
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    static bool pending(int signal) noexcept {
        sigset_t all;
        return sigpending(&all) == 0 && sigismember(&all, signal) == 1;
    }

    static void take(int signal) noexcept {
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

    sigset_t held_{};
    sigset_t before_{};
    bool changed_ = false;
};

}  // namespace llmcost::detail::hub
