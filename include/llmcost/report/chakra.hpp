// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chakra execution traces (MLCommons) in the format of ASTRA-sim.
// Requires chakra.pb.h, which protoc generates from examples/llmcost/chakra.proto. Otherwise the file is empty.
#if __has_include(<chakra.pb.h>)

#include <chakra.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/graph/execution_trace.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost {

/// The value of a collective in Chakra's schema (`CollectiveCommType`).
[[nodiscard]] constexpr std::int64_t chakra_collective(collective_kind kind) noexcept {
    switch (kind) {
        case collective_kind::all_gather: return 2;
        case collective_kind::broadcast: return 5;
        case collective_kind::all_to_all: return 6;
        case collective_kind::reduce_scatter: return 7;
        default: return 0;  // messages have their own nodes
    }
}

/// The Chakra trace of one device: length-prefixed messages, the first of which has the schema version.
[[nodiscard]] inline std::string chakra_trace(const std::vector<trace_node>& nodes) {
    std::string out;
    {
        google::protobuf::io::StringOutputStream bytes(&out);
        google::protobuf::io::CodedOutputStream coded(&bytes);
        const auto write_message = [&](const google::protobuf::MessageLite& m) {
            coded.WriteVarint32(static_cast<std::uint32_t>(m.ByteSizeLong()));
            m.SerializeToCodedStream(&coded);
        };
        chakra::Metadata head;
        head.set_version("0.0.4");
        write_message(head);
        for (const trace_node& n : nodes) {
            chakra::Node node;
            const auto attribute = [&](const char* name) {
                chakra::Attribute* const a = node.add_attr();
                a->set_name(name);
                return a;
            };
            node.set_id(n.id);
            node.set_name(n.name);
            for (const std::uint64_t id : n.data) node.add_data_deps(id);
            for (const std::uint64_t id : n.control) node.add_ctrl_deps(id);
            attribute("is_cpu_op")->set_bool_val(false);
            if (n.kind == trace_kind::compute) {
                // integer microseconds, rounded at the boundaries so that the sum is exact
                const double begins = std::round(1e6 * n.begins), ends = std::round(1e6 * (n.begins + n.seconds));
                node.set_type(chakra::COMPUTE);
                node.set_start_time_micros(static_cast<std::uint64_t>(begins));
                node.set_duration_micros(static_cast<std::uint64_t>(ends - begins));
                attribute("num_ops")->set_int64_val(static_cast<std::int64_t>(n.flops));
                attribute("tensor_size")->set_uint64_val(n.bytes);
            } else if (n.kind == trace_kind::collective) {
                node.set_type(chakra::COLLECTIVE);
                attribute("comm_type")->set_int64_val(chakra_collective(n.collective));
                attribute("comm_size")->set_int64_val(static_cast<std::int64_t>(n.bytes));
            } else {
                node.set_type(n.kind == trace_kind::send ? chakra::SEND : chakra::RECEIVE);
                attribute("comm_size")->set_int64_val(static_cast<std::int64_t>(n.bytes));
                attribute("comm_src")->set_int32_val(n.source_device);
                attribute("comm_dst")->set_int32_val(n.to);
                attribute("comm_tag")->set_int32_val(n.tag);
            }
            write_message(node);
        }
    }
    return out;
}

}  // namespace llmcost

#endif
