// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub/hash.hpp>

#include <string>

using namespace llmcost::detail::hub;

TEST_CASE("hashes of FIPS 180-4's examples") {
    CHECK(sha1("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    CHECK(sha1("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
    const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    CHECK(sha1(two_blocks) == "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    CHECK(sha1(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");

    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256(two_blocks) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the padding takes one more block from 56 bytes on") {
    CHECK(sha1(std::string(55, 'x')) == "cef734ba81a024479e09eb5a75b6ddae62e6abf1");
    CHECK(sha256(std::string(55, 'x')) == "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
    CHECK(sha1(std::string(56, 'x')) == "901305367c259952f4e7af8323f480d59f81335b");
    CHECK(sha256(std::string(56, 'x')) == "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
    CHECK(sha1(std::string(63, 'x')) == "0ddc4e0cccd9a12850deb5abb0853a4425559fec");
    CHECK(sha256(std::string(63, 'x')) == "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
    CHECK(sha1(std::string(64, 'x')) == "bb2fa3ee7afb9f54c6dfb5d021f14b1ffe40c163");
    CHECK(sha256(std::string(64, 'x')) == "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
    CHECK(sha1(std::string(65, 'x')) == "78c741ddc482e4cdf8c474a0876347a0905b6233");
    CHECK(sha256(std::string(65, 'x')) == "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
}

TEST_CASE("a blob's name tells its content") {
    // printf %s | git hash-object --stdin
    CHECK(git_name("") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    CHECK(git_name("hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a");
    const std::string bytes("\0\xff\x80", 3);
    CHECK(is_named(bytes, "d90dae2bbeb97246b9570981c3eac7b6c403df7b"));
    CHECK(is_named(bytes, "f742b965f156c10374bc23aea96e3a8aff8facd6fc079defeaa30219ad86f211"));
    CHECK_FALSE(is_named(bytes, "e4bc8a01806054986edd720593bc12f760eca5b9"));
    CHECK_FALSE(is_named("", std::string(64, '0')));
}
