// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/files/regular_file.hpp>
#include <llmcost/hub.hpp>

#include <filesystem>
#include <string>

#include <sys/stat.h>

#include "hub_fixture.hpp"

namespace fs = std::filesystem;
using llmcost::errc;

namespace {

void make_pipe(const fs::path& path) {
    fs::create_directories(path.parent_path());
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
}

}  // namespace

TEST_CASE("a regular file is read up to a limit, anything else is told by its kind") {
    const temporary_folder folder;
    const auto read = [](const fs::path& path, std::size_t maximum) {
        return llmcost::detail::read_regular_file(path.string(), maximum, "here");
    };
    const std::string long_text(200'000, 'x');
    write_file(folder.path() / "file", long_text);
    write_file(folder.path() / "empty", "");
    make_pipe(folder.path() / "pipe");
    fs::create_symlink("file", folder.path() / "link");
    CHECK(read(folder.path() / "file", 1'000'000) == long_text);
    CHECK(read(folder.path() / "link", 200'000) == long_text);
    CHECK(read(folder.path() / "file", 70'000).size() == 70'000);
    CHECK(read(folder.path() / "file", 0).empty());
    CHECK(read(folder.path() / "empty", 10).empty());

    const auto refused = [&](const fs::path& path) {
        const llmcost::error thrown = error_of([&] { return read(path, 10); });
        CHECK(thrown.code() == errc::io);
        CHECK(thrown.location() == "here");
        return std::string(thrown.what());
    };
    CHECK(refused(folder.path() / "pipe") == "here: expected a regular file, found a pipe");
    CHECK(refused(folder.path()) == "here: expected a regular file, found a folder");
    CHECK(refused("/dev/zero") == "here: expected a regular file, found a device");
    CHECK(refused(folder.path() / "absent") == "here: cannot be opened: No such file or directory");
}

TEST_CASE("a token file that is a pipe is refused, not waited for") {
    const temporary_folder folder;
    make_pipe(folder.path() / "token");
    const loopback_server server{small_hub{}};
    quick_options options(server.url(), folder.path() / "cache");
    options.token_file = folder.path() / "token";
    const llmcost::error thrown = error_of([&] { return llmcost::download({"org/name"}, "config.json", options); });
    CHECK(thrown.code() == errc::io);
    CHECK(thrown.location() == options.token_file.string());
    CHECK(contains(thrown.what(), "found a pipe"));
    CHECK(server.requests().empty());
}
