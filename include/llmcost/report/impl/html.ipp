// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/html.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/report/svg.hpp>

namespace llmcost {

LLMCOST_INLINE html_writer& html_writer::open(std::string_view element,
                                              std::initializer_list<svg_attribute> attributes) {
    begin(element, attributes);
    open_.emplace_back(element);
    return *this;
}

LLMCOST_INLINE html_writer& html_writer::close() {
    body_ += "</" + open_.back() + ">\n";
    open_.pop_back();
    return *this;
}

LLMCOST_INLINE html_writer& html_writer::element(std::string_view name, std::string_view content,
                                                 std::initializer_list<svg_attribute> attributes) {
    begin(name, attributes);
    body_ += xml_text(content) + "</" + std::string(name) + ">\n";
    return *this;
}

LLMCOST_INLINE html_writer& html_writer::text(std::string_view content) {
    body_ += xml_text(content);
    return *this;
}

LLMCOST_INLINE html_writer& html_writer::markup(std::string_view written) {
    body_ += written;
    return *this;
}

LLMCOST_INLINE void html_writer::begin(std::string_view element, std::initializer_list<svg_attribute> attributes) {
    body_ += "<" + std::string(element);
    for (const svg_attribute& a : attributes)
        if (!a.value.empty()) body_ += " " + std::string(a.name) + "=\"" + xml_text(a.value) + "\"";
    body_ += ">";
}

LLMCOST_INLINE std::string html_style() {
    return R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1b1b;--soft:#555;--line:#d5d5d5;--band:#f4f5f7;--link:#0b57a8}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}
header,main,footer{max-width:88rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.7rem;line-height:1.25;margin:1.5rem 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.5rem 0 .5rem;border-top:1px solid var(--line);padding-top:1.25rem}
h3{font-size:1.05rem;margin:1.25rem 0 .5rem}
p{margin:.5rem 0;max-width:60rem}
a{color:var(--link)}
nav ol{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:1rem 0;padding:0}
nav a{display:inline-block;padding:.35rem 0}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:0 2rem;align-items:start}
figure{margin:1rem 0;min-width:0}
figcaption{color:var(--soft);max-width:60rem}
.scroll{overflow-x:auto;max-width:100%}
.picture svg{display:block;width:100%;max-width:40rem;min-width:30rem;height:auto}
.picture.own svg{width:auto;max-width:none;min-width:0;height:auto}
table{border-collapse:collapse;font-size:.92rem;margin:.5rem 0}
caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);font-weight:400}
thead th{font-weight:600;vertical-align:bottom}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.short tbody th{white-space:nowrap}
.short.wide tbody th,.wide tbody th{white-space:pre}
.keys th{min-width:7rem}
.paths tbody th{min-width:11rem;white-space:normal}
details{margin:.5rem 0}
summary{cursor:pointer;padding:.5rem 0;color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.fits{font-weight:600}
footer{color:var(--soft);border-top:1px solid var(--line);margin-top:2.5rem;padding-bottom:2rem}
code{overflow-wrap:anywhere}
@media (max-width:40rem){.short td{white-space:nowrap}}
@media screen and (prefers-color-scheme:dark){
:root{--paper:#16181c;--ink:#eceef2;--soft:#b4b8c0;--line:#3a3f47;--band:#22252b;--link:#8cc4ff}}
@media print{
body{font-size:10pt}
header,main,footer{max-width:none;padding:0}
nav,summary{display:none}
figure,table.short,table.keys,h2,h3{break-inside:avoid}
h2,h3,caption{break-after:avoid}
.scroll{overflow:visible}
.picture svg,.picture.own svg{min-width:0;max-width:15cm;max-height:24cm}
}
)css";
}

LLMCOST_INLINE std::string html_page(std::string_view title, std::string_view style, const html_writer& body,
                                     std::string_view script) {
    html_writer head;
    head.markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    head.markup("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    head.markup(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; ");
    head.markup("script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n");
    head.markup("<link rel=\"icon\" href=\"data:,\">\n").element("title", title);
    head.markup("<style>").markup(style).markup("</style>\n</head>\n<body>\n");
    std::string out = head.take_text() + body.take_text();
    if (!script.empty()) out += "<script>\n" + std::string(script) + "</script>\n";
    return out + "</body>\n</html>\n";
}

}  // namespace llmcost
