// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub/headers.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

using namespace llmcost::detail::hub;

namespace {

http_header read_lines(std::initializer_list<std::string_view> lines) {
    http_header header;
    for (const std::string_view line : lines) REQUIRE(header.add_line(line));
    return header;
}

}  // namespace

TEST_CASE("fields are found by name in any case, the first of a name wins") {
    const http_header header =
        read_lines({"HTTP/1.1 200 OK\r\n", "X-Repo-Commit:  abc \r\n", "x-repo-commit: def\r\n", "\r\n"});
    CHECK(header.status() == 200);
    CHECK(header.get("x-repo-commit") == "abc");
    CHECK(header.get("etag").empty());
}

TEST_CASE("a second status line begins a new header") {
    const http_header header =
        read_lines({"HTTP/1.1 100 Continue\r\n", "ETag: old\r\n", "HTTP/2 404\r\n", "Age: 1\r\n"});
    CHECK(header.status() == 404);
    CHECK(header.get("etag").empty());
    CHECK(header.get("age") == "1");
}

TEST_CASE("lines that are no header change nothing") {
    const http_header header = read_lines({"HTTP/1.1 abc\r\n", "no colon\r\n", ": no name\r\n", ""});
    CHECK(header.status() == 0);
    CHECK(header.get("no colon").empty());
}

TEST_CASE("a header without end is refused") {
    http_header header;
    const std::string line = "A: " + std::string(1021, 'x');
    for (int i = 0; i < 64; ++i) REQUIRE(header.add_line(line));
    CHECK_FALSE(header.add_line(line));
}

TEST_CASE("an ETag is bared of mark and quotes") {
    CHECK(bare_etag("\"abc\"") == "abc");
    CHECK(bare_etag("W/\"abc\"") == "abc");
    CHECK(bare_etag("abc") == "abc");
    CHECK(bare_etag("\"") == "\"");
    CHECK(bare_etag("").empty());
}

TEST_CASE("the facts prefer what the hub says of a linked file") {
    const file_facts plain =
        read_facts(read_lines({"HTTP/1.1 200 OK", "ETag: W/\"e1\"", "X-Repo-Commit: c1", "Content-Length: 12"}));
    CHECK(plain.commit == "c1");
    CHECK(plain.blob == "e1");
    CHECK(plain.size == std::uint64_t{12});

    const file_facts linked = read_facts(read_lines(
        {"HTTP/1.1 302 Found", "ETag: \"e1\"", "X-Linked-Etag: \"e2\"", "X-Linked-Size: 99", "Content-Length: 12"}));
    CHECK(linked.blob == "e2");
    CHECK(linked.size == std::uint64_t{99});

    const file_facts redirect = read_facts(read_lines({"HTTP/1.1 302 Found", "Content-Length: 12"}));
    CHECK_FALSE(redirect.size);
}

TEST_CASE("the wait is read from RateLimit and from Retry-After") {
    CHECK(quota_wait("\"api\";r=0;t=55") == std::uint64_t{55});
    CHECK(quota_wait("\"api\" ; r = 0 ; t = 55") == std::uint64_t{55});
    CHECK_FALSE(quota_wait("\"api\";r=3;t=55"));
    CHECK(quota_wait("\"api\";r=3;t=55, \"resolvers\";r=0;t=7") == std::uint64_t{7});
    CHECK_FALSE(quota_wait("\"api\";r=0"));
    CHECK_FALSE(quota_wait(";=;;=r=t"));
    CHECK_FALSE(quota_wait(""));
    CHECK(wanted_wait(read_lines({"HTTP/1.1 429 No", "Retry-After: 3"})) == std::uint64_t{3});
    CHECK(wanted_wait(read_lines({"HTTP/1.1 429 No", "Retry-After: 3", "RateLimit: \"a\";r=0;t=9"})) ==
          std::uint64_t{9});
    CHECK_FALSE(wanted_wait(read_lines({"HTTP/1.1 429 No", "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT"})));
}

TEST_CASE("whether a cut body can be told from a whole one") {
    CHECK(read_lines({"HTTP/1.1 200 OK", "Content-Length: 1"}).has_framed_body());
    CHECK(read_lines({"HTTP/1.1 200 OK", "Transfer-Encoding: chunked"}).has_framed_body());
    CHECK(read_lines({"HTTP/2 200"}).has_framed_body());
    CHECK_FALSE(read_lines({"HTTP/1.1 200 OK"}).has_framed_body());
}
