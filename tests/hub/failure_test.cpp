// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include "download_outcome.hpp"

using llmcost::download;
using llmcost::errc;

TEST_CASE("401, 403 and 404 are told as missing, private or gated") {
    for (const int status : {401, 403, 404}) {
        CAPTURE(status);
        const loopback_server server(make_fixed_reply(status, {}));
        const outcome result = try_download(server);
        CHECK(result.thrown.code() == (status == 404 ? errc::not_found : errc::no_access));
        CHECK(result.thrown.location() == server.url() + "/org/name/resolve/main/config.json");
        CHECK(contains(result.thrown.what(), "HTTP " + std::to_string(status)));
        CHECK(contains(result.thrown.what(), "missing, private or gated"));
        CHECK(contains(result.thrown.what(), "set HF_TOKEN"));
        CHECK(result.heads == 1);
        CHECK(result.gets == 0);
        CHECK(result.files.empty());
    }
}

TEST_CASE("a token that was sent in vain is told of, but not shown") {
    const loopback_server server(make_fixed_reply(401, {}));
    const outcome result = try_download(server, [](llmcost::hub_options& options) { options.token = test_token; });
    CHECK(server.requests().at(0).field("authorization") == "Bearer " + test_token);
    CHECK(contains(result.thrown.what(), "the one sent may not"));
    CHECK_FALSE(contains(result.thrown.what(), test_token));
}

TEST_CASE("the hub's own error codes are put into words") {
    const auto get_not_found_error = [](int status, const std::string& code) {
        const loopback_server server(make_fixed_reply(status, {{"X-Error-Code", code}}));
        const outcome result = try_download(server);
        CHECK(result.thrown.code() == (status == 404 ? errc::not_found : errc::no_access));
        return std::string(result.thrown.what());
    };
    CHECK(contains(get_not_found_error(404, "EntryNotFound"), "org/name@main has no file \"config.json\""));
    CHECK(contains(get_not_found_error(404, "RevisionNotFound"), "org/name has no revision \"main\""));
    CHECK(contains(get_not_found_error(403, "GatedRepo"), "org/name is gated"));
    CHECK(contains(get_not_found_error(401, "RepoNotFound"), "missing, private or gated"));
}

TEST_CASE("a missing file is remembered, a missing repository is not") {
    const loopback_server server(
        make_fixed_reply(404, {{"X-Error-Code", "EntryNotFound"}, {"X-Repo-Commit", first_commit}}));
    const std::set<std::string> expected = {"models--org--name/.no_exist/" + first_commit + "/config.json",
                                            "models--org--name/refs/main"};
    CHECK(try_download(server).files == expected);

    const temporary_folder folder;
    const quick_options options(server.url(), folder.path());
    const auto download_second_commit = [&] { return download({"org/name", second_commit}, "config.json", options); };
    CHECK(error_of(download_second_commit).code() == errc::not_found);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "models--org--name/refs"));

    const loopback_server evil(
        make_fixed_reply(404, {{"X-Error-Code", "EntryNotFound"}, {"X-Repo-Commit", "../../../../x"}}));
    CHECK(try_download(evil).files.empty());
}

TEST_CASE("a server's words are cleaned and cut before they are shown") {
    const loopback_server server(
        make_fixed_reply(404, {{"X-Error-Message", "\x1b]0;title\x07" + std::string(4000, 'y') + "END"}}));
    const std::string message = try_download(server).thrown.what();
    CHECK(contains(message, "(the server says: ?]0;title?yyy"));
    CHECK_FALSE(contains(message, "END"));
    CHECK(message.find_first_of("\x1b\x07\r\n") == std::string::npos);
}

TEST_CASE("other statuses are errors of the network, not repeated") {
    for (const int status : {204, 206, 304, 400, 405, 410, 416, 418, 501, 505}) {
        CAPTURE(status);
        const loopback_server server([status](const server_request& to) -> server_reply {
            if (to.method == "HEAD")
                return server_reply::make(to, status, {{"X-Repo-Commit", first_commit}, {"ETag", first_blob}});
            return server_reply::make(to, 200, {}, "must not be asked for");
        });
        const outcome result = try_download(server);
        CHECK(result.thrown.code() == errc::network);
        CHECK(contains(result.thrown.what(), "HTTP " + std::to_string(status)));
        CHECK(result.heads == 1);
        CHECK(result.gets == 0);
        CHECK(result.files.empty());
    }
}

