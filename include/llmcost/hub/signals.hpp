// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <initializer_list>

#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#endif

namespace llmcost::detail::hub {

#ifdef _WIN32  // has none of these signals: the writes return errors
inline constexpr int pipe_signal = 0;
inline constexpr int file_size_signal = 0;
#else
inline constexpr int pipe_signal = SIGPIPE;
inline constexpr int file_size_signal = SIGXFSZ;
#endif

/// Turns SIGPIPE and SIGXFSZ, or other given signals, during its lifetime and in its own thread, into the error codes
/// of the writes that raise them.
///
/// A TLS library may write to a closed connection, and a limit on the size of files may be in force. Neither may end
/// the program and leave an unfinished file. The handling of these signals elsewhere in the program does not change.
class write_signal_guard {
public:
    explicit write_signal_guard(std::initializer_list<int> signals = {pipe_signal, file_size_signal}) noexcept;
    write_signal_guard(const write_signal_guard&) = delete;
    write_signal_guard& operator=(const write_signal_guard&) = delete;
    ~write_signal_guard();

#ifndef _WIN32
private:
    static bool pending(int signal) noexcept;

    static void consume(int signal) noexcept;

    sigset_t blocked_{};
    sigset_t previous_mask_{};
    bool is_changed_ = false;
#endif
};

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/signals.ipp>  // IWYU pragma: export
#endif
