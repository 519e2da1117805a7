// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Contents that are not what their names say, and answers that have grown old.
#include <doctest/doctest.h>

#include <llmcost/hub.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "download_outcome.hpp"

namespace fs = std::filesystem;
using llmcost::download;
using llmcost::errc;
using llmcost::fetch;
using llmcost::find_in_cache;

namespace {

/// A cache that was filled from a small hub, and what happened to its blob since.
struct damaged_cache {
    loopback_server server{small_hub{}};
    temporary_folder folder;
    quick_options options{server.url(), folder.path()};
    fs::path blob = folder.path() / "models--org--name/blobs" / first_blob;

    explicit damaged_cache(const std::string& content) {
        static_cast<void>(download({"org/name"}, "config.json", options));
        write_file(blob, content);
    }
};

const std::string other_content = R"({"model_type": "gemma"})";  // as long as the right one

}  // namespace

TEST_CASE("a damaged blob is no file, and is fetched again") {
    for (const std::string& content : {std::string(), small_content.substr(0, 9), small_content + " ", other_content}) {
        for (const std::string& revision : {std::string("main"), first_commit}) {
            CAPTURE(content);
            CAPTURE(revision);
            const damaged_cache cache(content);
            CHECK_FALSE(find_in_cache({"org/name", revision}, "config.json", cache.options));
            CHECK(read_file(fetch({"org/name", revision}, "config.json", cache.options).path) == small_content);
            CHECK(read_file(cache.blob) == small_content);
            CHECK(cache.server.count("GET") == 2);
            CHECK(find_in_cache({"org/name", revision}, "config.json", cache.options));
        }
    }
}

TEST_CASE("a damaged blob that cannot be fetched again is told of") {
    damaged_cache cache(other_content);
    cache.options.offline = true;
    const llmcost::error thrown = error_of([&] { return fetch({"org/name"}, "config.json", cache.options); });
    CHECK(thrown.code() == errc::network);
    CHECK(contains(thrown.what(), "where the file is damaged"));
    fs::remove(cache.blob);
    const llmcost::error missing = error_of([&] { return fetch({"org/name"}, "config.json", cache.options); });
    CHECK_FALSE(contains(missing.what(), "damaged"));
}

TEST_CASE("a file whose name in the cache is no hash, or that is larger than any download, is taken as it is") {
    damaged_cache cache(other_content);
    cache.options.max_size = 5;
    CHECK(find_in_cache({"org/name"}, "config.json", cache.options));
    cache.options.max_size = 5000;
    CHECK_FALSE(find_in_cache({"org/name"}, "config.json", cache.options));
    write_file(cache.blob.parent_path() / "etag-7", "{}");
    const fs::path snapshot = cache.folder.path() / "models--org--name/snapshots" / first_commit / "config.json";
    fs::remove(snapshot);
    fs::create_symlink("../../blobs/etag-7", snapshot);
    CHECK(find_in_cache({"org/name"}, "config.json", cache.options));
}

TEST_CASE("a real file of another content than the hub's is replaced when the hub is asked") {
    const loopback_server server{small_hub{}};
    const temporary_folder folder;
    quick_options options(server.url(), folder.path());
    options.symlinks = false;
    write_file(folder.path() / "models--org--name/snapshots" / first_commit / "config.json",
               small_content.substr(0, 9));
    CHECK(read_file(download({"org/name"}, "config.json", options).path) == small_content);
    static_cast<void>(download({"org/name"}, "config.json", options));
    CHECK(server.count("GET") == 1);
}

TEST_CASE("a body that is not what its ETag says is asked for once more, then refused") {
    const auto hub_with = [](const std::string& blob, int bad) {
        return [blob, left = std::make_shared<std::atomic<int>>(bad)](const server_request& to) {
            const bool wrong = to.method == "GET" && (*left)-- > 0;
            return small_hub{first_commit, blob, wrong ? other_content : small_content}(to);
        };
    };
    for (const std::string& blob : {first_blob, llmcost::detail::hub::sha256(small_content)}) {
        CAPTURE(blob);
        const loopback_server flaky_server(hub_with(blob, 1));
        const outcome mended = try_download(flaky_server);
        CHECK(std::string(mended.thrown.what()).empty());
        CHECK(mended.gets == 2);

        const loopback_server always_wrong(hub_with(blob, 100));
        const outcome refused = try_download(always_wrong);
        CHECK(refused.thrown.code() == errc::network);
        CHECK(refused.thrown.location() == always_wrong.url() + "/org/name/resolve/main/config.json");
        CHECK(contains(refused.thrown.what(), "the content does not match its ETag"));
        CHECK(refused.gets == 2);
        CHECK(refused.files.empty());
    }
}

TEST_CASE("that a branch lacks a file is asked again, of a commit it is remembered") {
    const temporary_folder folder;
    write_file(folder.path() / "models--org--name/.no_exist" / first_commit / "config.json", "");
    write_file(folder.path() / "models--org--name/refs/main", first_commit);
    const loopback_server server{small_hub{second_commit}};
    quick_options options(server.url(), folder.path());
    const llmcost::error of_commit = error_of([&] {
        return fetch({"org/name", first_commit}, "config.json", options);
    });
    CHECK(of_commit.code() == errc::not_found);
    CHECK(server.requests().empty());
    options.offline = true;
    const llmcost::error offline = error_of([&] { return fetch({"org/name"}, "config.json", options); });
    CHECK(offline.code() == errc::not_found);
    CHECK(contains(offline.what(), "recorded in the cache for commit " + first_commit));
    options.offline = false;
    CHECK(fetch({"org/name"}, "config.json", options).commit == second_commit);
}
