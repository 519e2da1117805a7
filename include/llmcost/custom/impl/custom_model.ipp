// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/custom_model.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/custom/layer_table.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/program_executor.hpp>
#include <llmcost/custom/read_expression.hpp>
#include <llmcost/custom/read_program.hpp>
#include <llmcost/custom/read_steps.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::custom {

LLMCOST_INLINE tensor forward_program(const layer_context& ctx, trace& t) {
    const auto& row = static_cast<const custom_model_spec&>(ctx.spec);
    return program_executor{row.definition, row.made_names, t}.run();
}

LLMCOST_INLINE void custom_model_parser::read(config_view root) {
    check_keys(root, {"name", "class", "sizes", "variants", "inputs", "blocks", "layers", "output", "image_size",
                      "configuration", "dtype", "torch_dtype"});
    program_.type = program_.keep(root.find("class") ? as_view(root.string("class")) : std::string_view{"Model"});
    if (!is_class_name(std::string_view(program_.type)))
        refuse_at(*root.find("class"), "expected the name of a class: letters, digits, _ and .");
    read_sizes(root);
    check_variants(root);
    read_image(root);
    program_.blocks.emplace_back();
    if (const auto all = root.optional_object("blocks"))
        for (const config_view entry : *all) read_block(entry);
    read_root_block(root);
}

LLMCOST_INLINE void custom_model_parser::read_sizes(config_view root) {
    const auto all = root.optional_object("sizes");
    if (!all) return;
    for (const config_view entry : *all) {
        const std::string name(as_view(entry.key()));
        check_name(entry, name);
        if (!entry.is_array()) {
            names_.insert(name, meaning{meaning::symbol_kind::number, read_constant(entry)});
            continue;
        }
        std::vector<std::int64_t> list;
        for (const config_view n : entry) list.push_back(read_constant(n));
        program_.numbers.lists.push_back(std::move(list));
        names_.insert(
            name, meaning{meaning::symbol_kind::list, static_cast<std::int64_t>(program_.numbers.lists.size() - 1)});
    }
}

LLMCOST_INLINE void custom_model_parser::check_variants(config_view root) const {
    const auto all = root.optional_object("variants");
    if (!all) return;
    for (const config_view variant : *all)
        for (const config_view entry : variant.as_object()) {
            const std::string_view name = as_view(entry.key());
            const meaning* const found = names_.size(name);
            if (found == nullptr) {
                name_suggestions near(name);
                for (const auto& [known, symbol] : names_.sizes) near.add_candidate(known);
                refuse_at(entry, "unknown size" + near.suggestion_or_list());
            }
            if (entry.is_array() != (found->kind == meaning::symbol_kind::list))
                refuse_at(entry, entry.is_array() ? "expected a number, because the size is a number"
                                                  : "expected a list, because the size is a list");
        }
}

LLMCOST_INLINE void custom_model_parser::check_name(config_view node, std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    bool good = !name.empty() && name.size() <= 64 && letter(name.front());
    for (const char c : name) good = good && (letter(c) || (c >= '0' && c <= '9'));
    for (const std::string_view text : {"if", "else", "and", "or", "not", "in", "len", "min", "max", "ceil_div"})
        good = good && name != text;
    for (const workload_name& w : workload_names) good = good && name != w.name;
    if (!good) refuse_at(node, "expected a name of letters, digits and _ that is not reserved in expressions");
}

LLMCOST_INLINE void custom_model_parser::read_image(config_view root) {
    const auto size = root.find("image_size");
    if (!size) return;
    program_.image_height = read_side(size->is_array() ? (*size)[0] : *size);
    program_.image_width = size->is_array() ? read_side((*size)[1]) : program_.image_height;
}

LLMCOST_INLINE std::int64_t custom_model_parser::read_side(config_view node) {
    const std::int64_t side = read_constant(node);
    if (side < 1 || side > max_input) throw_invalid_value(node, "a positive integer");
    return side;
}

LLMCOST_INLINE std::int64_t custom_model_parser::read_constant(config_view node) {
    const expression e = expression_reader{program_.numbers, names_}.read(node);
    if (!e.constant()) refuse_at(node, "sizes cannot depend on the workload, only inputs and layers can");
    return e.number;
}

