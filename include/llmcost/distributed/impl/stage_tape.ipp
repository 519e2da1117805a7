// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/stage_tape.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<stage_layers> divide_layers(std::int64_t num_layers, std::int64_t num_stages,
                                                       std::int64_t first_layers, std::int64_t last_layers) {
    const bool has_first = first_layers >= 0 && num_stages > 1, has_last = last_layers >= 0 && num_stages > 1;
    const std::int64_t others = num_stages - (has_first ? 1 : 0) - (has_last ? 1 : 0);
    const std::int64_t layers = num_layers - (has_first ? first_layers : 0) - (has_last ? last_layers : 0);
    std::vector<stage_layers> out;
    std::int64_t next = 0, index = 0;
    for (std::int64_t stage = 0; stage < num_stages; ++stage) {
        std::int64_t size = 0;
        if (has_first && stage == 0)
            size = first_layers;
        else if (has_last && stage == num_stages - 1)
            size = last_layers;
        else {
            size = layers / others + (index < layers % others ? 1 : 0);
            ++index;
        }
        out.push_back({next, next + size});
        next += size;
    }
    return out;
}

LLMCOST_INLINE std::vector<std::int32_t> layer_regions_of(const tape& pass, std::int64_t num_layers) {
    std::map<std::string, std::vector<std::int32_t>> lists;
    for (std::size_t i = 0; i < pass.regions.size(); ++i) {
        const std::string& path = pass.regions[i];
        lists[path.substr(0, path.rfind('.'))].push_back(static_cast<std::int32_t>(i));
    }
    std::vector<std::int32_t> out;
    for (const auto& [path, regions] : lists) {
        if (static_cast<std::int64_t>(regions.size()) == num_layers) return regions;
        if (regions.size() > out.size()) out = regions;
    }
    return out;
}

LLMCOST_INLINE std::uint64_t tensor_bytes(const tape& pass, const std::vector<std::int32_t>& tensors) {
    std::uint64_t bytes = 0;
    for (const std::int32_t t : tensors) bytes += pass.tensors[static_cast<std::size_t>(t)].bytes;
    return bytes;
}

}  // namespace llmcost

namespace llmcost::detail {

/// Cuts the tape of a pipeline stage out of the tape of the model.
class stage_cut {
public:
    stage_cut(const tape& pass, const std::vector<std::int32_t>& regions, const stage_layers& layers)
        : pass_(pass), is_kept_(pass.nodes.size()), tensor_ids_(pass.tensors.size(), -1) {
        const auto num_layers = static_cast<std::int64_t>(regions.size());
        const std::int32_t num_nodes = static_cast<std::int32_t>(pass.nodes.size());
        const auto begin_of = [&](std::int64_t layer) {
            if (layer == num_layers) return num_nodes;
            const std::int32_t region = regions[static_cast<std::size_t>(layer)];
            const auto found = std::ranges::find(pass.nodes, region, &tape_node::region);
            return static_cast<std::int32_t>(found - pass.nodes.begin());
        };
        is_last_ = layers.end == num_layers;
        begin_ = layers.first == 0 ? 0 : begin_of(layers.first);
        end_ = begin_of(layers.end);
    }

