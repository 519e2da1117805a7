// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/report/svg.hpp>

// HTML elements and self-contained pages.
namespace llmcost {

/// Writes HTML elements. The caller closes what it opens.
class html_writer {
public:
    html_writer& open(std::string_view element, std::initializer_list<svg_attribute> attributes = {});
    html_writer& close();
    /// An element with text content.
    html_writer& element(std::string_view name, std::string_view content,
                         std::initializer_list<svg_attribute> attributes = {});
    html_writer& text(std::string_view content);
    /// Writes markup: a picture, a style.
    html_writer& markup(std::string_view written);
    [[nodiscard]] const std::string& take_text() const noexcept { return body_; }

private:
    void begin(std::string_view element, std::initializer_list<svg_attribute> attributes);

    std::string body_;
    std::vector<std::string> open_;
};

/// The style of a page, for light and dark mode, all widths, and print.
[[nodiscard]] std::string html_style();

/// A self-contained page with style and script.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view style, const html_writer& body,
                                    std::string_view script);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/html.ipp>  // IWYU pragma: export
#endif
