// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/arch/afmoe.hpp>
#include <llmcost/arch/albert.hpp>
#include <llmcost/arch/apertus.hpp>
#include <llmcost/arch/arcee.hpp>
#include <llmcost/arch/aria.hpp>
#include <llmcost/arch/axk.hpp>
#include <llmcost/arch/aya_vision.hpp>
#include <llmcost/arch/bailing_hybrid.hpp>
#include <llmcost/arch/bamba.hpp>
#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/beam.hpp>
#include <llmcost/arch/bert.hpp>
#include <llmcost/arch/bert_generation.hpp>
#include <llmcost/arch/bigbird_pegasus.hpp>
#include <llmcost/arch/biogpt.hpp>
#include <llmcost/arch/bit.hpp>
#include <llmcost/arch/bitnet.hpp>
#include <llmcost/arch/blenderbot.hpp>
#include <llmcost/arch/bloom.hpp>
#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/codegen.hpp>
#include <llmcost/arch/cohere.hpp>
#include <llmcost/arch/cohere2_moe.hpp>
#include <llmcost/arch/cohere_compass.hpp>
#include <llmcost/arch/convbert.hpp>
#include <llmcost/arch/convnext.hpp>
#include <llmcost/arch/cpmant.hpp>
#include <llmcost/arch/ctrl.hpp>
#include <llmcost/arch/cvt.hpp>
#include <llmcost/arch/cwm.hpp>
#include <llmcost/arch/data2vec_vision.hpp>
#include <llmcost/arch/dbrx.hpp>
#include <llmcost/arch/deberta_v2.hpp>
#include <llmcost/arch/deepseek.hpp>
#include <llmcost/arch/deepseek_v32.hpp>
#include <llmcost/arch/deepseek_v4.hpp>
#include <llmcost/arch/deepseek_vl.hpp>
#include <llmcost/arch/deit.hpp>
#include <llmcost/arch/diffllama.hpp>
#include <llmcost/arch/dinov2_with_registers.hpp>
#include <llmcost/arch/distilbert.hpp>
#include <llmcost/arch/doge.hpp>
#include <llmcost/arch/dots1.hpp>
#include <llmcost/arch/dots3_note.hpp>
#include <llmcost/arch/efficientnet.hpp>
#include <llmcost/arch/electra.hpp>
#include <llmcost/arch/emu3.hpp>
#include <llmcost/arch/encoder_decoder.hpp>
#include <llmcost/arch/ernie.hpp>
#include <llmcost/arch/ernie4_5.hpp>
#include <llmcost/arch/ernie4_5_moe.hpp>
#include <llmcost/arch/esm.hpp>
#include <llmcost/arch/esmc.hpp>
#include <llmcost/arch/eurobert.hpp>
#include <llmcost/arch/exaone4.hpp>
#include <llmcost/arch/exaone_moe.hpp>
#include <llmcost/arch/falcon.hpp>
#include <llmcost/arch/falcon_h1.hpp>
#include <llmcost/arch/fast_vlm.hpp>
#include <llmcost/arch/flex_olmo.hpp>
#include <llmcost/arch/flint.hpp>
#include <llmcost/arch/florence2.hpp>
#include <llmcost/arch/fnet.hpp>
#include <llmcost/arch/focalnet.hpp>
#include <llmcost/arch/fsmt.hpp>
#include <llmcost/arch/fuyu.hpp>
#include <llmcost/arch/gemma.hpp>
#include <llmcost/arch/gemma3.hpp>
#include <llmcost/arch/gemma3n.hpp>
#include <llmcost/arch/gemma4.hpp>
#include <llmcost/arch/gemma4_media.hpp>
#include <llmcost/arch/git.hpp>
#include <llmcost/arch/glm.hpp>
#include <llmcost/arch/glm4_moe.hpp>
#include <llmcost/arch/glm4_moe_lite.hpp>
#include <llmcost/arch/glm4v.hpp>
#include <llmcost/arch/glmasr.hpp>
#include <llmcost/arch/got_ocr2.hpp>
#include <llmcost/arch/gpt2.hpp>
#include <llmcost/arch/gpt_bigcode.hpp>
#include <llmcost/arch/gpt_neo.hpp>
#include <llmcost/arch/gpt_neox.hpp>
#include <llmcost/arch/gpt_neox_japanese.hpp>
#include <llmcost/arch/gpt_oss.hpp>
#include <llmcost/arch/gptj.hpp>
#include <llmcost/arch/granite.hpp>
#include <llmcost/arch/granite_speech.hpp>
#include <llmcost/arch/granitemoe.hpp>
#include <llmcost/arch/granitemoehybrid.hpp>
#include <llmcost/arch/gte.hpp>
#include <llmcost/arch/helium.hpp>
#include <llmcost/arch/hiera.hpp>
#include <llmcost/arch/hrm_text.hpp>
#include <llmcost/arch/hunyuan.hpp>
#include <llmcost/arch/hunyuan_v1_moe.hpp>
#include <llmcost/arch/hy_v3.hpp>
#include <llmcost/arch/hy_v4.hpp>
#include <llmcost/arch/hyperclovax.hpp>
#include <llmcost/arch/ibert.hpp>
#include <llmcost/arch/idefics3.hpp>
#include <llmcost/arch/ijepa.hpp>
#include <llmcost/arch/inkling.hpp>
#include <llmcost/arch/internlm3.hpp>
#include <llmcost/arch/jais2.hpp>
#include <llmcost/arch/jamba.hpp>
#include <llmcost/arch/janus.hpp>
#include <llmcost/arch/jetmoe.hpp>
#include <llmcost/arch/jina_embeddings_v3.hpp>
#include <llmcost/arch/kimi_k25.hpp>
#include <llmcost/arch/kimi_linear.hpp>
#include <llmcost/arch/kolibri1.hpp>
#include <llmcost/arch/kosmos2_5.hpp>
#include <llmcost/arch/laguna.hpp>
#include <llmcost/arch/layoutlm.hpp>
#include <llmcost/arch/levit.hpp>
#include <llmcost/arch/lfm2.hpp>
#include <llmcost/arch/lfm2_moe.hpp>
#include <llmcost/arch/lfm2_vl.hpp>
#include <llmcost/arch/lfm3.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/llama4.hpp>
#include <llmcost/arch/llama4_vision.hpp>
#include <llmcost/arch/llava.hpp>
#include <llmcost/arch/longcat_flash.hpp>
#include <llmcost/arch/longformer.hpp>
#include <llmcost/arch/longt5.hpp>
#include <llmcost/arch/luke.hpp>
#include <llmcost/arch/m2m_100.hpp>
#include <llmcost/arch/mamba.hpp>
#include <llmcost/arch/marian.hpp>
#include <llmcost/arch/megatron_bert.hpp>
#include <llmcost/arch/mellum.hpp>
#include <llmcost/arch/mimo_v2.hpp>
#include <llmcost/arch/minicpm3.hpp>
#include <llmcost/arch/minicpmv4_6.hpp>
#include <llmcost/arch/minimax.hpp>
#include <llmcost/arch/minimax_m2.hpp>
#include <llmcost/arch/minimax_m3.hpp>
#include <llmcost/arch/mistral.hpp>
#include <llmcost/arch/mistral3.hpp>
#include <llmcost/arch/mixtral.hpp>
#include <llmcost/arch/mllama.hpp>
#include <llmcost/arch/mobilebert.hpp>
#include <llmcost/arch/mobilenet_v1.hpp>
#include <llmcost/arch/mobilenet_v2.hpp>
#include <llmcost/arch/mobilevit.hpp>
#include <llmcost/arch/mobilevitv2.hpp>
#include <llmcost/arch/modernbert.hpp>
#include <llmcost/arch/modernbert_decoder.hpp>
#include <llmcost/arch/modernvbert.hpp>
#include <llmcost/arch/moshi.hpp>
#include <llmcost/arch/moss_transcribe_diarize.hpp>
#include <llmcost/arch/mpnet.hpp>
#include <llmcost/arch/mpt.hpp>
#include <llmcost/arch/mvp.hpp>
#include <llmcost/arch/nanochat.hpp>
#include <llmcost/arch/nemo_speechlm.hpp>
#include <llmcost/arch/nemotron.hpp>
#include <llmcost/arch/nemotron_h.hpp>
#include <llmcost/arch/neomme.hpp>
#include <llmcost/arch/nomic_bert.hpp>
#include <llmcost/arch/nystromformer.hpp>
#include <llmcost/arch/olmo.hpp>
#include <llmcost/arch/olmo_hybrid.hpp>
#include <llmcost/arch/openai_gpt.hpp>
#include <llmcost/arch/opt.hpp>
#include <llmcost/arch/ovis2.hpp>
#include <llmcost/arch/paddleocr_vl.hpp>
#include <llmcost/arch/pegasus.hpp>
#include <llmcost/arch/pegasus_x.hpp>
#include <llmcost/arch/persimmon.hpp>
#include <llmcost/arch/phi.hpp>
#include <llmcost/arch/phi3.hpp>
#include <llmcost/arch/phi4_multimodal.hpp>
#include <llmcost/arch/phimoe.hpp>
#include <llmcost/arch/pixtral.hpp>
#include <llmcost/arch/poolformer.hpp>
#include <llmcost/arch/pvt.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen2_moe.hpp>
#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/arch/qwen3_asr.hpp>
#include <llmcost/arch/qwen3_next.hpp>
#include <llmcost/arch/qwen3_vl.hpp>
#include <llmcost/arch/recurrent_gemma.hpp>
#include <llmcost/arch/regnet.hpp>
#include <llmcost/arch/rembert.hpp>
#include <llmcost/arch/resnet.hpp>
#include <llmcost/arch/roberta.hpp>
#include <llmcost/arch/roc_bert.hpp>
#include <llmcost/arch/roformer.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/arch/seamless_m4t.hpp>
#include <llmcost/arch/seed_oss.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/arch/smollm3.hpp>
#include <llmcost/arch/squeezebert.hpp>
#include <llmcost/arch/stablelm.hpp>
#include <llmcost/arch/starcoder2.hpp>
#include <llmcost/arch/swinv2.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/arch/t5gemma2.hpp>
#include <llmcost/arch/tapas.hpp>
#include <llmcost/arch/trocr.hpp>
#include <llmcost/arch/ultrabert.hpp>
#include <llmcost/arch/vibevoice_asr.hpp>
#include <llmcost/arch/video_llama_3.hpp>
#include <llmcost/arch/vit.hpp>
#include <llmcost/arch/whisper.hpp>
#include <llmcost/arch/xglm.hpp>
#include <llmcost/arch/xlm.hpp>
#include <llmcost/arch/xlnet.hpp>
#include <llmcost/arch/xlstm.hpp>
#include <llmcost/arch/xmod.hpp>
#include <llmcost/arch/yoso.hpp>
#include <llmcost/arch/youtu.hpp>
#include <llmcost/arch/zamba.hpp>
#include <llmcost/arch/zamba2.hpp>
#include <llmcost/arch/zaya.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/reading/known_models.hpp>
#include <llmcost/reading/read_model.hpp>

