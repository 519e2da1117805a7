// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../golden/law_exceptions.hpp"
#include "config_exercise.hpp"
#include "registry.hpp"

#include <llmcost/analysis/closed_form.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/report/listing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// What must hold of every configuration and workload from text to figures; run by the fuzzer and over the files it
// left.
namespace llmcost::testing {

/// A workload from the numbers under a configuration's key `workload`; what is missing or cannot be is left as it is.
inline workload workload_in(config_view root) {
    workload load{.sequence = 7};
    const auto found = root.find("workload");
    if (!found || !found->is_object()) return load;
    const auto number = [&](std::string_view key, std::int64_t minimum, std::int64_t default_value) {
        const auto n = found->find(key);
        const auto integer = n ? detail::integer_value(n->node()) : maybe<std::int64_t>{};
        return integer && *integer >= minimum && *integer <= max_input ? *integer : default_value;
    };
    load.batch = number("batch", 1, load.batch);
    load.sequence = number("sequence", 1, load.sequence);
    load.training = number("training", 0, 0) != 0;
    load.past = load.training ? 0 : number("past", 0, load.past);
    load.encoder_sequence = number("encoder_sequence", 0, load.encoder_sequence);
    load.head = static_cast<logits>(number("logits", 0, 0) % 3);
    load.attention = static_cast<attention_scores>(number("attention", 0, 0) % 2);
    load.activations = static_cast<dtype>(number("dtype", 0, 0) % 4);
    return load;
}

/// The figures, or nothing where they do not fit or the model has no such positions.
inline std::optional<llmcost::model_metrics> counted(const model& m, const workload& load, scope_query query = {}) {
    try {
        return count_model(m, load, query);
    } catch (const overflow_error&) {
        return std::nullopt;
    } catch (const workload_error&) {
        return std::nullopt;
    } catch (const description_error& e) {  // a type that the reference does not train says so
        if (!load.training || std::string_view(e.what()).find("training") == std::string_view::npos) throw;
        return std::nullopt;
    }
}

/// Figures that are sums over sequences; bytes of whole tensors are rounded and are left out.
inline std::vector<count> sums_of(const llmcost::model_metrics& f) {
    return {f.add,
            f.mult,
            f.div,
            f.sqrt,
            f.exp,
            f.log,
            f.tanh,
            f.erf,
            f.trig,
            f.pow,
            f.neg,
            f.cmp,
            f.active_params,
            f.cache_elements,
            f.module_output_elements,
            f.written_elements,
            f.torch_flops,
            f.backward_torch_flops,
            f.params,
            f.saved_bytes};
}

/// From two sequences on every figure is affine in the batch, so that a product that wrapped would show.
inline void require_affine(const model& m, workload load, const llmcost::model_metrics& found) {
    const std::int64_t batch = load.batch;
    if (batch <= 3) return;
    if (load.sequence == 1 && !load.training && is_exception(crossed_batches, std::string_view(m.spec->model_type)))
        return;
    load.batch = 2;
    const auto two = counted(m, load);
    load.batch = 3;
    const auto three = counted(m, load);
    require(two && three, "a smaller batch overflows");
    const std::vector<count> a = sums_of(*two), b = sums_of(*three), c = sums_of(found);
    for (std::size_t i = 0; i < a.size(); ++i)
        require(b[i] >= a[i] && c[i] == a[i] + (b[i] - a[i]) * count(batch - 2), "not affine in the batch");
}

/// A walk layer by layer finds what a walk by kinds of layers finds.
inline void require_same_listed(const model& m, const workload& load,
                                const std::optional<llmcost::model_metrics>& found) {
    try {
        const model_listing listing = list_model(m, load);
        require(found.has_value(), "listed, but not counted");
        require(listing.total == *found, "a listing of its own");
    } catch (
        const overflow_error&) {  // or a stack of more layers than a list holds, wherever a family keeps their number
    } catch (const workload_error&) {
        require(!found.has_value(), "counted, but not listed");
    } catch (const description_error&) {
        if (found.has_value()) throw;
    }
}

/// Where a closed form says that it holds, the walk says the same: here, and at the far end of its region.
inline void require_same_closed(const model& m, const workload& load) {
    std::optional<closed_form> form;
    try {
        form.emplace(m, load);
    } catch (const overflow_error&) {
        return;
    } catch (const workload_error&) {
        return;
    }
    workload probe = form->reference_workload();
    for (const bool end : {false, true}) {
        if (end) {
            probe.batch = form->valid_region().batch.high;
            probe.sequence = std::min(form->valid_region().sequence.high, probe.sequence * 1000);
        }
        if (!form->contains_workload(probe)) return;
        auto traced = counted(m, probe);
        if (!traced) return;
        traced->saved_bytes = {};
        try {
            require((*form)(probe) == *traced, "a closed form of its own");
        } catch (const overflow_error&) {
            require(false, "walked, but not closed");
        }
    }
}

/// Reads a model and counts it; throws `broken_promise`, or whatever else the library may not throw.
inline void exercise_model(std::string_view text) {
    workload load;
    std::optional<model> built;
    bool closes = false;
    try {
        const config_document document = parse_config(text, "fuzz.json");
        load = workload_in(document.root());
        closes = document.root().contains("closes") && !load.training;
        built = document.read_with([](config_view root) { return parts::registry.read(root); });
    } catch (const error& problem) {
        require(is_clean(problem.what()) && problem.location().starts_with("fuzz.json"), "refusal");
        require(problem.code() == errc::bad_value || problem.code() == errc::missing_key ||
                    problem.code() == errc::unsupported || problem.code() == errc::unknown_model_type,
                "code");
        return;
    }
    const auto found = counted(*built, load);
    if (found) require_affine(*built, load, *found);
    if (found && closes) require_same_closed(*built, load);
    const std::int64_t layers = built->config.num_hidden_layers + built->config.encoder.num_hidden_layers;
    if (layers <= 6) require_same_listed(*built, load, found);
    for (const role module_role : {role::attn, role::mlp, role::transformer}) {
        const auto part = counted(*built, load, scope_query{module_role});
        require(!found || (part && part->mult <= found->mult), "a part that is more than the whole");
    }
}

}  // namespace llmcost::testing
