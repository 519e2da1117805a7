// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/program_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/custom/function_table.hpp>
#include <llmcost/custom/library_part.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/read_steps.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/loop.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::custom {

LLMCOST_INLINE literal name_storage::keep(std::string text) {
    const std::lock_guard<std::mutex> one{mutex_};
    return names_.insert(std::move(text)).first->c_str();
}

LLMCOST_INLINE program_executor::program_executor(const program& p, name_storage& names, trace& t)
    : program_(p), names_(names), trace_(t) {
    const workload& load = t.load();
    const bool uses_default_image_size = load.image_height == 0;
    const std::int64_t workload_values[]{load.batch, load.sequence, load.past,
                                         uses_default_image_size ? p.image_height : load.image_height,
                                         uses_default_image_size ? p.image_width : load.image_width};
    for (std::size_t i = 0; i < std::size(workload_values); ++i) workload_values_[i] = workload_values[i];
    if (p.is_nonlinear)  // a closed form is valid at this workload only
        for (const workload_axis a : {workload_axis::batch, workload_axis::sequence, workload_axis::past}) {
            const std::int64_t size = a == workload_axis::batch      ? load.batch
                                      : a == workload_axis::sequence ? load.sequence
                                                                     : load.past;
            t.add_region_edge(a, size);
            t.add_region_edge(a, size + 1);
        }
}

LLMCOST_INLINE tensor program_executor::run() {
    const block& root_block = program_.blocks.front();
    call_frame& f = open(root_block);
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
        const shape sizes = sizes_of(program_.inputs[i], f);
        f.slots[root_block.inputs[i].slot] = {program_.inputs[i].integers ? empty_tensor(sizes) : trace_.input(sizes),
                                              nullptr};
    }
    const module_info m{.class_of_module = {"", program_.type}};
    trace_.enter(m);
    for (const library_part& part : program_.parts) {  // inputs that built-in models compute once, before all layers
        const model& source_model = part.full_model;
        shared_inputs_.push_back(
            part.kind == part_kind::attention || part.kind == part_kind::layer
                ? source_model.spec->prepare_inputs({source_model, *source_model.spec, source_model.config}, trace_)
                : decoder_inputs{});
    }
    produced_tensors last =
        run(root_block.body, f, program_.inputs.empty() ? produced_tensors{} : f.slots[root_block.inputs.front().slot]);
    if (!root_block.outputs.empty()) {
        last = f.slots[root_block.outputs.front().slot];
        for (std::size_t i = 1; i < root_block.outputs.size(); ++i)
            trace_.accumulate_gradient(f.slots[root_block.outputs[i].slot].v);
    }
    close();
    return trace_.leave(m, last.v);
}

LLMCOST_INLINE shape program_executor::input_sizes(const input& program_input) {
    const shape sizes = sizes_of(program_input, open(program_.blocks.front()));
    close();
    return sizes;
}

LLMCOST_INLINE program_executor::call_frame& program_executor::open(const block& b) {
    if (depth_ == frames_.size()) frames_.push_back(std::make_unique<call_frame>());
    call_frame& f = *frames_[depth_++];
    f.variables.assign(b.variables, 0);
    f.slots.assign(b.slots, {});
    f.lists.assign(b.lists, {});
    f.item = 0;
    return f;
}

LLMCOST_INLINE shape program_executor::sizes_of(const input& program_input, const call_frame& f) const {
    shape sizes;
    for (const expression& e : program_input.shape) {
        const std::int64_t n = size_of(program_input, e, f);
        if (n < 1 || n > max_input) fail(program_input.pointer, "expected sizes from 1 to 2^31 - 1");
        sizes.size[sizes.rank++] = n;
    }
    return sizes;
}

LLMCOST_INLINE std::int64_t program_executor::size_of(const input& program_input, const expression& e,
                                                      const call_frame& f) const {
    try {
        return number(e, f);
    } catch (const description_error& problem) {
        fail(program_input.pointer, problem.what());
    }
}