namespace llmcost {

/// Every row, sorted by `model_type`.
// clang-format off
inline constexpr const architecture* architectures[]{
    &arch::afmoe,
    &arch::albert,
    &arch::apertus,
    &arch::arcee,
    &arch::aria_text,
    &arch::audioflamingo3,
    &arch::axk1,
    &arch::axk2,
    &arch::aya_vision,
    &arch::bailing_hybrid,
    &arch::bamba,
    &arch::bart,
    &arch::beam,
    &arch::bert,
    &arch::bert_generation,
    &arch::bigbird_pegasus,
    &arch::biogpt,
    &arch::bit,
    &arch::bitnet,
    &arch::blenderbot,
    &arch::blenderbot_small,
    &arch::bloom,
    &arch::camembert,
    &arch::clip_vision_model,
    &arch::codegen,
    &arch::cohere,
    &arch::cohere2,
    &arch::cohere2_moe,
    &arch::cohere_compass,
    &arch::cohere_compass_text,
    &arch::convbert,
    &arch::convnext,
    &arch::convnextv2,
    &arch::cpmant,
    &arch::ctrl,
    &arch::cvt,
    &arch::cwm,
    &arch::data2vec_text,
    &arch::data2vec_vision,
    &arch::dbrx,
    &arch::deberta_v2,
    &arch::deepseek_v2,
    &arch::deepseek_v3,
    &arch::deepseek_v32,
    &arch::deepseek_v4,
    &arch::deepseek_vl,
    &arch::deepseek_vl_hybrid,
    &arch::deit,
    &arch::diffllama,
    &arch::dinov2_with_registers,
    &arch::distilbert,
    &arch::doge,
    &arch::dots1,
    &arch::dots3_note_text,
    &arch::efficientnet,
    &arch::electra,
    &arch::emu3,
    &arch::encoder_decoder,
    &arch::ernie,
    &arch::ernie4_5,
    &arch::ernie4_5_moe,
    &arch::esm,
    &arch::esmc,
    &arch::eurobert,
    &arch::exaone4,
    &arch::exaone_moe,
    &arch::falcon,
    &arch::falcon_h1,
    &arch::falcon_mamba,
    &arch::fast_vlm,
    &arch::flaubert,
    &arch::flex_olmo,
    &arch::flint,
    &arch::florence2,
    &arch::fnet,
    &arch::focalnet,
    &arch::fsmt,
    &arch::fuyu,
    &arch::gemma,
    &arch::gemma2,
    &arch::gemma3,
    &arch::gemma3_text,
    &arch::gemma3n_text,
    &arch::gemma4,
    &arch::gemma4_text,
    &arch::gemma4_unified,
    &arch::gemma4_unified_text,
    &arch::git,
    &arch::glm,
    &arch::glm4,
    &arch::glm4_moe,
    &arch::glm4_moe_lite,
    &arch::glm4v,
    &arch::glm4v_moe,
    &arch::glm4v_moe_text,
    &arch::glm4v_text,
    &arch::glm_moe_dsa,
    &arch::glm_ocr,
    &arch::glm_ocr_text,
    &arch::glmasr,
    &arch::got_ocr2,
    &arch::gpt_sw3,
    &arch::gpt2,
    &arch::gpt_bigcode,
    &arch::gpt_neo,
    &arch::gpt_neox,
    &arch::gpt_neox_japanese,
    &arch::gpt_oss,
    &arch::gptj,
    &arch::granite,
    &arch::granite_speech,
    &arch::granite_speech_plus,
    &arch::granite_swa,
    &arch::granitemoe,
    &arch::granitemoe_swa,
    &arch::granitemoehybrid,
    &arch::granitemoeshared,
    &arch::gte,
    &arch::helium,
    &arch::hiera,
    &arch::hrm_text,
    &arch::hunyuan_v1_dense,
    &arch::hunyuan_v1_moe,
    &arch::hy_v3,
    &arch::hy_v4,
    &arch::hyperclovax,
    &arch::ibert,
    &arch::idefics3,
    &arch::ijepa,
    &arch::inkling_text,
    &arch::internlm3,
    &arch::iquestcoder,
    &arch::jais2,
    &arch::jamba,
    &arch::janus,
    &arch::jetmoe,
    &arch::jina_embeddings_v3,
    &arch::kimi_k25,
    &arch::kimi_linear,
    &arch::kolibri1,
    &arch::kosmos_2_5,
    &arch::laguna,
    &arch::layoutlm,
    &arch::levit,
    &arch::lfm2,
    &arch::lfm2_moe,
    &arch::lfm2_vl,
    &arch::lfm3,
    &arch::llama,
    &arch::llama4,
    &arch::llama4_text,
    &arch::llava,
    &arch::llava_next_video,
    &arch::llava_onevision,
    &arch::longcat_flash,
    &arch::longformer,
    &arch::longt5,
    &arch::luke,
    &arch::m2m_100,
    &arch::mamba,
    &arch::mamba2,
    &arch::marian,
    &arch::mbart,
    &arch::megatron_bert,
    &arch::mellum,
    &arch::mimo_v2_flash,
    &arch::minicpm3,
    &arch::minicpmv4_6,
    &arch::minimax,
    &arch::minimax_m2,
    &arch::minimax_m3_vl_text,
    &arch::ministral,
    &arch::ministral3,
    &arch::mistral,
    &arch::mistral3,
    &arch::mixtral,
    &arch::mllama,
    &arch::mobilebert,
    &arch::mobilenet_v1,
    &arch::mobilenet_v2,
    &arch::mobilevit,
    &arch::mobilevitv2,
    &arch::modernbert,
    &arch::modernbert_decoder,
    &arch::modernvbert,
    &arch::moshi,
    &arch::moss_transcribe_diarize,
    &arch::mpnet,
    &arch::mpt,
    &arch::mt5,
    &arch::musicflamingo,
    &arch::mvp,
    &arch::nanochat,
    &arch::nemo_speechlm,
    &arch::nemotron,
    &arch::nemotron_h,
    &arch::neomme,
    &arch::nomic_bert,
    &arch::nystromformer,
    &arch::olmo,
    &arch::olmo2,
    &arch::olmo3,
    &arch::olmo_hybrid,
    &arch::olmoe,
    &arch::openai_gpt,
    &arch::opt,
    &arch::ovis2,
    &arch::paddleocr_vl,
    &arch::pegasus,
    &arch::pegasus_x,
    &arch::persimmon,
    &arch::phi,
    &arch::phi3,
    &arch::phi4_multimodal,
    &arch::phimoe,
    &arch::pixtral,
    &arch::plbart,
    &arch::poolformer,
    &arch::pp_chart2table,
    &arch::pvt,
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
    &arch::recurrent_gemma,
    &arch::regnet,
    &arch::rembert,
    &arch::resnet,
    &arch::roberta,
    &arch::roberta_prelayernorm,
    &arch::roc_bert,
    &arch::roformer,
    &arch::sam_vision_model,
    &arch::seamless_m4t,
    &arch::seed_oss,
    &arch::siglip2_vision_model,
    &arch::siglip_vision_model,
    &arch::smollm3,
    &arch::smolvlm,
    &arch::solar_open,
    &arch::squeezebert,
    &arch::stablelm,
    &arch::starcoder2,
    &arch::swinv2,
    &arch::t5,
    &arch::t5gemma2,
    &arch::tapas,
    &arch::trocr,
    &arch::ultrabert,
    &arch::ultravbert,
    &arch::umt5,
    &arch::vaultgemma,
    &arch::vibevoice_asr,
    &arch::video_llama_3,
    &arch::video_llava,
    &arch::vit,
    &arch::voxtral,
    &arch::whisper,
    &arch::xglm,
    &arch::xlm,
    &arch::xlm_roberta,
    &arch::xlm_roberta_xl,
    &arch::xlnet,
    &arch::xlstm,
    &arch::xmod,
    &arch::yoso,
    &arch::youtu,
    &arch::zamba,
    &arch::zamba2,
    &arch::zaya,
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

/// All rows, as a value.
inline constexpr known_models every_model{architectures, architecture_count, read_model_among, read_model_of};

/// The row of a `model_type`, or null.
[[nodiscard]] constexpr const architecture* find_architecture(string_ref model_type) noexcept {
    return every_model.find(model_type);
}

/// Builds the model that a configuration describes; throws `config_error` where no row can.
[[nodiscard]] constexpr model read_model(config_view config) { return read_model_among(every_model, config); }

}  // namespace llmcost
