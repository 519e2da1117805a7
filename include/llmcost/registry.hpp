// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/arch/all.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/config/read_model.hpp>

namespace llmcost {

/// Every row, sorted by `model_type`.
// clang-format off
inline constexpr model_registry_entry architectures[]{
    &arch::yi, &arch::afmoe, &arch::aimv2_vision_model, &arch::albert, &arch::align, &arch::altclip, &arch::apertus,
    &arch::aquila, &arch::arcee, &arch::aria, &arch::aria_text, &arch::audio_spectrogram_transformer,
    &arch::audioflamingo3, &arch::axk1, &arch::axk2, &arch::aya_vision, &arch::baichuan, &arch::bailing_hybrid,
    &arch::bailing_moe, &arch::bailing_moe_v2, &arch::bamba, &arch::bart, &arch::beam, &arch::beit, &arch::bert,
    &arch::bert_generation, &arch::big_bird, &arch::bigbird_pegasus, &arch::biogpt, &arch::bit, &arch::bitnet,
    &arch::blenderbot, &arch::blenderbot_small, &arch::blip, &arch::blip_2, &arch::bloom, &arch::camembert,
    &arch::canary, &arch::chameleon, &arch::chatglm, &arch::chinese_clip, &arch::clip, &arch::clip_vision_model,
    &arch::clipseg, &arch::codegen, &arch::cohere, &arch::cohere2, &arch::cohere2_moe, &arch::cohere2_vision,
    &arch::cohere_asr, &arch::cohere_compass, &arch::cohere_compass_text, &arch::convbert, &arch::convnext,
    &arch::convnextv2, &arch::cosmos3_edge, &arch::cosmos3_edge_text, &arch::cosmos3_omni, &arch::cpmant, &arch::ctrl,
    &arch::cvt, &arch::cwm, &arch::data2vec_audio, &arch::data2vec_text, &arch::data2vec_vision, &arch::dbrx,
    &arch::deberta_v2, &arch::deepseek_moe, &arch::deepseek_ocr2, &arch::deepseek_ocr2_text, &arch::deepseek_v2,
    &arch::deepseek_v3, &arch::deepseek_v32, &arch::deepseek_v4, &arch::deepseek_vl, &arch::deepseek_vl_hybrid,
    &arch::deit, &arch::diffllama, &arch::dinov2, &arch::dinov2_with_registers, &arch::dinov3_convnext,
    &arch::dinov3_vit, &arch::distilbert, &arch::doge, &arch::donut_swin, &arch::dots1, &arch::dots3_note,
    &arch::dots3_note_text, &arch::efficientnet, &arch::electra, &arch::emu3, &arch::encoder_decoder, &arch::ernie,
    &arch::ernie4_5, &arch::ernie4_5_moe, &arch::ernie4_5_vl_moe, &arch::ernie4_5_vl_moe_text, &arch::esm,
    &arch::esmc, &arch::eurobert, &arch::exaone, &arch::exaone4, &arch::exaone4_5, &arch::exaone_moe, &arch::falcon,
    &arch::falcon_h1, &arch::falcon_mamba, &arch::fast_vlm, &arch::flaubert, &arch::flex_olmo, &arch::flint,
    &arch::florence2, &arch::fnet, &arch::focalnet, &arch::fsmt, &arch::fun_asr_nano, &arch::funnel, &arch::fuyu,
    &arch::gemma, &arch::gemma2, &arch::gemma3, &arch::gemma3_text, &arch::gemma3n, &arch::gemma3n_text,
    &arch::gemma4, &arch::gemma4_text, &arch::gemma4_unified, &arch::gemma4_unified_text, &arch::git, &arch::glm,
    &arch::glm4, &arch::glm46v, &arch::glm4_moe, &arch::glm4_moe_lite, &arch::glm4v, &arch::glm4v_moe,
    &arch::glm4v_moe_text, &arch::glm4v_text, &arch::glm_moe_dsa, &arch::glm_ocr, &arch::glm_ocr_text, &arch::glmasr,
    &arch::glmga, &arch::got_ocr2, &arch::gpt_sw3, &arch::gpt2, &arch::gpt_bigcode, &arch::gpt_neo, &arch::gpt_neox,
    &arch::gpt_neox_japanese, &arch::gpt_oss, &arch::gptj, &arch::granite, &arch::granite4_vision,
    &arch::granite_docling, &arch::granite_speech, &arch::granite_speech5_ctc, &arch::granite_speech5_encoder,
    &arch::granite_speech_plus, &arch::granite_swa, &arch::granitemoe,
    &arch::granitemoe_swa, &arch::granitemoehybrid, &arch::granitemoeshared, &arch::gte, &arch::helium,
    &arch::hgnet_v2, &arch::hiera, &arch::hrm_text, &arch::hubert, &arch::hunyuan_v1_dense, &arch::hunyuan_v1_moe,
    &arch::hunyuan_vl, &arch::hunyuan_vl_text, &arch::hy_v3, &arch::hy_v4, &arch::hyperclovax,
    &arch::hyperclovax_vision_v2, &arch::ibert, &arch::idefics, &arch::idefics2, &arch::idefics3, &arch::ijepa,
    &arch::imagegpt, &arch::inkling2, &arch::inkling2_text, &arch::inkling_mm_model, &arch::inkling_text,
    &arch::instructblip, &arch::instructblipvideo, &arch::internlm, &arch::internlm2, &arch::internlm3,
    &arch::internvl, &arch::internvl_vision, &arch::iquestcoder, &arch::jais2, &arch::jamba, &arch::janus,
    &arch::jetmoe, &arch::jina_embeddings_v3, &arch::kimi_k2, &arch::kimi_k25, &arch::kimi_linear, &arch::kolibri1,
    &arch::kosmos_2, &arch::kosmos_2_5, &arch::laguna, &arch::lasr_ctc, &arch::lasr_encoder, &arch::layoutlm,
    &arch::levit, &arch::lfm2, &arch::lfm2_moe, &arch::lfm2_vl, &arch::lfm3, &arch::lfm3_vl, &arch::lighton_ocr,
    &arch::llama, &arch::llama4, &arch::llama4_text, &arch::llava, &arch::llava_next, &arch::llava_next_video,
    &arch::llava_onevision, &arch::longcat_flash, &arch::longformer, &arch::longt5, &arch::luke, &arch::m2m_100,
    &arch::mamba, &arch::mamba2, &arch::marian, &arch::mbart, &arch::megatron_bert, &arch::mellum, &arch::metaclip_2,
    &arch::mimo, &arch::mimo_v2_flash, &arch::minicpm, &arch::minicpm3, &arch::minicpm_ocr, &arch::minicpmv4_6,
    &arch::minicpmv4_7, &arch::minimax, &arch::minimax_m2, &arch::minimax_m3_vl, &arch::minimax_m3_vl_text,
    &arch::ministral, &arch::ministral3, &arch::mistral, &arch::mistral3, &arch::mistral_large4, &arch::mixtral,
    &arch::mlcd_vision_model, &arch::mllama, &arch::mobilebert, &arch::mobilenet_v1, &arch::mobilenet_v2,
    &arch::mobilevit, &arch::mobilevitv2, &arch::modernbert, &arch::modernbert_decoder, &arch::modernvbert,
    &arch::molmo2, &arch::moonshine, &arch::moshi, &arch::moss_transcribe_diarize, &arch::mpnet, &arch::mpt, &arch::mt5,
    &arch::muse_glimmer, &arch::muse_glimmer_text, &arch::muse_spark, &arch::musicflamingo, &arch::musicgen,
    &arch::musicgen_decoder, &arch::musicgen_melody, &arch::musicgen_melody_decoder, &arch::mvp, &arch::nanochat,
    &arch::nemo_speechlm,
    &arch::nemotron, &arch::nemotron_h, &arch::nemotron_h_omni, &arch::neomme, &arch::nomic_bert,
    &arch::nystromformer, &arch::olmo, &arch::olmo2, &arch::olmo3, &arch::olmo_hybrid, &arch::olmoe,
    &arch::openai_gpt, &arch::opt, &arch::orion, &arch::ovis2, &arch::paddleocr_vl, &arch::paligemma,
    &arch::parakeet_ctc, &arch::parakeet_encoder, &arch::pegasus, &arch::pegasus_x, &arch::perceiver,
    &arch::perception_lm, &arch::persimmon, &arch::phi, &arch::phi3, &arch::phi4_multimodal, &arch::phimoe,
    &arch::pi0, &arch::pix2struct, &arch::pixtral, &arch::plbart, &arch::poolformer, &arch::pp_chart2table,
    &arch::pp_formulanet, &arch::pp_lcnet, &arch::prophetnet, &arch::pvt, &arch::pvt_v2, &arch::qianfan_ocr,
    &arch::qwen, &arch::qwen2, &arch::qwen2_5_omni_text, &arch::qwen2_5_omni_thinker, &arch::qwen2_5_vl,
    &arch::qwen2_5_vl_text, &arch::qwen2_audio, &arch::qwen2_moe, &arch::qwen2_vl, &arch::qwen2_vl_text, &arch::qwen3,
    &arch::qwen3_5, &arch::qwen3_5_moe, &arch::qwen3_5_moe_text, &arch::qwen3_5_text, &arch::qwen3_asr,
    &arch::qwen3_moe, &arch::qwen3_next, &arch::qwen3_omni_moe_text, &arch::qwen3_omni_moe_thinker, &arch::qwen3_vl,
    &arch::qwen3_vl_moe, &arch::qwen3_vl_moe_text, &arch::qwen3_vl_text, &arch::qwen4_exp, &arch::qwen4_exp_text,
    &arch::recurrent_gemma, &arch::reformer, &arch::regnet, &arch::rembert, &arch::resnet, &arch::roberta,
    &arch::roberta_prelayernorm, &arch::roc_bert, &arch::roformer, &arch::rwkv, &arch::sam_vision_model,
    &arch::seamless_m4t, &arch::seamless_m4t_v2, &arch::seed_oss, &arch::segformer, &arch::sew, &arch::sew_d, &arch::shieldgemma2,
    &arch::siglip, &arch::siglip2, &arch::siglip2_vision_model, &arch::siglip_vision_model, &arch::skywork,
    &arch::smollm3, &arch::smolvlm, &arch::solar_open, &arch::speech_encoder_decoder, &arch::speech_to_text,
    &arch::speecht5, &arch::squeezebert, &arch::stablelm, &arch::starcoder2, &arch::step3p7, &arch::swiftformer,
    &arch::swin, &arch::swinv2, &arch::t5, &arch::t5gemma2, &arch::tapas, &arch::telechat, &arch::textnet,
    &arch::timesformer, &arch::timm_wrapper, &arch::tipsv2, &arch::trocr, &arch::ultrabert, &arch::ultravbert,
    &arch::umt5, &arch::unispeech, &arch::unispeech_sat, &arch::unlimited_ocr, &arch::unlimited_ocr_text,
    &arch::vaultgemma, &arch::vibevoice_asr, &arch::video_llama_3, &arch::video_llava, &arch::videomae,
    &arch::videoprism, &arch::videoprism_text_model, &arch::videoprism_vision_model, &arch::vipllava,
    &arch::vision_encoder_decoder, &arch::vit, &arch::vit_mae, &arch::vit_msn, &arch::vivit, &arch::vjepa2,
    &arch::voxtral, &arch::wav2vec2, &arch::wav2vec2_bert, &arch::wav2vec2_conformer, &arch::wavlm, &arch::whisper,
    &arch::xglm, &arch::xlm, &arch::xlm_roberta, &arch::xlm_roberta_xl, &arch::xlnet, &arch::xlstm, &arch::xmod,
    &arch::xverse, &arch::yolos, &arch::yoso, &arch::youtu, &arch::zamba, &arch::zamba2, &arch::zaya,
};
// clang-format on
inline constexpr std::size_t architecture_count = sizeof architectures / sizeof *architectures;

namespace detail {
consteval bool architectures_are_sorted() {
    for (std::size_t i = 1; i < architecture_count; ++i)
        if (__builtin_strcmp(architectures[i - 1].model_type, architectures[i].model_type) >= 0)
            return false;  // folded
    return true;
}
static_assert(architectures_are_sorted(), "rows stand in the order of their model_type, each once");
}  // namespace detail

/// All rows, as a value.
inline constexpr model_registry every_model{architectures, architecture_count, parse_model_among, parse_model_of};

/// The row of a `model_type`, or null.
[[nodiscard]] constexpr const model_spec* find_architecture(string_ref model_type) noexcept {
    return every_model.find(model_type);
}

/// Builds the model that a configuration describes; throws `config_error` where no row can.
[[nodiscard]] constexpr model parse_model(config_view json) { return parse_model_among(every_model, json); }

}  // namespace llmcost
