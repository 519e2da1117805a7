// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub.hpp>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "hub_fixture.hpp"

using llmcost::download;
using llmcost::errc;

namespace {

server_reply redirect(const server_request& to, const std::string& location, server_reply::field_list fields = {},
                      int status = 302) {
    fields.emplace_back("Location", location);
    return server_reply::make(to, status, fields, "moved");
}

const server_reply::field_list linked = {
    {"X-Repo-Commit", first_commit}, {"X-Linked-Etag", '"' + second_blob + '"'}, {"X-Linked-Size", "2"}};

/// A storage host that has the file at every path and no idea of the hub.
server_reply storage(const server_request& to) {
    return server_reply::make(to, 200, {{"ETag", "\"of the storage\""}}, "{}");
}

/// Downloads `json.json` of `org/name` with a token.
llmcost::hub_file download_with_token(const std::string& endpoint, const temporary_folder& folder) {
    quick_options options(endpoint, folder.path());
    options.token = test_token;
    return download({"org/name"}, "config.json", options);
}

bool all_have_token(const loopback_server& server) {
    for (const server_request& request : server.requests()) {
        if (request.field("authorization") != "Bearer " + test_token) return false;
    }
    return !server.requests().empty();
}

/// True if the server was called and no request had the token in any field or in its target.
bool none_has_token(const loopback_server& server) {
    for (const server_request& request : server.requests()) {
        if (contains(request.target, test_token)) return false;
        for (const auto& [name, value] : request.fields) {
            if (name == "authorization" || name == "cookie" || contains(value, test_token)) return false;
        }
    }
    return !server.requests().empty();
}

}  // namespace

TEST_CASE("the token goes to the endpoint with every request") {
    const loopback_server hub{small_hub{}};
    const temporary_folder folder;
    static_cast<void>(download_with_token(hub.url(), folder));
    CHECK(hub.requests().size() == 2);
    CHECK(all_have_token(hub));
}

TEST_CASE("a redirect within the endpoint keeps the token") {
    for (const int status : {301, 302, 303, 307, 308}) {
        CAPTURE(status);
        const loopback_server hub([status](const server_request& to) {
            if (to.target == "/org/name/resolve/main/config.json") return redirect(to, "/new/place?x=1", {}, status);
            return server_reply::make(to, 200, {{"X-Repo-Commit", first_commit}, {"ETag", third_blob}}, "{}");
        });
        const temporary_folder folder;
        CHECK(read_file(download_with_token(hub.url(), folder).path) == "{}");
        const auto requests = hub.requests();
        REQUIRE(requests.size() == 3);
        CHECK(requests[1].method == "HEAD");
        CHECK(requests[1].target == "/new/place?x=1");
        CHECK(requests[2].method == "GET");
        CHECK(requests[2].target == "/new/place?x=1");
        CHECK(all_have_token(hub));
    }
}

TEST_CASE("the storage that HEAD is led to gets the GET alone, without the token") {
    const loopback_server storage_server(storage);
    const loopback_server hub(
        [&](const server_request& to) { return redirect(to, storage_server.url() + "/signed?key=1", linked); });
    const temporary_folder folder;
    const llmcost::hub_file file = download_with_token(hub.url(), folder);
    CHECK(file.commit == first_commit);
    CHECK(read_file(file.path) == "{}");
    CHECK(std::filesystem::read_symlink(file.path) == "../../blobs/" + second_blob);
    CHECK(hub.requests().size() == 1);
    CHECK(all_have_token(hub));
    REQUIRE(storage_server.requests().size() == 1);
    CHECK(storage_server.requests()[0].method == "GET");
    CHECK(storage_server.requests()[0].target == "/signed?key=1");
    CHECK(none_has_token(storage_server));
}

TEST_CASE("a GET that is led away loses the token") {
    const loopback_server storage_server(storage);
    const loopback_server hub([&](const server_request& to) {
        if (to.method == "GET") return redirect(to, storage_server.url() + "/file");
        return server_reply::make(to, 200, {{"X-Repo-Commit", first_commit}, {"ETag", third_blob}}, "{}");
    });
    const temporary_folder folder;
    CHECK(read_file(download_with_token(hub.url(), folder).path) == "{}");
    CHECK(all_have_token(hub));
    CHECK(none_has_token(storage_server));
}

