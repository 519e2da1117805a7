// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/torch_options.hpp>

#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/step.hpp>

namespace llmcost::cli {

LLMCOST_INLINE tf32_mode parse_tf32(const arguments& args) {
    if (!args.has(option::tf32)) return tf32_mode::standard;
    return args.choice(option::tf32) == 0 ? tf32_mode::on : tf32_mode::off;
}

LLMCOST_INLINE double parse_torch_host(const arguments& args) {
    const std::string_view text = args.text(option::torch_host, torch_hosts[0].name);
    if (const llmcost::torch_host* const known = find_torch_host(text)) return known->microseconds_per_kernel;
    if (text.find_first_not_of("0123456789.") == std::string_view::npos)
        return parse_real(option::torch_host.name, text, 0, 1e6);
    name_suggestions near(text);
    for (const llmcost::torch_host& host : torch_hosts) near.add_candidate(host.name);
    throw_usage(option::torch_host.name,
                "no host " + quote(text) + near.suggestion_or_list() + ", or microseconds per kernel");
}

}  // namespace llmcost::cli