TEST_CASE("a status that GET alone gives leaves no file") {
    for (const int status : {206, 404, 416}) {
        CAPTURE(status);
        const loopback_server server([status](const server_request& to) {
            return to.method == "HEAD" ? small_hub{}(to) : server_reply::make(to, status, {}, small_hub{}.content);
        });
        const outcome result = try_download(server);
        CHECK(contains(result.thrown.what(), "HTTP " + std::to_string(status)));
        CHECK(result.gets == 1);
        CHECK(result.files.empty());
    }
}

TEST_CASE("408, 429 and 5xx are tried again with growing waits, then given up") {
    for (const int status : {408, 429, 500, 502, 503, 504}) {
        CAPTURE(status);
        const loopback_server server(make_fixed_reply(status, {}));
        const outcome result = try_download(server, [](llmcost::hub_options& options) {
            options.attempts = 5;
            options.longest_wait = std::chrono::milliseconds(1500);
        });
        CHECK(result.thrown.code() == errc::network);
        CHECK(contains(result.thrown.what(), "HTTP " + std::to_string(status)));
        CHECK(result.heads == 5);
        CHECK(result.waits == milliseconds{500, 1000, 1500, 1500});
        CHECK(result.files.empty());
    }
}

TEST_CASE("a server that recovers is enough") {
    std::atomic<int> calls{0};
    const loopback_server server(
        [&](const server_request& to) { return calls++ % 2 == 0 ? server_reply::make(to, 503, {}) : small_hub{}(to); });
    const outcome result = try_download(server);
    CHECK(std::string(result.thrown.what()).empty());
    CHECK(result.heads == 2);
    CHECK(result.gets == 2);
    CHECK(result.files.size() == 4);
}

TEST_CASE("a wait that the server asks for is honoured, one that is too long ends the attempts") {
    const loopback_server patient(make_fixed_reply(429, {{"Retry-After", "7"}}));
    CHECK(try_download(patient).waits == milliseconds{7000, 7000});
    const loopback_server quota(make_fixed_reply(429, {{"RateLimit", "\"api\";r=0;t=9"}, {"Retry-After", "1"}}));
    CHECK(try_download(quota).waits == milliseconds{9000, 9000});

    for (const std::string seconds : {"11", "18446744073709551615"}) {
        const loopback_server server(make_fixed_reply(429, {{"Retry-After", seconds}}));
        const outcome result = try_download(server);
        CHECK(result.thrown.code() == errc::network);
        CHECK(contains(result.thrown.what(), "a wait of " + seconds));
        CHECK(result.heads == 1);
        CHECK(result.waits.empty());
    }
}