TEST_CASE("a hub behind a redirect is asked without the token") {
    const loopback_server storage_server{small_hub{}};
    const loopback_server mirror(
        [&](const server_request& to) { return redirect(to, storage_server.url() + to.target); });
    const temporary_folder folder;
    CHECK(download_with_token(mirror.url(), folder).commit == first_commit);
    CHECK(mirror.requests().size() == 1);
    CHECK(storage_server.requests().size() == 2);
    CHECK(none_has_token(storage_server));
}

TEST_CASE("a redirect that comes back does not bring the token back") {
    std::string other_url;
    const loopback_server hub([&](const server_request& to) {
        if (to.target == "/back")
            return server_reply::make(to, 200, {{"X-Repo-Commit", first_commit}, {"ETag", third_blob}}, "{}");
        return redirect(to, other_url + "/away");
    });
    const loopback_server storage_server([&](const server_request& to) { return redirect(to, hub.url() + "/back"); });
    other_url = storage_server.url();
    const temporary_folder folder;
    CHECK(read_file(download_with_token(hub.url(), folder).path) == "{}");
    CHECK(none_has_token(storage_server));
    const auto requests = hub.requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[0].field("authorization") == "Bearer " + test_token);
    CHECK(requests[1].target == "/back");
    CHECK(requests[1].field("authorization").empty());
    CHECK(requests[2].field("authorization").empty());
}

TEST_CASE("the same machine under another name or port is another origin") {
    const loopback_server hub([](const server_request& to) {
        const std::string port = to.field("host").substr(to.field("host").find(':'));
        if (to.field("host").starts_with("localhost")) {
            return server_reply::make(to, 200, {{"X-Repo-Commit", first_commit}, {"ETag", third_blob}}, "{}");
        }
        return redirect(to, "http://localhost" + port + "/x");
    });
    const temporary_folder folder;
    static_cast<void>(download_with_token(hub.url(), folder));
    const auto requests = hub.requests();
    REQUIRE(requests.size() == 3);
    CHECK_FALSE(requests[0].field("authorization").empty());
    CHECK(requests[1].field("authorization").empty());
    CHECK(requests[2].field("authorization").empty());
}

TEST_CASE("five redirects are followed, six are not") {
    for (const int redirects : {5, 6}) {
        CAPTURE(redirects);
        std::atomic<int> left{redirects};
        const loopback_server hub([&](const server_request& to) {
            if (to.method == "HEAD" && left-- > 0) return redirect(to, "/next");
            return server_reply::make(to, 200, {{"X-Repo-Commit", first_commit}, {"ETag", third_blob}}, "{}");
        });
        const temporary_folder folder;
        const llmcost::error thrown = error_of([&] { return download_with_token(hub.url(), folder); });
        CHECK(hub.count("HEAD") == 6);
        CHECK(hub.count("GET") == (redirects == 5 ? 1 : 0));
        CHECK(contains(thrown.what(), "more than 5 redirects") == (redirects == 6));
    }
}

TEST_CASE("a redirect that breaks the rules is not followed") {
    const loopback_server storage_server(storage);
    const std::string port = storage_server.url().substr(storage_server.url().rfind(':'));
    const std::string targets[] = {"",
                                   "ftp://127.0.0.1" + port + "/x",
                                   "file:///etc/passwd",
                                   "http://user:secret@127.0.0.1" + port + "/x",
                                   "http://example.invalid/x",
                                   "http://127.0.0.1.example.invalid/x",
                                   "http://user:sec@secret@127.0.0.1" + port + "/x?sig=secret",
                                   "http://user:secret?@127.0.0.1" + port + "/x",
                                   "//user:secret@127.0.0.1" + port + "/x",
                                   "http:user:secret@127.0.0.1" + port + "/x",
                                   "user name:secret@127.0.0.1" + port + "/x",
                                   "http:///x",
                                   "http://127.0.0.1" + port + "/a b",
                                   "http://127.0.0.1" + port + "/\x1b[31m",
                                   "gopher://127.0.0.1" + port + "/x"};
    for (const std::string& target : targets) {
        CAPTURE(target);
        const loopback_server hub([&](const server_request& to) { return redirect(to, target, linked); });
        const temporary_folder folder;
        const llmcost::error thrown = error_of([&] { return download_with_token(hub.url(), folder); });
        CHECK(thrown.code() == errc::network);
        CHECK(contains(thrown.what(), "a redirect that is not followed"));
        CHECK_FALSE(contains(thrown.what(), "\x1b"));
        CHECK_FALSE(contains(thrown.what(), "secret"));
        CHECK(hub.requests().size() == 1);
        CHECK(files_below(folder.path()).empty());
    }
    CHECK(storage_server.requests().empty());
}

