// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/device_options.hpp>
#include <llmcost/cli/question.hpp>
#include <llmcost/cli/room.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/word_check.hpp>
#include <llmcost/devices/networks.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/kernels/library.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/execution_of.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/stage_links.hpp>

// What `llmcost latency` and `llmcost serve` have in common: a model, a device, and how an engine runs one on the other.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> routing_words(const program&) {
    return {"balanced", "power_law_1.01", "power_law_1.2"};
}
inline std::vector<std::string_view> network_words(const program&) { return names_in(networks); }

}  // namespace detail

namespace option {

// clang-format off
inline constexpr option_row
    engine        {"--engine",        value_kind::text,   "ENGINE", "trtllm, vllm, sglang: its kernels and its own time", {}, detail::engine_words},
    engine_version{"--version",       value_kind::text,   "VERSION", "of the engine's measured kernels (the newest)"},
    linear_dtype  {"--dtype",         value_kind::text,   "TYPE",   "of linear layers: bfloat16, fp8, fp8_block, nvfp4 ...", {}, detail::operand_words},
    experts_dtype {"--experts-dtype", value_kind::text,   "TYPE",   "of routed experts (as linear layers)", {}, detail::operand_words},
    kept_dtype    {"--cache-dtype",   value_kind::text,   "TYPE",   "of the cache (fp8 with fp8 and nvfp4; else 16 bits)", {}, detail::operand_words},
    routing       {"--routing",       value_kind::text,   "WORD",   "of tokens: balanced, power_law_1.01, power_law_1.2", {}, detail::routing_words},
    execution     {"--execution",     value_kind::choice, "graph|stream|eager", "fused in a CUDA graph; fused, one by one; unfused"},
    tp            {"--tp",            value_kind::number, "N",      "devices that share each layer (1)"},
    dp            {"--dp",            value_kind::number, "N",      "groups of those, each with sequences of its own (1)"},
    ep            {"--ep",            value_kind::number, "N",      "groups of devices that share the routed experts (1)"},
    network       {"--network",       value_kind::text,   "GBPS|NAME", "between nodes, GB/s of each device: 50, ib_ndr, roce_400, efa_p5", {}, detail::network_words},
    price         {"--price",         value_kind::number, "X",      "of a device for an hour, in any currency"},
    carbon        {"--carbon",        value_kind::number, "X",      "grams of CO2 per kWh"};
// clang-format on

}  // namespace option

/// How a model runs on a device.
inline constexpr std::array execution_options{option::device,      option::engine,       option::engine_version,
                                              option::calibration, option::linear_dtype, option::experts_dtype,
                                              option::kept_dtype,  option::routing,      option::execution,
                                              option::tp,          option::dp,           option::ep,
                                              option::network,     option::price,        option::carbon};

namespace detail {

/// What a checkpoint is stored in; where that is not known, `types_by` says the types instead.
inline stored_types stored_types_of(const config_document& file, const model& subject, std::string_view types_by) {
    try {
        return file.read_with([&](config_view root) { return llmcost::stored_types_of(root, subject.dims.type); });
    } catch (const error& e) {
        if (e.code() != errc::unsupported) throw;
        throw error(e.code(), {}, e.what() + (": say " + std::string(types_by)));
    }
}

/// What `--dtype` names; `fp8` of a checkpoint in blocks of fp8 is these, as engines read it.
inline stored_types types_asked(const arguments& given, const config_document& file) {
    const std::string_view said = given.text(option::linear_dtype);
    const bool in_blocks = file.read_with([](config_view root) {
        const auto quantized = root.optional_object("quantization_config");
        return quantized && quantized->string("quant_method", "") == "fp8" && quantized->contains("weight_block_size");
    });
    stored_types types;
    types.products = &operand_of("--dtype", said == "fp8" && in_blocks ? "fp8_block" : said);
    return types;
}

inline const engine& engine_of(std::string_view option, std::string_view name) {
    if (const engine* known = find_engine(name)) return *known;
    nearest_names near(name);
    for (const engine& e : engines) near.offer(e.name);
    refuse(option, "no engine " + in_quotes(name) + near.hint_or_all());
}

}  // namespace detail

