// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/memory_pictures.hpp>
#include <llmcost/cli/question.hpp>
#include <llmcost/cli/room.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/sweep.hpp>
#include <llmcost/cli/swept_bytes.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/cli/train_page.hpp>
#include <llmcost/memory/inference.hpp>

// `llmcost memory`: what inference holds.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> engine_memory_words(const program&) { return names_in(engine_memories); }

}  // namespace detail

namespace option {

// clang-format off
inline constexpr option_row
    allocator    {"--engine", value_kind::text, "ENGINE", "vllm, sglang, trtllm, transformers, or none (vllm)", {}, detail::engine_memory_words},
    utilization  {"--gpu-memory-utilization", value_kind::number, "X", "share of a device that vllm takes (0.92)"},
    engine_memory{"--engine-memory", value_kind::text, "SIZE", "the engine's own: peak, libraries, as its log says"};
// clang-format on

}  // namespace option

/// The numbers of a step of inference, which may be lists.
inline constexpr std::array memory_lists{listed(option::batch), listed(option::sequence), listed(option::past),
                                         listed(option::encoder_sequence)};

namespace detail {

inline engine_memory engine_memory_of(const arguments& given) {
    const std::string_view name = given.text(option::allocator, "vllm");
    const engine_memory* const known = find_engine_memory(name);
    if (known == nullptr) {
        nearest_names near(name);
        for (const engine_memory& e : engine_memories) near.offer(e.name);
        refuse("--engine", "no engine " + in_quotes(name) + near.hint_or_all());
    }
    engine_memory out = *known;
    if (given.has(option::utilization) && out.name != "vllm")
        refuse(option::utilization.name, "is vllm's: other engines share out the memory by other rules");
    out.share = given.real(option::utilization, out.share, 1e-3, 1);
    if (!given.has(option::engine_memory)) return out;
    out.runtime = read_bytes(option::engine_memory.name, given.text(option::engine_memory)), out.is_measured = true;
    return out;
}

/// The workload of a command that asks about memory: one step, whatever has been cached before it.
inline workload memory_workload(const arguments& given) {
    workload load;
    load.batch = given.number(option::batch, 1);
    load.sequence = given.number(option::sequence, 1024);
    load.past = given.number(option::past, 0, 0);
    load.encoder_sequence = given.number(option::encoder_sequence, 0, 0);
    read_media(given, load);
    load.weights = given.type(option::dtype), load.activations = given.type(option::activation_dtype);
    load.cache = given.type(option::cache_dtype);
    load.head = logits::last;
    return load;
}

/// Says what of a file or plan of weights is not as one may think.
inline void note_on_weights(const read_subject& read, const streams& io) {
    for (const std::string& said : {read.stored.problem, read.stored.note})
        if (!said.empty()) io.err << "llmcost: " << said << '\n';
}
/// Bytes of weights that are not of one element type.
inline maybe<count> bytes_of_weights(const read_subject& read) {
    return read.stored.applied ? maybe<count>{read.stored.bytes.total} : maybe<count>{};
}

struct memory_part {
    std::string_view name;
    std::string_view words;
    count bytes;
};

inline std::vector<memory_part> parts_of_memory(const inference_memory& m) {
    return {{"weights", "weights", m.weights},
            {"cache_allocated", "cache, as it is handed out", m.cache_allocated},
            {"activations_peak", "tensors of a step at most", m.activations_peak},
            {"runtime", "the engine itself", m.runtime}};
}

/// `2 sequences of 4,096 tokens`.
inline std::string inputs_of(const read_subject& read, const workload& load) {
    if (unit_of(read.subject, load) != input_unit::token) return input_words(read.subject, load);
    return std::to_string(load.batch) + (load.batch == 1 ? " sequence" : " sequences") + " of " +
           grouped(count(load.past) + count(load.sequence)) + " tokens";
}

/// `36,192 blocks of 16, 579,072 tokens`: what an engine has left for the cache; empty where no memory is asked about.
inline std::string line_on_cache(const room_asked& room, const engine_memory& by, const maybe<cache_room>& cache) {
    if (!room.asked() || !cache) return {};
    return "The cache may take " + in_bytes(cache->bytes) + " of " + formatted("%.3g", by.share) + " of " + room.of + ": " +
           grouped(count(cache->blocks)) + (cache->blocks == 1 ? " block" : " blocks") + " of " + std::to_string(by.block) +
           ", " + grouped(count(cache->tokens)) + " tokens\n";
}

inline std::string memory_page(const read_subject& read, const workload& load, const engine_memory& by,
                               const inference_memory& m, const room_asked& room, const maybe<cache_room>& cache) {
    std::string out = read.found.who.name + "\n";
    std::vector<std::string> parts{inputs_of(read, load)};
    if (by.name != "none") parts.emplace_back(by.name);
    const storage_types types = types_of(read.subject, load);
    parts.push_back(read.stored.applied ? read.stored.words : std::string(name_of(types.weights)) + " weights");
    if (m.cache != count{}) parts.push_back(std::string(name_of(types.cache)) + " cache");
    if (read.subject.dims.quantized && !read.stored.applied) parts.emplace_back("quantization_config not applied");
    out += wrapped(parts, 80) + "\nTotal " + in_bytes(m.total()) + '\n';
    for (const memory_part& p : parts_of_memory(m))
        if (p.bytes != count{})
            out += "  " + left(p.words, 28) + right(in_bytes(p.bytes), 9) + right(percent(p.bytes, m.total()), 8) + "  " +
                   bar_of(p.bytes, m.total(), 28) + '\n';
    if (m.cache != m.cache_allocated)
        out += "\nThe cache itself is " + in_bytes(m.cache) + ": the rest is whole blocks and windows that are kept.\n";
    const std::string line = line_on_room(room, m.total());
    return line.empty() ? out : out + '\n' + line_on_cache(room, by, cache) + line;
}

/// The answer about one workload.
inline answered memory_answer_of(const arguments& given, const read_subject& read, const workload& load,
                                 const engine_memory& by, const inference_memory& m, const room_asked& room) {
    const auto format = static_cast<output_format>(given.choice(option::format));
    const exit_code code = code_of(room, m.total());
    maybe<cache_room> cache;
    if (room.asked()) cache = cache_room_of(read.subject, load, by, m, room.bytes);
    if (format == output_format::text) return {detail::memory_page(read, load, by, m, room, cache), code};
    if (format != output_format::json) {
        table t{{{"part"}, {"bytes", true}}, {}};
        for (const detail::memory_part& p : detail::parts_of_memory(m))
            t.rows.push_back({std::string(p.name), digits(p.bytes)});
        t.rows.push_back({"total", digits(m.total())});
        return {written(t, format), code};
    }
    json_writer json;
    json.object().member("model", read.found.who.name).member("engine", by.name);
    json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past);
    json.key("weights_as");
    read.stored.applied ? json.value(read.stored.words) : json.null();
    json.member("weights", m.weights).member("cache", m.cache).member("cache_allocated", m.cache_allocated);
    json.member("activations_peak", m.activations_peak).member("runtime", m.runtime).member("total", m.total());
    json.member("gpu_memory_utilization", by.share);
    for (const auto& [name, n] : {std::pair{"cache_available", cache->bytes},
                                  {"cache_blocks", count(cache->blocks)},
                                  {"cache_tokens", count(cache->tokens)}}) {
        json.key(name);
        cache ? json.value(n) : json.null();
    }
    put_room(json, room, m.total());
    json.end_object();
    return {json.text() + "\n", code};
}