TEST_CASE("a message shows no query, which may be a signature") {
    const loopback_server storage_server([](const server_request& to) { return server_reply::make(to, 403, {}); });
    const loopback_server hub([&](const server_request& to) {
        return redirect(to, storage_server.url() + "/file?Signature=secret", linked);
    });
    const temporary_folder folder;
    const llmcost::error thrown = error_of([&] { return download_with_token(hub.url(), folder); });
    CHECK(thrown.location() == storage_server.url() + "/file");
    CHECK(thrown.code() == errc::network);
    CHECK_FALSE(contains(thrown.what(), "secret"));
    CHECK(files_below(folder.path()).empty());
}

TEST_CASE("a token that could break out of its line is never sent nor shown") {
    const loopback_server hub{small_hub{}};
    const std::string tokens[] = {"a\r\nX-Evil: 1",       "a\nb", "a b",        "a\tb",
                                  std::string("a\0b", 3), "\x7f", "t\xc3\xb6k", std::string(4097, 'a')};
    for (const std::string& token : tokens) {
        CAPTURE(token);
        const temporary_folder folder;
        quick_options options(hub.url(), folder.path());
        options.token = token;
        const llmcost::error thrown = error_of([&] { return download({"org/name"}, "config.json", options); });
        CHECK(thrown.code() == errc::bad_value);
        CHECK(contains(thrown.what(), "HF_TOKEN"));
        CHECK_FALSE(contains(thrown.what(), token));

        write_file(folder.path() / "token", "x" + token + "x");
        options.token.clear();
        options.token_file = folder.path() / "token";
        const llmcost::error from_file = error_of([&] { return download({"org/name"}, "config.json", options); });
        CHECK(from_file.code() == errc::bad_value);
        CHECK(from_file.location() == options.token_file.string());
    }
    CHECK(hub.requests().empty());
}

TEST_CASE("the token file serves where no token is given, and may be missing") {
    const loopback_server hub{small_hub{}};
    const temporary_folder folder;
    quick_options options(hub.url(), folder.path() / "cache");
    options.token_file = folder.path() / "token";
    static_cast<void>(download({"org/name"}, "config.json", options));
    CHECK(hub.requests().back().field("authorization").empty());
    write_file(options.token_file, test_token + "\n");
    static_cast<void>(download({"org/name"}, "config.json", options));
    CHECK(hub.requests().back().field("authorization") == "Bearer " + test_token);
    options.token = "other";
    static_cast<void>(download({"org/name"}, "config.json", options));
    CHECK(hub.requests().back().field("authorization") == "Bearer other");
}

TEST_CASE("a proxy that cannot be used is told of without its password") {
    const temporary_folder folder;
    const char* const original_proxy = std::getenv("http_proxy");
    const std::string saved_proxy = original_proxy == nullptr ? "" : original_proxy;
    for (const char* const proxy : {"carrier-pigeon://me:secret@127.0.0.1:1", "http://me:secret@127.0.0.1:port"}) {
        ::setenv("http_proxy", proxy, 1);
        const llmcost::error thrown = error_of([&] { return download_with_token("http://hub.invalid", folder); });
        CHECK(thrown.code() == errc::network);
        CHECK_FALSE(contains(thrown.what(), "secret"));
    }
    original_proxy == nullptr ? ::unsetenv("http_proxy") : ::setenv("http_proxy", saved_proxy.c_str(), 1);
}

TEST_CASE("what stays on this machine goes through no proxy") {
    const loopback_server proxy{small_hub{}};
    const loopback_server hub{small_hub{}};
    const temporary_folder folder;
    const char* const original_proxy = std::getenv("http_proxy");
    const std::string saved_proxy = original_proxy == nullptr ? "" : original_proxy;
    ::setenv("http_proxy", proxy.url().c_str(), 1);
    const llmcost::error thrown = error_of([&] { return download_with_token(hub.url(), folder); });
    original_proxy == nullptr ? ::unsetenv("http_proxy") : ::setenv("http_proxy", saved_proxy.c_str(), 1);
    CHECK(std::string(thrown.what()).empty());
    CHECK(proxy.requests().empty());
    CHECK(hub.requests().size() == 2);
}
