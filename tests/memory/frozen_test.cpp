// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/training_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "registry.hpp"

// Steps whose towers, layers or heads are frozen, as autograd ran them (tests/oracle/frozen.py).
namespace llmcost {
namespace {

struct frozen_line {
    std::string configuration, adapter_option;
    workload load{};
    std::uint64_t trained = 0, saved = 0, forward = 0, backward = 0;
};

frozen_line read_line(const std::string& line) {
    frozen_line l;
    std::istringstream parts(line);
    std::getline(parts, l.configuration, '|');
    char bar = 0;
    std::int64_t side = 0;
    parts >> l.adapter_option >> bar >> l.load.batch >> l.load.sequence >> l.load.images >> side >> bar;
    parts >> l.trained >> l.saved >> l.forward >> l.backward;
    if (l.load.sequence == 0) {
        l.load.sequence = 1;
        l.load.images = 0;
        side = 0;
    }  // it reads its own images alone
    l.load.image_height = l.load.image_width = side;
    l.load.weights = l.load.activations = dtype::float32;
    return l;
}

}  // namespace

TEST_CASE("what is frozen keeps nothing and is gone back through only where something before it is trained") {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/frozen.txt");
    int num_checked = 0;
    for (std::string text; std::getline(in, text); ++num_checked) {
        const frozen_line l = read_line(text);
        INFO(l.configuration << l.adapter_option);
        const config_document document = parse_config(l.configuration, "frozen.txt");
        const model m = document.read_with([](config_view root) { return parts::registry.read(root); });
        training_plan plan{.loss = training_loss::sum};
        cli::requested_adapter request = cli::detail::read_adapter_option(l.adapter_option);
        std::ostringstream notes;
        cli::detail::resolve_adapter(request, m, notes);
        plan.adapter_config = request.file.adapts;
        const training_run run = train(m, l.load, plan);
        CHECK(run.memory.num_trainable == l.trained);
        CHECK(run.pass_metrics.saved_bytes.to_64() == l.saved);
        CHECK(run.pass_metrics.torch_flops.to_64() == l.forward);
        CHECK(run.pass_metrics.backward_torch_flops.to_64() == l.backward);
    }
    CHECK(num_checked == 12);
}

}  // namespace llmcost
