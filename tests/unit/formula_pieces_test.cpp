// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>
#include <llmcost/report/formula_pieces.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "registry.hpp"

using namespace llmcost;

namespace {

/// Workloads at the edges of a piece, on both sides, and some inside.
std::vector<workload> about(const formula_piece& piece, const workload& load) {
    std::vector<workload> out;
    const region& r = piece.domain;
    const auto near = [](const region::interval& in) {
        return std::vector<std::int64_t>{in.low - 1, in.low, in.low + 1, in.low + 37, in.high, in.high + 1};
    };
    for (const std::int64_t b : {r.batch.low, r.batch.low + 1, std::int64_t{7}})
        for (const std::int64_t s : near(r.sequence)) {
            std::vector<std::int64_t> pasts = near(r.past);
            for (const std::int64_t t : {r.total.low, r.total.high}) {
                pasts.push_back(t - s);
                pasts.push_back(t - s + 1);
            }
            for (const std::int64_t p : pasts) {
                workload w = load;
                w.batch = b;
                w.sequence = s;
                w.past = p;
                if (w.is_valid() && s < 20000 && p < 200000) out.push_back(w);
            }
        }
    return out;
}

}  // namespace

TEST_CASE("a polynomial of differences is the same one of values") {
    polynomial::int128 coefficients[2][polynomial::monomials]{{5, 3, 2, 4, 6, 7, 1, 8, 9, 11},
                                                              {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
    const polynomial p = expanded(coefficients, 3, {10, 20, 30});
    for (const std::int64_t b : {3, 4, 9})
        for (const std::int64_t a : {10, 11, 15})
            for (const std::int64_t rest : {20, 23})
                for (const std::int64_t c : {30, 31, 47}) {
                    const std::int64_t x = a - 10, y = rest - 20, z = c - 30;
                    const std::int64_t monomial_values[] = {
                        1, x, z, x * (x - 1) / 2, z * (z - 1) / 2, x * z, y, y * (y - 1) / 2, x * y, y * z};
                    polynomial::int128 expected = 0, got = 0;
                    for (std::size_t k = 0; k < polynomial::monomials; ++k)
                        expected += monomial_values[k] * (coefficients[0][k] + (b - 3) * coefficients[1][k]);
                    CHECK(p.value(b, {a, rest, c}, got));
                    CHECK(got == expected);
                }
    coefficients[0][3] = polynomial::int128{1} << 120;
    CHECK_FALSE(expanded(coefficients, 1, {1 << 20, 0, 0}).fits);
}

TEST_CASE("pieces of figures are what walks count, on both sides of every edge, and no two meet") {
    struct figure {
        const char* scope;
        count (*getter)(const model_metrics&);
    };
    const std::vector<figure> metrics{{"all", [](const model_metrics& f) { return f.add; }},
                                      {"attn", [](const model_metrics& f) { return f.mult; }},
                                      {"all", [](const model_metrics& f) { return f.written_elements; }},
                                      {"all", [](const model_metrics& f) { return f.cache_bytes; }}};
    std::size_t num_checked = 0, unknown = 0;
    for (const char* name : {"meta-llama__Llama-3.2-1B", "google__gemma-2-2b-it", "google-bert__bert-base-uncased",
                             "openai-community__gpt2", "mistralai__Mistral-7B-v0.1", "variant__qwen3_next_dense",
                             "state-spaces__mamba-130m-hf", "variant__mamba2_chunks"}) {
        const config_document document = read_config_file(std::string(LLMCOST_TEST_DIR "/golden/") + name + ".json");
        const model m = document.read_with([](config_view root) { return parts::registry.read(root); });
        for (const figure& metric : metrics) {
            const workload load{.sequence = 8};
            if (std::string(name).find("mamba") != std::string::npos && std::string(metric.scope) == "attn") continue;
            const std::vector<formula_piece> pieces =
                formula_pieces(m, load, scope_query(string_ref(metric.scope)), metric.getter);
            CHECK(!pieces.empty());
            for (const formula_piece& piece : pieces)
                for (const workload& w : about(piece, load)) {
                    int in = 0;
                    for (const formula_piece& p : pieces) {
                        if (!p.contains(w)) continue;
                        ++in;
                        if (!p.known) {
                            ++unknown;
                            continue;
                        }
                        polynomial::int128 value = 0;
                        INFO(std::string(name) << " B " << w.batch << " S " << w.sequence << " P " << w.past);
                        REQUIRE(p.sum.value(w.batch, p.place_of(w), value));
                        CHECK(count::from_uint128(static_cast<count::uint128>(value)) ==
                              metric.getter(count_model(m, w, scope_query(string_ref(metric.scope)))));
                        ++num_checked;
                    }
                    INFO(std::string(name) << " B " << w.batch << " S " << w.sequence << " P " << w.past);
                    bool answered = true;
                    try {
                        (void)count_model(m, w);
                    } catch (const workload_error&) {
                        answered = false;
                    }
                    CHECK(in == (answered ? 1 : 0));
                }
        }
    }
    CHECK(num_checked > 2000);
    CHECK(unknown == 0);
}
