// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minicpmv4_6.hpp>

namespace llmcost::arch {

namespace minicpm_ocr_detail {

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "MiniCPMOcr";
    return a;
}(minicpmv4_6_detail::tower);

constexpr void read(config_view config, model& m) {
    m.own[minicpmv4_6_detail::fourfold] = 1;
    minicpmv4_6_detail::read(config, m);
}

}  // namespace minicpm_ocr_detail

// transformers/models/minicpm_ocr: MiniCPM-V 4.6 whose windows of patches are not merged
inline constexpr architecture minicpm_ocr = [](architecture a) {
    a.model_type = "minicpm_ocr", a.prefix = "MiniCPMOcr", a.read_whole = minicpm_ocr_detail::read;
    a.beside[0].otherwise = &minicpm_ocr_detail::tower, a.defaults.tie_word_embeddings = true;
    return a;
}(minicpmv4_6);

}  // namespace llmcost::arch
