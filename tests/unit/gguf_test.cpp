// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/files/gguf.hpp>

#include "thrown_by.hpp"
#include "weight_files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

using llmcost::errc;
using llmcost::read_gguf;
using llmcost::testing::gguf_bytes;
using llmcost::testing::little;
using llmcost::testing::scratch_folder;
using llmcost::testing::thrown_by;

namespace {

std::string refused_gguf(const std::string& bytes) {
    const scratch_folder folder;
    const std::string path = folder.write("x.gguf", bytes);
    std::string message = thrown_by([&] { (void)read_gguf(path); });
    if (const std::size_t position = message.find(path); position != std::string::npos)
        message.replace(position, path.size(), "FILE");
    return message;
}
bool contains_text(const std::string& message, const std::string& part) {
    CAPTURE(message);
    return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a GGUF file says its metadata and its tensors") {
    const scratch_folder folder;
    gguf_bytes f;
    f.string("general.architecture", "llama").integer("llama.block_count", 2).real("llama.rope.freq_base", 10000);
    f.raw("a.u64", 10, little(UINT64_MAX, 8)).raw("a.i8", 1, little(0xFB, 1)).raw("a.yes", 7, little(1, 1));
    f.raw("a.list", 9, little(4, 4) + little(3, 8) + little(7, 4) + little(8, 4) + little(9, 4));
    f.raw("a.words", 9, little(8, 4) + little(2, 8) + gguf_bytes::text("one") + gguf_bytes::text("two"));
    f.tensor("token_embd.weight", {256, 3}, 12, 3 * 144).tensor("output_norm.weight", {256}, 0, 1024);
    f.tensor("blk.0.x", {32, 2, 5}, 39, 10 * 17);
    for (const std::uint32_t version : {2U, 3U}) {
        const llmcost::gguf_file got = read_gguf(folder.write("x.gguf", f.file(version)));
        CHECK(got.version == version);
        CHECK(got.find("general.architecture")->text == "llama");
        CHECK(got.find("llama.block_count")->integer == 2);
        CHECK(got.find("llama.rope.freq_base")->real == 10000);
        CHECK(got.find("a.u64")->type == llmcost::gguf_value::kind::real);
        CHECK(got.find("a.i8")->integer == -5);
        CHECK(got.find("a.yes")->type == llmcost::gguf_value::kind::boolean);
        REQUIRE(got.find("a.list")->items.size() == 3);
        CHECK(got.find("a.list")->items[2].integer == 9);
        CHECK(got.find("a.words")->size == 2);
        CHECK(read_gguf(folder.path("x.gguf"), {.items = 2}).find("a.list")->items.size() == 2);
        CHECK(read_gguf(folder.path("x.gguf"), {.all_items = 1}).find("a.list")->size == 3);
        CHECK(got.find("nothing") == nullptr);
        REQUIRE(got.weights.tensors.size() == 3);
        CHECK(got.weights.tensors[0].type == "Q4_K");
        CHECK(got.weights.tensors[0].sizes == std::vector<std::uint64_t>{3, 256});
        CHECK(got.weights.tensors[2].sizes == std::vector<std::uint64_t>{5, 2, 32});
        CHECK(got.weights.bytes() == llmcost::count(432 + 1024 + 170));
        CHECK(got.data_begin % 32 == 0);
    }
}

TEST_CASE("blocks of ggml's types have the sizes of ggml-common.h") {
    const auto bytes = [](const char* name) {
        for (const llmcost::ggml_type_row& row : llmcost::ggml_types)
            if (std::string(row.name) == name) return row.bytes;
        return 0U;
    };
    CHECK(bytes("Q4_0") == 18);
    CHECK(bytes("Q5_1") == 24);
    CHECK(bytes("Q8_0") == 34);
    CHECK(bytes("Q2_K") == 84);
    CHECK(bytes("Q3_K") == 110);
    CHECK(bytes("Q4_K") == 144);
    CHECK(bytes("Q5_K") == 176);
    CHECK(bytes("Q6_K") == 210);
    CHECK(bytes("Q8_K") == 292);
    CHECK(bytes("IQ1_S") == 50);
    CHECK(bytes("IQ1_M") == 56);
    CHECK(bytes("IQ2_XXS") == 66);
    CHECK(bytes("IQ2_XS") == 74);
    CHECK(bytes("IQ2_S") == 82);
    CHECK(bytes("IQ3_XXS") == 98);
    CHECK(bytes("IQ3_S") == 110);
    CHECK(bytes("IQ4_XS") == 136);
    CHECK(bytes("TQ1_0") == 54);
    CHECK(bytes("TQ2_0") == 66);
    CHECK(bytes("MXFP4") == 17);
    CHECK(llmcost::find_ggml_type(4) == nullptr);  // Q4_2, which was taken away
}

TEST_CASE("what is no GGUF file is refused with its byte") {
    gguf_bytes f;
    CHECK(refused_gguf("") == "FILE: byte 0: expected the letters GGUF of 4 bytes, found 0 to the end of the file");
    CHECK(refused_gguf("GGML....") == "FILE: byte 0: expected the letters GGUF");
    CHECK(refused_gguf(f.file(1)) == "FILE: byte 4: expected version 2 or 3, found 1");
    CHECK(refused_gguf(f.file(0x03000000)) == "FILE: byte 4: expected a little-endian file, found a big-endian one");
    CHECK(contains_text(refused_gguf("GGUF" + little(3, 4) + little(UINT64_MAX, 8) + little(0, 8)),
                        "expected at most 1048576 tensors"));
    CHECK(contains_text(refused_gguf("GGUF" + little(3, 4) + little(0, 8) + little(UINT64_MAX, 8)),
                        "expected at most 65536 entries"));
    CHECK(contains_text(refused_gguf("GGUF" + little(3, 4) + little(0, 8) + little(1, 8)),
                        "byte 24: expected a key of 8 bytes"));
    const std::string one = "GGUF" + little(3, 4) + little(0, 8) + little(1, 8);
    CHECK(contains_text(refused_gguf(one + little(UINT64_MAX, 8) + "abc"),
                        "expected a key of 18446744073709551615 bytes, found 3"));
    CHECK(contains_text(refused_gguf(one + little(0, 8)), "byte 24: expected a key of 1 to 65535 bytes, found 0"));
    const std::string key = one + gguf_bytes::text("k");
    CHECK(contains_text(refused_gguf(key + little(13, 4)), "expected a type from 0 to 12"));
    CHECK(contains_text(refused_gguf(key + little(7, 4) + little(2, 1)), "expected 0 or 1"));
    CHECK(contains_text(refused_gguf(key + little(9, 4) + little(9, 4) + little(1, 8)),
                        "elements that are numbers or texts"));
    CHECK(contains_text(refused_gguf(key + little(9, 4) + little(4, 4) + little(UINT64_MAX, 8)),
                        "fewer elements than bytes"));
    CHECK(contains_text(refused_gguf(key + little(9, 4) + little(8, 4) + little(1U << 30U, 8)),
                        "expected an array of 8589934592"));
    f.integer("k", 1).integer("k", 2);
    CHECK(contains_text(refused_gguf(f.file()), "duplicated key 'k'"));
    CHECK(contains_text(refused_gguf(gguf_bytes{}.integer("general.alignment", 24).file()), "expected a power of two"));
    CHECK(contains_text(refused_gguf(gguf_bytes{}.integer("general.alignment", 0).file()), "expected a power of two"));
}

TEST_CASE("tensors of a GGUF file fit their type and follow each other inside of it") {
    const auto table = [](const std::vector<std::uint64_t>& sizes, std::uint32_t type) {
        return refused_gguf(gguf_bytes{}.tensor("t", sizes, type, 0).file());
    };
    CHECK(contains_text(table({1, 1, 1, 1, 1}, 0), "'t': expected at most 4 sizes, found 5"));
    CHECK(contains_text(table({std::uint64_t{1} << 63U}, 0), "'t': expected fewer than 2^63 elements"));
    CHECK(contains_text(table({std::uint64_t{1} << 32U, std::uint64_t{1} << 31U}, 0),
                        "'t': expected fewer than 2^63 elements"));
    CHECK(contains_text(table({std::uint64_t{1} << 61U}, 28), "'t': expected fewer than 2^63 bytes"));
    CHECK(contains_text(table({100}, 12), "'t': expected rows of a multiple of 256 elements for Q4_K, found 100"));
    CHECK(contains_text(table({1}, 5), "'t': expected an element type of ggml, found 5"));
    // the header alone is as long; the weights behind it are missing
    CHECK(contains_text(table({8}, 0), "expected weights up to byte"));
    CHECK(
        contains_text(table({std::uint64_t{1} << 40U}, 0), "'t': expected its 4398046511104 bytes inside of the file"));
    gguf_bytes twice;
    twice.tensor("t", {1}, 0, 4).tensor("t", {1}, 0, 4);
    CHECK(contains_text(refused_gguf(twice.file()), "duplicated tensor 't'"));
    gguf_bytes overlap;
    overlap.tensor("a", {16}, 0, 64).tensor_at(32, "b", {8}, 0, 32);
    CHECK(contains_text(refused_gguf(overlap.file()), "'b': expected an offset of 64, found 32"));
    gguf_bytes gap;
    gap.tensor("a", {8}, 0, 32).tensor_at(64, "b", {8}, 0, 32);
    CHECK(contains_text(refused_gguf(gap.file()), "'b': expected an offset of 32, found 64"));
    // every cut of a file is refused, except cuts of the padding at its end
    const std::string complete_file = gguf_bytes{}.string("a.b", "c").tensor("t", {3, 2}, 0, 24).file();
    const scratch_folder folder;
    CHECK_NOTHROW((void)read_gguf(folder.write("x.gguf", complete_file)));
    CHECK_NOTHROW((void)read_gguf(folder.write("x.gguf", complete_file.substr(0, complete_file.size() - 8))));
    for (std::size_t n = 0; n < complete_file.size() - 8; ++n)
        CHECK(refused_gguf(complete_file.substr(0, n)).starts_with("FILE: byte "));
}

TEST_CASE("a file that was split is read by its first part") {
    const scratch_folder folder;
    const auto part = [&](std::uint32_t number, std::uint32_t total, const std::string& tensor) {
        gguf_bytes f;
        f.raw("split.no", 2, little(number, 2)).raw("split.count", 2, little(2, 2));
        f.raw("split.tensors.count", 5, little(total, 4));
        return f.tensor(tensor, {4}, 0, 16).file();
    };
    const std::string first = folder.write("m-00001-of-00002.gguf", part(0, 2, "a"));
    const std::string second = folder.write("m-00002-of-00002.gguf", part(1, 2, "b"));
    const llmcost::gguf_file all = read_gguf(first);
    REQUIRE(all.weights.tensors.size() == 2);
    CHECK(all.weights.tensors[1].name == "b");
    CHECK(
        contains_text(thrown_by([&] { (void)read_gguf(second); }), "expected the first part of a file that was split"));
    folder.write("m-00002-of-00002.gguf", part(1, 2, "a"));
    CHECK(contains_text(thrown_by([&] { (void)read_gguf(first); }), "tensor 'a' is in another part too"));
    folder.write("m-00002-of-00002.gguf", part(0, 2, "b"));
    CHECK(contains_text(thrown_by([&] { (void)read_gguf(first); }), "expected part 2 of 2"));
    folder.write("m-00001-of-00002.gguf", part(0, 3, "a"));
    folder.write("m-00002-of-00002.gguf", part(1, 2, "b"));
    CHECK(contains_text(thrown_by([&] { (void)read_gguf(first); }), "split.tensors.count: expected 2"));
    std::filesystem::remove(second);
    CHECK(
        contains_text(thrown_by([&] { (void)read_gguf(first); }, errc::io), "m-00002-of-00002.gguf: cannot be opened"));
}
