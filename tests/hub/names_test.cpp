// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub.hpp>

#include <string>

#include "hub_fixture.hpp"

using llmcost::errc;
using llmcost::parse_repo_id;

TEST_CASE("a repository id is read with and without organisation and revision") {
    CHECK(parse_repo_id("gpt2").name == "gpt2");
    CHECK(parse_repo_id("gpt2").revision == "main");
    CHECK(parse_repo_id("Qwen/Qwen2.5-0.5B_x").name == "Qwen/Qwen2.5-0.5B_x");
    CHECK(parse_repo_id("org/name@v1.0").name == "org/name");
    CHECK(parse_repo_id("org/name@v1.0").revision == "v1.0");
    CHECK(parse_repo_id("org/name@refs/pr/1").revision == "refs/pr/1");
    CHECK(parse_repo_id("org/name@" + first_commit).revision == first_commit);
    CHECK(parse_repo_id("org/name@with@sign").revision == "with@sign");
    CHECK(parse_repo_id("_org_/_name_").name == "_org_/_name_");
    CHECK(parse_repo_id(std::string(96, 'a') + '/' + std::string(96, 'b')).name.size() == 193);
}

TEST_CASE("what the hub has no repository for is refused") {
    const std::string bad[] = {"",
                               "/",
                               "org/",
                               "/name",
                               "a/b/c",
                               "../name",
                               "org/..",
                               "org/.name",
                               "org/name.",
                               "-org/name",
                               "org/-name",
                               "org-/name",
                               "org/a--b",
                               "o..g/name",
                               "org/a.git",
                               "org/na me",
                               "org\\name",
                               "org/n\xc3\xa4me",
                               "org/na:me",
                               "~/name",
                               "http://a",
                               "org/name\n",
                               std::string("org/na\0me", 10),
                               "org/%2e%2e",
                               std::string(97, 'a'),
                               "org/" + std::string(97, 'b')};
    for (const std::string& text : bad) {
        CAPTURE(text);
        const llmcost::error thrown = error_of([&] { return parse_repo_id(text); });
        CHECK(thrown.code() == errc::bad_value);
        CHECK(contains(thrown.what(), "expected a repository id"));
    }
}

TEST_CASE("what git could not name a revision is refused") {
    const std::string bad[] = {"",
                               "/main",
                               "main/",
                               "a//b",
                               "..",
                               "a/../b",
                               "../../etc",
                               ".hidden",
                               "a/.b",
                               "a.lock",
                               "end.",
                               "a b",
                               "a~1",
                               "a^",
                               "a:b",
                               "a?",
                               "a*",
                               "a[",
                               "a\\b",
                               "a@{1}",
                               "@",
                               "a\nb",
                               "a\x7f"
                               "b",
                               std::string(256, 'a')};
    for (const std::string& revision : bad) {
        CAPTURE(revision);
        const llmcost::error thrown = error_of([&] { return parse_repo_id("org/name@" + revision); });
        CHECK(thrown.code() == errc::bad_value);
        CHECK(contains(thrown.what(), "expected a revision"));
    }
}

TEST_CASE("a file name cannot leave its folder") {
    const temporary_folder folder;
    llmcost::hub_options options;
    options.cache_dir = folder.path();
    const std::string bad[] = {
        "",     "/etc/passwd", "..",    "../x", "a/../b", "a/..",  ".",    "./a",
        "a//b", "a/",          "C:\\x", "C:x",  "a\\b",   "\\\\h", "a\nb", std::string(256, 'a')};
    for (const std::string& filename : bad) {
        CAPTURE(filename);
        const auto find = [&] { return llmcost::find_in_cache({"org/name"}, filename, options); };
        CHECK(error_of(find).code() == errc::bad_value);
        const auto get = [&] { return llmcost::download({"org/name"}, filename, options); };
        CHECK(error_of(get).code() == errc::bad_value);
    }
    CHECK_FALSE(llmcost::find_in_cache({"org/name"}, "sub/folder/config.json", options));
}

TEST_CASE("a repository id that was not parsed is checked too") {
    const temporary_folder folder;
    llmcost::hub_options options;
    options.cache_dir = folder.path();
    CHECK(error_of([&] { return llmcost::download({"../name"}, "a", options); }).code() == errc::bad_value);
    CHECK(error_of([&] {
              return llmcost::find_in_cache({"org/name", "../x"}, "a", options);
          }).code() == errc::bad_value);
}

TEST_CASE("a message shows no control character of a name") {
    const llmcost::error thrown = error_of([] { return parse_repo_id("org/\x1b[31mred\r\n\xc2\x9b"); });
    CHECK(thrown.location() == "org/?[31mred????");
}

TEST_CASE("text is encoded and made printable byte by byte") {
    using namespace llmcost::detail::hub;
    CHECK(percent_encode("refs/pr/1") == "refs%2Fpr%2F1");
    CHECK(percent_encode("a b/c%\xc3\xa4~-_.", "/") == "a%20b/c%25%C3%A4~-_.");
    CHECK(printable("abcdef", 3) == "abc...");
    CHECK(printable("\t\x7f~ ") == "??~ ");
    CHECK(parse_number("18446744073709551615") == 18446744073709551615ULL);
    CHECK_FALSE(parse_number("18446744073709551616"));
    CHECK_FALSE(parse_number("-1"));
    CHECK_FALSE(parse_number("1 "));
    CHECK_FALSE(parse_number(""));
}
