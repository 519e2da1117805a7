// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include <llmcost/base/error.hpp>
#include <llmcost/cli/adapter_option.hpp>
#include <llmcost/cli/placement.hpp>
#include <llmcost/kernels/library.hpp>
#include <llmcost/serving/stored_parts.hpp>

// Reads how a model is run, by which kernels.
namespace llmcost::cli {

/// Puts an unmerged adapter beside the layers of a placement's model.
inline void adapt(placement& p, asked_adapter& asked, const arguments& given, const program& io) {
    constexpr std::string_view where = "--adapter";
    const adapter& of = asked.file.adapts;
    if (asked.quantizes)
        refuse(where, "qlora says how a base is trained: expected lora, and --quantization nf4 for a base in 4 bits");
    settle_adapter(asked, given, p.subject, io.err);
    const bool is_plain = of.is_plain_lora();
    if (!is_plain && !p.by.name.empty())  // vllm/lora/peft_helper.py, `validate_legal`
        refuse(where, "engines serve LoRA beside layers alone: leave out --engine");
    if (!is_plain && p.how.shards.devices() > 1)
        refuse(where, "of LoRA beside layers alone it is known how devices share it: expected --tp 1 --dp 1");
    p.adapts = std::make_shared<adapter_policy>(of, p.subject);
    p.adapts->serve_on(p.how.shards.tensor);
    p.adapter = asked.words, p.subject.policy = p.adapts.get();
}

/// Reads a placement.
inline placement read_placement(const arguments& given, const program& io) {
    if (!given.has(option::device)) refuse("--device", "say which: a name of llmcost devices, or a file");
    placement p;
    asked_adapter adapter = read_adapter(given);
    const read_subject read = io.read(given, io);
    p.subject = read.subject, p.described = read.described;
    p.who = read.found.who;
    stored_types types;
    if (!read.stored.note.empty()) io.err << "llmcost: " << read.stored.note << '\n';
    if (given.has(option::linear_dtype))
        types = detail::types_asked(given, read.found.document);
    else if (read.stored.in_blocks_of_ggml)
        throw error(errc::unsupported, p.who.name,
                    "no kernels for types of llama.cpp are known: say in what they are run, as --dtype int4_wo");
    else
        types = detail::stored_types_of(read.found.document, p.subject, "--dtype");
    if (given.has(option::experts_dtype)) types.experts = &operand_of("--experts-dtype", given.text(option::experts_dtype));
    p.by = given.has(option::engine) ? detail::engine_of("--engine", given.text(option::engine)) : engine{};
    string_ref distribution = p.how.distribution;
    if (given.has(option::routing)) {
        const std::string word(given.text(option::routing));
        const std::set<string_ref> words = words_of(*find_family("moe"));
        demand("--routing", not_among(words, word));
        distribution = *words.find(word);
    }
    const bool routes = p.subject.dims.moe.num_experts > 1;
    for (const option_row& o : {option::experts_dtype, option::routing})
        if (given.has(o) && !routes) refuse(o.name, "this model has no routed experts");
    const issue issued = static_cast<issue>(given.choice(option::execution));
    const sharding s =
        shared_over(p.subject, given.number(option::tp, 1), given.number(option::dp, 1), given.number(option::ep, 1));
    if (s.expert > 1 && !routes) refuse("--ep", "this model has no routed experts that groups could share");
    if (s.devices() % s.expert != 0)
        refuse("--ep", std::to_string(s.expert) + " groups do not divide the " + std::to_string(s.devices()) +
                           (s.devices() == 1 ? " device" : " devices") + " of --tp and --dp");
    check_sharding(p.subject, s);
    if (issued == issue::eager && s.devices() > 1 && routes)
        refuse("--execution", "eager runs all experts of a token on one device: expected --tp 1 --dp 1");
    const std::string calibration(given.text(option::calibration)), measured_version(given.text(option::engine_version));
    p.kernels = std::make_shared<kernel_library>(std::string(given.text(option::device)), std::string(p.by.software),
                                                 measured_version, calibration);
    p.kernels->types_said_by("--dtype", given.has(option::experts_dtype) ? "--experts-dtype" : "--dtype");
    p.on = &p.kernels->on("--device");
    if (given.has(option::network)) {
        p.networked = std::make_shared<device>(*p.on);
        p.networked->network_bandwidth = read_network(option::network.name, given.text(option::network));
        p.on = p.networked.get();
    }
    check_engine("--engine", p.by, *p.on);
    if (given.has(option::engine_version)) {
        if (p.by.name.empty()) refuse("--version", "needs --engine: whose it is");
        demand("--version", known_kernels(calibration).version_problem(p.by.software, measured_version, nullptr, p.on));
    }
    if (given.has(option::kept_dtype)) {
        if (!keeps_cache(p.subject)) refuse("--cache-dtype", "this model keeps no cache");
        types.cache = &operand_of("--cache-dtype", given.text(option::kept_dtype));
        demand("--cache-dtype", not_among(words_of(*find_family("generation_attention")), types.cache->name));
    }
    std::string unpacked;
    for (const operand_row** type : {&types.products, &types.experts}) {
        const operand_row* const run = run_as(*type, p.by, *p.on);
        if (run != *type)
            unpacked = printable(p.on->title) + " multiplies no " + std::string((*type)->name) +
                       ": weights alone are in it, and unpacked to bfloat16 (" + std::string(run->name) + ')';
        *type = run;
    }
    p.how = execution_of(p.by, *p.on, types, s, issued);
    p.on_types = types.products == nullptr ? note_on_types(p.subject, p.how, *p.on) : unpacked;
    if (read.stored.applied && (!given.has(option::linear_dtype) || given.has(option::quantization) || read.found.weights))
        p.how.stored = parts_as_stored(p.subject, read.stored.bytes);
    p.how.distribution = distribution;
    check_network(option::network.name, s, p.how.node, *p.on);
    if (!adapter.none()) adapt(p, adapter, given, io);
    p.price_per_hour = given.real(option::price, p.on->price_per_hour, 0, 1e9);
    p.grams_per_kwh = given.real(option::carbon, 0, 0, 1e6);
    return p;
}

}  // namespace llmcost::cli
