// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/base/version.hpp>
#include <llmcost/hub.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hub_fixture.hpp"

namespace fs = std::filesystem;
using llmcost::download;
using llmcost::errc;
using llmcost::fetch;

namespace {

/// The files of a cache that has the one file of a small hub.
std::set<std::string> cache_of(const std::string& blob) {
    return {"CACHEDIR.TAG", "models--org--name/blobs/" + blob, "models--org--name/refs/main",
            "models--org--name/snapshots/" + first_commit + "/config.json"};
}

const std::set<std::string> complete_cache = cache_of(first_blob);

}  // namespace

TEST_CASE("a download fills the cache in the layout of the Hugging Face tools") {
    const loopback_server server{small_hub{}};
    const temporary_folder folder;
    const quick_options options(server.url() + "/", folder.path());
    const llmcost::hub_file file = download({"org/name"}, "config.json", options);
    CHECK(file.commit == first_commit);
    CHECK(file.path == folder.path() / "models--org--name/snapshots" / first_commit / "config.json");
    CHECK(read_file(file.path) == small_hub{}.content);
    CHECK(fs::read_symlink(file.path) == "../../blobs/" + first_blob);
    CHECK(read_file(folder.path() / "models--org--name/refs/main") == first_commit);
    CHECK(read_file(folder.path() / "CACHEDIR.TAG").starts_with("Signature: 8a477f597d28d172789f06886806bc55"));
    CHECK(files_below(folder.path()) == complete_cache);
    CHECK(llmcost::find_in_cache({"org/name"}, "config.json", options)->path == file.path);
}

TEST_CASE("the questions are those of the protocol") {
    const loopback_server server{small_hub{}};
    const temporary_folder folder;
    static_cast<void>(download({"org/name"}, "config.json", quick_options(server.url(), folder.path())));
    const auto requests = server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].method == "HEAD");
    CHECK(requests[1].method == "GET");
    for (const server_request& request : requests) {
        CHECK(request.target == "/org/name/resolve/main/config.json");
        CHECK(request.field("accept-encoding") == "identity");
        CHECK(request.field("user-agent") == "llmcost/" + std::string(llmcost::version));
        CHECK(request.field("authorization").empty());
        CHECK(request.field("range").empty());
    }
}

TEST_CASE("revision and file name are encoded, an endpoint may have a path") {
    const loopback_server server([](const server_request& to) {
        return server_reply::make(to, 200, {{"X-Repo-Commit", first_commit}, {"ETag", third_blob}}, "{}");
    });
    const temporary_folder folder;
    const quick_options options(server.url() + "/hf/", folder.path());
    const llmcost::hub_file file = download({"org/name", "refs/pr/1"}, "sub dir/a+b.json", options);
    CHECK(server.requests().at(0).target == "/hf/org/name/resolve/refs%2Fpr%2F1/sub%20dir/a%2Bb.json");
    CHECK(server.requests().at(1).target == server.requests().at(0).target);
    CHECK(read_file(file.path) == "{}");
    CHECK(read_file(folder.path() / "models--org--name/refs/refs/pr/1") == first_commit);
}

TEST_CASE("a commit needs no ref and, once cached, no network") {
    const loopback_server server{small_hub{}};
    const temporary_folder folder;
    const quick_options options(server.url(), folder.path());
    CHECK(download({"org/name", first_commit}, "config.json", options).commit == first_commit);
    CHECK_FALSE(fs::exists(folder.path() / "models--org--name/refs"));
    CHECK(server.requests().size() == 2);
    CHECK(download({"org/name", first_commit}, "config.json", options).commit == first_commit);
    CHECK(server.requests().size() == 2);
}

TEST_CASE("a cached branch is asked about by download, not by fetch") {
    const loopback_server server{small_hub{}};
    const temporary_folder folder;
    const quick_options options(server.url(), folder.path());
    CHECK(fetch({"org/name"}, "config.json", options).commit == first_commit);
    CHECK(fetch({"org/name"}, "config.json", options).commit == first_commit);
    CHECK(server.requests().size() == 2);
    CHECK(download({"org/name"}, "config.json", options).commit == first_commit);
    CHECK(server.count("HEAD") == 2);
    CHECK(server.count("GET") == 1);
}

TEST_CASE("a branch that moved gets a second snapshot, and the same content no second blob") {
    const temporary_folder folder;
    const loopback_server old_server{small_hub{}};
    static_cast<void>(download({"org/name"}, "config.json", quick_options(old_server.url(), folder.path())));
    const loopback_server new_server{small_hub{second_commit, first_blob}};
    const llmcost::hub_file file =
        download({"org/name"}, "config.json", quick_options(new_server.url(), folder.path()));
    CHECK(file.commit == second_commit);
    CHECK(read_file(file.path) == small_hub{}.content);
    CHECK(read_file(folder.path() / "models--org--name/refs/main") == second_commit);
    CHECK(new_server.count("GET") == 0);
    CHECK(fs::exists(folder.path() / "models--org--name/snapshots" / first_commit / "config.json"));
}

