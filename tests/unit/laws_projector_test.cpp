// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../golden/golden_models.hpp"
#include "../golden/law_exceptions.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>

#include <llmcost/analysis/evaluator.hpp>

#include "registry.hpp"

using namespace llmcost;
using namespace llmcost::testing;

TEST_CASE("what brings a tower's features to a text has the role of a projector") {
    const law_exceptions others{
        {"chameleon emu3", "images become codes, words of the text's own table (`get_image_tokens`)"},
        {"blip idefics pix2struct", "the text looks at a tower's states by cross attention"},
        {"inkling_mm_model", "a tower's last projection makes the text's width"},
        {"siglip siglip2 clip metaclip_2 tipsv2",
         "two towers side by side: no text model reads what one of them makes"}};
    std::size_t num_checked = 0;
    for (const std::filesystem::path& folder : {golden_folder(), media_folder()})
        for (const std::filesystem::path& path : golden_paths(folder)) {
            const golden_file golden = read_golden(path);
            const model_spec* row = parts::registry.find(golden.model_type);
            if (row == nullptr || row->text_model.default_spec == nullptr || row->components[0].default_spec == nullptr)
                continue;
            if (!row->modalities.has_images || is_exception(others, golden.model_type)) continue;
            INFO(golden.name);
            CHECK(count_model(built_from(golden), {.sequence = 2}, scope_query{"projector"}).params > count(0));
            ++num_checked;
        }
    CHECK(num_checked > 0);
}