TEST_CASE("a connection that ends too early is tried again and leaves no file") {
    const std::string cut = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this";
    const loopback_server in_body(get_sends("100", cut));
    const outcome body = try_download(in_body);
    CHECK(body.thrown.code() == errc::network);
    CHECK(contains(body.thrown.what(), "(3 attempts)"));
    CHECK(body.gets == 3);
    CHECK(body.files.empty());

    const loopback_server in_header(
        [](const server_request&) -> server_reply { return {"HTTP/1.1 200 OK\r\nX-Repo"}; });
    CHECK(try_download(in_header).thrown.code() == errc::network);

    const loopback_server silent_server([](const server_request&) -> server_reply { return {}; });
    CHECK(try_download(silent_server).heads == 3);

    const loopback_server reset([cut](const server_request& to) -> server_reply {
        return to.method == "HEAD" ? small_hub{}(to) : server_reply{cut, false, true};
    });
    const outcome result = try_download(reset);
    CHECK(result.thrown.code() == errc::network);
    CHECK(result.files.empty());

    const loopback_server chunked(get_sends("", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"));
    CHECK(try_download(chunked).thrown.code() == errc::network);
    CHECK(try_download(chunked).files.empty());
}

TEST_CASE("a length that does not agree with the hub's leaves no file") {
    for (const std::string size : {"9", "11"}) {
        CAPTURE(size);
        const loopback_server server(get_sends(size, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"));
        const outcome result = try_download(server);
        CHECK(result.thrown.code() == errc::network);
        CHECK(contains(result.thrown.what(), "expected " + size + " bytes, got 10"));
        CHECK(result.files.empty());
    }
    const loopback_server untold(get_sends("", "HTTP/1.1 200 OK\r\n\r\n0123456789"));
    CHECK(contains(try_download(untold).thrown.what(), "may be truncated"));
    CHECK(try_download(untold).files.empty());
}

TEST_CASE("a file beyond the limit is refused, told or not") {
    const auto limit = [](llmcost::hub_options& options) { options.max_size = 9; };
    const std::string ten = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
    const loopback_server sized_server(get_sends("10", ten));
    const outcome early = try_download(sized_server, limit);
    CHECK(contains(early.thrown.what(), "the file has 10 bytes, more than 9"));
    CHECK(early.gets == 0);

    const loopback_server untold(get_sends("", ten));
    const outcome late = try_download(untold, limit);
    CHECK(late.thrown.code() == errc::network);
    CHECK(contains(late.thrown.what(), "more than 9 bytes"));
    CHECK(late.gets == 1);
    CHECK(late.files.empty());

    const loopback_server endless([&](const server_request& to) -> server_reply {
        if (to.method == "HEAD") return get_sends("", {})(to);
        return {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n", true};
    });
    CHECK(contains(try_download(endless, limit).thrown.what(), "more than 9 bytes"));

    const loopback_server fits(get_sends("", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n012345678"));
    CHECK(std::string(try_download(fits, limit).thrown.what()).empty());
}

TEST_CASE("a closed port is told at once") {
    std::string url;
    {
        const loopback_server closed_server{small_hub{}};
        url = closed_server.url();
    }
    const temporary_folder folder;
    const quick_options options(url, folder.path());
    const llmcost::error thrown = error_of([&] { return download({"org/name"}, "config.json", options); });
    CHECK(thrown.code() == errc::network);
    CHECK(thrown.location() == url + "/org/name/resolve/main/config.json");
    CHECK(options.waits.empty());
}

TEST_CASE("an answer that is not the hub's becomes no path") {
    const auto get_network_error = [](const std::string& commit, const std::string& etag) {
        const loopback_server server([&](const server_request& to) {
            return server_reply::make(to, 200, {{"X-Repo-Commit", commit}, {"ETag", etag}}, "{}");
        });
        const outcome result = try_download(server);
        CHECK(result.thrown.code() == errc::network);
        CHECK(result.files.empty());
        CHECK(result.gets == 0);
        return std::string(result.thrown.what());
    };
    for (const std::string commit : {"", "main", "../../../../../../../../../../../../x/../y", "1111111"}) {
        CAPTURE(commit);
        CHECK(contains(get_network_error(commit, first_blob), "X-Repo-Commit"));
    }
    for (const std::string etag : {"", "\"abc\"", "../../x", "\"../../../../../../../../../../../../../xx/y\""}) {
        CAPTURE(etag);
        CHECK(contains(get_network_error(first_commit, etag), "ETag"));
    }
}

TEST_CASE("another commit than the one asked for is not taken") {
    const loopback_server server([](const server_request& to) {
        return server_reply::make(to, 200, {{"X-Repo-Commit", first_commit}, {"ETag", first_blob}}, "{}");
    });
    const temporary_folder folder;
    const quick_options options(server.url(), folder.path());
    const llmcost::error thrown = error_of([&] {
        return download({"org/name", second_commit}, "config.json", options);
    });
    CHECK(thrown.code() == errc::network);
    CHECK(contains(thrown.what(), first_commit));
    CHECK(files_below(folder.path()).empty());
}

TEST_CASE("a revision that moves between question and download is not mixed up") {
    const loopback_server server(
        [](const server_request& to) { return small_hub{to.method == "HEAD" ? first_commit : second_commit}(to); });
    const outcome result = try_download(server);
    CHECK(contains(result.thrown.what(), "moved during the download"));
    CHECK(result.files.empty());
}

TEST_CASE("a compressed answer is refused") {
    const loopback_server server([](const server_request& to) {
        if (to.method == "HEAD") return small_hub{}(to);
        return server_reply::make(to, 200, {{"Content-Encoding", "gzip"}}, small_hub{}.content);
    });
    const outcome result = try_download(server);
    CHECK(contains(result.thrown.what(), "encoded as gzip"));
    CHECK(result.files.empty());
}