/// Refuses a device that an engine does not run on.
inline void check_engine(std::string_view option, const engine& by, const device& on) {
    if (!runs_on(by, on))
        refuse(option,
               std::string(by.name) + " runs on devices of " + std::string(by.only_on) + ", not on " + printable(on.title));
}

/// A model on a device under an engine, as a command line says it.
struct placement {
    std::shared_ptr<const described_model> described{};  ///< what `subject` looks at, where a file describes it
    std::shared_ptr<adapter_policy> adapts{};            ///< and what stands beside its layers
    std::string adapter{};                               ///< printable; empty: nothing
    model subject{};
    model_identity who{};
    execution how{};
    engine by{};
    std::shared_ptr<kernel_library> kernels{};  ///< shared: only who makes it compiles it
    const device* on = nullptr;
    std::shared_ptr<device> networked{};  ///< `on`, where a command line says what joins its nodes
    serving_interval interval{};          ///< of an engine's times (`judge`)
    std::string on_types{};               ///< what is to be said of them
    double price_per_hour = 0;            ///< of a device
    double grams_per_kwh = 0;
};

/// `"model"`, and `"as"` where the row of another type than the file's reads it.
inline void put_model(json_writer& json, const placement& p) {
    json.member("model", p.who.name);
    if (!p.adapter.empty()) json.member("adapter", p.adapter);
    if (p.who.type) json.member("as", p.subject.kind->model_type);
}

/// Refuses what cannot be split as it is asked for.
inline void check_sharding(const model& m, const sharding& s) {
    if (const literal problem = sharding_problem(m, s); !is_empty(problem))
        refuse("--tp", std::to_string(s.tensor) + " with --dp " + std::to_string(s.data) + ", --ep " +
                           std::to_string(s.expert) + ": " + std::string(problem));
}

