// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// The names that the hub gives to contents: SHA-1 and SHA-256 (FIPS 180-4), against damage rather than against forgery.
namespace llmcost::detail::hub {

inline constexpr std::array<std::uint32_t, 64> sha256_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline constexpr std::array<std::uint32_t, 5> sha1_start = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
inline constexpr std::array<std::uint32_t, 8> sha256_start = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// One block of 64 bytes, FIPS 180-4 section 6.1.2.
void compress(std::array<std::uint32_t, 5>& state, const std::array<std::uint32_t, 16>& block);

/// One block of 64 bytes, FIPS 180-4 section 6.2.2.
void compress(std::array<std::uint32_t, 8>& state, const std::array<std::uint32_t, 16>& block);

/// The hash of `text` that begins with `state`, in hexadecimal digits; the padding is the same for both.
template <std::size_t Words>
std::string hash(std::array<std::uint32_t, Words> state, std::string_view text) {
    const std::uint64_t bits = std::uint64_t{text.size()} * 8;
    std::string tail(text.substr(text.size() / 64 * 64));
    tail += '\x80';
    while (tail.size() % 64 != 56) tail += '\0';
    for (unsigned shift = 64; shift > 0; shift -= 8) tail += static_cast<char>(bits >> (shift - 8) & 0xffU);
    const auto update = [&state](std::string_view blocks) {
        for (; blocks.size() >= 64; blocks.remove_prefix(64)) {
            std::array<std::uint32_t, 16> block{};
            for (std::size_t i = 0; i < 64; ++i)
                block[i / 4] = block[i / 4] << 8U | static_cast<unsigned char>(blocks[i]);
            compress(state, block);
        }
    };
    update(text);
    update(tail);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const std::uint32_t word : state) {
        for (unsigned shift = 32; shift > 0; shift -= 4) out += digits[word >> (shift - 4) & 0xfU];
    }
    return out;
}

inline std::string sha1(std::string_view text) { return hash(sha1_start, text); }
inline std::string sha256(std::string_view text) { return hash(sha256_start, text); }

/// The name that git gives to a file of this content.
std::string git_name(std::string_view content);

/// True where a blob of this name has this content: git's name has 40 digits, a SHA-256 has 64.
inline bool is_named(std::string_view content, std::string_view blob) {
    return blob == (blob.size() == 40 ? git_name(content) : sha256(content));
}

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/hash.ipp>  // IWYU pragma: export
#endif
