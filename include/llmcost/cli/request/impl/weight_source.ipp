// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/weight_source.hpp>

#include <string>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/files/gguf.hpp>
#include <llmcost/files/gguf_config.hpp>
#include <llmcost/files/safetensors.hpp>
#include <llmcost/files/weight_file.hpp>
#include <llmcost/json.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE located_weights weights_of(gguf_file file) {
    return {std::move(file.name), std::move(file.weights), true};
}

LLMCOST_INLINE located_weights weights_of_safetensors(const std::string& path) {
    return {printable(path), read_safetensors(path), false};
}

LLMCOST_INLINE located_config from_gguf(const std::string& path) {
    gguf_file file = read_gguf(path);
    config_document metadata = parse_config(make_config(file), file.name + ": metadata");
    const std::string source = "metadata of GGUF file " + file.name;
    return {std::move(metadata), {printable(path), source}, false, weights_of(std::move(file))};
}

LLMCOST_INLINE std::string find_sibling_config(const std::string& path) {
    const std::string folder = llmcost::detail::is_folder(path) ? path : llmcost::detail::split(path).folder;
    std::string file = folder + (folder.ends_with('/') ? "config.json" : "/config.json");
    if (!llmcost::detail::exists(file))
        throw_usage(option::safetensors.name, "requires a configuration: " + printable(file) + ", --model or --config");
    return file;
}

LLMCOST_INLINE void add_weights(located_config& found, const arguments& args) {
    for (const option_spec& o : {option::gguf, option::safetensors})
        if (args.has(o) && found.weights && found.weights->name != printable(args.text(o)))
            throw_usage(o.name, "cannot be combined with " + found.weights->name);
    if (found.weights) return;
    if (args.has(option::gguf)) found.weights = weights_of(read_gguf(std::string(args.text(option::gguf))));
    if (args.has(option::safetensors))
        found.weights = weights_of_safetensors(std::string(args.text(option::safetensors)));
}

}  // namespace llmcost::cli::detail
