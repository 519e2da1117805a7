// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/graph/operator_graph.hpp>
#include <llmcost/json.hpp>
#include <llmcost/report/formula_pieces.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>

#include "registry.hpp"

using namespace llmcost;

namespace {

/// What a graph's operations have, by the names that terms have, all layers together.
std::map<std::string, count> shared_out(const operator_graph& g, count (*getter)(const model_metrics&)) {
    std::map<std::string, count> all;
    for (const graph_operation& o : g.operations) {
        const graph_module& m = g.modules[static_cast<std::size_t>(o.module)];
        const std::string kind(op_cost_of(o.kind).name);
        const count n = getter(o.metrics_of_op);
        if (n != count{}) all[fold_indices(m.is_leaf ? m.path : m.path.empty() ? kind : m.path + '.' + kind)] += n;
    }
    return all;
}

/// The folded path of a term whose layers stand in it by their numbers, of all folded paths that there are.
std::string folded_name(const formula_term& term, const std::map<std::string, count>& all) {
    if (all.count(term.name) != 0) return term.name;
    for (const auto& [folded, n] : all) {
        const std::size_t star = folded.find('*');
        if (star == std::string::npos || folded.compare(0, star, term.name, 0, star) != 0) continue;
        const std::string suffix = folded.substr(star + 1);
        const bool ends = term.name.size() > star + suffix.size() && term.name.ends_with(suffix);
        const std::string numbers = ends ? term.name.substr(star, term.name.size() - star - suffix.size()) : "x";
        if (numbers.find_first_not_of("0123456789-,\xE2\x80\xA6") == std::string::npos) return folded;
    }
    return {};
}

}  // namespace

TEST_CASE("each term of a formula is what the operations of its modules execute") {
    std::size_t num_checked = 0;
    for (const char* name : {"meta-llama__Llama-3.2-1B", "google__gemma-2-2b-it", "google-bert__bert-base-uncased",
                             "openai-community__gpt2", "state-spaces__mamba-130m-hf", "variant__qwen3_next_dense"}) {
        const config_document document = read_config_file(std::string(LLMCOST_TEST_DIR "/golden/") + name + ".json");
        const model m = document.read_with([](config_view root) { return parts::registry.read(root); });
        for (count (*getter)(const model_metrics&) :
             {+[](const model_metrics& f) { return f.flops(); }, +[](const model_metrics& f) { return f.exp; },
              +[](const model_metrics& f) { return f.torch_flops; }}) {
            const workload load{.sequence = 8};
            term_samples samples(m, {}, getter);
            const std::vector<formula_piece> pieces = formula_pieces(m, load, {}, getter, &samples);
            for (const workload& w :
                 {workload{.batch = 3, .sequence = 37, .past = 0}, workload{.batch = 1, .sequence = 1, .past = 77},
                  workload{.batch = 2, .sequence = 200, .past = 0}}) {
                INFO(std::string(name) << " B " << w.batch << " S " << w.sequence << " P " << w.past);
                const std::map<std::string, count> expected = shared_out(graph_of(m, w), getter);
                std::map<std::string, count> got;
                for (const formula_piece& piece : pieces) {
                    if (!piece.contains(w)) continue;
                    for (const formula_term& term : piece.terms) {
                        polynomial::int128 value = 0;
                        REQUIRE(term.sum.value(w.batch, piece.place_of(w), value));
                        const std::string folded = folded_name(term, expected);
                        if (value != 0)
                            got[folded] += count::from_uint128(static_cast<count::uint128>(value * term.times));
                    }
                }
                CHECK(!got.empty());
                CHECK(got == expected);
                ++num_checked;
            }
        }
    }
    CHECK(num_checked == 54);
}
