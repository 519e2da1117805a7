// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/gguf.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/files/ggml_type.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/files/weight_file.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost {

LLMCOST_INLINE const gguf_value* gguf_file::find(std::string_view key) const {
    const auto found = metadata.find(std::string(key));
    return found == metadata.end() ? nullptr : &found->second;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE gguf_reader::gguf_reader(const weight_file& file, const gguf_limits& limits)
    : file_(file),
      limits_(limits),
      end_(file.size() < limits.header ? file.size() : limits.header),
      block_(new char[block_size]) {}

LLMCOST_INLINE void gguf_reader::need(std::uint64_t n, const char* label) const {
    if (n <= end_ - position_) return;
    const bool cut = n > file_.size() - position_;
    fail("expected " + std::string(label) + " of " + std::to_string(n) + " bytes, found " +
         std::to_string((cut ? file_.size() : end_) - position_) +
         (cut ? " to the end of the file" : " to where headers end at the latest"));
}

LLMCOST_INLINE void gguf_reader::skip(std::uint64_t n, const char* label) {
    need(n, label);
    position_ += n;
}

LLMCOST_INLINE void gguf_reader::bytes(char* to, std::size_t n, const char* label) {
    need(n, label);
    while (n > 0) {
        if (position_ < block_begin_ || position_ >= block_end_) fill();
        const auto offset = static_cast<std::size_t>(position_ - block_begin_);
        const auto available = static_cast<std::size_t>(block_end_ - position_);
        const std::size_t part = n < available ? n : available;
        std::memcpy(to, block_.get() + offset, part);
        to += part;
        n -= part;
        position_ += part;
    }
}

LLMCOST_INLINE std::uint64_t gguf_reader::number(std::size_t n, const char* label) {
    char raw[8];
    bytes(raw, n, label);
    return little_endian(raw, n);
}

LLMCOST_INLINE std::string gguf_reader::text(std::uint64_t max_bytes, std::uint64_t& size, const char* label) {
    size = number(8, label);
    need(size, label);
    std::string out(static_cast<std::size_t>(size < max_bytes ? size : max_bytes), '\0');
    bytes(out.data(), out.size(), label);
    skip(size - out.size(), label);
    return out;
}

LLMCOST_INLINE std::uint64_t gguf_reader::keep(std::uint64_t n) {
    n = n < limits_.items ? n : limits_.items;
    n = n < limits_.all_items - num_items_ ? n : limits_.all_items - num_items_;
    num_items_ += n;
    return n;
}

LLMCOST_INLINE std::string gguf_reader::short_name(const char* label) {
    const std::uint64_t begin = position_;
    std::uint64_t size = 0;
    std::string out = text(limits_.name, size, label);
    if (size > limits_.name || size == 0)
        file_.fail(begin, "expected " + std::string(label) + " of 1 to " + std::to_string(limits_.name) +
                              " bytes, found " + std::to_string(size));
    return out;
}

LLMCOST_INLINE void gguf_reader::fill() {
    const std::uint64_t left = end_ - position_;
    const std::size_t n = left < block_size ? static_cast<std::size_t>(left) : block_size;
    file_.read(position_, block_.get(), n);
    block_begin_ = position_;
    block_end_ = position_ + n;
}

LLMCOST_INLINE gguf_value read_gguf_number(gguf_reader& in, std::uint32_t type) {
    const std::size_t n = gguf_bytes(type);
    const std::uint64_t bits = in.number(n, "a number");
    gguf_value v;
    switch (type) {
        case 1: v.integer = static_cast<std::int8_t>(bits); break;
        case 3: v.integer = static_cast<std::int16_t>(bits); break;
        case 5: v.integer = static_cast<std::int32_t>(bits); break;
        case 6: {
            float f = 0;
            const auto raw_bits = static_cast<std::uint32_t>(bits);
            std::memcpy(&f, &raw_bits, sizeof f);
            v.type = gguf_value::kind::real;
            v.real = static_cast<double>(f);
            break;
        }
        case 7:
            if (bits > 1) in.fail("expected 0 or 1 in front of here, found " + std::to_string(bits));
            v.type = gguf_value::kind::boolean;
            v.integer = static_cast<std::int64_t>(bits);
            break;
        case 12:
            v.type = gguf_value::kind::real;
            std::memcpy(&v.real, &bits, sizeof v.real);
            break;
        default:
            v.integer = static_cast<std::int64_t>(bits);
            if (type == 10 && v.integer < 0) {
                v.type = gguf_value::kind::real;
                v.real = static_cast<double>(bits);
            }
    }
    return v;
}

LLMCOST_INLINE gguf_value read_gguf_value(gguf_reader& in, const gguf_limits& limits) {
    const auto type = static_cast<std::uint32_t>(in.number(4, "a type"));
    gguf_value v;
    if (gguf_bytes(type) != 0) return read_gguf_number(in, type);
    if (type == gguf_text) {
        v.type = gguf_value::kind::text;
        v.text = in.text(limits.text_bytes, v.size, "a text");
        return v;
    }
    if (type != gguf_array) in.fail("expected a type from 0 to 12 in front of here, found " + std::to_string(type));
    v.type = gguf_value::kind::array;
    const auto element = static_cast<std::uint32_t>(in.number(4, "a type of elements"));
    v.size = in.number(8, "a number of elements");
    const std::size_t n = element == gguf_text ? 8 : gguf_bytes(element);
    if (n == 0) in.fail("expected elements that are numbers or texts, found type " + std::to_string(element));
    // sizes beyond this would wrap; no file has as many bytes
    if (v.size > UINT64_MAX / n) in.fail("expected fewer elements than bytes, found " + std::to_string(v.size));
    in.need(v.size * n, "an array");
    if (element == gguf_text) {
        for (std::uint64_t i = 0; i < v.size; ++i) in.skip(in.number(8, "a text"), "a text");
        return v;
    }
    const std::uint64_t num_items = in.keep(v.size);
    for (std::uint64_t i = 0; i < num_items; ++i) v.items.push_back(read_gguf_number(in, element));
    in.skip((v.size - num_items) * n, "an array");
    return v;
}

/// One line of the table of tensors; `offset` is from the begin of the weights.
LLMCOST_INLINE stored_tensor read_gguf_tensor(gguf_reader& in, std::uint64_t& offset) {
    constexpr std::uint64_t max_sizes = 4;
    stored_tensor t{in.short_name("a tensor's name"), {}, {}, 0};
    const std::string name = quote(t.name);
    const std::uint64_t rank = in.number(4, "a number of sizes");
    if (rank > max_sizes) in.fail(name + ": expected at most 4 sizes, found " + std::to_string(rank));
    count elements = 1;
    for (std::uint64_t i = 0; i < rank; ++i) {
        const std::uint64_t size = in.number(8, "a size");
        elements *= size;
        if (elements.to_uint128() >> 63U != 0 || size >> 63U != 0)
            in.fail(name + ": expected fewer than 2^63 elements, found a size of " + std::to_string(size));
        t.sizes.insert(t.sizes.begin(), size);  // files name the densest first
    }
    const auto type = static_cast<std::uint32_t>(in.number(4, "a type"));
    const ggml_type_row* const row = find_ggml_type(type);
    if (row == nullptr) in.fail(name + ": expected an element type of ggml, found " + std::to_string(type));
    t.type = row->name;
    const std::uint64_t densest = t.sizes.empty() ? 1 : t.sizes.back();
    if (densest % row->block != 0)
        in.fail(name + ": expected rows of a multiple of " + std::to_string(row->block) + " elements for " + t.type +
                ", found " + std::to_string(densest));
    const count bytes = elements / row->block * row->bytes;
    if (bytes.to_uint128() >> 63U != 0) in.fail(name + ": expected fewer than 2^63 bytes");
    t.bytes = bytes.to_64();
    offset = in.number(8, "an offset");
    return t;
}

LLMCOST_INLINE std::uint64_t read_gguf_alignment(const gguf_file& file, const gguf_reader& in) {
    const gguf_value* const alignment = file.find("general.alignment");
    if (alignment == nullptr) return 32;
    constexpr std::int64_t maximum = std::int64_t{1} << 30U;
    const std::int64_t n = alignment->type == gguf_value::kind::integer ? alignment->integer : 0;
    if (n <= 0 || n > maximum || (n & (n - 1)) != 0)
        in.fail("general.alignment: expected a power of two up to 2^30, found another value");
    return static_cast<std::uint64_t>(n);
}

LLMCOST_INLINE gguf_file read_gguf_part(const std::string& path, const gguf_limits& limits) {
    const weight_file file(path);
    gguf_reader in(file, limits);
    gguf_file out;
    out.name = file.position();
    out.bytes = file.size();
    char magic[4];
    in.bytes(magic, sizeof magic, "the letters GGUF");
    if (std::memcmp(magic, "GGUF", sizeof magic) != 0) file.fail(0, "expected the letters GGUF");
    out.version = static_cast<std::uint32_t>(in.number(4, "a version"));
    if (out.version != 2 && out.version != 3)
        file.fail(4, (out.version & 0xFFFFU) == 0 ? std::string("expected a little-endian file, found a big-endian one")
                                                  : "expected version 2 or 3, found " + std::to_string(out.version));
    const std::uint64_t tensors = in.number(8, "a number of tensors");
    if (tensors > limits.tensors)
        file.fail(8,
                  "expected at most " + std::to_string(limits.tensors) + " tensors, found " + std::to_string(tensors));
    const std::uint64_t entries = in.number(8, "a number of entries");
    if (entries > limits.entries)
        file.fail(16,
                  "expected at most " + std::to_string(limits.entries) + " entries, found " + std::to_string(entries));
    for (std::uint64_t i = 0; i < entries; ++i) {
        std::string key = in.short_name("a key");
        if (out.metadata.find(key) != out.metadata.end()) in.fail("duplicated key " + quote(key) + " in front of here");
        gguf_value value = read_gguf_value(in, limits);
        out.metadata.emplace(std::move(key), std::move(value));
    }
    out.alignment = read_gguf_alignment(out, in);
    std::unordered_set<std::string> names;
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < tensors; ++i) {
        std::uint64_t offset = 0;
        stored_tensor t = read_gguf_tensor(in, offset);
        if (!names.insert(t.name).second) in.fail("duplicated tensor " + quote(t.name) + " in front of here");
        // what llama.cpp demands: each tensor begins where the one before it ends
        if (offset != expected)
            in.fail(quote(t.name) + ": expected an offset of " + std::to_string(expected) + ", found " +
                    std::to_string(offset));
        if (t.bytes > file.size() - expected)
            in.fail(quote(t.name) + ": expected its " + std::to_string(t.bytes) + " bytes inside of the file");
        expected = padded(expected + t.bytes, out.alignment);
        out.weights.add(std::move(t));
        if (expected > file.size() && i + 1 < tensors)
            in.fail("expected " + std::to_string(tensors - i - 1) + " more tensors inside of the file, which has " +
                    std::to_string(file.size()) + " bytes");
    }
    out.data_begin = padded(in.position(), out.alignment);
    // the last tensor's padding may be missing
    const stored_tensor* const last = out.weights.tensors.empty() ? nullptr : &out.weights.tensors.back();
    const std::uint64_t end = last == nullptr ? 0 : expected - padded(last->bytes, out.alignment) + last->bytes;
    if (last != nullptr && (out.data_begin > file.size() || end > file.size() - out.data_begin))
        file.fail(file.size(), "expected weights up to byte " + std::to_string(out.data_begin + end) +
                                   ", found the end of the file");
    return out;
}

