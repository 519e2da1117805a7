// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/selection.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/text.hpp>
#include <llmcost/detail/messages.hpp>
#include <llmcost/detail/nearest.hpp>
#include <llmcost/files/check_gguf.hpp>
#include <llmcost/files/gguf_sizes.hpp>
#include <llmcost/memory/quantization_words.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/read_quantization.hpp>
#include <llmcost/serving/stored_parts.hpp>

// What a model's weights take where they are not all of one element type: as a file stores them, as a method would, or as
// the configuration says.
namespace llmcost::cli {

namespace detail {

/// Whether a type of a file is one that nothing is quantised to.
inline bool is_plain(std::string_view type) {
    for (const std::string_view plain : {"F64", "F32", "F16", "BF16"})
        if (type == plain) return true;
    return dtype_from(string_ref(type)) != dtype::unspecified && bits_of(dtype_from(string_ref(type))) >= 16;
}

/// Counts parameters and those of them that are quantised, and says so.
inline void put_share(stored_subject& out, const model_listing& listing, const std::string& as) {
    for (const tensor_shape& t : listing.tensors) {
        count n = 1;
        for (const std::int64_t size : t.sizes) n *= count(size);
        out.elements += n;
        const auto known = out.bytes.parameters.find(t.name);
        if (known != out.bytes.parameters.end() && !is_plain(known->second.type)) out.quantized += n;
    }
    out.words = "weights as " + as;
    if (out.quantized != count{}) out.words += " (" + percent(out.quantized, out.elements) + " of them quantised)";
}

/// As a `quantization_config` says; a checkpoint without a type keeps what is not quantised in the method's, else bfloat16.
inline stored_subject stored_by_plan(const model& m, const quantization& how, const std::string& as) {
    stored_subject out{.applied = true};
    out.otherwise = m.dims.type != dtype::unspecified     ? m.dims.type
                    : how.otherwise != dtype::unspecified ? how.otherwise
                                                          : dtype::bfloat16;
    const stored_weights all = quantized_weights(m, how, out.otherwise);
    out.bytes = as_stored(all);
    out.elements = count(all.elements), out.quantized = count(all.quantized);
    out.words = "weights as " + as + " (" + percent(out.quantized, out.elements) + " of them quantised)";
    return out;
}

/// As llama.cpp would write them.
inline stored_subject stored_by_mix(const read_subject& read, std::string_view mix) {
    stored_subject out{.applied = true, .otherwise = dtype::float16};  // of llama.cpp's cache, too
    const model_listing listing = list_model(read.subject, least_workload(read.subject));
    const gguf_source from = read.found.document.read_with([](config_view root) { return gguf_source_of(root); });
    try {
        const stored_tensors all = gguf_sizes(read.subject, listing, mix, from).weights;
        out.bytes = bytes_in_file(all.tensors, check_gguf(gguf_tensors(read.subject, listing), all));
    } catch (const error& e) {
        throw error(e.code(), std::string(option::quantization.name), e.what());
    }
    put_share(out, listing, std::string(mix) + " would store them");
    out.in_blocks_of_ggml = out.quantized != count{};
    return out;
}

/// As a file stores them.
inline stored_subject stored_in_file(read_subject& read) {
    const found_weights& file = *read.found.weights;
    stored_subject out{.applied = true, .otherwise = file.is_gguf ? dtype::float16 : dtype::bfloat16};
    const model_listing listing = list_model(read.subject, least_workload(read.subject));
    try {
        read.checked = file.is_gguf ? check_gguf(gguf_tensors(read.subject, listing), file.tensors)
                                    : check_tensors(listing, file.tensors.tensors);
    } catch (const error& e) {
        out.note = "which tensors of " + file.name + " belong to which module is not known: " + printable(e.what());
    }
    out.bytes = bytes_in_file(file.tensors.tensors, read.checked.value_or(tensor_check{}));
    put_share(out, listing, file.name + " stores them");
    out.in_blocks_of_ggml = file.is_gguf && out.quantized != count{};
    if (read.checked && !read.checked->agrees())
        out.note = "the weights are those of " + file.name + ", which are not all as the model predicts (llmcost check)";
    return out;
}

/// A word of `--quantization`: a method, or one of llama.cpp's mixes; capitals and `_` or `-` make no difference.
struct asked_quantization {
    const quantization_word* method = nullptr;
    const llmcost::detail::gguf_mix_row* mix = nullptr;
};
inline asked_quantization read_quantization_word(std::string_view word) {
    std::string spelled = lower(word);
    const auto with = [&](char from, char to) {
        std::replace(spelled.begin(), spelled.end(), from, to);
        return std::string_view(spelled);
    };
    asked_quantization out{find_quantization_word(with('_', '-')), nullptr};
    out.mix = llmcost::detail::known_gguf_mix(with('-', '_'));
    return out;
}

/// Refuses a word that names no method.
[[noreturn]] inline void refuse_quantization(std::string_view word) {
    nearest_names near(word);
    for (const quantization_word& known : quantization_words) near.offer(known.name);
    for (const llmcost::detail::gguf_mix_row& mix : llmcost::detail::gguf_mixes) near.offer(mix.name);
    refuse(option::quantization.name, "no way to quantise is called " + in_quotes(word) + near.hint_or_all());
}

}  // namespace detail

/// Writes the plan of `--quantization` into a configuration, in place of its own.
inline void set_quantization(const arguments& given, config_document& document) {
    if (!given.has(option::quantization)) return;
    const auto [known, mix] = detail::read_quantization_word(given.text(option::quantization));
    if (known == nullptr && mix == nullptr) detail::refuse_quantization(given.text(option::quantization));
    if (known == nullptr) return;
    const auto inside = document.read_with([](config_view root) {
        const auto text = root.find("text_config");
        return text && text->is_object() && text->contains("quantization_config");
    });
    if (inside) document.set("text_config.quantization_config", "null");
    document.set("quantization_config", known->plan);
}

/// The weights of a model that has been read: as `--quantization` says, else in the type of `--dtype`, else as the file of
/// weights has them, else as `quantization_config` says. Nothing is applied where they are all of one type.
[[nodiscard]] inline stored_subject stored_weights_of(read_subject& read, const arguments& given) {
    const bool asked = given.has(option::quantization);
    const auto [known, mix] = detail::read_quantization_word(given.text(option::quantization));
    if (!asked && given.has(option::dtype)) return {};
    const bool file = !asked && read.found.weights.has_value();
    if (!asked && !file && !read.subject.dims.quantized) return {};
    try {
        check_size(read.subject, least_workload(read.subject));
        if (file) return detail::stored_in_file(read);
        if (mix != nullptr) return detail::stored_by_mix(read, mix->name);
        if (known != nullptr && !known->experts.empty() && read.subject.dims.moe.num_experts > 1)
            read.found.document.set("quantization_config", known->experts);
        const quantization how = read.found.document.read_with([](config_view root) { return read_quantization(root); });
        model m = read.subject;
        if (asked && given.has(option::dtype)) m.dims.type = given.type(option::dtype);
        return how.none() ? stored_subject{}
                          : detail::stored_by_plan(
                                m, how, asked ? std::string(known->name) + " would store them" : "quantization_config says");
    } catch (const error& e) {
        if (asked) throw;
        stored_subject out;
        (file ? out.note : out.problem) = printable(e.what());
        return out;
    }
}

}  // namespace llmcost::cli
