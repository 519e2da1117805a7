// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/commands/program.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device_file.hpp>
#include <llmcost/kernels/calibration_file.hpp>

#include "parts.hpp"

// Calibrations, devices and rows of CSV, by the first letter: whatever they hold, times are finite and in order, and
// errors have an exit code that is known.
namespace {

using namespace llmcost;

void price(const device& target_device, const kernel_calibration& c) {
    operator_shape shape;
    shape.type = find_operator_type(c.family);
    shape.operand = find_operand_type(c.operand);
    shape.variant = c.variant;
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{128}, std::int64_t{5000}}) {
        for (std::size_t i = 0; i < shape.type->size_count; ++i) shape.sizes[i] = n;
        if (!has_peak(target_device, shape.work())) continue;
        const latency_estimate e = estimate(target_device, shape, &c);
        const bool ordered = e.lower <= e.seconds && e.seconds <= e.upper;
        if (!std::isfinite(e.seconds) || !(e.seconds > 0) || !ordered || !std::isfinite(e.upper)) std::abort();
    }
}

void answer(const std::vector<std::string_view>& args, const std::string& rows) {
    std::istringstream in(rows);
    std::ostringstream out, err;
    const int code = cli::run_commands(args, parts::full_program({out, err, in}));
    if (code != 0 && code != 2 && code != 3 && code != 5 && code != 7) std::abort();
    // an error always has a line; an answer may have some, that say what stood in for what was asked
    if (code != 0 && err.str().empty()) std::abort();
    std::istringstream error_lines(err.str());
    for (std::string line; std::getline(error_lines, line);)
        if (!line.starts_with("llmcost: ")) std::abort();
}

}  // namespace

// libFuzzer: clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/measured_fuzz.cpp
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    static const device h200 = *find_device("h200_sxm");
    try {
        switch (data[0]) {
            case 'c': {
                const calibration_document file(parse_config(text, "calibration"));
                for (const kernel_calibration& c : file.kernels()) price(h200, c);
                break;
            }
            case 'd': {
                const config_document file = parse_config(text, "device");
                const device parsed_device = file.read_with([](config_view root) { return parse_device(root); });
                for (const operator_type& f : operator_families) {
                    operator_shape shape{
                        .type = &f, .operand = find_operand_type("bfloat16"), .variant = f.default_variant};
                    for (std::size_t i = 0; i < f.size_count; ++i) shape.sizes[i] = 64;
                    if (has_peak(parsed_device, shape.work()) && !(estimate(parsed_device, shape, nullptr).seconds > 0))
                        std::abort();
                }
                break;
            }
            case 'o': answer({"op", "context_attention", "--device", "h200", "--calibration", "none"}, text); break;
            case 'e': answer({"op", "elementwise", "--device", "h200", "--calibration", "none"}, text); break;
            case 's':
                answer({"serve", "--calibration", "none", "--configs", LLMCOST_TEST_DIR "/fit/serving", "--offline"},
                       text);
                break;
            default: break;
        }
    } catch (const error&) {
    } catch (const overflow_error&) {
    }
    return 0;
}
