// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Output files on a full disk: what was there stays.
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

#include <sys/stat.h>

#include <llmcost/cli/args/output_file.hpp>

using namespace llmcost::testing;
namespace fs = std::filesystem;

namespace {

const std::string former = "<svg>a former picture</svg>";

/// Draws a picture of about 10 kB, with files limited to 200 bytes.
outcome plot_on_full_disk(const fs::path& file) {
    const file_size_limit limit(200);
    return llmcost_line("memory " + llama + " --sequence 1024,2048 --plot " + file.string());
}

void expect_failed_output(const outcome& got, const fs::path& file, const std::string& reason) {
    CHECK(got.code == 1);
    CHECK(got.out == "");
    CHECK(got.err == "llmcost: " + file.string() + ": cannot be written: " + reason + "\n");
}

}  // namespace

TEST_CASE("a full disk destroys no file") {
    const temporary_folder folder;
    const fs::path file = folder.path() / "plot.svg", second = folder.path() / "second.svg",
                   symlink = folder.path() / "link.svg";
    const std::string too_large = "File too large";
    expect_failed_output(plot_on_full_disk(file), file, too_large);
    CHECK(files_below(folder.path()).empty());

    write_file(file, former);
    fs::create_symlink("plot.svg", symlink);
    for (const fs::path& path : {file, symlink}) {
        expect_failed_output(plot_on_full_disk(path), path, too_large);
        CHECK(read_file(file) == former);
        CHECK(files_below(folder.path()) == std::set<std::string>{"link.svg", "plot.svg"});
    }
    // one of two names cannot be replaced: it is written directly
    fs::create_hard_link(file, second);
    for (const std::string& text : {former, std::string(150, 'x') + former}) {
        write_file(file, text);
        expect_failed_output(plot_on_full_disk(second), second, too_large);
        CHECK(read_file(file) == text);
    }
    const outcome got = llmcost_line("memory " + llama + " --sequence 1024,2048 --plot " + second.string());
    CHECK(got.code == 0);
    CHECK(has(read_file(file), "<svg"));
    CHECK(read_file(file).ends_with("</svg>\n"));
    CHECK(fs::equivalent(file, second));
}

TEST_CASE("a shorter text replaces a longer one completely") {
    const temporary_folder folder;
    const fs::path file = folder.path() / "a", second = folder.path() / "b";
    write_file(file, std::string(10'000, 'x'));
    fs::create_hard_link(file, second);
    llmcost::write_output_file(file.string(), "short");
    CHECK(read_file(second) == "short");
}

TEST_CASE("a device without space is an error") {
    const temporary_folder folder;
    const fs::path link = folder.path() / "full.svg";
    if (!fs::exists("/dev/full")) return;
    fs::create_symlink("/dev/full", link);
    expect_failed_output(llmcost_line("memory " + llama + " --sequence 1024,2048 --plot " + link.string()), link,
                         "No space left on device");
    CHECK(fs::is_symlink(link));
}

TEST_CASE("a file without permission to read is written") {
    const temporary_folder folder;
    const fs::path file = folder.path() / "a", second = folder.path() / "b";
    write_file(file, "former");
    fs::create_hard_link(file, second);
    REQUIRE(::chmod(file.c_str(), 0200) == 0);
    llmcost::write_output_file(file.string(), "new");
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    CHECK(read_file(second) == "new");
}