LLMCOST_INLINE program_executor::produced_tensors program_executor::run(const steps& all, call_frame& f,
                                                                        produced_tensors x) {
    for (const step& s : all) x = run(s, f, x);
    return x;
}

LLMCOST_INLINE program_executor::produced_tensors program_executor::run(const step& s, call_frame& f,
                                                                        produced_tensors x) {
    try {
        if (!s.repeated) return run_once(s, f, x, -1);
        const std::int64_t n = number(s.times, f);
        if (n < 0 || n > max_input)
            fail(s.pointer + "/repeat", "expected a number from 0 to 2^31 - 1, found " + std::to_string(n));
        const std::int64_t first = s.numbered ? f.item : number(s.first, f);
        if (s.numbered) f.item += n;
        if (s.indexed) {
            for (std::int64_t i = 0; i < n; ++i) {
                if (s.index_slot >= 0) f.variables[static_cast<std::size_t>(s.index_slot)] = i;
                x = run_once(s, f, x, first + i);
            }
            return x;
        }
        for (loop layer_loop = trace_.loop_modules(n, x.v, first); layer_loop.next();)
            x = run_once(s, f, x, layer_loop.index());
        return x;
    } catch (const description_error& e) {
        fail(s.pointer, std::string(e.what()) + input_description_);
    }
}

LLMCOST_INLINE program_executor::produced_tensors program_executor::run_once(const step& s, call_frame& f,
                                                                             const produced_tensors& x,
                                                                             std::int64_t index) {
    if (++num_calls_ > max_calls) fail(s.pointer, "more than 200000 calls; use repeat for equal layers");
    input_description_.clear();
    const bool unasked = s.module_role == role::head && trace_.load().head == logits::none;
    const trace::not_executed_guard not_executed_guard{trace_, s.is_not_executed || unasked};
    const trace::training_mode_guard training_mode{trace_, s.is_not_executed};
    const trace::shared_parameters_guard shared_parameters{trace_, s.reuses_parameters};
    std::vector<produced_tensors> in = gathered(s, f, x);
    std::vector<produced_tensors> out;
    const bool module =
        s.kind == step_kind::module || (!s.inlined && (s.kind == step_kind::container || s.kind == step_kind::block));
    const module_info m = module ? place_of(s, f, index) : module_info{};
    if (module) trace_.enter(m);
    switch (s.kind) {
        case step_kind::module:
        case step_kind::function: out = call(s, *s.row, f, in); break;
        case step_kind::container: {
            const std::int64_t previous_item = f.item;
            f.item = s.inlined ? previous_item : 0;
            out = {run(s.body, f, in.empty() ? produced_tensors{} : in.front())};
            if (!s.inlined) f.item = previous_item;
            break;
        }
        case step_kind::part:
            out = {{forward_library_module(program_.parts[s.block], shared_inputs_[s.block], place_of(s, f, index),
                                           trace_, in.empty() ? tensor{} : in.front().v),
                    &s}};
            break;
        case step_kind::block: out = enter(s, f, in); break;
        case step_kind::residual: out = {residual(s, f, in.front())}; break;
        case step_kind::parallel: out = parallel(s, f, in.front()); break;
        case step_kind::choice:
            out = {run(number(s.condition, f) != 0 ? s.body : s.alternative_body, f, in.front())};
            break;
        case step_kind::parameter: out = {{trace_.param(s.name, shape_of(s, f)), &s}}; break;
        case step_kind::buffer: out = {{buffer(s, f), &s}}; break;
        case step_kind::refusal: fail(s.pointer, s.type);
    }
    if (module) {
        if (m.is_leaf)
            for (const produced_tensors& o : out) trace_.record_module_output(o.v);
        trace_.leave(m);
    }
    for (std::size_t i = 0; i < s.outputs.size() && i < out.size(); ++i) {
        const tensor_reference& to = s.outputs[i];
        if (to.list)
            f.lists[to.slot].push_back(out[i]);
        else
            f.slots[to.slot] = out[i];
    }
    // Tensors without inputs are accessible by name only.
    const bool has_no_inputs =
        s.kind == step_kind::parameter || s.kind == step_kind::buffer || (s.row != nullptr && s.row->min_inputs == 0);
    return s.is_not_executed || unasked || has_no_inputs || out.empty() ? x : out.front();
}

