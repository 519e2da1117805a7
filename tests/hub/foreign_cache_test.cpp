// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A cache that other users of the machine may write to as well.
#include <doctest/doctest.h>

#include <llmcost/hub.hpp>

#include <filesystem>
#include <string>

#include <sys/stat.h>

#include "hub_fixture.hpp"

namespace fs = std::filesystem;
using llmcost::download;
using llmcost::errc;

TEST_CASE("nothing is written through a link that stands for a folder of the cache") {
    const std::string places[] = {"", "refs", "blobs", "snapshots", "snapshots/" + first_commit};
    for (const std::string& place : places) {
        CAPTURE(place);
        const temporary_folder cache;
        const temporary_folder elsewhere;
        write_file(elsewhere.path() / "main", "not ours");
        const fs::path link = cache.path() / "models--org--name" / place;
        const fs::path bare = place.empty() ? link.parent_path() : link;
        fs::create_directories(bare.parent_path());
        fs::create_directory_symlink(elsewhere.path(), bare);
        const loopback_server server{small_hub{}};
        const quick_options options(server.url(), cache.path());
        const llmcost::error thrown = error_of([&] { return download({"org/name"}, "config.json", options); });
        CHECK(thrown.code() == errc::io);
        CHECK(thrown.location() == bare.string());
        CHECK(contains(thrown.what(), "that is no link"));
        CHECK(files_below(elsewhere.path()) == std::set<std::string>{"main"});
        CHECK(read_file(elsewhere.path() / "main") == "not ours");
    }
}

TEST_CASE("a link in a file's place is replaced, not followed") {
    const temporary_folder cache;
    const temporary_folder elsewhere;
    const fs::path victim = elsewhere.path() / "victim";
    write_file(victim, "not ours");
    const fs::path repo = cache.path() / "models--org--name";
    for (const fs::path& path : {repo / "refs/main", repo / "blobs" / first_blob}) {
        fs::create_directories(path.parent_path());
        fs::create_symlink(victim, path);
    }
    fs::create_symlink(elsewhere.path() / "absent", cache.path() / "CACHEDIR.TAG");
    const loopback_server server{small_hub{}};
    const quick_options options(server.url(), cache.path());
    CHECK(read_file(download({"org/name"}, "config.json", options).path) == small_hub{}.content);
    CHECK(read_file(victim) == "not ours");
    CHECK_FALSE(fs::is_symlink(repo / "refs/main"));
    CHECK_FALSE(fs::is_symlink(repo / "blobs" / first_blob));
    CHECK(files_below(elsewhere.path()) == std::set<std::string>{"victim"});
}

TEST_CASE("the cache's own folder may be a link") {
    const temporary_folder folder;
    fs::create_directories(folder.path() / "disk");
    fs::create_directory_symlink("disk", folder.path() / "hub");
    const loopback_server server{small_hub{}};
    const quick_options options(server.url(), folder.path() / "hub");
    CHECK(read_file(download({"org/name"}, "config.json", options).path) == small_hub{}.content);
    CHECK(fs::exists(folder.path() / "disk/models--org--name/refs/main"));
}

TEST_CASE("a pipe in the cache is no file and is not waited for") {
    const temporary_folder folder;
    const fs::path repo = folder.path() / "models--org--name";
    for (const fs::path& path : {repo / "refs/main", repo / "blobs" / first_blob}) {
        fs::create_directories(path.parent_path());
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    }
    const loopback_server server{small_hub{}};
    const quick_options options(server.url(), folder.path());
    CHECK_FALSE(llmcost::find_in_cache({"org/name"}, "config.json", options));
    CHECK(read_file(download({"org/name"}, "config.json", options).path) == small_hub{}.content);
}
