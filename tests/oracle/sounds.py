#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what Transformers' feature extractors make of recordings: how many tokens stand for one, what a tower is fed.

    sounds.py -o tests/golden/sounds.txt [TYPE...]

Needs torch, torchaudio and Transformers, no weights, no tokenizer and no GPU. For each type and each way to set its feature
extractor the class that AutoFeatureExtractor picks is made of the settings and given recordings of many lengths: by the
type's Processor class, with the keywords that this hands it always, where words stand for sound, else as it stands.

What an extractor is set to is written as the files beside a configuration have it: `preprocessor_config` is one of an extractor
alone, `processor_config` has it under `feature_extractor`, beside what the Processor class is set to; `none` is neither.
`refused` is a recording that the extractor refuses, that has no frame, or for which no token stands. Some towers read what a
mask leaves.
"""

import argparse
import importlib
import json
import sys
import warnings
from pathlib import Path

from sizes import Part, Tokens

HEAD = """# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Written by tests/oracle/sounds.py: transformers {transformers}, torch {torch}, torchaudio {torchaudio}.
# milliseconds = tokens frames samples (of which a tower is fed); -: not told
"""
LENGTHS = (100, 137, 500, 999, 1000, 2345, 5500, 10007, 29999, 30000, 30001, 45678, 61003, 90000)
SHORT = (20, 26, 33)  # of which some extractors make no frame


class Family:
    """A type: configurations with the files beside them, its classes, and how to read what they give."""

    def __init__(self, kind, *cases, extractor, told, folder=None, processor=None, lengths=SHORT + LENGTHS):
        self.kind, self.cases, self.extractor, self.told = kind, cases or (({}, None),), extractor, told
        self.folder, self.processor, self.lengths = folder, processor, lengths


def samples_of(milliseconds, rate):
    import numpy as np

    return (np.random.RandomState(0).randn(milliseconds * rate // 1000) * 0.01).astype("float32")


def made_of(family, files, defaults):
    """The extractor, or a Processor that holds it."""
    import inspect

    import transformers

    files = json.loads(json.dumps(files or {}))
    whole = files.get("processor_config", {})
    said = whole.pop("feature_extractor", None) or whole.pop("audio_processor", None) or files.get("preprocessor_config", {})
    said.pop("feature_extractor_type", None)
    extractor = getattr(transformers, family.extractor)(**(defaults | said))
    if family.processor is None:
        return extractor, None
    folder = family.folder or family.kind
    module = importlib.import_module(f"transformers.models.{folder}.processing_{folder}")
    made = getattr(module, family.processor)
    wanted = inspect.signature(made.__init__).parameters
    parts = {"feature_extractor": extractor, "audio_processor": extractor, "tokenizer": Tokens()}
    parts |= {"image_processor": Part(), "video_processor": Part()}
    return extractor, made(**({k: v for k, v in parts.items() if k in wanted} | {k: v for k, v in whole.items() if k in wanted}))


def record(family, made, milliseconds):
    """`TOKENS FRAMES SAMPLES` of a recording."""
    extractor, processor = made
    heard = samples_of(milliseconds, extractor.sampling_rate)
    try:
        keywords = {"sampling_rate": extractor.sampling_rate, "return_tensors": "pt"}
        out = tokens = None
        if processor is not None:
            keywords = {"return_tensors": "pt", **getattr(processor, "audio_kwargs", {})}
        if {"_process_audio", "replace_audio_token"} & set(vars(type(processor))):
            out, words = processor._process_audio([heard], **keywords)
            tokens = "".join(words).count(processor.audio_token)
        elif family.told is not voxtral:
            out = extractor([heard], **keywords)
        told = family.told(made, out, tokens, heard, keywords)
    except (ValueError, RuntimeError, AssertionError, ZeroDivisionError, TypeError, IndexError) as e:
        return "refused", str(e)
    if told[0] == 0 or told[1] == 0:
        return "refused", "no token stands for it, or it has no frame"
    return " ".join("-" if n is None else str(int(n)) for n in told), None


def table_of(family):
    from transformers.processing_utils import ProcessorMixin

    ProcessorMixin.check_argument_for_proper_class = lambda self, name, argument: type(argument)
    lines = [f"type {family.kind}"]
    for config, files, *agrees in family.cases:
        config = {"model_type": family.kind} | config
        lines.append(f"config {json.dumps(config, separators=(',', ':'))}")
        lines.append("files " + ("none" if files is None else json.dumps(files, separators=(",", ":"))))
        made = made_of(family, files, agrees[0] if agrees else {})
        for milliseconds in family.lengths:
            told, why = record(family, made, milliseconds)
            if why:
                print(f"{family.kind} {milliseconds}: {why[:140]}", file=sys.stderr)
            lines.append(f"{milliseconds} = {told}")
    return "\n".join(lines) + "\n"


# ---- what is read off what they give: tokens, frames, samples


def raw(made, out, tokens, heard, keywords):
    """Samples as they are."""
    return tokens, None, out["input_values"].shape[-1]


def rows(made, out, tokens, heard, keywords):
    """Frames of (batch, frames, features)."""
    features = out["input_features"] if "input_features" in out else out["input_values"]
    return tokens, features.shape[1], None


def columns(made, out, tokens, heard, keywords):
    """Frames of (windows, features, frames), those of silence too."""
    return tokens, out["input_features"].shape[0] * out["input_features"].shape[-1], None


def masked(made, out, tokens, heard, keywords):
    """Frames that a mask leaves, which the model packs (`Qwen2_5OmniThinkerForConditionalGeneration.get_audio_features`)."""
    return tokens, out["feature_attention_mask"].sum(), None


def gemma3n(made, out, tokens, heard, keywords):
    return tokens, out["input_features"].shape[1], len(heard[:480000])


def phi4(made, out, tokens, heard, keywords):
    return out["audio_embed_sizes"][0], out["audio_input_features"].shape[1], None


def voxtral(made, out, tokens, heard, keywords):
    """processing_voxtral.py, `_retrieve_input_features`; modeling_voxtral.py, `get_audio_features`: four states are one."""
    most = keywords.pop("max_source_positions")
    features = made[1]._retrieve_input_features([heard], most, **keywords)
    return features.shape[0] * features.shape[-1] // 2 * 1280 // 5120, features.shape[0] * features.shape[-1], None


def qwen3_asr(made, out, tokens, heard, keywords):
    """What the extractor makes by itself; processing_qwen3_asr.py, `_get_audio_token_length`, of what its mask leaves.

    Qwen3ASRProcessor hands it `padding=True`, by which silence is cut off; the class's own default fills up to `chunk_length`.
    """
    from transformers.models.qwen3_asr.processing_qwen3_asr import Qwen3ASRProcessor

    out = made[0]([heard], sampling_rate=made[0].sampling_rate, return_tensors="pt", return_attention_mask=True)
    heard = out["attention_mask"].sum(-1)
    return Qwen3ASRProcessor._get_audio_token_length(None, heard)[0], out["input_features"].shape[-1], None


# ---- the types


def same(said, **whole):
    """As the newer file has it."""
    return {"processor_config": {"feature_extractor": said, **whole}}


def old(**said):
    return {"preprocessor_config": said}


WAV2VEC2 = {"feature_extractor_type": "Wav2Vec2FeatureExtractor", "feature_size": 1, "do_normalize": True}
RAW = (({}, None), ({}, old(**WAV2VEC2, sampling_rate=8000)), ({}, same(WAV2VEC2 | {"sampling_rate": 22050})))


def of_samples(kind, config=None):
    return Family(kind, *((config or {} | c, f) for c, f in RAW), extractor="Wav2Vec2FeatureExtractor", told=raw, lengths=LENGTHS)


def windows(chunk, hop=160):
    """Settings of Whisper's extractor."""
    return {"chunk_length": chunk, "hop_length": hop, "sampling_rate": 16000, "n_fft": 400, "feature_size": 128}


