// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include <llmcost/base/config_view.hpp>
#include <llmcost/json/text.hpp>
#include <llmcost/text/error.hpp>

// Names the file that a user gave in place of a config.json: another file of a model's folder, a failed download.
namespace llmcost::detail {

/// A kind of file: what it is, and what is expected instead.
struct foreign_kind {
    std::string_view description{};
    std::string_view instead{};
};

inline constexpr std::string_view its_neighbour = "expected the model's config.json, which is often in the same folder";
inline constexpr std::string_view unpacked = "expected a config.json that is unpacked";

/// A kind of file that is recognized by its first bytes.
struct file_signature {
    std::string_view bytes;
    foreign_kind kind;
    std::size_t offset = 0;
};
inline constexpr file_signature file_signatures[] = {
    {"GGUF", {"a GGUF file (weights)", "expected the config.json of the model that it was made from"}},
    {"version https://git-lfs",
     {"a Git LFS pointer to a file that was not fetched", "expected the config.json itself (git lfs pull)"}},
    {"PK\x03\x04", {"a zip archive, as torch.save writes weights", its_neighbour}},
    {"\x80\x02", {"a pickle, as torch.save writes weights", its_neighbour}},
    {"\x80\x03", {"a pickle of Python", its_neighbour}},
    {"\x80\x04", {"a pickle of Python", its_neighbour}},
    {"\x80\x05", {"a pickle of Python", its_neighbour}},
    {"\x89HDF", {"an HDF5 file (weights)", its_neighbour}},
    {"\x93NUMPY", {"an array of NumPy", its_neighbour}},
    {"\x1F\x8B", {"a gzip archive", unpacked}},
    {"\x28\xB5\x2F\xFD", {"a zstd archive", unpacked}},
    {"\3757zXZ", {"an xz archive", unpacked}},
    {"BZh", {"a bzip2 archive", unpacked}},
    {"ustar", {"a tar archive", unpacked}, 257},
    {"%PDF-", {"a PDF document", "expected a model's config.json"}},
};

/// Whether a text begins with a word, whatever the case of its letters; the word is in small ones.
constexpr bool has_prefix_ignoring_case(std::string_view text, std::string_view name) noexcept {
    if (text.size() < name.size()) return false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = text[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != name[i]) return false;
    }
    return true;
}

/// Whether a text begins with `name:` or `name =` on one line, as YAML, TOML and Python do and no JSON does.
constexpr bool begins_with_setting(std::string_view text) noexcept {
    std::size_t n = 0;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    while (n < text.size() && (letter(text[n]) || (n > 0 && text[n] >= '0' && text[n] <= '9'))) ++n;
    if (n == 0) return false;
    while (n < text.size() && text[n] == ' ') ++n;
    return n < text.size() && (text[n] == ':' || text[n] == '=');
}

/// What a file is that cannot be JSON, by its first bytes; nothing where it may be JSON. 512 bytes are enough.
constexpr std::optional<foreign_kind> foreign_file(std::string_view bytes) noexcept {
    for (const file_signature& s : file_signatures)
        if (bytes.size() > s.offset && bytes.substr(s.offset).starts_with(s.bytes)) return s.kind;
    if (bytes.size() > 8 && bytes[8] == '{') {
        std::uint64_t header = 0;
        for (std::size_t i = 8; i-- > 0;) header = header << 8U | static_cast<unsigned char>(bytes[i]);
        // 100 MB is safetensors' own limit; as letters, eight bytes are far more
        if (header > 1 && header <= 100'000'000) return foreign_kind{"a safetensors file (weights)", its_neighbour};
    }
    if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
    const std::size_t first = bytes.find_first_not_of(json_blanks);
    bytes.remove_prefix(first == std::string_view::npos ? bytes.size() : first);
    for (const std::string_view tag : {"<!doctype html", "<html", "<head", "<body", "<!--"})
        if (has_prefix_ignoring_case(bytes, tag))
            return foreign_kind{"an HTML page, as a site answers with a login or an error",
                                "expected the config.json itself: download it by its raw address"};
    if (bytes.starts_with('<')) return foreign_kind{"XML or HTML", "expected a model's config.json"};
    constexpr std::string_view as_json = "expected a config.json, which is JSON";
    for (const std::string_view name : {"import ", "from ", "class ", "def ", "#!", "\"\"\"", "'''"})
        if (bytes.starts_with(name)) return foreign_kind{"a program in Python", as_json};
    if (bytes.starts_with("---") || bytes.starts_with("# ") || begins_with_setting(bytes))
        return foreign_kind{"YAML, Markdown or another text", as_json};
    return std::nullopt;
}

