// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub.hpp>

#include <chrono>
#include <string>
#include <thread>

#include "download_outcome.hpp"

using llmcost::errc;

TEST_CASE("a server that does not answer is given up in time") {
    const auto tried_within = [](std::chrono::milliseconds limit, const loopback_server& server, const auto& prepare) {
        const auto started = std::chrono::steady_clock::now();
        const outcome result = try_download(server, prepare);
        CHECK(std::chrono::steady_clock::now() - started < limit);
        CHECK(result.thrown.code() == errc::network);
        CHECK(result.files.empty());
        return result;
    };
    const loopback_server mute([](const server_request&) -> server_reply { return {"", true}; });
    const outcome mute_outcome = tried_within(std::chrono::milliseconds(900), mute, [](llmcost::hub_options& options) {
        options.etag_timeout = std::chrono::milliseconds(100);
        options.attempts = 2;
    });
    CHECK(mute_outcome.heads == 2);

    const loopback_server stalls([](const server_request& to) -> server_reply {
        return to.method == "HEAD" ? small_hub{}(to)
                                   : server_reply{"HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n{", true};
    });
    tried_within(std::chrono::milliseconds(900), stalls, [](llmcost::hub_options& options) {
        options.download_timeout = std::chrono::seconds(60);
        options.total_timeout = std::chrono::milliseconds(100);
        options.attempts = 1;
    });
    tried_within(std::chrono::seconds(5), stalls, [](llmcost::hub_options& options) {
        options.download_timeout = std::chrono::seconds(1);
        options.total_timeout = std::chrono::seconds(10);
        options.attempts = 1;
    });
}

TEST_CASE("one deadline holds for all attempts, redirects and waits of a download") {
    const auto elapsed = [](const loopback_server& server, const auto& prepare) {
        const auto started = std::chrono::steady_clock::now();
        const outcome result = try_download(server, prepare);
        CHECK(result.thrown.code() == errc::network);
        CHECK(result.files.empty());
        return std::chrono::steady_clock::now() - started;
    };
    const auto hurry = [](llmcost::hub_options& options) {
        options.total_timeout = std::chrono::milliseconds(400);
        options.attempts = 100;
        options.first_wait = std::chrono::milliseconds(0);
    };
    const std::string partial_response = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    const loopback_server body_drips([&](const server_request& to) -> server_reply {
        return to.method == "HEAD" ? get_sends("1000000", {})(to) : server_reply{partial_response, false, false, true};
    });
    CHECK(elapsed(body_drips, hurry) < std::chrono::seconds(2));

    const loopback_server header_drips([](const server_request&) -> server_reply {
        return {"HTTP/1.1 200 OK\r\nX-", false, false, true};
    });
    CHECK(elapsed(header_drips, [&](llmcost::hub_options& options) {
              hurry(options);
              options.etag_timeout = std::chrono::milliseconds(150);
          }) < std::chrono::seconds(2));

    // each redirect comes in its own time
    const loopback_server slow_redirects([](const server_request& to) {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        return server_reply::make(to, 302, {{"Location", to.target + "x"}});
    });
    CHECK(elapsed(slow_redirects, hurry) < std::chrono::seconds(2));
    CHECK(slow_redirects.count("HEAD") <= 3);

    // a wait that would outlast the deadline is not begun
    const loopback_server busy(make_fixed_reply(503, {{"Retry-After", "3"}}));
    const outcome waits = try_download(busy, hurry);
    CHECK(waits.waits.empty());
    CHECK(contains(waits.thrown.what(), "HTTP 503"));
}
