// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/base/config_view.hpp>
#include <llmcost/json/text.hpp>
#include <llmcost/text/error.hpp>

// Names the file that a user gave in place of a config.json: another file of a model's folder, a failed download.
namespace llmcost::detail {

/// A kind of file: what it is, and what is expected instead.
struct foreign_kind {
    std::string_view description{};
    std::string_view replacement{};
};

inline constexpr std::string_view its_neighbour =
    "expected the model's config.json, which is often in the same directory";
inline constexpr std::string_view unpacked = "expected an unpacked config.json";

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
    {"PK\x03\x04", {"a zip archive (weights of torch.save)", its_neighbour}},
    {"\x80\x02", {"a pickle (weights of torch.save)", its_neighbour}},
    {"\x80\x03", {"a Python pickle", its_neighbour}},
    {"\x80\x04", {"a Python pickle", its_neighbour}},
    {"\x80\x05", {"a Python pickle", its_neighbour}},
    {"\x89HDF", {"an HDF5 file (weights)", its_neighbour}},
    {"\x93NUMPY", {"a NumPy array", its_neighbour}},
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
    for (const std::string_view tag : {"<!doctype html", "<html", "<head", "<body"})
        if (has_prefix_ignoring_case(bytes, tag))
            return foreign_kind{"an HTML page, such as a login or error page",
                                "expected the config.json itself: download it from its raw URL"};
    constexpr std::string_view as_json = "expected a config.json, which is JSON";
    if (bytes.starts_with("<!--"))
        return foreign_kind{"Markdown, HTML or XML", as_json};  // a comment begins each of them
    if (bytes.starts_with('<')) return foreign_kind{"XML or HTML", "expected a model's config.json"};
    for (const std::string_view name : {"import ", "from ", "class ", "def ", "#!", "\"\"\"", "'''"})
        if (bytes.starts_with(name)) return foreign_kind{"a Python program", as_json};
    if (bytes.starts_with("---") || bytes.starts_with("# ") || begins_with_setting(bytes))
        return foreign_kind{"YAML, Markdown or other text", as_json};
    return std::nullopt;
}

/// A kind of JSON file that is recognized by its keys: all of `family_keys`, of which the later ones may be missing.
struct json_signature {
    std::string_view keys[3];
    foreign_kind kind;
};
inline constexpr json_signature json_signatures[] = {
    {{"peft_type"}, {"an adapter configuration (PEFT)", "expected the config.json of the model that it adapts"}},
    {{"weight_map"}, {"a weight index", its_neighbour}},
    {{"image_processor_type"}, {"an image processor configuration", its_neighbour}},
    {{"feature_extractor_type"}, {"a feature extractor configuration", its_neighbour}},
    {{"image_mean"}, {"an image processor configuration", its_neighbour}},
    {{"tokenizer_class"}, {"a tokenizer configuration", its_neighbour}},
    {{"added_tokens_decoder"}, {"a tokenizer configuration", its_neighbour}},
    {{"added_tokens", "pre_tokenizer"}, {"a tokenizer", its_neighbour}},
    {{"processor_class"}, {"a processor configuration", its_neighbour}},
    {{"dim", "n_layers"},
     {"a params.json of the original Llama or Mistral release",
      "expected the config.json of the same model for Transformers"}},
    {{"_class_name", "scheduler"},
     {"the index of a diffusers pipeline",
      "expected the config.json of its denoiser, in the directory transformer or unet"}},
    {{"_from_model_config"}, {"a generation configuration", its_neighbour}},
    {{"do_sample"}, {"a generation configuration", its_neighbour}},
    {{"max_new_tokens"}, {"a generation configuration", its_neighbour}},
    {{"temperature"}, {"a generation configuration", its_neighbour}},
    {{"eos_token_id", "transformers_version"}, {"a generation configuration", its_neighbour}},
    {{"eos_token"}, {"a list of special tokens", its_neighbour}},
    {{"bits", "group_size"}, {"a quantization configuration", its_neighbour}},
};

/// What a JSON object is that configures no model; nothing where it may be a config.json.
std::optional<foreign_kind> foreign_object(config_view root);

/// What a JSON object is that configures no adapter; nothing where it may be an adapter_config.json.
std::optional<foreign_kind> foreign_adapter(config_view root);

/// Throws an error with what a file is and what is expected, where it is a known kind of another file: this text, or
/// the kind's own.
void refuse_foreign(const std::optional<foreign_kind>& kind, std::string_view name, std::string_view expected);

/// Reports that a folder has no config.json, and lists what it has.
std::string without_config(const std::filesystem::path& folder);

/// Where a repository has its model's configuration: a pipeline of diffusers has that of its denoiser alone.
inline constexpr const char* config_files[]{"config.json", "transformer/config.json", "unet/config.json"};

/// The configuration of a folder, else the path itself; nothing for a folder that has none.
std::optional<std::string> config_file_at(const std::string& path);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/json/impl/foreign.ipp>  // IWYU pragma: export
#endif
