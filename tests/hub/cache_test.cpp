// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub.hpp>

#include <filesystem>
#include <string>

#include "hub_fixture.hpp"

namespace fs = std::filesystem;
using llmcost::errc;
using llmcost::find_in_cache;

namespace {

/// A cache made by hand as the Hugging Face tools leave it: `main` at the first commit, one file.
struct made_cache {
    temporary_folder folder;
    fs::path repo = folder.path() / "models--Org--Name.x";
    llmcost::hub_options options;

    made_cache() {
        options.cache_dir = folder.path();
        options.offline = true;
        options.offline_source = "HF_HUB_OFFLINE";
        write_file(repo / "refs/main", first_commit);
        write_file(repo / "blobs" / third_blob, "{}");
        link(first_commit, "config.json", third_blob);
    }

    void link(const std::string& commit, const std::string& name, const std::string& blob) const {
        const fs::path path = repo / "snapshots" / commit / name;
        fs::create_directories(path.parent_path());
        fs::create_symlink((repo / "blobs" / blob).lexically_relative(path.parent_path()), path);
    }
};

}  // namespace

TEST_CASE("a branch is found through its ref, a commit directly") {
    const made_cache cache;
    for (const std::string& revision : {std::string("main"), first_commit}) {
        const auto found = find_in_cache({"Org/Name.x", revision}, "config.json", cache.options);
        REQUIRE(found);
        CHECK(found->commit == first_commit);
        CHECK(found->path == cache.repo / "snapshots" / first_commit / "config.json");
        CHECK(read_file(found->path) == "{}");
    }
}

TEST_CASE("a ref may nest and may end with a line end") {
    const made_cache cache;
    write_file(cache.repo / "refs/refs/pr/1", first_commit + "\n");
    CHECK(find_in_cache({"Org/Name.x", "refs/pr/1"}, "config.json", cache.options));
    CHECK_FALSE(find_in_cache({"Org/Name.x", "refs/pr"}, "config.json", cache.options));
}

TEST_CASE("a repository without organisation has a folder of two parts") {
    const made_cache cache;
    const fs::path path = cache.folder.path() / "models--gpt2/snapshots" / second_commit / "config.json";
    write_file(path, "real file");
    const auto found = find_in_cache({"gpt2", second_commit}, "config.json", cache.options);
    REQUIRE(found);
    CHECK(found->path == path);
}

TEST_CASE("nothing else is taken for what is not cached") {
    const made_cache cache;
    CHECK_FALSE(find_in_cache({"Org/Name.x", "other"}, "config.json", cache.options));
    CHECK_FALSE(find_in_cache({"Org/Name.x", second_commit}, "config.json", cache.options));
    CHECK_FALSE(find_in_cache({"Org/Name.x"}, "other.json", cache.options));
    CHECK_FALSE(find_in_cache({"org/name.x"}, "config.json", cache.options));
    CHECK_FALSE(find_in_cache({"Org/Name"}, "config.json", cache.options));

    write_file(cache.repo / "refs/main", second_commit);
    CHECK_FALSE(find_in_cache({"Org/Name.x"}, "config.json", cache.options));
}

TEST_CASE("a damaged ref leads nowhere") {
    const made_cache cache;
    write_file(cache.folder.path() / "secret/config.json", "secret");
    const std::string damaged[] = {"",
                                   "11",
                                   first_commit + "1",
                                   "../../secret",
                                   std::string(40, 'G'),
                                   std::string(40, 'A'),
                                   first_commit + " and more"};
    for (const std::string& text : damaged) {
        CAPTURE(text);
        write_file(cache.repo / "refs/main", text);
        CHECK_FALSE(find_in_cache({"Org/Name.x"}, "config.json", cache.options));
    }
}

TEST_CASE("a link into nothing and a folder are no files") {
    const made_cache cache;
    cache.link(first_commit, "gone.json", second_blob);
    fs::create_directories(cache.repo / "snapshots" / first_commit / "folder.json");
    CHECK_FALSE(find_in_cache({"Org/Name.x"}, "gone.json", cache.options));
    CHECK_FALSE(find_in_cache({"Org/Name.x"}, "folder.json", cache.options));
}