/// The part of a name before `-00001-of-00003.gguf`; empty for another name.
LLMCOST_INLINE std::string prefix_of_part(const std::string& path, std::int64_t part, std::int64_t parts) {
    char tail[64];
    std::snprintf(tail, sizeof tail, "-%05lld-of-%05lld.gguf", static_cast<long long>(part + 1),
                  static_cast<long long>(parts));
    return std::string_view(path).ends_with(tail) ? path.substr(0, path.size() - std::strlen(tail)) : std::string();
}

LLMCOST_INLINE std::string path_of_part(const std::string& prefix, std::int64_t part, std::int64_t parts) {
    char tail[64];
    std::snprintf(tail, sizeof tail, "-%05lld-of-%05lld.gguf", static_cast<long long>(part + 1),
                  static_cast<long long>(parts));
    return prefix + tail;
}

LLMCOST_INLINE std::int64_t split_number(const gguf_file& file, std::string_view key, std::int64_t minimum) {
    const gguf_value* const v = file.find(key);
    if (v == nullptr || v->type != gguf_value::kind::integer || v->integer < minimum || v->integer > 99'999)
        throw error(errc::bad_value, file.name + ": " + std::string(key),
                    "expected an integer from " + std::to_string(minimum) + " to 99999");
    return v->integer;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE gguf_file read_gguf(const std::string& path, const gguf_limits& limits) {
    gguf_file all = detail::read_gguf_part(path, limits);
    if (all.find("split.count") == nullptr) return all;
    const std::int64_t parts = detail::split_number(all, "split.count", 0);
    if (parts < 2) return all;
    const std::string prefix = detail::prefix_of_part(path, 0, parts);
    if (detail::split_number(all, "split.no", 0) != 0 || prefix.empty())
        throw error(errc::bad_value, all.name,
                    "expected the first part of a file that was split, named *" + detail::path_of_part("", 0, parts));
    std::unordered_set<std::string> names;
    for (const stored_tensor& t : all.weights.tensors) names.insert(t.name);
    for (std::int64_t i = 1; i < parts; ++i) {
        gguf_file part = detail::read_gguf_part(detail::path_of_part(prefix, i, parts), limits);
        if (detail::split_number(part, "split.no", 0) != i || detail::split_number(part, "split.count", 2) != parts)
            throw error(errc::bad_value, part.name,
                        "expected part " + std::to_string(i + 1) + " of " + std::to_string(parts));
        all.bytes += part.bytes;
        for (stored_tensor& t : part.weights.tensors) {
            if (!names.insert(t.name).second)
                throw error(errc::bad_value, part.name, "tensor " + quote(t.name) + " is in another part too");
            all.weights.add(std::move(t));
        }
    }
    const gguf_value* const alignment = all.find("split.tensors.count");
    if (alignment != nullptr && (alignment->type != gguf_value::kind::integer ||
                                 static_cast<std::uint64_t>(alignment->integer) != all.weights.tensors.size()))
        throw error(errc::bad_value, all.name + ": split.tensors.count",
                    "expected " + std::to_string(all.weights.tensors.size()) + ", which all parts have together");
    return all;
}

}  // namespace llmcost