/// Columns of a table over workloads.
inline constexpr std::array<std::string_view, 6> memory_columns{"weights",          "cache",   "cache_allocated",
                                                                "activations_peak", "runtime", "total"};

inline svg_picture memory_picture(const read_subject& read, const workload& load, const inference_memory& m,
                                  const room_asked& room) {
    std::vector<memory_bar> bars;
    std::string description;
    for (const memory_part& p : parts_of_memory(m)) {
        bars.push_back({std::string(p.words), p.bytes});
        description += (description.empty() ? "" : "; ") + std::string(p.words) + ' ' + in_bytes(p.bytes);
    }
    return breakdown_picture({read.found.who.name + ", " + inputs_of(read, load), description}, bars, room);
}

}  // namespace detail

/// What `llmcost memory` prints.
[[nodiscard]] inline answered memory_answer(const arguments& given, const program& io) {
    const engine_memory by = detail::engine_memory_of(given);
    const sweep work(given, memory_lists);
    workload load = detail::memory_workload(work.at(0));
    const room_asked room = read_room(given);
    check_plot(given, true, {});
    const read_subject read = io.read(given, io);
    complete_workload(read.subject, given, load);
    check_workload(read.subject, {.base = load});
    detail::note_on_weights(read, io);
    const auto complete = [&](const arguments& each) {
        workload asked = detail::memory_workload(each);
        complete_workload(read.subject, each, asked);
        return asked;
    };
    if (work.any())
        return swept_bytes(given, io, work, read.found.who.name, room, detail::memory_columns, complete,
                           [&](const arguments&, const workload& asked) -> std::vector<count> {
                               const inference_memory m =
                                   inference_memory_of(read.subject, asked, by, detail::bytes_of_weights(read));
                               return {m.weights, m.cache, m.cache_allocated, m.activations_peak, m.runtime, m.total()};
                           });
    const inference_memory m = inference_memory_of(read.subject, load, by, detail::bytes_of_weights(read));
    answered out = detail::memory_answer_of(given, read, load, by, m, room);
    if (!given.text(option::plot).empty())
        out.file = {std::string(given.text(option::plot)), detail::memory_picture(read, load, m, room).document()};
    return out;
}

inline constexpr std::array memory_options = joined(
    model_options, memory_lists, std::array{option::image, option::images, option::video, option::videos, option::audio},
    std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype, option::allocator,
               option::utilization, option::engine_memory, option::format, option::plot},
    titled("Memory", room_options), help_option);

inline constexpr std::array<example_row, 4> memory_examples{{
    {"llmcost memory --model meta-llama/Llama-3.1-8B --dtype bfloat16 --sequence 8192 --memory 24GB", "does it fit?"},
    {"llmcost memory --model Qwen/Qwen3-8B --batch 32 --past 4096 --sequence 1 --engine sglang", "32 chats"},
    {"llmcost memory --model Qwen/Qwen3-8B --batch 1,8 --sequence 1024..131072:x2 --memory 80GB", "up to where it fits"},
    {"llmcost memory --model google/gemma-2-2b --engine none --format json", "weights, cache, tensors; bytes"},
}};

inline constexpr command memory_command{
    .name = "memory",
    .meaning = "what inference holds, and whether it fits",
    .usage = "(--model NAME | --config FILE) [option]...",
    .about =
        "Memory of a step of inference: weights, the cache as an engine hands it out, the\n"
        "most that the step's tensors take at a time, and the engine itself.\n",
    .options = memory_options,
    .answer = memory_answer,
    .examples = memory_examples};

}  // namespace llmcost::cli
