// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/analysis/counts.hpp>
#include <llmcost/json.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "registry.hpp"

// Every recording of what dropout makes autograd keep, rate by rate; a row that claims to know has one.
namespace llmcost {
namespace {

struct dropout_line {
    std::string configuration, changes;
    workload load{.batch = 2};
    std::vector<std::uint64_t> figures;
};

std::vector<dropout_line> dropout_lines() {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/dropout.txt");
    std::vector<dropout_line> all;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        dropout_line l;
        std::istringstream parts(line);
        std::getline(parts, l.configuration, ' ');
        parts.ignore(2);
        std::getline(parts, l.changes, '|');
        parts >> l.load.sequence >> l.load.encoder_sequence;
        parts.ignore(3);
        for (std::uint64_t n = 0; parts >> n;) l.figures.push_back(n);
        l.load.weights = l.load.activations = dtype::float32;
        l.load.training = l.load.has_dropout = true;
        all.push_back(l);
    }
    return all;
}

model model_of(const dropout_line& l) {
    config_document document = read_config_file(LLMCOST_TEST_DIR "/golden/" + l.configuration + ".json");
    std::istringstream changes(l.changes == "- " ? std::string() : l.changes);
    for (std::string change; changes >> change;) {
        const std::size_t sign = change.find('=');
        document.set(change.substr(0, sign), change.substr(sign + 1));
    }
    return document.read_with([](config_view root) { return parts::registry.read(root); });
}

}  // namespace

TEST_CASE("dropout executes and keeps what was recorded, rate by rate") {
    for (const dropout_line& l : dropout_lines()) {
        INFO(l.configuration << " " << l.changes);
        trace t{l.load};
        model_of(l).trace_with_loss(t);
        const model_metrics f = full_model_metrics_of(t.totals());
        const std::vector<std::uint64_t> got{f.saved_bytes.to_64(), f.torch_flops.to_64(),
                                             f.backward_torch_flops.to_64(), f.mult.to_64(), f.div.to_64()};
        CHECK(got == l.figures);
    }
}

TEST_CASE("rows that say where they drop something are those that were recorded") {
    std::set<std::string> recorded;
    for (const dropout_line& l : dropout_lines()) recorded.insert(model_of(l).spec->model_type);
    for (const model_spec* row : parts::registry) {
        INFO(row->model_type);
        CHECK((row->forward != nullptr && row->dropout_keys.has_entries()) == recorded.contains(row->model_type));
    }
}

}  // namespace llmcost