    [[nodiscard]] tape cut() {
        for (std::int32_t i = begin_; i < end_; ++i) keep(i);
        find_sent_tensors();
        renumber_tensors();
        renumber_parameters();
        copy_nodes();
        out_.buffer_bytes = pass_.buffer_bytes;
        out_.kernels = pass_.kernels;
        out_.modules = pass_.modules;
        out_.collectives = pass_.collectives;
        out_.num_attentions = pass_.num_attentions;
        out_.output = is_last_ ? tensor_id(pass_.output) : -1;
        out_.loss = is_last_ ? tensor_id(pass_.loss) : -1;
        return std::move(out_);
    }

private:
    [[nodiscard]] const tape_node& node(std::int32_t i) const { return pass_.nodes[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const tape_tensor& tensor_of(std::int32_t t) const {
        return pass_.tensors[static_cast<std::size_t>(t)];
    }
    [[nodiscard]] std::int32_t tensor_id(std::int32_t t) const {
        return t < 0 ? -1 : tensor_ids_[static_cast<std::size_t>(t)];
    }
    [[nodiscard]] bool is_repeated(std::int32_t i) const { return i < begin_; }

    /// Keeps a node, and the nodes before the layers that create its inputs without a gradient.
    void keep(std::int32_t i) {
        if (is_kept_[static_cast<std::size_t>(i)]) return;
        is_kept_[static_cast<std::size_t>(i)] = true;
        for (const tape_edge& e : node(i).inputs) repeat_producers(e.tensor);
        for (const std::int32_t t : node(i).saved) repeat_producers(t);
    }
    void repeat_producers(std::int32_t t) {
        if (t < 0 || tensor_of(t).requires_grad) return;
        for (std::int32_t i = tensor_of(t).producer; i >= 0 && i < begin_; ++i) {
            if (node(i).region >= 0) return;
            if (node(i).output == t && !node(i).has_backward) keep(i);
        }
    }

    [[nodiscard]] bool is_produced(std::int32_t t) const {
        const std::int32_t producer = tensor_of(t).producer;
        return producer >= 0 && is_kept_[static_cast<std::size_t>(producer)];
    }
    /// Tensors of this stage that nodes of later stages read.
    void find_sent_tensors() {
        const auto send = [&](std::int32_t t) {
            if (t < 0 || tensor_of(t).producer < begin_ || tensor_of(t).producer >= end_) return;
            // a table before the layers is repeated
            if (!tensor_of(t).requires_grad && node(tensor_of(t).producer).region < 0) return;
            if (std::ranges::find(out_.sent, t) == out_.sent.end()) out_.sent.push_back(t);
        };
        for (std::int32_t i = end_; i < static_cast<std::int32_t>(pass_.nodes.size()); ++i) {
            for (const tape_edge& e : node(i).inputs)
                if (!is_argument(e)) send(e.tensor);
            for (const std::int32_t t : node(i).saved) send(t);
        }
    }

    void renumber_tensors() {
        std::vector<bool> is_read(pass_.tensors.size());
        const auto read = [&](std::int32_t t) {
            if (t >= 0) is_read[static_cast<std::size_t>(t)] = true;
        };
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(pass_.nodes.size()); ++i) {
            if (!is_kept_[static_cast<std::size_t>(i)]) continue;
            for (const tape_edge& e : node(i).inputs)
                if (!is_unavailable(i, e)) read(e.tensor);
            for (const std::int32_t t : node(i).saved) read(t);
            read(node(i).output);
        }
        for (std::size_t t = 0; t < pass_.tensors.size(); ++t) {
            if (!is_read[t]) continue;
            tensor_ids_[t] = static_cast<std::int32_t>(out_.tensors.size());
            out_.tensors.push_back(pass_.tensors[t]);
            const bool is_received = pass_.tensors[t].producer >= 0 && !is_produced(static_cast<std::int32_t>(t));
            if (is_received) out_.received.push_back(tensor_ids_[t]);
        }
        for (std::int32_t& t : out_.sent) t = tensor_id(t);
    }
    /// Whether an edge is the argument of a module, which refers to it until it returns, and no operand.
    [[nodiscard]] bool is_argument(const tape_edge& e) const {
        return e.tensor >= 0 && !e.requires_grad && tensor_of(e.tensor).requires_grad;
    }
    /// Whether a stage does not receive an input of a node.
    ///
    /// This applies to arguments of modules that began in an earlier stage. It also applies to tensors with a gradient
    /// of which a repeated node needs the sizes only.
    [[nodiscard]] bool is_unavailable(std::int32_t i, const tape_edge& e) const {
        const bool is_elsewhere = e.tensor >= 0 && !is_produced(e.tensor) && tensor_of(e.tensor).producer >= 0;
        return is_elsewhere && (is_repeated(i) || is_argument(e));
    }

    void renumber_parameters() {
        std::vector<bool> is_read(pass_.parameters.size()), is_read_elsewhere(pass_.parameters.size());
        std::vector<bool> has_region(pass_.regions.size());
        for (std::size_t i = 0; i < pass_.nodes.size(); ++i) {
            if (is_kept_[i] && pass_.nodes[i].region >= 0)
                has_region[static_cast<std::size_t>(pass_.nodes[i].region)] = true;
            for (const tape_edge& e : pass_.nodes[i].inputs)
                if (e.parameter >= 0)
                    (is_kept_[i] ? is_read : is_read_elsewhere)[static_cast<std::size_t>(e.parameter)] = true;
        }
        region_ids_.assign(pass_.regions.size(), -1);
        for (std::size_t i = 0; i < pass_.regions.size(); ++i) {
            if (!has_region[i]) continue;
            region_ids_[i] = static_cast<std::int32_t>(out_.regions.size());
            out_.regions.push_back(pass_.regions[i]);
        }
        parameter_ids_.assign(pass_.parameters.size(), -1);
        bool is_before_layers = true;
        for (std::size_t i = 0; i < pass_.parameters.size(); ++i) {
            const tape_parameter& p = pass_.parameters[i];
            if (p.region_id >= 0) is_before_layers = false;
            // one that no operation reads is in the stage of its layer
            const bool is_unread_here = p.region_id >= 0 ? has_region[static_cast<std::size_t>(p.region_id)]
                                                         : (is_before_layers ? begin_ == 0 : is_last_);
            if (!is_read[i] && (is_read_elsewhere[i] || !is_unread_here)) continue;
            parameter_ids_[i] = static_cast<std::int32_t>(out_.parameters.size());
            out_.parameters.push_back(p);
            if (p.region_id >= 0) out_.parameters.back().region_id = region_ids_[static_cast<std::size_t>(p.region_id)];
        }
    }

    void copy_nodes() {
        std::vector<std::int32_t> producers(out_.tensors.size(), -1), last_reads(out_.tensors.size(), -1);
        const auto read = [&](std::int32_t t) {
            if (t >= 0) last_reads[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(out_.nodes.size());
        };
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(pass_.nodes.size()); ++i) {
            if (!is_kept_[static_cast<std::size_t>(i)]) continue;
            tape_node n = node(i);
            std::vector<tape_edge> inputs;
            for (tape_edge& e : n.inputs) {
                e.tensor = is_unavailable(i, e) ? tape_edge::none : tensor_id(e.tensor);
                if (e.parameter >= 0) e.parameter = parameter_ids_[static_cast<std::size_t>(e.parameter)];
                read(e.tensor);
            }
            for (std::int32_t& t : n.saved) t = tensor_id(t);
            n.output = tensor_id(n.output);
            if (n.region >= 0) n.region = region_ids_[static_cast<std::size_t>(n.region)];
            for (const std::int32_t t : n.saved) note_creation(t, producers, last_reads);
            note_creation(n.output, producers, last_reads);
            out_.nodes.push_back(std::move(n));
            if (!pass_.operands.empty()) out_.operands.push_back(pass_.operands[static_cast<std::size_t>(i)]);
        }
        for (std::size_t t = 0, id = 0; t < pass_.tensors.size(); ++t) {
            if (tensor_ids_[t] < 0) continue;
            tape_tensor& made = out_.tensors[id];
            made.producer = is_produced(static_cast<std::int32_t>(t)) ? producers[id] : -1;
            made.last_read = last_reads[id];
            ++id;
        }
    }
    /// A tensor is created by the first node that writes or saves it.
    void note_creation(std::int32_t t, std::vector<std::int32_t>& producers, std::vector<std::int32_t>& last_reads) {
        if (t < 0) return;
        std::int32_t& producer = producers[static_cast<std::size_t>(t)];
        if (producer < 0) producer = static_cast<std::int32_t>(out_.nodes.size());
        std::int32_t& last = last_reads[static_cast<std::size_t>(t)];
        if (last < 0) last = static_cast<std::int32_t>(out_.nodes.size());
    }

    const tape& pass_;
    std::int32_t begin_ = 0, end_ = 0;  ///< nodes of the stage, without repeated ones
    bool is_last_ = false;
    std::vector<bool> is_kept_;
    std::vector<std::int32_t> tensor_ids_, parameter_ids_{}, region_ids_{};  ///< by index in the tape of the model
    tape out_{};
};

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE tape stage_tape_of(const tape& pass, const std::vector<std::int32_t>& regions,
                                  const stage_layers& layers) {
    return detail::stage_cut(pass, regions, layers).cut();
}

}  // namespace llmcost