LLMCOST_INLINE std::vector<program_executor::produced_tensors> program_executor::gathered(const step& s, call_frame& f,
                                                                                          const produced_tensors& x) {
    std::vector<produced_tensors> in;
    for (const tensor_reference& p : s.inputs)
        if (p.pop) {
            if (f.lists[p.slot].empty()) throw_description_error(".pop() of an empty list");
            in.push_back(f.lists[p.slot].back());
            f.lists[p.slot].pop_back();
        } else if (p.list)
            in.insert(in.end(), f.lists[p.slot].begin(), f.lists[p.slot].end());
        else
            in.push_back(p.slot == tensor_reference::previous ? x : f.slots[p.slot]);
    if (s.inputs.empty() && !(s.row != nullptr && s.row->max_inputs == 0)) in.push_back(x);
    return in;
}

LLMCOST_INLINE module_info program_executor::place_of(const step& s, call_frame& f, std::int64_t index) {
    module_info m{s.name, index < 0 ? s.in_list : index, {"", s.type}, s.module_role, s.is_leaf};
    if (s.numbered && index < 0) m.index = f.item++;
    if (s.counted) m.index = number(s.first, f);
    if (!s.name_parts.empty()) {
        std::string name;
        for (const name_part& p : s.name_parts) name += p.text + std::to_string(number(p.number, f));
        m.name = names_.keep(name + s.name);
        m.index = -1;
    }
    return m;
}

LLMCOST_INLINE tensor program_executor::buffer(const step& s, const call_frame& f) {
    tensor b = trace::buffer(shape_of(s, f));
    b.type = trace_.activation_type();
    trace_.register_buffer(count(b.numel) * count(s.integers ? 8 : bits_of(b.type) / 8));
    return s.integers ? made_integers(shape_of(s, f)) : b;
}

LLMCOST_INLINE shape program_executor::shape_of(const step& s, const call_frame& f) const {
    shape out;
    for (const expression& e : s.arguments[0].numbers) {
        const std::int64_t n = number(e, f);
        if (n < 0 || n > max_input) throw_description_error("expected sizes from 0 to 2^31 - 1");
        out.size[out.rank++] = n;
    }
    return out;
}

LLMCOST_INLINE std::vector<program_executor::produced_tensors> program_executor::call(
    const step& s, const layer_row& row, const call_frame& f, const std::vector<produced_tensors>& in) {
    arguments a;
    a.begin(row.arguments, row.results == 0 || s.outputs.size() > 1 ? static_cast<int>(s.outputs.size()) : 1);
    for (const argument_binding& binding : s.arguments) {
        a.open(binding.argument);
        for (const expression& e : binding.numbers) {
            const std::int64_t n = number(e, f);
            if (const literal expected = step_reader::expected_of(n, row.arguments[binding.argument]);
                !is_empty(expected))
                fail(s.pointer + "/" + row.arguments[binding.argument].name,
                     std::string("expected ") + expected + ", found " + std::to_string(n));
            a.push(n);
        }
    }
    const std::size_t results = row.results == 0 ? s.outputs.size()
                                                 : std::max(static_cast<std::size_t>(row.results),
                                                            row.max_results > 0 ? s.outputs.size() : std::size_t{0});
    std::vector<tensor> read, out(results == 0 ? 1 : results);
    for (const produced_tensors& m : in) read.push_back(m.v);
    if (static_cast<int>(read.size()) < row.min_inputs) throw_description_error("expected more input tensors");
    if (static_cast<int>(read.size()) > row.max_inputs) throw_description_error("expected fewer input tensors");
    input_description_.clear();
    try {
        row.forward(trace_, a, {read.data(), static_cast<int>(read.size()), out.data()});
    } catch (const description_error&) {
        input_description_ = format_inputs(in);
        throw;
    }
    std::vector<produced_tensors> results_of;
    for (const tensor& v : out) results_of.push_back({v, &s});
    return results_of;
}

