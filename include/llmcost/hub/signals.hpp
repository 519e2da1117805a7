// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <initializer_list>

#include <pthread.h>
#include <signal.h>

namespace llmcost::detail::hub {

/// Turns SIGPIPE and SIGXFSZ, or other given signals, during its lifetime and in its own thread, into the error codes
/// of the writes that raise them.
///
/// A TLS library may write to a closed connection, and a limit on the size of files may be in force. Neither may end
/// the program and leave an unfinished file. The handling of these signals elsewhere in the program does not change.
class write_signal_guard {
public:
    explicit write_signal_guard(std::initializer_list<int> signals = {SIGPIPE, SIGXFSZ}) noexcept;
    write_signal_guard(const write_signal_guard&) = delete;
    write_signal_guard& operator=(const write_signal_guard&) = delete;
    ~write_signal_guard();

private:
    static bool pending(int signal) noexcept;

    static void consume(int signal) noexcept;

    sigset_t blocked_{};
    sigset_t previous_mask_{};
    bool is_changed_ = false;
};

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/signals.ipp>  // IWYU pragma: export
#endif
