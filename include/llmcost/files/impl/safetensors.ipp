// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/safetensors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_text.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/files/weight_file.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::uint64_t size_in_file(config_view node) {
    const std::int64_t n = node.as_integer();
    if (n < 0) throw_invalid_value(node, "an integer from 0 on");
    return static_cast<std::uint64_t>(n);
}

LLMCOST_INLINE stored_tensor parse_safetensors_entry(config_view entry, std::uint64_t data, stored_range& range) {
    constexpr std::uint32_t max_sizes = 64;
    const string_ref type = entry.as_object().string("dtype");
    const unsigned bits = safetensors_bits(type);
    if (bits == 0) throw_invalid_value(entry, "dtype", "an element type of safetensors, such as BF16, F32 or F8_E4M3");
    stored_tensor t{std::string(entry.key()), std::string(type), {}, 0};
    const config_view shape = entry.array("shape");
    if (shape.size() > max_sizes) throw_invalid_value(shape, "an array of at most 64 sizes");
    count elements = 1;
    for (const config_view size : shape) {
        t.sizes.push_back(size_in_file(size));
        elements *= t.sizes.back();
        if (elements.to_uint128() >> 63U != 0) throw_invalid_value(shape, "sizes whose product is below 2^63");
    }
    const count all_bits = elements * bits;
    if (all_bits.to_uint128() % 8 != 0) throw_invalid_value(shape, "sizes that make an integral number of bytes");
    if (all_bits.to_uint128() >> 66U != 0) throw_invalid_value(shape, "sizes that make fewer than 2^63 bytes");
    const config_view offsets = entry.array("data_offsets");
    if (offsets.size() != 2) throw_invalid_value(offsets, "an array of a begin and an end");
    range = {size_in_file(offsets[0]), size_in_file(offsets[1]), offsets};
    t.bytes = (all_bits / 8).to_64();
    const auto fail = [&](const std::string& expected) {
        char buffer[192];
        bounded_text message(buffer);
        fail_at(config_problem::bad_value, offsets, {},
                message.write("expected ")
                    .write(expected)
                    .write(", found ")
                    .write(static_cast<long long>(range.begin))
                    .write(" to ")
                    .write(static_cast<long long>(range.end))
                    .view());
    };
    if (range.end < range.begin) fail("an end that is not before the begin");
    if (range.end - range.begin != t.bytes) fail(std::to_string(t.bytes) + " bytes, as type and shape have");
    if (range.end > data) fail("an end inside of the data, which has " + std::to_string(data) + " bytes");
    return t;
}

