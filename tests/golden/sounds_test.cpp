// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "media_rows.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <string>

using namespace llmcost::testing;

namespace {

/// `TOKENS FRAMES SAMPLES` of a recording, without those that the oracle does not tell.
std::string format_audio_shape(const llmcost::model& m, std::int64_t milliseconds, const std::string& want) {
    try {
        const llmcost::audio_shape audio = m.spec->compute_media_shapes(m, {.audio_milliseconds = milliseconds}).audio;
        std::istringstream expected_fields(want);
        std::string out, name;
        for (const std::int64_t n : {audio.num_tokens, audio.num_frames, audio.num_samples}) {
            if (!(expected_fields >> name)) name.clear();
            out += (out.empty() ? "" : " ") + (name == "-" ? name : std::to_string(n));
        }
        return out;
    } catch (const llmcost::description_error&) {
        return "refused";
    }
}

}  // namespace

// sounds.txt, which tests/oracle/sounds.py writes
TEST_CASE("a recording of any length becomes what its feature extractor makes of it") {
    const auto rows = for_media_rows("sounds.txt", [](const llmcost::model& m, const std::string& location,
                                                      const std::string& length, const std::string& want) {
        INFO(location << " " << length);
        CHECK(format_audio_shape(m, std::stoll(length), want) == want);
    });
    for (const llmcost::model_spec* row : parts::registry)
        if (row->modalities.has_audio && !llmcost::string_ref(row->model_type).ends_with("_encoder")) {
            INFO(row->model_type);
            CHECK(rows.contains(row->model_type));
        }
}

TEST_CASE("what a file says of sound that a tower cannot read is refused where it stands") {
    const auto names = [](const std::string& type, const std::string& files, const char* pointer) {
        const std::string message = refusal_of(R"({"model_type": ")" + type + R"("})", files);
        INFO(type << " " << files << ": " << message);
        CHECK(message.find(std::string("config.json: /") + pointer + ": expected") != std::string::npos);
    };
    const auto older = [](const std::string& settings) { return R"({"preprocessor_config": )" + settings + "}"; };
    const auto newer = [](const std::string& settings) {
        return R"({"processor_config": {"feature_extractor": )" + settings + "}}";
    };
    names("whisper", older(R"({"chunk_length": 15})"), "preprocessor_config/chunk_length");
    names("whisper", older(R"({"hop_length": 80})"), "preprocessor_config/hop_length");
    names("whisper", older(R"({"sampling_rate": 8000})"), "preprocessor_config/sampling_rate");
    names("whisper", older(R"({"feature_size": 128})"), "preprocessor_config/feature_size");
    names("whisper", newer(R"({"chunk_length": 0})"), "processor_config/feature_extractor/chunk_length");
    names("whisper", older(R"({"n_fft": 2000000})"), "preprocessor_config/n_fft");
    names("whisper", older(R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor"})"),
          "preprocessor_config/feature_extractor_type");
    names("qwen2_audio", newer(R"({"chunk_length": 15})"), "processor_config/feature_extractor/chunk_length");
    names("audioflamingo3", older(R"({"sampling_rate": 8000})"), "preprocessor_config/sampling_rate");
    names("audioflamingo3", R"({"processor_config": {"max_audio_len": 29}})", "processor_config/max_audio_len");
    names("glmasr", older(R"({"chunk_length": 15})"), "preprocessor_config/chunk_length");
    names("qwen3_asr", older(R"({"n_window": 100})"), "preprocessor_config/n_window");
    names("wav2vec2", older(R"({"sampling_rate": "16k"})"), "preprocessor_config/sampling_rate");
    names("wav2vec2-bert", older(R"({"stride": 3})"), "preprocessor_config/stride");
    names("wav2vec2-bert", older(R"({"num_mel_bins": 40})"), "preprocessor_config/num_mel_bins");
    names("parakeet_ctc", older(R"({"win_length": 600})"), "preprocessor_config/win_length");
    names("lasr_ctc", older(R"({"feature_size": 80})"), "preprocessor_config/feature_size");
    names("cohere_asr", older(R"({"max_audio_clip_s": 0})"), "preprocessor_config/max_audio_clip_s");
    names("granite_speech", R"({"processor_config": {"audio_processor": {"projector_window_size": 10}}})",
          "processor_config/audio_processor/projector_window_size");
    names("granite_speech", older(R"({"n_mels": 64})"), "preprocessor_config/n_mels");
    names("granite_speech", older(R"({"n_fft": 511})"), "preprocessor_config/n_fft");
    names("gemma3n", R"({"processor_config": {"audio_seq_length": 100}})", "processor_config/audio_seq_length");
    names("gemma3n", older(R"({"hop_length_ms": 0})"), "preprocessor_config/hop_length_ms");
    names("fun_asr_nano", older(R"({"num_frames_lfr": 5})"), "preprocessor_config/num_frames_lfr");
    names("vibevoice_asr", older(R"({"sampling_rate": 16000})"), "preprocessor_config/sampling_rate");
    names("audio-spectrogram-transformer", older(R"({"max_length": 512})"), "preprocessor_config/max_length");
    // the newer file holds where both are there; sizes that nothing depends on are left alone
    const std::string conflicting_files =
        R"({"preprocessor_config": {"chunk_length": 15}, "processor_config": {"feature_extractor": {"chunk_length": 30}}})";
    CHECK(refusal_of(R"({"model_type": "whisper"})", conflicting_files).empty());
    CHECK(
        refusal_of(R"({"model_type": "whisper"})", older(R"({"n_samples": 1, "dither": 0.1, "padding_side": "left"})"))
            .empty());
}