LLMCOST_INLINE std::string program_executor::format_inputs(const std::vector<produced_tensors>& in) {
    std::string out = "; inputs: ";
    for (std::size_t i = 0; i < in.size() && i < 6; ++i) {
        out += i == 0 ? "(" : " and (";
        for (int d = 0; d < in[i].v.rank; ++d) out += (d == 0 ? "" : ", ") + std::to_string(in[i].v.size[d]);
        out += in[i].producer == nullptr ? ") from the caller" : ") of " + in[i].producer->pointer;
    }
    return out;
}

LLMCOST_INLINE std::vector<program_executor::produced_tensors> program_executor::enter(
    const step& s, const call_frame& f, const std::vector<produced_tensors>& in) {
    const block& b = program_.blocks[s.block];
    call_frame& inner = open(b);
    for (const argument_binding& binding : s.arguments)
        inner.variables[binding.argument] = number(binding.numbers.front(), f);
    // Arguments are evaluated in the order of the block's, because default values can depend on earlier ones.
    auto next_binding = s.arguments.begin();
    for (std::size_t i = 0; i < b.arguments.size(); ++i)
        if (next_binding != s.arguments.end() && next_binding->argument == i)
            ++next_binding;
        else
            inner.variables[i] = number(b.default_arguments[i].front(), inner);
    if (in.size() != b.inputs.size()) throw_description_error("the number of inputs is not that of the block");
    for (std::size_t i = 0; i < b.inputs.size(); ++i)
        if (b.inputs[i].list)
            inner.lists[b.inputs[i].slot].push_back(in[i]);
        else
            inner.slots[b.inputs[i].slot] = in[i];
    const produced_tensors last = run(b.body, inner, in.empty() ? produced_tensors{} : in.front());
    std::vector<produced_tensors> out;
    for (const tensor_reference& p : b.outputs) out.push_back(inner.slots[p.slot]);
    if (out.empty()) out.push_back(last);
    close();
    return out;
}

LLMCOST_INLINE program_executor::produced_tensors program_executor::residual(const step& s, call_frame& f,
                                                                             const produced_tensors& x) {
    const produced_tensors branch_output = run(s.body, f, x), shortcut = run(s.alternative_body, f, x);
    produced_tensors sum{branch_output.v, &s};
    input_description_.clear();
    if (!llmcost::detail::has_same_shape(branch_output.v, shortcut.v))
        input_description_ = format_inputs({branch_output, shortcut});
    if (!llmcost::detail::has_same_shape(branch_output.v, shortcut.v))
        throw_description_error("residual: shapes do not match");
    if (s.in_place)
        trace_.apply_inplace(op::add, sum.v, shortcut.v);
    else
        sum.v = trace_.add(branch_output.v, shortcut.v);
    return sum;
}

LLMCOST_INLINE std::vector<program_executor::produced_tensors> program_executor::parallel(const step& s, call_frame& f,
                                                                                          const produced_tensors& x) {
    std::vector<produced_tensors> out;
    for (const steps& branch : s.branches) out.push_back(run(branch, f, x));
    if (s.row == nullptr) return out;
    if (s.row->max_inputs > 2) return call(s, *s.row, f, out);
    produced_tensors merged = out.front();
    for (std::size_t i = 1; i < out.size(); ++i) merged = call(s, *s.row, f, {merged, out[i]}).front();
    return {merged};
}

}  // namespace llmcost::custom
