// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/bert.hpp>
#include <llmcost/arch/bloom.hpp>
#include <llmcost/arch/cohere.hpp>
#include <llmcost/arch/cohere_compass.hpp>
#include <llmcost/arch/deepseek.hpp>
#include <llmcost/arch/emu3.hpp>
#include <llmcost/arch/falcon.hpp>
#include <llmcost/arch/gemma.hpp>
#include <llmcost/arch/glm4v.hpp>
#include <llmcost/arch/glmasr.hpp>
#include <llmcost/arch/gpt2.hpp>
#include <llmcost/arch/gpt_neox.hpp>
#include <llmcost/arch/gpt_oss.hpp>
#include <llmcost/arch/gptj.hpp>
#include <llmcost/arch/granite.hpp>
#include <llmcost/arch/granite_speech.hpp>
#include <llmcost/arch/hunyuan_v1_moe.hpp>
#include <llmcost/arch/jamba.hpp>
#include <llmcost/arch/lfm2.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/llama4.hpp>
#include <llmcost/arch/mamba.hpp>
#include <llmcost/arch/mistral.hpp>
#include <llmcost/arch/mixtral.hpp>
#include <llmcost/arch/moss_transcribe_diarize.hpp>
#include <llmcost/arch/nemo_speechlm.hpp>
#include <llmcost/arch/olmo.hpp>
#include <llmcost/arch/opt.hpp>
#include <llmcost/arch/paddleocr_vl.hpp>
#include <llmcost/arch/phi3.hpp>
#include <llmcost/arch/phi4_multimodal.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen2_moe.hpp>
#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/arch/qwen3_asr.hpp>
#include <llmcost/arch/qwen3_next.hpp>
#include <llmcost/arch/qwen3_vl.hpp>
#include <llmcost/arch/stablelm.hpp>
#include <llmcost/arch/starcoder2.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/arch/vibevoice_asr.hpp>
#include <llmcost/arch/vit.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/detail/config_edit_distance.hpp>

namespace llmcost {

/// Every row, sorted by `model_type`.
// clang-format off
inline constexpr const architecture* architectures[]{
    &arch::audioflamingo3,
    &arch::bart,
    &arch::bert,
    &arch::bloom,
    &arch::cohere,
    &arch::cohere_compass,
    &arch::cohere_compass_text,
    &arch::deepseek_v2,
    &arch::deepseek_v3,
    &arch::emu3,
    &arch::falcon,
    &arch::falcon_mamba,
    &arch::gemma,
    &arch::gemma2,
    &arch::gemma3_text,
    &arch::glm4v,
    &arch::glm4v_moe,
    &arch::glm4v_moe_text,
    &arch::glm4v_text,
    &arch::glm_ocr,
    &arch::glm_ocr_text,
    &arch::glmasr,
    &arch::gpt_sw3,
    &arch::gpt2,
    &arch::gpt_neox,
    &arch::gpt_oss,
    &arch::gptj,
    &arch::granite,
    &arch::granite_speech,
    &arch::granite_speech_plus,
    &arch::hunyuan_v1_moe,
    &arch::jamba,
    &arch::lfm2,
    &arch::llama,
    &arch::llama4_text,
    &arch::mamba,
    &arch::mamba2,
    &arch::mistral,
    &arch::mixtral,
    &arch::moss_transcribe_diarize,
    &arch::musicflamingo,
    &arch::nemo_speechlm,
    &arch::olmo2,
    &arch::olmoe,
    &arch::opt,
    &arch::paddleocr_vl,
    &arch::phi3,
    &arch::phi4_multimodal,
    &arch::qwen2,
    &arch::qwen2_5_vl,
    &arch::qwen2_5_vl_text,
    &arch::qwen2_audio,
    &arch::qwen2_moe,
    &arch::qwen2_vl,
    &arch::qwen2_vl_text,
    &arch::qwen3,
    &arch::qwen3_5,
    &arch::qwen3_5_moe,
    &arch::qwen3_5_moe_text,
    &arch::qwen3_5_text,
    &arch::qwen3_asr,
    &arch::qwen3_moe,
    &arch::qwen3_next,
    &arch::qwen3_vl,
    &arch::qwen3_vl_moe,
    &arch::qwen3_vl_moe_text,
    &arch::qwen3_vl_text,
    &arch::roberta,
    &arch::stablelm,
    &arch::starcoder2,
    &arch::t5,
    &arch::vibevoice_asr,
    &arch::vit,
    &arch::voxtral,
};
// clang-format on
inline constexpr std::size_t architecture_count = sizeof architectures / sizeof *architectures;

namespace detail {
consteval bool architectures_are_sorted() {
    for (std::size_t i = 1; i < architecture_count; ++i)
        if (__builtin_strcmp(architectures[i - 1]->model_type, architectures[i]->model_type) >= 0) return false;  // folded
    return true;
}
static_assert(architectures_are_sorted(), "rows stand in the order of their model_type, each once");
}  // namespace detail

/// The row of a `model_type`, or null.
[[nodiscard]] constexpr const architecture* find_architecture(string_ref model_type) noexcept {
    for (const architecture* a : architectures)
        if (a->model_type == model_type) return a;
    return nullptr;
}

namespace detail {

/// How far a known type is from an unknown one: their edit distance, less where one begins with the other.
constexpr int type_distance(string_ref unknown, string_ref known) noexcept {
    if (unknown.empty()) return edit_distance(unknown, known);
    return known.starts_with(unknown) ? 0 : unknown.starts_with(known) ? 1 : edit_distance(unknown, known);
}

/// Says which known types are near to an unknown one: at most a letter in three apart.
[[noreturn]] inline void fail_nearest(config_view config, string_ref type) {
    char sentence[192]{};  // ends with NUL
    std::size_t n = 0;
    const auto say = [&](string_ref text) {
        for (const char c : text)
            if (n + 1 < sizeof sentence) sentence[n++] = c;
    };
    say("is not known");
    const architecture* named[3]{};
    for (std::size_t k = 0; k < 3; ++k) {
        const architecture* best = nullptr;
        for (const architecture* a : architectures) {
            if (a == named[0] || a == named[1]) continue;
            if (best == nullptr || type_distance(type, a->model_type) < type_distance(type, best->model_type)) best = a;
        }
        named[k] = best;
        if (type_distance(type, best->model_type) * 3 > static_cast<int>(type.size())) break;
        say(k == 0 ? "; nearest: " : ", ");
        say(best->model_type);
    }
    say("; llmcost models lists those that are");
    fail_unknown_model_type(config, "model_type", sentence);
}

}  // namespace detail

/// Builds the model that a configuration describes; throws `config_error` where no row can.
[[nodiscard]] constexpr model read_model(config_view config) {
    const string_ref type = config.string("model_type");
    const architecture* row = find_architecture(type);
    if (row == nullptr) detail::fail_nearest(config, type);
    return read_model_of(*row, config, find_architecture);
}

}  // namespace llmcost
