// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/dtype.hpp>
#include <llmcost/text/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the tests need and the library does not install.
namespace llmcost::testing {

/// The columns of a golden, in their order in the file.
enum class figure : std::size_t { add, mult, div, sqrt, exp, log, tanh, erf, trig, pow, neg, cmp, out, written };

/// The first columns are primitives.
inline constexpr std::size_t primitive_columns = 12;

/// The words for them, as the reference records them.
inline constexpr std::array<std::string_view, 14> figure_names{"ADD", "MULT", "DIV", "SQRT", "EXP", "LOG", "TANH",
                                                               "ERF", "TRIG", "POW", "NEG",  "CMP", "OUT", "WRITTEN"};

/// Primitives executed, OUT and WRITTEN of a module (children included) or of a whole run, in operations or elements.
struct golden_figures {
    std::array<std::uint64_t, figure_names.size()> values{};

    [[nodiscard]] std::uint64_t operator[](figure metric) const { return values[static_cast<std::size_t>(metric)]; }
    [[nodiscard]] bool operator==(const golden_figures&) const = default;
};

/// Dimensions of a tensor, outermost first; empty for a scalar.
using tensor_shape = std::vector<std::uint64_t>;

/// Elements of a tensor: the product of its dimensions.
[[nodiscard]] inline std::uint64_t elements(const tensor_shape& shape) {
    std::uint64_t product = 1;
    for (const std::uint64_t dimension : shape) product *= dimension;
    return product;
}

/// What the reference's cache object holds after a run, in floating-point elements.
struct golden_cache {
    std::uint64_t total = 0;
    std::vector<std::vector<tensor_shape>> layers;  ///< the tensors of every layer, in order
};

/// What one sequence shows: images of one size, videos, a recording.
struct golden_media {
    std::uint64_t images = 0, image_height = 0, image_width = 0;
    std::uint64_t videos = 0, frames = 0, video_height = 0, video_width = 0;
    std::uint64_t milliseconds = 0;
};

/// One recorded forward pass.
struct golden_run {
    std::string kind;  ///< prefill, extend or decode
    std::uint64_t batch = 0;
    std::uint64_t sequence = 0;          ///< new tokens
    std::uint64_t past = 0;              ///< tokens in the cache before the run
    std::uint64_t encoder_sequence = 0;  ///< 0 where there is no encoder-decoder
    golden_media shows;
    std::array<std::uint64_t, 3> tokens{};  ///< of a sequence, which stand for images, videos and sound
    golden_figures total;
    std::uint64_t torch_flops = 0;
    std::map<std::string, std::uint64_t> unknown;  ///< calls without a price; such a run is not exact
    std::optional<golden_cache> cache;             ///< absent where the model returns none
    std::optional<std::map<std::string, golden_figures>>
        modules;  ///< by module path; absent where only totals were kept
};

/// The recorded forward and backward pass of loss = sum of logits, parameters and activations of one type.
struct golden_training {
    dtype type = dtype::float32;
    std::uint64_t batch = 0;
    std::uint64_t sequence = 0;
    std::uint64_t encoder_sequence = 0;
    std::uint64_t forward_torch_flops = 0;
    std::uint64_t backward_torch_flops = 0;
    std::uint64_t saved_bytes = 0;
    std::array<std::uint64_t, primitive_columns> backward{};  ///< primitives that backward executes
    bool has_backward = false;                                ///< whether they were recorded
    golden_media shows{};
};

/// One golden with every index list expanded; tests/oracle/README.md has the format.
struct golden_file {
    std::filesystem::path config_path;  ///< the configuration verbatim, next to the golden
    std::string name;
    std::string model_type;
    std::string architecture;
    std::string device;            ///< meta, or cpu where the forward was executed on values
    std::uint64_t parameters = 0;  ///< elements of all tensors
    std::map<std::string, tensor_shape> tensors;
    std::set<std::string> tied;                  ///< names that share a tensor of `tensors`
    std::map<std::string, std::string> classes;  ///< by module path
    std::vector<golden_run> runs;
    std::vector<golden_training> trainings;
    std::map<std::string, std::string> errors;  ///< by kind of run: why the reference could not make it
};

namespace golden_detail {

/// Reads a golden line by line and knows where it stands.
class golden_reader {
public:
    golden_reader(std::istream& in, std::string source) : in_(in), source_(std::move(source)) {}