/// Reads `50` or `ib_ndr`: GB/s of each device between nodes.
inline double read_network(std::string_view option, std::string_view text) {
    if (const network_row* known = find_network(text)) return known->gigabytes_per_second;
    if (!text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9')))
        return read_real(option, text, 1e-3, 1e6);
    nearest_names near(text);
    for (const network_row& n : networks) near.offer(n.name);
    refuse(option, "expected GB/s of each device, or a network; no network " + in_quotes(text) + near.hint_or_all());
}

/// Refuses more devices than links join where nobody says what joins their nodes.
inline void check_network(std::string_view option, const sharding& s, std::int64_t node, const device& on) {
    if (s.devices() <= node || on.network_bandwidth > 0) return;
    refuse(option, "is missing: links join " + std::to_string(node) + " of the " + std::to_string(s.devices()) +
                       " devices (" + printable(on.title) +
                       "); say what lies between nodes, as 50 (GB/s of each device) or ib_ndr");
}

/// What joins the nodes of a placement, whose layers stand on so many stages of devices; empty where it is one.
inline std::string words_on_network(const placement& p, std::int64_t pipeline = 1) {
    const std::int64_t devices = p.how.shards.devices() * pipeline, node = p.how.node;
    if (devices <= node) return {};
    return formatted("%.4g GB/s of each device", network_of(*p.on)) + " between " +
           std::to_string((devices + node - 1) / node) + " nodes of " + std::to_string(node);
}

/// Finds what the times of a placement's engine stand on, by prompts of so many tokens; without an engine nothing.
inline void judge(placement& p, std::int64_t tokens) {
    if (p.by.name.empty()) return;
    p.interval = interval_of(p.by.name, evidence_of(p.subject, p.how, p.by, *p.on, *p.kernels, p.how.shards.devices(),
                                                    tokens < 1024 ? tokens : 1024));
}

/// Refuses a device whose memory nobody knows: whether a model fits it, and how many requests, is unknown.
inline void check_memory(const device& on) {
    if (on.memory_gigabytes <= 0)
        throw error(errc::usage, printable(on.names[0]),
                    "no size of memory in its datasheet, which a server needs: how many requests fit is unknown");
}

/// The memory of each device of a placement, whose layers stand on so many stages of devices.
inline room_asked room_of(const placement& p, std::int64_t pipeline = 1) {
    return room_on(*p.on, p.how.shards.devices() * pipeline);
}

/// How an engine of a placement hands memory out; without an engine only what the model itself needs.
inline const engine_memory& memory_of_engine(const engine& by) {
    const engine_memory* const known = find_engine_memory(std::string_view(by.name));
    return known != nullptr ? *known : *find_engine_memory("none");
}

/// Refuses more stages than a model has layers.
inline void check_stages(std::string_view where, const model& m, std::int64_t stages) {
    if (stages > 1 && stages > m.dims.num_hidden_layers)
        refuse(where, std::to_string(stages) + " stages for a model of " + std::to_string(m.dims.num_hidden_layers) +
                          " layers: each needs one");
}

/// Refuses what a step of a model does not have: tokens where it reads images, tokens before others where it keeps no cache,
/// those of an encoder where there is none.
inline void check_workload(const model& m, const arguments& args, const job& work) {
    if (reads_pixels(m))
        for (const option_row& o : {option::sequence, option::past, option::encoder_sequence, option::requests})
            if (args.has(o)) refuse(o.name, "this model reads images, which have no tokens: say how many by --batch");
    bool behind = work.base.past > 0;
    for (const request_group& g : work.groups) behind = behind || g.past > 0;
    if (behind && !keeps_cache(m))
        refuse((args.has(option::requests) ? option::requests : option::past).name,
               "this model keeps no cache: no tokens stand before those that it reads");
    check_workload(m, work);
}

/// Refuses a model that no server answers with: one without a cache, or with an encoder.
inline void check_writes(const model& m) {
    const workload step{.sequence = 1, .past = 1};
    if (!keeps_cache(m) || find_scope(m, step, {scope_kind::role, "encoder"}).found)
        refuse("serve", "is for models that write token by token from a cache and read no encoder (llmcost latency)");
}

/// In what a model of 32 bits is run, and why, where that is not what its configuration or every engine says.
inline std::string note_on_types(const model& m, const execution& how, const device& on) {
    const bool said = m.dims.type == dtype::float32;
    const bool usual = how.products == find_operand("bfloat16");
    if (usual && !said) return {};
    return std::string(said ? "stored in float32" : "no dtype, so float32") + ", run in " + std::string(how.products->name) +
           ", as " + (usual ? "engines do" : printable(on.title) + " multiplies no bfloat16") + " (--dtype)";
}

/// Which of its kernels nobody measured on a placement's device, as a line; empty where all were.
inline std::string line_on_measurements(const placement& p) {
    if (p.kernels->found_nothing()) return "without measurements: estimated from the datasheet (see --calibration)\n";
    std::string words;
    for (const std::string& kernel : p.kernels->unmeasured())  // all that are fused without a name are a map
        words += (words.empty() ? "" : ", ") + kernel.substr(0, kernel.size() - (kernel.ends_with(" map") ? 4 : 0));
    return words.empty() ? words
                         : "not measured on this device: " + words + "; estimated from another device or the datasheet\n";
}
inline void put_unmeasured(json_writer& json, const placement& p) {
    json.key("not_measured").array();
    for (const std::string& kernel : p.kernels->unmeasured()) json.value(kernel);
    json.end_array();
}

/// Says, once there is an answer, in what the model was run, which other software's kernels stand in for the engine's, and
/// that so many tokens are beyond the model's context.
inline void put_notes(const placement& p, std::int64_t tokens, const streams& io) {
    if (!p.on_types.empty()) io.err << "llmcost: " << p.who.name << ": " << p.on_types << '\n';
    note_on_context(io.err, p.who.name, p.subject, tokens);
    for (const std::string& note : p.kernels->notes()) io.err << "llmcost: --engine: " << note << '\n';
}

}  // namespace llmcost::cli