MEL128 = {"feature_size": 128}
SECTIONS = {"rope_type": "default", "rope_theta": 1e6}
OMNI3 = {"text_config": {"head_dim": 128, "rope_parameters": SECTIONS | {"mrope_section": [24, 20, 20]}, "hidden_size": 3584}}
OMNI25 = {"text_config": {"rope_parameters": SECTIONS | {"mrope_section": [16, 24, 24]}}}
TRANSCRIBES = {"architectures": ["Speech2TextForConditionalGeneration"]}
QUARTER = {"audio_config": {"max_source_positions": 750}}
FILTERS = (
    ({}, None),
    ({}, old(feature_size=80, num_mel_bins=80, stride=2, sampling_rate=8000)),
    ({}, same({"feature_size": 160, "num_mel_bins": 160, "stride": 1})),
    ({}, same({"feature_size": 40, "num_mel_bins": 40, "stride": 4})),
)
FAST = (
    ({}, None),
    ({}, old(hop_length=80, n_fft=512, win_length=400)),
    ({}, same({"hop_length": 200, "n_fft": 511, "win_length": 320})),
)

FAMILIES = (
    Family(
        "audio-spectrogram-transformer",
        ({}, None),
        ({"max_length": 512}, old(max_length=512, num_mel_bins=128, sampling_rate=8000)),
        ({"num_mel_bins": 64, "max_length": 298}, same({"max_length": 298, "num_mel_bins": 64, "feature_size": 1})),
        extractor="ASTFeatureExtractor",
        told=rows,
    ),
    Family(
        "audioflamingo3",
        ({}, None, MEL128),
        ({}, old(**windows(30))),
        ({}, same(windows(30), max_audio_len=60)),
        (QUARTER, same(windows(15), max_audio_len=70)),
        (QUARTER, old(**windows(30, 320))),
        extractor="WhisperFeatureExtractor",
        processor="AudioFlamingo3Processor",
        told=columns,
    ),
    Family(
        "musicflamingo",
        ({}, None, MEL128),
        ({}, same(windows(30), max_audio_len=31)),
        (QUARTER, same(windows(15), max_audio_len=1200)),
        extractor="WhisperFeatureExtractor",
        processor="MusicFlamingoProcessor",
        told=columns,
    ),
    Family("canary", *FAST, extractor="ParakeetFeatureExtractor", processor="CanaryProcessor", told=rows),
    Family(
        "cohere_asr",
        *FAST,
        ({}, same({"max_audio_clip_s": 60.5, "overlap_chunk_second": 10})),
        extractor="CohereAsrFeatureExtractor",
        processor="CohereAsrProcessor",
        told=rows,
        lengths=SHORT + tuple(n for n in LENGTHS if n <= 30001) + (34999, 35000),
    ),
    of_samples("data2vec-audio"),
    Family(
        "fun_asr_nano",
        ({}, None),
        ({}, old(frame_shift=20, frame_length=40, num_frames_lfr=7, stride_lfr=4)),
        ({"audio_config": {"num_stacked_frames": 5}}, same({"num_frames_lfr": 5, "stride_lfr": 3, "feature_size": 80})),
        extractor="FunAsrNanoFeatureExtractor",
        processor="FunAsrNanoProcessor",
        told=rows,
    ),
    Family(
        "muse_spark",
        ({}, None),
        ({}, old(sampling_rate=16000)),
        ({"audio_config": {"patch_sizes": [16, 6, 5, 2]}}, same({"samples_per_token": 960, "sampling_rate": 22050})),
        extractor="MuseSparkFeatureExtractor",
        processor="MuseSparkProcessor",
        told=raw,
    ),
    Family(
        "phi4_multimodal",
        ({}, None),
        ({}, old(sampling_rate=8000, hop_length=80, win_length=200)),
        ({}, same({"hop_length": 200, "n_fft": 400, "win_length": 320})),
        extractor="Phi4MultimodalFeatureExtractor",
        told=phi4,
    ),
    Family(
        "gemma3n",
        ({}, None),
        ({}, old(hop_length_ms=20.0, frame_length_ms=40, sampling_rate=8000)),
        ({"audio_soft_tokens_per_image": 100}, same({"frame_length_ms": 31.25, "hop_length_ms": 12.5}, audio_seq_length=100)),
        extractor="Gemma3nAudioFeatureExtractor",
        processor="Gemma3nProcessor",
        told=gemma3n,
    ),
    Family(
        "glmasr",
        ({}, None, MEL128),
        ({}, old(**windows(30))),
        ({}, same(windows(20), max_audio_len=50)),
        ({}, same(windows(30, 200), max_audio_len=61)),
        extractor="WhisperFeatureExtractor",
        processor="GlmAsrProcessor",
        told=columns,
    ),
    *(
        Family(
            kind,
            ({}, None),
            ({}, old(hop_length=80, n_fft=512, win_length=400, sampling_rate=8000)),
            ({}, same({"hop_length": 200, "projector_window_size": 15, "projector_downsample_rate": 5})),
            (
                {"window_size": 9, "downsample_rate": 3, "encoder_config": {"input_dim": 128}},
                {
                    "processor_config": {
                        "audio_processor": {"n_mels": 64, "projector_window_size": 9, "projector_downsample_rate": 3}
                    }
                },
            ),
            extractor="GraniteSpeechFeatureExtractor",
            folder="granite_speech",
            processor="GraniteSpeechProcessor",
            told=rows,
        )
        for kind in ("granite_speech", "granite_speech_plus")
    ),
    Family(
        "granite_speech5_ctc",
        ({}, None),
        ({}, old(hop_length=100, n_fft=400, win_length=400)),
        ({}, same({"hop_length": 320, "sampling_rate": 22050})),
        extractor="GraniteSpeech5FeatureExtractor",
        told=rows,
    ),
    of_samples("hubert"),
    Family(
        "lasr_ctc",
        ({}, None),
        ({}, old(hop_length=80, win_length=320, n_fft=512)),
        ({}, same({"hop_length": 333, "win_length": 511, "feature_size": 128})),
        extractor="LasrFeatureExtractor",
        folder="lasr",
        processor="LasrProcessor",
        told=rows,
    ),
    of_samples("moonshine"),
    Family(
        "parakeet_ctc",
        *FAST,
        extractor="ParakeetFeatureExtractor",
        folder="parakeet",
        processor="ParakeetProcessor",
        told=rows,
    ),
    Family(
        "qwen2_5_omni_thinker",
        (OMNI25, None, MEL128),
        (OMNI25, old(**windows(300))),
        (OMNI25, same(windows(20, 170))),
        extractor="WhisperFeatureExtractor",
        folder="qwen2_5_omni",
        processor="Qwen2_5OmniProcessor",
        told=masked,
    ),
    Family(
        "qwen2_audio",
        ({}, None, MEL128),
        (QUARTER, old(**windows(15))),
        (QUARTER, same(windows(30, 320))),
        extractor="WhisperFeatureExtractor",
        processor="Qwen2AudioProcessor",
        told=columns,
    ),
    Family(
        "qwen3_asr",
        ({}, None),
        ({}, old(chunk_length=20, min_length=16000, hop_length=160, n_window=50)),
        ({}, same({"chunk_length": 31, "hop_length": 200, "min_length": 0})),
        extractor="Qwen3ASRFeatureExtractor",
        told=qwen3_asr,
    ),
    Family(
        "qwen3_asr",
        ({}, old(feature_extractor_type="WhisperFeatureExtractor", **windows(30))),
        extractor="WhisperFeatureExtractor",
        told=qwen3_asr,
    ),
    Family(
        "qwen3_omni_moe_thinker",
        (OMNI3, None, MEL128),
        (OMNI3, old(**windows(300))),
        (OMNI3, same(windows(30, 170))),
        extractor="WhisperFeatureExtractor",
        folder="qwen3_omni_moe",
        processor="Qwen3OmniMoeProcessor",
        told=masked,
    ),
    *(
        Family(kind, *(({"architectures": [named]}, f) for _, f in FILTERS), extractor="SeamlessM4TFeatureExtractor", told=rows)
        for kind, named in (
            ("seamless_m4t", "SeamlessM4TModel"),
            ("seamless_m4t_v2", "SeamlessM4Tv2ForSpeechToText"),
            ("wav2vec2-bert", "Wav2Vec2BertModel"),
        )
    ),
    of_samples("sew"),
    of_samples("sew-d"),
    of_samples("speech-encoder-decoder", {"encoder": {"model_type": "wav2vec2"}, "decoder": {"model_type": "bart"}}),
    Family(
        "speech_to_text",
        (TRANSCRIBES, None),
        (TRANSCRIBES, old(num_mel_bins=80, feature_size=80, sampling_rate=16000)),
        (TRANSCRIBES | {"input_feat_per_channel": 40}, same({"num_mel_bins": 40, "feature_size": 40})),
        extractor="Speech2TextFeatureExtractor",
        told=rows,
    ),
    Family(
        "speecht5",
        ({}, None),
        ({}, old(sampling_rate=8000, feature_size=1, num_mel_bins=80, hop_length=16, win_length=64)),
        ({}, same({"sampling_rate": 22050})),
        extractor="SpeechT5FeatureExtractor",
        told=raw,
        lengths=LENGTHS,
    ),
    of_samples("unispeech"),
    of_samples("unispeech-sat"),
    Family(
        "vibevoice_asr",
        ({}, None),
        ({}, old(sampling_rate=24000, pad_to_multiple_of=6400)),
        ({}, same({"sampling_rate": 24000, "normalize_audio": False})),
        extractor="VibeVoiceAcousticTokenizerFeatureExtractor",
        processor="VibeVoiceAsrProcessor",
        told=raw,
    ),
    Family(
        "voxtral",
        ({}, None, MEL128),
        ({}, old(**windows(15))),
        ({}, same(windows(30, 80))),
        extractor="WhisperFeatureExtractor",
        processor="VoxtralProcessor",
        told=voxtral,
    ),
    of_samples("wav2vec2"),
    of_samples("wav2vec2-conformer"),
    of_samples("wavlm"),
    Family(
        "whisper",
        ({}, None),
        ({"max_source_positions": 750}, old(chunk_length=15, feature_size=80, n_samples=240000, nb_max_frames=1500)),
        ({}, same({"chunk_length": 60, "sampling_rate": 8000, "n_fft": 200})),
        ({"max_source_positions": 1000}, same({"hop_length": 240, "n_fft": 402})),
        extractor="WhisperFeatureExtractor",
        told=columns,
    ),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="*", metavar="TYPE", help="only these")
    parser.add_argument("-o", "--output", type=Path)
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    import torch
    import torchaudio
    import transformers

    transformers.logging.set_verbosity_error()
    bare = {
        name: m.__version__.partition("+")[0]
        for name, m in {"transformers": transformers, "torch": torch, "torchaudio": torchaudio}.items()
    }
    text = HEAD.format(**bare)
    for family in FAMILIES:
        if not a.types or family.kind in a.types:
            text += table_of(family)
    (a.output.write_text(text, encoding="utf-8") if a.output else sys.stdout.write(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