/// A kind of JSON file that is recognized by its keys: all of `family_keys`, of which the later ones may be missing.
struct json_signature {
    std::string_view keys[3];
    foreign_kind kind;
};
inline constexpr json_signature json_signatures[] = {
    {{"peft_type"}, {"the configuration of an adapter (PEFT)", "expected the config.json of the model that it adapts"}},
    {{"weight_map"}, {"the index of a model's files of weights", its_neighbour}},
    {{"image_processor_type"}, {"the settings of an image processor", its_neighbour}},
    {{"feature_extractor_type"}, {"the settings of a feature extractor", its_neighbour}},
    {{"image_mean"}, {"the settings of an image processor", its_neighbour}},
    {{"tokenizer_class"}, {"the settings of a tokenizer", its_neighbour}},
    {{"added_tokens_decoder"}, {"the settings of a tokenizer", its_neighbour}},
    {{"added_tokens", "pre_tokenizer"}, {"a tokenizer", its_neighbour}},
    {{"processor_class"}, {"the settings of a processor", its_neighbour}},
    {{"dim", "n_layers"},
     {"a params.json, as Llama and Mistral were first released with",
      "expected the config.json of the same model for Transformers"}},
    {{"_class_name", "scheduler"},
     {"the index of a pipeline of diffusers",
      "expected the config.json of its denoiser: in the folder transformer or unet"}},
    {{"_from_model_config"}, {"the settings of generation", its_neighbour}},
    {{"do_sample"}, {"the settings of generation", its_neighbour}},
    {{"max_new_tokens"}, {"the settings of generation", its_neighbour}},
    {{"temperature"}, {"the settings of generation", its_neighbour}},
    {{"eos_token_id", "transformers_version"}, {"the settings of generation", its_neighbour}},
    {{"eos_token"}, {"the special tokens of a tokenizer", its_neighbour}},
    {{"bits", "group_size"}, {"the settings of a quantization", its_neighbour}},
};

/// What a JSON object is that configures no model; nothing where it may be a config.json.
inline std::optional<foreign_kind> foreign_object(config_view root) {
    for (const std::string_view model_key :
         {"model_type", "architectures", "hidden_size", "num_hidden_layers", "d_model", "n_embd"})
        if (root.find(model_key)) return std::nullopt;
    for (const json_signature& s : json_signatures) {
        bool all = true;
        for (const std::string_view key : s.keys) all = all && (key.empty() || root.find(key));
        if (all) return s.kind;
    }
    return std::nullopt;
}

/// What a JSON object is that configures no adapter; nothing where it may be an adapter_config.json.
inline std::optional<foreign_kind> foreign_adapter(config_view root) {
    if (root.find("peft_type")) return std::nullopt;
    if (root.find("model_type")) return foreign_kind{"the configuration of a model", {}};
    return foreign_object(root);
}

/// Throws an error with what a file is and what is expected, where it is a known kind of another file: this text, or
/// the kind's own.
inline void refuse_foreign(const std::optional<foreign_kind>& kind, std::string_view name, std::string_view expected) {
    if (kind)
        throw error(errc::bad_value, std::string(name),
                    "this is " + std::string(kind->description) + "; " +
                        std::string(expected.empty() ? kind->instead : expected));
}

/// Reports that a folder has no config.json, and lists what it has.
inline std::string without_config(const std::filesystem::path& folder) {
    constexpr std::size_t maximum = 6;
    std::set<std::string> names;
    std::error_code problem;
    for (std::filesystem::directory_iterator i(folder, problem), end; !problem && i != end; i.increment(problem)) {
        std::error_code none;
        const std::string name = i->path().filename().string();
        if (!name.starts_with('.')) names.insert(name + (i->is_directory(none) ? "/" : ""));
    }
    if (problem) return "a folder that cannot be read: " + problem.message();
    std::string out = "a folder without a config.json; it ";
    if (names.empty()) return out + "holds nothing";
    std::size_t n = 0;
    for (const std::string& name : names)
        if (n++ < maximum) out += (n == 1 ? "holds " : ", ") + name;
    return names.size() > maximum ? out + " and " + std::to_string(names.size() - maximum) + " more" : out;
}

/// Where a repository has its model's configuration: a pipeline of diffusers has that of its denoiser alone.
inline constexpr const char* config_files[]{"config.json", "transformer/config.json", "unet/config.json"};

/// The configuration of a folder, else the path itself; nothing for a folder that has none.
inline std::optional<std::string> config_file_at(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::is_directory(path, none)) return path;
    for (const char* const name : config_files) {
        const std::filesystem::path candidate = std::filesystem::path(path) / name;
        // a dangling link exists, and gives a better error when it is opened
        if (std::filesystem::exists(std::filesystem::symlink_status(candidate, none))) return candidate.string();
    }
    return std::nullopt;
}

}  // namespace llmcost::detail