TEST_CASE("a file in a subfolder is found") {
    const made_cache cache;
    cache.link(first_commit, "sub/folder/config.json", third_blob);
    const auto found = find_in_cache({"Org/Name.x"}, "sub/folder/config.json", cache.options);
    REQUIRE(found);
    CHECK(read_file(found->path) == "{}");
}

TEST_CASE("looking up writes nothing") {
    const made_cache cache;
    const auto original_files = files_below(cache.folder.path());
    CHECK(find_in_cache({"Org/Name.x"}, "config.json", cache.options));
    CHECK_FALSE(find_in_cache({"Org/Name.x", "other"}, "config.json", cache.options));
    CHECK_FALSE(find_in_cache({"new/one"}, "config.json", cache.options));
    CHECK(files_below(cache.folder.path()) == original_files);
}

TEST_CASE("without a cache folder there is nothing to find") {
    CHECK_FALSE(find_in_cache({"Org/Name.x"}, "config.json", {}));
    const llmcost::error thrown = error_of([] { return llmcost::download({"Org/Name.x"}, "config.json", {}); });
    CHECK(thrown.code() == errc::io);
    CHECK(contains(thrown.what(), "HF_HUB_CACHE"));
}

TEST_CASE("a cached file is fetched without the network, a missing one names the variable in the way") {
    const made_cache cache;
    CHECK(llmcost::fetch({"Org/Name.x"}, "config.json", cache.options).commit == first_commit);
    CHECK(llmcost::download({"Org/Name.x", first_commit}, "config.json", cache.options).commit == first_commit);
    const llmcost::error thrown = error_of([&] {
        return llmcost::fetch({"Org/Name.x", "v2"}, "config.json", cache.options);
    });
    CHECK(thrown.code() == errc::network);
    CHECK(thrown.location() == "Org/Name.x@v2");
    CHECK(contains(thrown.what(), "HF_HUB_OFFLINE is set"));
    CHECK(contains(thrown.what(), cache.folder.path().string()));
}

TEST_CASE("a file that the hub is known not to have is not asked for again") {
    const made_cache cache;
    write_file(cache.repo / ".no_exist" / first_commit / "other.json", "");
    CHECK_FALSE(find_in_cache({"Org/Name.x"}, "other.json", cache.options));
    const llmcost::error thrown = error_of([&] { return llmcost::fetch({"Org/Name.x"}, "other.json", cache.options); });
    CHECK(thrown.code() == errc::not_found);
    CHECK(contains(thrown.what(), "has no file \"other.json\""));

    write_file(cache.repo / ".no_exist" / first_commit / "config.json", "");
    CHECK(llmcost::fetch({"Org/Name.x"}, "config.json", cache.options).commit == first_commit);
}

TEST_CASE("an unfinished file leaves no trace, a finished one replaces the old") {
    const temporary_folder folder;
    const fs::path target = folder.path() / "sub/file";
    {
        llmcost::detail::hub::unfinished file(folder.path(), "sub/file", ".incomplete");
        file.write("half");
        CHECK_FALSE(fs::exists(target));
        CHECK(files_below(folder.path()).size() == 1);
    }
    CHECK(files_below(folder.path()).empty());
    llmcost::detail::hub::write_atomically(folder.path(), "sub/file", "old", ".tmp");
    llmcost::detail::hub::write_atomically(folder.path(), "sub/file", "new", ".tmp");
    CHECK(read_file(target) == "new");
    CHECK(files_below(folder.path()) == std::set<std::string>{"sub/file"});
}

TEST_CASE("without working symlinks the snapshot holds a real file") {
    const temporary_folder folder;
    const llmcost::detail::hub::repo_cache cache(folder.path(), "org/name");
    cache.store(first_commit, "a/config.json", third_blob, "{}", false);
    const fs::path path = cache.snapshot(first_commit, "a/config.json");
    CHECK_FALSE(fs::is_symlink(path));
    CHECK(read_file(path) == "{}");
    CHECK_FALSE(fs::exists(folder.path() / "models--org--name/blobs"));

    cache.store(second_commit, "a/config.json", third_blob, "{}", true);
    const fs::path link = cache.snapshot(second_commit, "a/config.json");
    CHECK(fs::read_symlink(link) == "../../../blobs/" + third_blob);
    CHECK(read_file(link) == "{}");
}