TEST_CASE("a blob of another size is damaged and downloaded again") {
    for (const std::string& damaged : {std::string("half"), small_hub{}.content + " and more"}) {
        CAPTURE(damaged);
        const temporary_folder folder;
        write_file(folder.path() / "models--org--name/blobs" / first_blob, damaged);
        const loopback_server server{small_hub{}};
        const llmcost::hub_file file =
            download({"org/name"}, "config.json", quick_options(server.url(), folder.path()));
        CHECK(server.count("GET") == 1);
        CHECK(read_file(file.path) == small_hub{}.content);
        CHECK(files_below(folder.path()) == complete_cache);
    }
}

TEST_CASE("a link into nothing is mended") {
    const temporary_folder folder;
    const loopback_server server{small_hub{}};
    const quick_options options(server.url(), folder.path());
    static_cast<void>(download({"org/name"}, "config.json", options));
    fs::remove(folder.path() / "models--org--name/blobs" / first_blob);
    CHECK(read_file(fetch({"org/name"}, "config.json", options).path) == small_hub{}.content);
    CHECK(files_below(folder.path()) == complete_cache);
}

TEST_CASE("without symlinks the snapshot is a real file") {
    const temporary_folder folder;
    const loopback_server server{small_hub{}};
    quick_options options(server.url(), folder.path());
    options.symlinks = false;
    const llmcost::hub_file file = download({"org/name"}, "config.json", options);
    CHECK_FALSE(fs::is_symlink(file.path));
    CHECK(read_file(file.path) == small_hub{}.content);
    CHECK_FALSE(fs::exists(folder.path() / "models--org--name/blobs"));
}

TEST_CASE("an empty file is a file") {
    small_hub hub;
    hub.content = "";
    const loopback_server server(hub);
    const temporary_folder folder;
    const llmcost::hub_file file = download({"org/name"}, "config.json", quick_options(server.url(), folder.path()));
    CHECK(read_file(file.path).empty());
}

TEST_CASE("a chunked answer without a length is whole once its last chunk came") {
    const std::string blob = llmcost::detail::hub::sha256("abcde");
    const loopback_server server([blob](const server_request& to) -> server_reply {
        const std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\nX-Repo-Commit: " + first_commit +
                                 "\r\nETag: \"" + blob + "\"\r\nTransfer-Encoding: chunked\r\n\r\n";
        return {to.method == "HEAD" ? head : head + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"};
    });
    const temporary_folder folder;
    const llmcost::hub_file file = download({"org/name"}, "config.json", quick_options(server.url(), folder.path()));
    CHECK(read_file(file.path) == "abcde");
    CHECK(fs::read_symlink(file.path) == "../../blobs/" + blob);
}

TEST_CASE("many downloads of one file at once leave one whole cache") {
    const temporary_folder folder;
    small_hub hub;
    hub.content = std::string(300'000, 'x');
    const loopback_server server(hub);
    std::vector<std::string> read(8);
    std::vector<std::thread> threads;
    for (std::string& content : read) {
        threads.emplace_back([&] {
            const quick_options options(server.url(), folder.path());
            content = read_file(download({"org/name"}, "config.json", options).path);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& content : read) CHECK(content == hub.content);
    CHECK(files_below(folder.path()) == cache_of(llmcost::detail::hub::git_name(hub.content)));
}

TEST_CASE("what the cache already holds needs no folder that can be written to") {
    const temporary_folder folder;
    const fs::path repo = folder.path() / "models--org--name";
    write_file(repo / "snapshots" / first_commit / "config.json", small_content);
    write_file(repo / "refs", "a file where a folder should be, so that no ref can be written");
    const loopback_server server{small_hub{}};
    CHECK(read_file(download({"org/name"}, "config.json", quick_options(server.url(), folder.path())).path) ==
          small_content);
    CHECK(server.count("GET") == 0);
}

TEST_CASE("a cache that cannot be written to is an error that names the folder") {
    const temporary_folder folder;
    write_file(folder.path() / "file", "");
    const loopback_server server{small_hub{}};
    const quick_options options(server.url(), folder.path() / "file/cache");
    const llmcost::error thrown = error_of([&] { return download({"org/name"}, "config.json", options); });
    CHECK(thrown.code() == errc::io);
    CHECK(contains(thrown.what(), (folder.path() / "file/cache").string()));
}

TEST_CASE("offline asks nobody") {
    const temporary_folder folder;
    const loopback_server server{small_hub{}};
    quick_options options(server.url(), folder.path());
    options.offline = true;
    const llmcost::error thrown = error_of([&] { return download({"org/name"}, "config.json", options); });
    CHECK(thrown.code() == errc::network);
    CHECK(contains(thrown.what(), "hub_options::offline is set"));
    CHECK(server.requests().empty());
    CHECK(files_below(folder.path()).empty());
}
