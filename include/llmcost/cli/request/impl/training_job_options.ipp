// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/training_job_options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/serving/parallel_training.hpp>
#include <llmcost/serving/training_attention.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<std::string_view> attention_kernel_names(const program&) {
    std::vector<std::string_view> names;
    for (const attention_kernel_spec& k : attention_kernels) names.push_back(k.name);
    return names;
}

/// Calls `visit` with each part of a text between separators.
template <class Visit>
void for_each_part(std::string_view text, char separator, Visit visit) {
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        visit(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
}

LLMCOST_INLINE bool has_training_job(const arguments& args) {
    for (const option_spec& o : training_job_options)
        if (args.has(o)) return true;
    const std::string_view recomputation = args.text(option::recomputation);
    return args.number(option::tp, 1) > 1 || args.number(option::ep, 1) > 1 || recomputation.starts_with("selective") ||
           recomputation.starts_with("full:");
}

LLMCOST_INLINE void read_recomputation(std::string_view text, training_schedule& schedule, training_job& job) {
    constexpr std::string_view selective = "selective", full = "full";
    const std::string_view kind = text.substr(0, text.find(':'));
    const std::string_view rest = kind.size() < text.size() ? text.substr(kind.size() + 1) : std::string_view();
    if (text.empty() || text == "none") return;
    if (kind == full) {
        schedule.recompute = recompute_mode::full;
        if (kind.size() < text.size()) job.recomputed_layers = parse_integer("--recompute", rest, 1, 100'000);
    } else if (kind == selective) {
        schedule.recompute = recompute_mode::selective;
        for_each_part(rest, '+', [&](std::string_view name) { job.recomputed_modules.emplace_back(name); });
    } else {
        throw_usage("--recompute",
                    "expected none, full, full:N, selective or selective:MODULE+MODULE; found " + quote(text));
    }
}

/// Bytes of an element of `--fsdp-parameter-dtype` or `--fsdp-reduce-dtype`.
LLMCOST_INLINE double element_bytes_of(const arguments& args, const option_spec& o, double default_value) {
    return args.has(o) ? (args.choice(o) == 0 ? 4 : 2) : default_value;
}

LLMCOST_INLINE training_job read_training_job(const arguments& args, std::int64_t batch) {
    training_job job;
    training_parallelism& parallel = job.parallel;
    parallel = read_training_parallelism(args);
    if (args.accepts(option::dp)) parallel.data = args.number(option::dp, 1);
    if (args.has(option::fsdp) && args.has(option::zero)) throw_usage("--fsdp", "cannot be combined with --zero");
    job.sharding =
        args.has(option::fsdp) ? sharding_strategy::fsdp : static_cast<sharding_strategy>(args.choice(option::zero));
    if (args.has(option::global_batch)) {
        if (args.has(option::microbatches)) throw_usage("--global-batch", "cannot be combined with --microbatches");
        const std::int64_t samples = args.number(option::global_batch, 1), pass = batch * parallel.num_replicas();
        if (samples % pass != 0)
            throw_usage("--global-batch", std::to_string(samples) + " is not a multiple of " + std::to_string(pass) +
                                              " (--batch times the data-parallel ranks)");
        parallel.microbatches = samples / pass;
    }
    job.reshards_after_forward = args.text(option::fsdp_reshard, "true") != "false";
    const bool reduces_each = job.sharding == sharding_strategy::fsdp || job.sharding == sharding_strategy::zero2 ||
                              job.sharding == sharding_strategy::zero3;
    job.reduces_each_microbatch = reduces_each && args.choice(option::gradient_sync) == 0;
    job.gathered_bytes = element_bytes_of(args, option::fsdp_parameter_dtype, 2);
    job.reduced_bytes = element_bytes_of(args, option::fsdp_reduce_dtype,
                                         job.sharding == sharding_strategy::fsdp ? job.gathered_bytes : 4);
    if (args.has(option::overlap)) {
        job.overlap = {.data = false};
        for_each_part(args.text(option::overlap), ',', [&](std::string_view name) {
            if (name == "dp")
                job.overlap.data = true;
            else if (name == "tp")
                job.overlap.tensor = true;
            else if (name == "ep")
                job.overlap.expert = true;
            else if (name == "pp")
                job.overlap.pipeline = true;
            else if (name != "none")
                throw_usage("--overlap", "expected dp, tp, ep, pp or none; found " + quote(name));
        });
    }
    if (args.has(option::attention_kernel)) {
        const std::string_view name = args.text(option::attention_kernel);
        job.attention = find_attention_kernel(name);
        if (job.attention == nullptr) {
            name_suggestions near(name);
            for (const attention_kernel_spec& k : attention_kernels) near.add_candidate(k.name);
            throw_usage("--attention-kernel", "no kernel " + quote(name) + near.suggestion_or_list());
        }
    }
    if (args.has(option::host_microseconds))
        job.host_seconds_per_launch =
            1e-6 * parse_real("--host-microseconds", args.text(option::host_microseconds), 0, 1e6);
    return job;
}

}  // namespace llmcost::cli::detail
