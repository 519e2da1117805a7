// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Descriptions that examples/describe_module.py exported, and what PyTorch counts for their modules (tests/exporter).
#include <doctest/doctest.h>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/custom/custom_model.hpp>
#include <llmcost/json.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace llmcost;

TEST_CASE("exported modules have the parameters and FLOPs of PyTorch") {
    const std::filesystem::path folder = LLMCOST_TEST_DIR "/exporter";
    std::ifstream counts(folder / "counts.csv");
    std::string line;
    REQUIRE(std::getline(counts, line));
    REQUIRE(line == "module,batch,params,torch_flops");
    std::set<std::string> names;
    while (std::getline(counts, line)) {
        CAPTURE(line);
        std::istringstream fields(line);
        std::string name;
        std::int64_t batch = 0, params = 0, flops = 0;
        char comma = 0;
        REQUIRE(std::getline(fields, name, ','));
        fields >> batch >> comma >> params >> comma >> flops;
        REQUIRE_FALSE(fields.fail());
        const config_document file = read_config_file((folder / (name + ".json")).string());
        const custom_model custom = file.read_with([&](config_view root) { return custom_model(root, file.name()); });
        const model_metrics metrics = count_model(custom.as_model(), {.batch = batch});
        CHECK(metrics.params == params);
        CHECK(metrics.torch_flops == flops);
        names.insert(name + ".json");
    }
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".json") files.insert(entry.path().filename().string());
    CHECK(files == names);
    CHECK(files.size() >= 3);
}