LLMCOST_INLINE void custom_model_parser::read_block(config_view node) {
    check_keys(node, {"arguments", "input", "output", "layers"});
    block b;
    b.name = std::string(as_view(node.key()));
    if (program_.blocks.size() > 1000) refuse_at(node, "expected at most 1000 blocks");
    if (find_row(layer_table, b.name) != nullptr) refuse_at(node, "the name is that of a built-in layer");
    std::vector<config_view> defaults;
    if (const auto all = node.optional_object("arguments"))
        for (const config_view entry : *all) {
            check_name(entry, as_view(entry.key()));
            b.arguments.emplace_back(as_view(entry.key()));
            defaults.push_back(entry);
        }
    if (b.arguments.size() > 64) refuse_at(node, "expected at most 64 arguments");
    step_reader reader{program_, names_, b, registry_};
    for (const config_view entry : defaults)
        b.default_arguments.push_back(entry.is_null() ? std::vector<expression>{}
                                                      : std::vector<expression>{reader.number(entry)});
    if (const auto in = node.find("input"))
        b.inputs = reader.read_outputs(*in);
    else
        b.inputs = {tensor_reference{b.slots++, false}};
    b.body = reader.read_steps(node.array("layers"));
    for (const std::vector<expression>& e : b.default_arguments)
        program_.is_nonlinear = program_.is_nonlinear || (b.is_nonlinear && !e.empty() && e.front().uses_workload);
    b.contents = reader.contents_of(b.body);
    if (const auto out = node.find("output")) b.outputs = reader.read_inputs(*out);
    program_.blocks.push_back(std::move(b));
}

LLMCOST_INLINE void custom_model_parser::read_root_block(config_view root) {
    block root_block;
    step_reader reader{program_, names_, root_block, registry_};
    for (const config_view entry : root.object("inputs")) {
        check_keys(entry, {"shape", "dtype"});
        input in{std::string(as_view(entry.key())), reader.number_list(entry.array("shape")), false, pointer_of(entry)};
        if (in.shape.size() > max_rank) refuse_at(entry, "expected at most six sizes");
        in.integers = parse_integers(entry);
        program_.inputs.push_back(std::move(in));
        root_block.inputs.push_back(reader.define_input(entry.key()));
    }
    root_block.body = reader.read_steps(root.array("layers"));
    if (const auto out = root.find("output")) root_block.outputs = reader.read_inputs(*out);
    program_.blocks.front() = std::move(root_block);
}

}  // namespace llmcost::custom

namespace llmcost {

LLMCOST_INLINE custom_model::custom_model(config_view root, std::string file, const model_registry* known)
    : spec_(std::make_shared<custom::custom_model_spec>()) {
    spec_->model_type = "described";
    spec_->forward = custom::forward_program;
    spec_->accepts_any_image_size = spec_->is_fixed_trace = true;
    spec_->definition.file = std::move(file);
    custom::custom_model_parser reader{*spec_, known};
    reader.read(root);
    spec_->class_prefix = spec_->definition.type;
    model_.spec = spec_.get();
    model_.config = make_model_config(reader.names());
    model_.config.dtype_of_weights = detail::parse_dtype(root);
    model_.config.vision.image_height = spec_->definition.image_height;
    model_.config.vision.image_width = spec_->definition.image_width;
    // Shapes that do not match at one length can match at others.
    if (spec_->definition.is_nonlinear) return;
    workload first;
    first.sequence = 8;
    trace t{first};
    model_.trace_with_loss(t);
}

LLMCOST_INLINE std::vector<std::pair<std::string_view, shape>> custom_model::inputs(const workload& load) const {
    trace t{load};
    custom::program_executor w(spec_->definition, spec_->made_names, t);
    std::vector<std::pair<std::string_view, shape>> out;
    for (const custom::input& in : spec_->definition.inputs) out.emplace_back(in.name, w.input_sizes(in));
    return out;
}

LLMCOST_INLINE bool custom_model::is_custom_model(config_view root) {
    if (!root.is_object()) return false;
    const auto layers = root.find("layers");
    return layers && layers->is_array() && !root.find("model_type");
}

LLMCOST_INLINE model_config custom_model::make_model_config(const custom::global_names& names) {
    model_config config;
    const auto set = [&](std::string_view name, std::int64_t& size) {
        const custom::meaning* const found = names.size(name);
        if (found != nullptr && found->kind == custom::meaning::symbol_kind::number) size = found->operand;
    };
    set("hidden_size", config.hidden_size);
    set("num_hidden_layers", config.num_hidden_layers);
    set("vocab_size", config.vocab_size);
    set("num_attention_heads", config.num_attention_heads);
    config.num_key_value_heads = config.num_attention_heads;
    set("num_key_value_heads", config.num_key_value_heads);
    set("head_dim", config.head_dim);
    set("intermediate_size", config.intermediate_size);
    return config;
}

}  // namespace llmcost
