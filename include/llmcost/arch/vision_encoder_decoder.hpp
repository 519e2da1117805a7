// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/encoder_decoder.hpp>
#include <llmcost/arch/trocr.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace vision_encoder_decoder_detail {

enum own : std::uint8_t { in_own_width };
inline constexpr own_key keys[]{{.value = own_value::computed}};  // states are read as wide as they are

/// A model of texts that reads an image's states, under its scores of words.
using writer = value (*)(const site&, trace&, const value& states);

/// BART's decoder and its relatives'.
template <const stack_style& Style>
constexpr value write_as_stack(const site& here, trace& t, const value& states) {
    const module_info decoder{.name = "decoder", .type = here.type(name_of(head_kind::causal_lm)), .what = role::decoder};
    const module_info base{.name = "model", .type = here.type("DecoderWrapper")};
    t.enter(decoder), t.enter(base);
    const value x = t.leave(base, describe_decoder_module(here, t, Style, &states, here.dims.vocab_size));
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(decoder, t.returns(x, describe_word_scores(here, t, x, here.dims.vocab_size, false)));
}

/// BERT and its relatives (encoder_decoder.hpp).
constexpr value write_as_bert(const site& here, trace& t, const value& states) {
    return encoder_decoder_detail::describe_written_half(here, t, states);
}

/// TrOCR's decoder, which reads states in their own width where the configuration says how wide they are.
constexpr value write_as_trocr(const site& here, trace& t, const value& states) {
    shared_values read;
    read.own[0] = states;
    const site there{here.whole, here.row, here.dims, &read};
    const module_info decoder{.name = "decoder", .type = here.type(name_of(head_kind::causal_lm)), .what = role::decoder};
    t.enter(decoder);
    const value x = describe_within({.name = "model", .type = here.type("DecoderWrapper")}, here.row.base, there, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const literal name = here.row.names.lm_head;
    return t.leave(decoder, t.returns(x, describe_word_scores(here, t, x, here.dims.vocab_size, false, name)));
}

/// The types that may write.
struct writing_type {
    const architecture* row;
    writer write;
};
inline constexpr writing_type writing_types[]{
    {&bart, write_as_stack<bart_detail::style>},
    {&mbart, write_as_stack<bart_detail::mbart_style>},
    {&bert, write_as_bert},
    {&bert_generation, write_as_bert},
    {&trocr, write_as_trocr},
};
constexpr const writing_type* writing_type_of(const architecture& row) {
    for (const writing_type& each : writing_types)
        if (each.row->describe == row.describe && each.row->base == row.base) return &each;
    return nullptr;
}

/// States of another width are projected in every pass; those of an image are made in the first.
constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = here.type("Model")};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(whole);
    value states;
    {
        const recorder::idle_guard done{t, encoder_is_done(t.load())};
        const recorder::workload_guard shown{t, pictures(t.load(), t.load().batch, 0, 0)};
        states = describe_tower(here, t, 0, "encoder", role::vision);
    }
    if (encoder_is_done(t.load())) states = t.input({t.load().batch, states.dim(1), states.dim(2)});
    if (states.dim(2) != width && here.whole.own[in_own_width] == 0)
        states = t.call("enc_to_dec_proj", linear{states.dim(2), width, true}, states);
    sizes dims = here.whole.dims;
    dims.head = head_kind::causal_lm;
    const site text{here.whole, *here.whole.text, dims};
    return t.leave(whole, writing_type_of(*here.whole.text)->write(text, t, states));
}

/// Every image is made as large as the encoder's own.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images > 1) report_description("a text reads one image, through attention to it");
    const vision_sizes& image = m.beside[0].dims.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

constexpr void read(config_view config, model& m) {
    if (writing_type_of(*m.text) == nullptr)
        fail_unsupported(config, "decoder", "no row describes this type with an image's states");
    if (m.beside[0].dims.vision.image_height == 0 || m.beside[0].dims.vocab_size != 0)
        fail_unsupported(config, "encoder", "no row describes this type as an encoder of images");
    const auto decoder = config.optional_object("decoder");
    if (!decoder) fail_missing(config, "decoder", "a model of texts");
    const auto said = decoder->find("cross_attention_hidden_size");
    if (!said || said->is_null()) return;
    const std::int64_t width = m.beside[0].dims.hidden_size;
    if (said->as_positive() != width) fail_value(*decoder, "cross_attention_hidden_size", "the width of the encoder");
    if (writing_type_of(*m.text)->row != &trocr && width != m.dims.hidden_size)
        fail_unsupported(*decoder, "cross_attention_hidden_size", "no row describes states that are read in their own width");
    m.own[in_own_width] = 1;
}

}  // namespace vision_encoder_decoder_detail

// transformers/models/vision_encoder_decoder: an encoder of images and a model of texts that reads its states
inline constexpr architecture vision_encoder_decoder = [](architecture a) {
    a.model_type = "vision-encoder-decoder", a.prefix = "VisionEncoderDecoder";
    a.describe = vision_encoder_decoder_detail::describe, a.read_whole = vision_encoder_decoder_detail::read;
    a.heads = {head_kind::none}, a.defaults.head = head_kind::none, a.own = vision_encoder_decoder_detail::keys;
    a.media = vision_encoder_decoder_detail::show, a.reads.images = true;
    a.text = {.key = "decoder", .ties = true}, a.beside[0] = {.key = "encoder"};
    a.keys[0] = {"tie_word_embeddings", "", key_rule::absent};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
