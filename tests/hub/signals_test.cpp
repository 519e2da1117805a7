// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub.hpp>
#include <llmcost/hub/signals.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <set>
#include <string>

#include <signal.h>
#include <unistd.h>

#include "hub_fixture.hpp"

using llmcost::download;
using llmcost::errc;

namespace {

/// The error number of a write without a reader.
int write_to_closed_pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    ::close(ends[0]);
    const int failure = ::write(ends[1], "x", 1) < 0 ? errno : 0;
    ::close(ends[1]);
    return failure;
}

bool blocked(int signal) {
    sigset_t now;
    return pthread_sigmask(SIG_BLOCK, nullptr, &now) == 0 && sigismember(&now, signal) == 1;
}

}  // namespace

TEST_CASE("a write to a closed pipe is an error while the signals are held, and they are given back") {
    const bool was_blocked = blocked(SIGPIPE);
    {
        const llmcost::detail::hub::write_signal_guard signal_guard;
        CHECK(write_to_closed_pipe() == EPIPE);
        CHECK(blocked(SIGPIPE));
        CHECK(blocked(SIGXFSZ));
    }
    CHECK(blocked(SIGPIPE) == was_blocked);
    sigset_t pending;
    CHECK(::sigpending(&pending) == 0);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("a download is not ended by a connection that the other side closed") {
    const loopback_server server([](const server_request& to) { return server_reply::make(to, 503, {}); });
    const temporary_folder folder;
    quick_options options(server.url(), folder.path());
    int failure = 0;
    options.sleep = [&](std::chrono::milliseconds) { failure = write_to_closed_pipe(); };
    CHECK(error_of([&] { return download({"org/name"}, "config.json", options); }).code() == errc::network);
    CHECK(failure == EPIPE);
}

TEST_CASE("a limit on the size of files is an error and leaves no unfinished file") {
    const loopback_server server{small_hub{}};
    const temporary_folder folder;
    const quick_options options(server.url(), folder.path());
    const llmcost::error thrown = error_of([&] {
        const file_size_limit limit(4);
        return download({"org/name"}, "config.json", options);
    });
    CHECK(thrown.code() == errc::io);
    CHECK(contains(thrown.what(), "cannot write the file: File too large"));
    CHECK(files_below(folder.path()).empty());
}