    [[nodiscard]] golden_file read() {
        need(next() && fields_.size() == 2 && fields_[0] == "llmcost-golden" && fields_[1] == "1", "llmcost-golden 1");
        std::uint64_t announced_runs = 0;
        while (next()) {
            const std::string& name = fields_[0];
            if (name == "name")
                file_.name = text(1);
            else if (name == "model_type")
                file_.model_type = text(1);
            else if (name == "architecture")
                file_.architecture = text(1);
            else if (name == "device")
                file_.device = text(1);
            else if (name == "parameters")
                file_.parameters = number(1);
            else if (name == "figures")
                need(std::equal(fields_.begin() + 1, fields_.end(), figure_names.begin(), figure_names.end()),
                     "the columns of this version");
            else if (name == "tied")
                table(number(1), [&](std::string path) { return file_.tied.insert(path).second; });
            else if (name == "tensors")
                table(number(1), [&](std::string path) { return file_.tensors.emplace(path, shape(2)).second; });
            else if (name == "classes")
                table(number(1), [&](std::string path) { return file_.classes.emplace(path, text(2)).second; });
            else if (name == "runs")
                announced_runs = number(1);
            else if (name == "run")
                begin_run();
            else if (name == "training" || name == "training_bfloat16")
                file_.trainings.push_back({name == "training" ? dtype::float32 : dtype::bfloat16, number(1), number(2),
                                           number(3), number(4), number(5), number(6), primitives_from(7),
                                           fields_.size() > 7});
            else if (name == "step_shows")
                file_.trainings.back().shows = media();
            else if (name == "error")
                file_.errors[text(1)] = message();
            else if (name == "end") {
                need(announced_runs == file_.runs.size(), "the announced number of runs");
                need(!next(), "nothing after the end");
                return std::move(file_);
            } else
                run_line(name);
        }
        need(false, "the line: end");
        return {};
    }

private:
    void begin_run() {
        golden_run& run = file_.runs.emplace_back();
        run.kind = text(1);
        run.batch = number(2);
        run.sequence = number(3);
        run.past = number(4);
        run.encoder_sequence = number(5);
    }

    void run_line(const std::string& name) {
        need(!file_.runs.empty(), "a line of the file's head or of a run");
        golden_run& run = file_.runs.back();
        if (name == "shows")
            run.shows = media();
        else if (name == "tokens")
            run.tokens = {number(1), number(2), number(3)};
        else if (name == "total")
            run.total = columns(1);
        else if (name == "torch_flops")
            run.torch_flops = number(1);
        else if (name == "unknown")
            run.unknown[text(1)] = number(2);
        else if (name == "cache")
            cache(run.cache.emplace());
        else if (name == "modules")
            table(number(1), [&, &modules = run.modules.emplace()](std::string path) {
                return modules.emplace(path, columns(2)).second;
            });
        else
            need(false, "a word of the format");
    }

    [[nodiscard]] golden_media media() const {
        return {number(1), number(2), number(3), number(4), number(5), number(6), number(7), number(8)};
    }

    void cache(golden_cache& parsed_cache) {
        parsed_cache.total = number(1);
        std::map<std::uint64_t, std::vector<tensor_shape>> layers;
        table(number(2), [&](const std::string& index) {
            std::vector<tensor_shape> shapes;
            for (std::size_t i = 2; i < fields_.size(); ++i) shapes.push_back(shape(i));
            return layers.emplace(parse(index), std::move(shapes)).second;
        });
        for (auto& [index, shapes] : layers) {
            need(index == parsed_cache.layers.size(), "layers from 0 without a gap");
            parsed_cache.layers.push_back(std::move(shapes));
        }
    }

    /// Calls `add` with every path of the `count` entries that follow; `add` says whether the path is new.
    template <class Add>
    void table(std::uint64_t count, Add add) {
        std::uint64_t found = 0;
        while (found < count) {
            need(next() && fields_[0] == "-", "another entry of the table");
            for (std::string& path : expanded(text(1))) {
                need(add(std::move(path)), "every path once");
                ++found;
            }
        }
        need(found == count, "the announced number of entries");
    }

