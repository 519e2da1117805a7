// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/files/safetensors.hpp>

#include "thrown_by.hpp"
#include "weight_files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <sys/stat.h>

using llmcost::errc;
using llmcost::read_safetensors;
using llmcost::testing::little;
using llmcost::testing::safetensors_bytes;
using llmcost::testing::scratch_folder;
using llmcost::testing::thrown_by;

namespace {

std::string refused(const std::string& bytes) {
    const scratch_folder folder;
    const std::string path = folder.write("model.safetensors", bytes);
    std::string message = thrown_by([&] { (void)read_safetensors(path); });
    if (const std::size_t position = message.find(path); position != std::string::npos)
        message.replace(position, path.size(), "FILE");
    return message;
}
std::string refused_header(const std::string& header, std::size_t data) {
    return refused(safetensors_bytes(header, data));
}
std::string entry(const std::string& type, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

}  // namespace

TEST_CASE("a safetensors file says which tensors it holds") {
    const scratch_folder folder;
    const std::string header = R"({"__metadata__":{"format":"pt"},"b":)" + entry("BF16", "[2,3]", "[4,16]") +
                               R"(,"a":)" + entry("F32", "[]", "[0,4]") + R"(,"none":)" +
                               entry("I64", "[0,9]", "[16,16]") + R"(,"f4":)" + entry("F4", "[4]", "[16,18]") + "}   ";
    const llmcost::stored_tensors all = read_safetensors(folder.write("x.safetensors", safetensors_bytes(header, 18)));
    REQUIRE(all.tensors.size() == 4);
    CHECK(all.tensors[0].name == "b");
    CHECK(all.tensors[0].type == "BF16");
    CHECK(all.tensors[0].sizes == std::vector<std::uint64_t>{2, 3});
    CHECK(all.tensors[0].bytes == 12);
    CHECK(all.find("a")->bytes == 4);
    CHECK(all.find("none")->bytes == 0);
    CHECK(all.find("f4")->bytes == 2);
    CHECK(all.bytes() == llmcost::count(18));
    CHECK(all.elements() == llmcost::count(11));
    REQUIRE(all.totals.size() == 4);
    CHECK(all.totals[0].type == "BF16");
    CHECK(all.totals[0].elements == llmcost::count(6));
}

TEST_CASE("what is no header of safetensors is refused with its place") {
    CHECK(refused("abc") == "FILE: byte 0: expected 8 bytes with the length of the header");
    CHECK(refused(little(3, 8) + "{}") ==
          "FILE: byte 0: expected a header inside of the file, which has 10 bytes, found a length of 3");
    CHECK(refused(little(UINT64_MAX, 8) + "{}") ==
          "FILE: byte 0: expected a header of at most 100000000 bytes, found a length of 18446744073709551615");
    CHECK(refused_header("[]", 0) == "FILE: byte 8: expected a JSON object");
    CHECK(refused_header("{\"a\":", 0).starts_with("FILE: header:1:"));
    CHECK(refused_header(R"({"a":1})", 0) == "FILE: header: /a: expected an object, found 1");
    CHECK(refused_header(R"({"__metadata__":{"a":1}})", 0) ==
          "FILE: header: /__metadata__/a: expected a string, found 1");
    CHECK(refused_header(R"({"a":)" + entry("U8", "[1]", "[0,1]") + R"(,"a":)" + entry("U8", "[1]", "[1,2]") + "}",
                         2) == "FILE: header: /a: duplicated key");
}

TEST_CASE("tensors that do not fit their type, their shape or the file are refused") {
    const auto one = [](const std::string& type, const std::string& shape, const std::string& offsets,
                        std::size_t data) {
        return refused_header(R"({"a":)" + entry(type, shape, offsets) + "}", data);
    };
    CHECK(
        one("F33", "[1]", "[0,4]", 4) ==
        "FILE: header: /a/dtype: expected an element type of safetensors, such as BF16, F32 or F8_E4M3, found \"F33\"");
    CHECK(one("F32", "[2]", "[0,4]", 4) ==
          "FILE: header: /a/data_offsets: expected 8 bytes, as type and shape have, found 0 to 4");
    CHECK(one("F32", "[1]", "[4,0]", 4) ==
          "FILE: header: /a/data_offsets: expected an end that is not before the begin, found 4 to 0");
    CHECK(one("F32", "[1]", "[4,8]", 4) ==
          "FILE: header: /a/data_offsets: expected an end inside of the data, which has 4 bytes, found 4 to 8");
    CHECK(one("F32", "[-1]", "[0,4]", 4) == "FILE: header: /a/shape/0: expected an integer from 0 on, found -1");
    CHECK(one("F32", "[1.5]", "[0,4]", 4) == "FILE: header: /a/shape/0: expected an integer, found 1.5");
    CHECK(one("F32", "[9223372036854775808]", "[0,4]", 4).find("/a/shape/0: expected an integer") != std::string::npos);
    CHECK(one("F32", "[4294967296,2147483648]", "[0,4]", 4).find("sizes whose product is below 2^63") !=
          std::string::npos);
    CHECK(one("F64", "[4611686018427387904]", "[0,4]", 4).find("sizes that make fewer than 2^63 bytes") !=
          std::string::npos);
    CHECK(one("F4", "[3]", "[0,2]", 2).find("sizes that make an integral number of bytes") != std::string::npos);
    CHECK(one("F32", "[1]", "[0,4,8]", 4).find("an array of a begin and an end") != std::string::npos);
    std::string deep = "[1";
    for (int i = 0; i < 64; ++i) deep += ",1";
    CHECK(one("U8", deep + "]", "[0,1]", 1).find("at most 64 sizes") != std::string::npos);
}

TEST_CASE("tensors cover the data, each byte once") {
    const auto two = [](const std::string& a, const std::string& b, std::size_t data) {
        return refused_header(R"({"a":)" + entry("U8", "[2]", a) + R"(,"b":)" + entry("U8", "[2]", b) + "}", data);
    };
    CHECK(two("[0,2]", "[1,3]", 3) ==
          "FILE: header: /b/data_offsets: overlaps another tensor: expected a begin at 2, found 1");
    CHECK(two("[0,2]", "[3,5]", 5) == "FILE: header: /b/data_offsets: leaves a gap: expected a begin at 2, found 3");
    CHECK(two("[2,4]", "[0,2]", 6) == "FILE: header: expected tensors for all 6 bytes of data, found 4");
    CHECK(refused_header("{}", 1) == "FILE: header: expected tensors for all 1 bytes of data, found 0");
}

TEST_CASE("a folder's index names the shards that lie beside it") {
    const scratch_folder folder;
    folder.write("one.safetensors", safetensors_bytes(R"({"a":)" + entry("U8", "[2]", "[0,2]") + "}", 2));
    folder.write("two.safetensors", safetensors_bytes(R"({"b":)" + entry("F16", "[1,3]", "[0,6]") + "}", 6));
    const std::string index =
        folder.write("model.safetensors.index.json",
                     R"({"metadata":{"total_size":8},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
    for (const std::string& path : {folder.path(), index}) {
        const llmcost::stored_tensors all = read_safetensors(path);
        REQUIRE(all.tensors.size() == 2);
        CHECK(all.tensors[1].name == "b");
        CHECK(all.bytes() == llmcost::count(8));
    }
    const auto refuse = [&](const std::string& map, errc code = errc::bad_value) {
        folder.write("model.safetensors.index.json", R"({"weight_map":)" + map + "}");
        return thrown_by([&] { (void)read_safetensors(folder.path()); }, code).substr(folder.path().size() + 1);
    };
    const std::string expected_message = "expected the name of a file in the folder of the index, found ";
    for (const std::string name : {"../one.safetensors", "/etc/passwd", "", "..", "."})
        CHECK(refuse(R"({"a":")" + name + "\"}").find(expected_message) != std::string::npos);
    CHECK(refuse(R"({"a":"one.safetensors","b":"three.safetensors"})", errc::io)
              .find("three.safetensors: cannot be opened") != std::string::npos);
    CHECK(refuse(R"({"c":"one.safetensors"})") ==
          "model.safetensors.index.json: /weight_map/c: expected a shard that holds this tensor, found "
          "\"one.safetensors\"");
    CHECK(refuse(R"({"a":"two.safetensors","b":"one.safetensors"})").find("expected in 'one.safetensors'") !=
          std::string::npos);
    CHECK(refuse("[]") == "model.safetensors.index.json: /weight_map: expected an object, found an empty array");
    folder.write("two.safetensors", safetensors_bytes(R"({"a":)" + entry("U8", "[2]", "[0,2]") + "}", 2));
    CHECK(refuse(R"({"b":"two.safetensors","d":"one.safetensors"})").find("'a': is in another shard too") !=
          std::string::npos);
}

TEST_CASE("only regular files are read") {
    const scratch_folder folder;
    const std::string pipe = folder.path("pipe.safetensors");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(thrown_by([&] { (void)read_safetensors(pipe); }, errc::io) ==
          pipe + ": expected a regular file, found a pipe");
    CHECK(thrown_by([&] { (void)read_safetensors(folder.path()); }, errc::io)
              .ends_with("a folder with no model.safetensors and no model.safetensors.index.json"));
    CHECK(thrown_by([&] { (void)read_safetensors(folder.path("none")); }, errc::io).find("cannot be opened") !=
          std::string::npos);
}
