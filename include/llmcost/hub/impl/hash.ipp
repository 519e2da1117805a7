// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/hash.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>

namespace llmcost::detail::hub {

LLMCOST_INLINE void compress(std::array<std::uint32_t, 5>& state, const std::array<std::uint32_t, 16>& block) {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t t = 0; t < 80; ++t) {
        w[t] = t < 16 ? block[t] : std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    }
    auto [a, b, c, d, e] = state;
    for (std::size_t t = 0; t < 80; ++t) {
        const std::uint32_t f = t < 20              ? (b & c) ^ (~b & d)
                                : t < 40 || t >= 60 ? b ^ c ^ d
                                                    : (b & c) ^ (b & d) ^ (c & d);
        const std::uint32_t k = t < 20 ? 0x5a827999 : t < 40 ? 0x6ed9eba1 : t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[t];
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
    state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

LLMCOST_INLINE void compress(std::array<std::uint32_t, 8>& state, const std::array<std::uint32_t, 16>& block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t t = 0; t < 64; ++t) {
        if (t < 16) {
            w[t] = block[t];
            continue;
        }
        const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3U);
        const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10U);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t first = h + s1 + ((e & f) ^ (~e & g)) + sha256_constants[t] + w[t];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t second = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d,
             state[4] + e, state[5] + f, state[6] + g, state[7] + h};
}

LLMCOST_INLINE std::string git_name(std::string_view content) {
    std::string object = "blob " + std::to_string(content.size());
    object += '\0';
    return sha1(object.append(content));
}

}  // namespace llmcost::detail::hub