/// Ranges follow each other without gaps from the first byte of the data to its last.
LLMCOST_INLINE void check_ranges(std::vector<stored_range> ranges, std::uint64_t data, const std::string& location) {
    std::sort(ranges.begin(), ranges.end(), [](const stored_range& a, const stored_range& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::uint64_t done = 0;
    for (const stored_range& r : ranges) {
        if (r.begin != done) {
            char buffer[192];
            bounded_text message(buffer);
            message.write(r.begin < done ? "overlaps another tensor: " : "leaves a gap: ")
                .write("expected a begin at ")
                .write(static_cast<long long>(done))
                .write(", found ")
                .write(static_cast<long long>(r.begin));
            fail_at(config_problem::bad_value, r.node, {}, message.view());
        }
        done = r.end;
    }
    if (done != data)
        throw error(
            errc::bad_value, location,
            "expected tensors for all " + std::to_string(data) + " bytes of data, found " + std::to_string(done));
}

LLMCOST_INLINE std::vector<stored_tensor> read_safetensors_file(const std::string& path,
                                                                const safetensors_limits& limits) {
    const weight_file file(path);
    char length[8];
    if (file.size() < sizeof length) file.fail(0, "expected 8 bytes with the length of the header");
    file.read(0, length, sizeof length);
    const std::uint64_t header = little_endian(length, sizeof length);
    if (header > limits.header)
        file.fail(0, "expected a header of at most " + std::to_string(limits.header) + " bytes, found a length of " +
                         std::to_string(header));
    if (header > file.size() - sizeof length)
        file.fail(0, "expected a header inside of the file, which has " + std::to_string(file.size()) +
                         " bytes, found a length of " + std::to_string(header));
    std::string text(static_cast<std::size_t>(header), '\0');
    file.read(sizeof length, text.data(), text.size());
    if (!text.starts_with('{')) file.fail(sizeof length, "expected a JSON object");

    const std::uint64_t data = file.size() - sizeof length - header;
    std::vector<stored_tensor> tensors;
    const std::string location = file.position() + ": header";
    read_json_of_weights(text, location, limits, [&](config_view root) {
        std::vector<stored_range> ranges;
        for (const config_view entry : root) {
            if (entry.key() == "__metadata__") {
                for (const config_view metadata_value : entry.as_object()) (void)metadata_value.as_string();
                continue;
            }
            stored_range range;
            tensors.push_back(parse_safetensors_entry(entry, data, range));
            tensors.back().file = path;
            tensors.back().offset = sizeof length + header + range.begin;
            ranges.push_back(range);
        }
        check_ranges(std::move(ranges), data, location);
    });
    return tensors;
}

LLMCOST_INLINE stored_tensors read_safetensors_index(const std::string& path, const safetensors_limits& limits) {
    const weight_file file(path);
    if (file.size() > limits.header)
        throw error(errc::bad_value, file.position(), "expected at most " + std::to_string(limits.header) + " bytes");
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read(0, text.data(), text.size());
    stored_tensors all;
    read_json_of_weights(text, file.position(), limits, [&](config_view root) {
        const config_view map = root.object("weight_map");
        std::vector<std::string> shards;  // in order of first appearance
        std::unordered_set<std::string> known;
        std::unordered_map<std::string, std::string> shard_of;
        for (const config_view entry : map) {
            std::string shard(entry.as_string());
            if (shard.empty() || shard.front() == '.' ||
                shard.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
                throw_invalid_value(entry, "the name of a file in the folder of the index");
            if (known.insert(shard).second) shards.push_back(shard);
            shard_of.emplace(std::string(entry.key()), std::move(shard));
        }
        const std::string folder = split(path).folder;
        std::unordered_set<std::string> read;
        for (const std::string& shard : shards) {
            for (stored_tensor& t : read_safetensors_file(folder + '/' + shard, limits)) {
                const auto indexed_shard = shard_of.find(t.name);
                if (indexed_shard != shard_of.end() && indexed_shard->second != shard)
                    throw error(errc::bad_value, printable(folder + '/' + shard) + ": " + quote(t.name),
                                "expected in " + quote(indexed_shard->second) + ", according to the index");
                if (!read.insert(t.name).second)
                    throw error(errc::bad_value, printable(folder + '/' + shard) + ": " + quote(t.name),
                                "is in another shard too");
                all.add(std::move(t));
            }
        }
        for (const config_view entry : map)
            if (read.find(std::string(entry.key())) == read.end())
                throw_invalid_value(entry, "a shard that holds this tensor");
    });
    return all;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE bool has_equal_data(const stored_tensor& a, const stored_tensor& b) {
    constexpr std::uint64_t chunk = 1U << 20U;
    if (a.type != b.type || a.sizes != b.sizes || a.bytes != b.bytes) return false;
    const detail::weight_file first(a.file), second(b.file);
    std::string bytes_of_first, bytes_of_second;
    for (std::uint64_t done = 0; done < a.bytes;) {
        const auto n = static_cast<std::size_t>(std::min(chunk, a.bytes - done));
        bytes_of_first.resize(n);
        bytes_of_second.resize(n);
        first.read(a.offset + done, bytes_of_first.data(), n);
        second.read(b.offset + done, bytes_of_second.data(), n);
        if (bytes_of_first != bytes_of_second) return false;
        done += n;
    }
    return true;
}

LLMCOST_INLINE stored_tensors read_safetensors(const std::string& path, const safetensors_limits& limits) {
    std::string file = path;
    if (detail::is_folder(path)) {
        file = path + "/model.safetensors";
        if (!detail::exists(file)) file += ".index.json";
        if (!detail::exists(file))
            throw error(errc::io, printable(path),
                        "a folder with no model.safetensors and no model.safetensors.index.json");
    }
    if (std::string_view(file).ends_with(".json")) return detail::read_safetensors_index(file, limits);
    stored_tensors all;
    for (stored_tensor& t : detail::read_safetensors_file(file, limits)) all.add(std::move(t));
    return all;
}

}  // namespace llmcost
