// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/kernel_library.hpp>
#include <llmcost/cli/named_options.hpp>
#include <llmcost/cli/question.hpp>
#include <llmcost/cli/source.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/kernels.hpp>

// What `llmcost latency` and `llmcost serve` have in common: a model, a device, and how an engine runs one on the other.
namespace llmcost::cli {

namespace detail {

// clang-format off
inline std::vector<named_option> execution_options() {
    return {
        {"--device",        "NAME|FILE",   "one of llmcost devices, a device's file, or here: what was measured"},
        {"--engine",        "ENGINE",      "trtllm, vllm, sglang: its kernels and its own time"},
        {"--version",       "VERSION",     "of the engine's measured kernels (the newest)"},
        {"--calibration",   "FILE|FOLDER", "measured kernels, a folder of them, or none"},
        {"--dtype",         "TYPE",        "of linear layers: bfloat16, fp8, fp8_block, nvfp4 ..."},
        {"--experts-dtype", "TYPE",        "of routed experts (as linear layers)"},
        {"--cache-dtype",   "TYPE",        "of the cache (fp8 with fp8 and nvfp4; else 16 bits)"},
        {"--routing",       "WORD",        "of tokens: balanced, power_law_1.01, power_law_1.2"},
        {"--execution",     "WORD",        "graph (fused, in a CUDA graph), stream (fused, one by one), eager"},
        {"--tp",            "N",           "devices that share each layer (1)"},
        {"--dp",            "N",           "groups of those, each with sequences of its own (1)"},
        {"--ep",            "N",           "groups of devices that share the routed experts (1)"},
        {"--price",         "X",           "of a device for an hour, in any currency"},
        {"--carbon",        "X",           "grams of CO2 per kWh"},
        {"--format",        "text|json|csv", "csv of a step's kernels"},
    };
}
// clang-format on
enum execution_option_id : std::size_t {
    ex_device,
    ex_engine,
    ex_version,
    ex_calibration,
    ex_dtype,
    ex_experts_dtype,
    ex_cache_dtype,
    ex_routing,
    ex_execution,
    ex_tp,
    ex_dp,
    ex_ep,
    ex_price,
    ex_carbon,
    ex_format,
    ex_count
};

/// What weights are held in, by a configuration's `quantization_config` or its `dtype`.
struct stored_as {
    std::string_view products = "bfloat16";
    std::string_view experts = "bfloat16";
};

/// Reads `quantization_config` as checkpoints in fp8, modelopt, compressed-tensors, mxfp4, awq and gptq write it.
inline stored_as stored_as_of(config_view root) {
    const auto quantized = root.optional_object("quantization_config");
    if (!quantized)
        return root.string("dtype", root.string("torch_dtype", "")) == "float16" ? stored_as{"float16", "float16"}
                                                                                 : stored_as{};
    const string_ref method = quantized->string("quant_method", "");
    const auto both = [](std::string_view type) { return stored_as{type, type}; };
    if (method == "mxfp4") return {"bfloat16", "w4a16_mxfp4"};  // attention, routers and head are left in 16 bits
    if (method == "fp8") return both(quantized->contains("weight_block_size") ? "fp8_block" : "fp8");
    if (method == "modelopt") return both(quantized->string("quant_algo", "") == "NVFP4" ? "nvfp4" : "fp8");
    if (method == "awq" || method == "gptq") return both(quantized->non_negative("bits", 4) == 8 ? "int8" : "int4_wo");
    if (method == "compressed-tensors")
        if (const auto groups = quantized->optional_object("config_groups"))
            for (const config_view group : *groups)
                if (const auto weights = group.as_object().optional_object("weights"))
                    return weights->non_negative("num_bits", 8) == 4
                               ? both(weights->string("type", "") == "float" ? "nvfp4" : "int4_wo")
                           : weights->string("type", "") == "float" ? both("fp8")
                                                                    : both("int8");
    refuse("quantization_config", "quant_method " + in_quotes(method) + " is not known here: say --dtype");
}

inline issue issue_of(std::string_view word) {
    for (const auto& [name, issued] :
         {std::pair<std::string_view, issue>{"graph", issue::graph}, {"stream", issue::stream}, {"eager", issue::eager}})
        if (word == name) return issued;
    refuse("--execution", "expected one of graph, stream, eager; found " + in_quotes(word));
}

/// What an engine keeps in the cache unless told otherwise: 8 bits beside weights that bring scales of keys and values along
/// (one scale per tensor, or NVIDIA's 4 bits), or beside any narrow ones; else as the activations.
inline const operand_row* usual_cache(const execution& how, const engine& by) {
    const bool narrow = how.products->weight_bytes < 2 || how.experts->weight_bytes < 2;
    const bool scaled = how.products->scaled_per_tensor || how.products->unit == &device::fp4;
    return scaled || (narrow && by.narrow_cache) ? find_operand("fp8") : how.unquantised();
}

/// The types that follow from those of products and experts; a null cache is the engine's choice. Attention of prompts
/// multiplies in the cache's type where that has 8 bits that the device multiplies, and the engine does so.
inline void complete_types(execution& how, const engine& by, const device& on, const operand_row* cache) {
    how.beside = usual_operand(on);
    how.cache = cache != nullptr ? cache : usual_cache(how, by);
    how.attention = how.unquantised();
    const bool narrow = by.narrow_prompts && how.cache->weight_bytes < 2 && on.*how.cache->unit > 0;
    how.prompts = narrow ? how.cache : how.attention;
}

inline const engine& engine_of(std::string_view option, std::string_view name) {
    if (const engine* known = find_engine(name)) return *known;
    nearest_names near(name);
    for (const engine& e : engines) near.offer(e.name);
    refuse(option, "no engine " + in_quotes(name) + near.hint_or_all());
}

}  // namespace detail

/// A model on a device under an engine, as a command line says it.
struct placement {
    model subject{};
    model_identity who{};
    execution how{};
    engine by{};
    std::unique_ptr<kernel_library> kernels{};
    const device* on = nullptr;
    double price_per_hour = 0;  ///< of a device
    double grams_per_kwh = 0;
};

/// Refuses what cannot be split as it is asked for.
inline void check_sharding(const model& m, const sharding& s) {
    if (const literal problem = sharding_problem(m, s); !is_empty(problem))
        refuse("--tp", std::to_string(s.tensor) + " with --dp " + std::to_string(s.data) + ", --ep " +
                           std::to_string(s.expert) + ": " + std::string(problem));
}

/// That devices of several nodes are priced by the links of one; empty where they fit into one.
inline std::string note_on_nodes(const execution& how) {
    if (how.shards.devices() <= execution::most_devices_of_a_node) return {};
    return "between the " + std::to_string(how.shards.devices()) +
           " devices are taken the links of one node: a network of several is slower";
}

/// Refuses a device whose memory nobody knows: whether a model fits it, and how many requests, is unknown.
inline void check_memory(const device& on) {
    if (on.memory_gigabytes <= 0)
        throw error(errc::usage, printable(on.names[0]),
                    "no size of memory in its datasheet, which a server needs: how many requests fit is unknown");
}

/// That a device has less memory than it must hold; nothing where its size is unknown.
inline std::string note_on_memory(const device& on, double bytes, std::string_view of) {
    if (on.memory_gigabytes <= 0 || bytes <= on.memory_gigabytes * 1e9) return {};
    return formatted("does not fit: %.1f GB of ", bytes / 1e9) + std::string(of) +
           formatted(" on each device of %.0f GB", on.memory_gigabytes);
}

/// Refuses more stages than a model has layers.
inline void check_stages(std::string_view where, const model& m, std::int64_t stages) {
    if (stages > m.dims.num_hidden_layers)
        refuse(where, std::to_string(stages) + " stages for a model of " + std::to_string(m.dims.num_hidden_layers) +
                          " layers: each needs one");
}

/// Refuses what a step of a model does not have: tokens where it reads images, tokens before others where it keeps no cache,
/// those of an encoder where there is none.
inline void check_workload(const model& m, const arguments& args, const job& work) {
    if (reads_pixels(m))
        for (const option o : {option::sequence, option::past, option::encoder_sequence, option::requests})
            if (args.has(o))
                refuse(row_of(o).name, "this model reads images, which have no tokens: say how many by --batch");
    bool behind = work.base.past > 0;
    for (const request_group& g : work.groups) behind = behind || g.past > 0;
    if (behind && count_model(m, {.sequence = 1, .past = 1}).cache == count{})
        refuse(row_of(args.has(option::requests) ? option::requests : option::past).name,
               "this model keeps no cache: no tokens stand before those that it reads");
    check_encoder(m, work);
}

/// Refuses a model that no server answers with: one without a cache, or with an encoder.
inline void check_writes(const model& m) {
    const workload step{.sequence = 1, .past = 1};
    if (count_model(m, step).cache == count{} || find_scope(m, step, {scope_kind::role, "encoder"}).found)
        refuse("serve", "is for models that write token by token from a cache and read no encoder (llmcost latency)");
}

/// Reads a placement; `others` are the options of the model and its workload.
inline placement read_placement(const named_options& given, const arguments& others, const streams& io) {
    if (!given.has(detail::ex_device)) refuse("--device", "say which: a name of llmcost devices, or a file");
    placement p;
    const found_config found = find_config(others, io);
    p.subject = read_subject_of(found, others, io.err).subject;
    p.who = found.who;
    const detail::stored_as stored =
        given.has(detail::ex_dtype) ? detail::stored_as{} : found.document.read_with(detail::stored_as_of);
    p.how.products = &operand_of("--dtype", given.text(detail::ex_dtype, stored.products));
    const std::string_view of_experts =
        given.has(detail::ex_dtype) ? std::string_view(p.how.products->name) : stored.experts;
    p.how.experts = &operand_of("--experts-dtype", given.text(detail::ex_experts_dtype, of_experts));
    p.by = given.has(detail::ex_engine) ? detail::engine_of("--engine", given.text(detail::ex_engine)) : engine{};
    if (given.has(detail::ex_routing)) {
        const std::string word = given.text(detail::ex_routing);
        const std::set<string_ref> words = words_of(*find_family("moe"));
        demand("--routing", not_among(words, word));
        p.how.distribution = *words.find(word);
    }
    const bool routes = p.subject.dims.moe.num_experts > 1;
    for (const std::size_t o : {detail::ex_experts_dtype, detail::ex_routing})
        if (given.has(o) && !routes)
            refuse(o == detail::ex_routing ? "--routing" : "--experts-dtype", "this model has no routed experts");
    p.how.issued = detail::issue_of(given.text(detail::ex_execution, "graph"));
    p.how.static_scales = p.by.static_scales;
    sharding& s = p.how.shards;
    s.tensor = given.number(detail::ex_tp, 1), s.data = given.number(detail::ex_dp, 1);
    s.expert = given.number(detail::ex_ep, 1);
    if (s.expert > 1 && !routes) refuse("--ep", "this model has no routed experts that groups could share");
    if (s.devices() % s.expert != 0)
        refuse("--ep", std::to_string(s.expert) + " groups do not divide the " + std::to_string(s.devices()) +
                           (s.devices() == 1 ? " device" : " devices") + " of --tp and --dp");
    s.expert_tensor = routes ? s.devices() / s.expert : 1;
    check_sharding(p.subject, s);
    if (p.how.issued == issue::eager && s.devices() > 1 && p.subject.dims.moe.num_experts > 1)
        refuse("--execution", "eager runs all experts of a token on one device: expected --tp 1 --dp 1");
    p.kernels = std::make_unique<kernel_library>(given.text(detail::ex_device), std::string(p.by.software),
                                                 given.text(detail::ex_version), given.text(detail::ex_calibration));
    p.kernels->types_said_by("--dtype", given.has(detail::ex_experts_dtype) ? "--experts-dtype" : "--dtype");
    p.on = &p.kernels->on();
    if (!p.by.only_on.empty() && !(p.by.only_on == p.on->vendor))
        refuse("--engine", std::string(p.by.name) + " runs on devices of " + std::string(p.by.only_on) + ", not on " +
                               printable(p.on->title));
    // engines run a model that is stored in 32 bits in 16, in bfloat16 where the device has it
    // (vLLM v0.11, config/model.py, _resolve_auto_dtype)
    const bool narrowed = p.subject.dims.type == dtype::float32 || p.subject.dims.type == dtype::unspecified;
    if (!given.has(detail::ex_dtype) && narrowed && p.on->bf16 == 0 && p.on->fp16 > 0)
        for (const operand_row** type : {&p.how.products, &p.how.experts})
            if ((*type)->unit == &device::bf16 && (*type)->name == "bfloat16") *type = find_operand("float16");
    if (given.has(detail::ex_version)) {
        if (p.by.name.empty()) refuse("--version", "needs --engine: whose it is");
        demand("--version", known_kernels(given.text(detail::ex_calibration))
                                .version_problem(p.by.software, given.text(detail::ex_version), nullptr, p.on));
    }
    const operand_row* cache = nullptr;
    if (given.has(detail::ex_cache_dtype)) {
        if (count_model(p.subject, {.sequence = 1, .past = 1}).cache == count{})
            refuse("--cache-dtype", "this model keeps no cache");
        cache = &operand_of("--cache-dtype", given.text(detail::ex_cache_dtype));
        demand("--cache-dtype", not_among(words_of(*find_family("generation_attention")), cache->name));
    }
    detail::complete_types(p.how, p.by, *p.on, cache);
    p.price_per_hour = given.real(detail::ex_price, p.on->price_per_hour, 0, 1e9);
    p.grams_per_kwh = given.real(detail::ex_carbon, 0, 0, 1e6);
    return p;
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

/// Says which other software's kernels stand in for the engine's.
inline void note_stand_ins(const placement& p, const streams& io) {
    for (const std::string& note : p.kernels->notes()) io.err << "llmcost: --engine: " << note << '\n';
}

/// The options of a model and its workload among those that a command does not know itself; `allowed` besides the model's.
inline arguments model_arguments(std::string_view command, std::span<const std::string_view> rest,
                                 std::initializer_list<option> allowed) {
    const arguments args(rest);
    for (const option_row& row : option_table) {
        bool good = row.id <= option::offline;
        for (const option o : allowed) good = good || o == row.id;
        if (!good && args.has(row.id))
            refuse(row.name, "is no option of llmcost " + std::string(command) + " (see its --help)");
    }
    if (!args.words().empty()) refuse(command, "expected options, found " + in_quotes(args.words().front()));
    return args;
}

}  // namespace llmcost::cli