    /// `a.[0-1].b.[0,3]` -> a.0.b.0, a.0.b.3, a.1.b.0, a.1.b.3.
    [[nodiscard]] std::vector<std::string> expanded(const std::string& path) const {
        const std::size_t open = path.find('[');
        if (open == std::string::npos) return {path};
        const std::size_t close = path.find(']', open);
        need(close != std::string::npos, "a ] after the [");
        const std::vector<std::string> tails = expanded(path.substr(close + 1));
        std::vector<std::string> paths;
        std::istringstream spans(path.substr(open + 1, close - open - 1));
        for (std::string span; std::getline(spans, span, ',');) {
            const std::size_t dash = span.find('-');
            const std::uint64_t first = parse(span.substr(0, dash));
            const std::uint64_t last = dash == std::string::npos ? first : parse(span.substr(dash + 1));
            need(first <= last && last - first < 1'000'000, "a range that ascends, of a million indices at most");
            for (std::uint64_t index = first; index <= last; ++index) {
                const std::string front = path.substr(0, open) + std::to_string(index);
                for (const std::string& tail : tails) paths.push_back(front + tail);
            }
        }
        return paths;
    }

    [[nodiscard]] golden_figures columns(std::size_t first) const {
        need(fields_.size() == first + figure_names.size(), "one number per column");
        golden_figures row;
        for (std::size_t i = 0; i < row.values.size(); ++i) row.values[i] = number(first + i);
        return row;
    }

    [[nodiscard]] std::array<std::uint64_t, primitive_columns> primitives_from(std::size_t first) const {
        need(fields_.size() == first || fields_.size() == first + primitive_columns, "one number per primitive");
        std::array<std::uint64_t, primitive_columns> row{};
        if (fields_.size() == first) return row;
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = number(first + i);
        return row;
    }

    [[nodiscard]] tensor_shape shape(std::size_t i) const {
        tensor_shape dimensions;
        if (text(i) == "scalar") return dimensions;
        std::istringstream in(text(i));
        for (std::string dimension; std::getline(in, dimension, 'x');) dimensions.push_back(parse(dimension));
        return dimensions;
    }

    [[nodiscard]] std::string message() const {
        const std::string_view escaped_text =
            std::string_view(line_).substr(fields_[0].size() + 1 + fields_[1].size() + 1);
        std::string plain;
        for (std::size_t i = 0; i < escaped_text.size(); ++i) {
            if (escaped_text[i] == '\\' && i + 1 < escaped_text.size())
                plain += escaped_text[++i] == 'n' ? '\n' : escaped_text[i];
            else
                plain += escaped_text[i];
        }
        return plain;
    }

    [[nodiscard]] std::uint64_t number(std::size_t i) const { return parse(text(i)); }

    [[nodiscard]] std::uint64_t parse(std::string_view digits) const {
        std::uint64_t value = 0;
        const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        need(failure == std::errc{} && end == digits.data() + digits.size(), "a number below 2^64");
        return value;
    }

    [[nodiscard]] const std::string& text(std::size_t i) const {
        need(i < fields_.size(), "more words");
        return fields_[i];
    }

    /// Moves to the next line that is neither empty nor a comment; false at the end.
    bool next() {
        while (std::getline(in_, line_)) {
            ++line_number_;
            std::istringstream in(line_);
            fields_.clear();
            for (std::string name; in >> name;) fields_.push_back(std::move(name));
            if (!fields_.empty() && fields_[0] != "#") return true;
        }
        return false;
    }

    void need(bool holds, std::string_view expected) const {
        if (!holds)
            throw error(errc::bad_value, source_ + ":" + std::to_string(line_number_),
                        "expected " + std::string(expected) + ", found \"" + line_.substr(0, 80) + "\"");
    }

    std::istream& in_;
    std::string source_;
    std::string line_;
    std::vector<std::string> fields_;
    std::size_t line_number_ = 0;
    golden_file file_;
};

}  // namespace golden_detail

/// Reads a golden from a stream; `source` names it in errors (`errc::bad_value`).
[[nodiscard]] inline golden_file read_golden(std::istream& in, std::string source) {
    return golden_detail::golden_reader(in, std::move(source)).read();
}

/// Reads `NAME.golden`; `errc::io` where it cannot be opened, `errc::bad_value` with the line where it is malformed.
[[nodiscard]] inline golden_file read_golden(const std::filesystem::path& path) {
    std::ifstream in(path);
    if (!in) throw error(errc::io, path.string(), "expected a readable golden");
    golden_file file = read_golden(in, path.string());
    if (file.name != path.stem().string()) throw error(errc::bad_value, path.string(), "is named otherwise inside");
    file.config_path = path.parent_path() / (file.name + ".json");
    return file;
}

/// The goldens of a folder, sorted by name.
[[nodiscard]] inline std::vector<std::filesystem::path> golden_paths(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".golden") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace llmcost::testing
