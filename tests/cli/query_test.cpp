// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../golden/golden_file.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>

#include <llmcost/cli/args/metric_query.hpp>

using namespace llmcost::testing;

namespace {

const std::string error_suffix = "in " + config_of("meta-llama__Llama-3.2-1B");

/// A golden's prefill that has modules, and what its modules add up to.
struct recorded {
    golden_file file;
    const golden_run* run = nullptr;
    std::string line;

    explicit recorded(const std::string& name)
        : file(read_golden(std::filesystem::path(LLMCOST_TEST_DIR "/golden/" + name + ".golden"))) {
        for (const golden_run& r : file.runs)
            if (r.kind == "prefill" && r.modules && run == nullptr) run = &r;
        REQUIRE(run != nullptr);
        line = "--config " + config_of(name) + " --batch " + std::to_string(run->batch) + " --sequence " +
               std::to_string(run->sequence) + " --encoder-sequence " + std::to_string(run->encoder_sequence) +
               " --format csv ";
    }
    /// `SCOPE,ADD,MULT,ACT,WRITTEN` of the outermost modules that a condition holds for.
    [[nodiscard]] std::string row(const std::string& scope, const std::function<bool(const std::string&)>& is) const {
        std::uint64_t add = 0, mult = 0, out = 0, written = 0;
        for (const auto& [path, f] : *run->modules) {
            bool outermost = is(path);
            for (std::size_t dot = path.find('.'); outermost && dot != std::string::npos; dot = path.find('.', dot + 1))
                outermost = !is(path.substr(0, dot));
            if (!outermost) continue;
            add += f[figure::add];
            mult += f[figure::mult];
            out += f[figure::out];
            written += f[figure::written];
        }
        return "scope,add,mult,act,written\n" + scope + ',' + std::to_string(add) + ',' + std::to_string(mult) + ',' +
               std::to_string(out) + ',' + std::to_string(written) + '\n';
    }
    [[nodiscard]] std::string query_result(const std::string& scope) const {
        return printed(line + "add mult act written " + scope);
    }
    [[nodiscard]] bool is_class(const std::string& path, const std::string& type) const {
        const auto found = file.classes.find(path);
        return found != file.classes.end() && found->second == type;
    }
};

}  // namespace

// the numbers that the task of the project states for this model
TEST_CASE("metrics of a training step have its forward, backward and optimizer") {
    const std::string model = "--model Qwen/Qwen3-0.6B --sequence 64 --batch 2 --training";
    const auto json = nlohmann::json::parse(printed(model + " flops torch_flops params --format json"));
    const auto count_of = [&](std::size_t phase) {
        return json["query"]["phases"][phase]["figures"]["flops"].get<std::int64_t>();
    };
    CHECK(count_of(0) == json["totals"]["flops"]);
    CHECK(count_of(1) == json["training"]["backward"]["flops"]);
    // AdamW: 9 FLOPs per parameter, and one per tensor for the step count
    const auto step = nlohmann::json::parse(printed("train --format json --model Qwen/Qwen3-0.6B --sequence 64"));
    const auto& optimizer = step["optimizer"]["primitives"];
    CHECK(count_of(2) == optimizer["add"].get<std::int64_t>() + optimizer["mult"].get<std::int64_t>());
    CHECK(json["query"]["figures"]["flops"] == count_of(0) + count_of(1) + count_of(2));
    CHECK(json["query"]["figures"]["params"] == 596'049'920);
    CHECK_FALSE(json["query"]["phases"][2]["figures"].contains("params"));
    CHECK(json["query"]["phases"][2]["figures"]["torch_flops"] == 0);  // FlopCounterMode counts products
    const std::string text = printed(model + " flops");
    CHECK(has(text, " forward    backward   optimizer       total\n"));
    CHECK(has(printed(model + " flops params --format csv"), "\nall,optimizer,"));
    CHECK(has(printed(model + " flops mlp"), "(forward; backward is known for complete models):\n"));
}

TEST_CASE("Llama-3.2-1B, batch 16, sequence 200") {
    const std::string line = "--model meta-llama/Llama-3.2-1B --batch 16 --sequence 200 ";
    CHECK(printed(line + "--format csv add mult div sqrt exp params cache cache_bytes transformer") ==
          "scope,add,mult,div,sqrt,exp,params,cache,cache_bytes\n"
          "transformer,3156113817600,3157871852800,747321600,105600,747110400,1235814400,52428800,104857600\n");
    CHECK(printed(line + "--format csv add mult torch_flops") ==
          "scope,add,mult,torch_flops\nall,3996241920000,3998410374400,7992665702400\n");
    CHECK(printed(line + "--format csv add mult torch_flops --logits none transformer") ==
          printed(line + "--format csv add mult torch_flops transformer"));
}

// the layout and the rounding are llm-profiler's; the numbers are those above
TEST_CASE("the block that llm-profiler's users know") {
    const std::string line = "--model meta-llama/Llama-3.2-1B --batch 16 --sequence 200 ";
    CHECK(printed(line + "params attn") ==
          "attn with input batchsize 16 and sequence length 200:\n    PARAMS:\t167.77\t(10^6)\n");
    CHECK(printed(line + "add mult div sqrt params cache transformer") ==
          "transformer with input batchsize 16 and sequence length 200:\n"
          "    ADD:\t3.16\t(10^12)\n"
          "    MULT:\t3.16\t(10^12)\n"
          "    DIV:\t747.32\t(10^6)\n"
          "    SQRT:\t105.60\t(10^3)\n"
          "    PARAMS:\t1.24\t(10^9)\n"
          "    CACHE:\t52.43\t(10^6)\n");
    CHECK(printed(line + "flops transformer") ==
          "transformer with input batchsize 16 and sequence length 200:\n    FLOPs (ADD and MULT):\t6.31\t(10^12)\n");
    CHECK(printed(line + "SQRT Params") ==
          "all with input batchsize 16 and sequence length 200:\n    SQRT:\t105.60\t(10^3)\n"
          "    PARAMS:\t1.24\t(10^9)\n");
    CHECK(printed(line + "params model.norm") ==
          "model.norm with input batchsize 16 and sequence length 200:\n    PARAMS:\t2.05\t(10^3)\n");
    // the golden's decode of 2 x 1 after 5000
    CHECK(printed(llama + " --batch 2 --sequence 1 --past 5000 sqrt") ==
          "all with input batchsize 2 and sequence length 1, 5000 tokens in the KV cache:\n    SQRT:\t66\n");
}

TEST_CASE("scopes add up to what the golden's modules do") {
    const recorded g("meta-llama__Llama-3.2-1B");
    const auto ends = [](const char* end) { return [end](const std::string& path) { return path.ends_with(end); }; };
    CHECK(g.query_result("attn") == g.row("attn", ends(".self_attn")));
    CHECK(g.query_result("mlp") == g.row("mlp", ends(".mlp")));
    CHECK(g.query_result("norm") == g.row("norm", ends("norm")));
    CHECK(g.query_result("head") == g.row("head", ends("lm_head")));
    for (const char* class_name : {"torch.nn.Linear", "nn.Linear", "Linear"})
        CHECK(g.query_result(class_name) ==
              g.row(class_name, [&](const std::string& path) { return g.is_class(path, "Linear"); }));
    CHECK(g.query_result("LlamaRMSNorm") == g.row("LlamaRMSNorm", ends("norm")));
    CHECK(g.query_result("LlamaDecoderLayer") ==
          g.row("LlamaDecoderLayer", [&](const std::string& path) { return g.is_class(path, "LlamaDecoderLayer"); }));
    for (const std::string path :
         {"model", "model.layers", "model.layers.12", "model.layers.12.self_attn.k_proj", "lm_head"})
        CHECK(g.query_result(path) == g.row(path, [&](const std::string& p) { return p == path; }));
    CHECK(g.query_result("model.layers.*.mlp.up_proj") == g.row("model.layers.*.mlp.up_proj", ends(".up_proj")));
    CHECK(g.query_result("model.layers.1*.mlp") == g.row("model.layers.1*.mlp", [](const std::string& p) {
        return p.starts_with("model.layers.1") && p.ends_with(".mlp");
    }));
    // what matches inside of a match is not counted again
    CHECK(g.query_result("model.*") == g.row("model.*", [](const std::string& p) {
        return p.starts_with("model.") && p.find('.', 6) == std::string::npos;
    }));
}

TEST_CASE("experts and encoders are scopes, too") {
    const recorded moe("mistralai__Mixtral-8x7B-v0.1");
    CHECK(moe.query_result("experts") ==
          moe.row("experts", [&](const std::string& p) { return moe.is_class(p, "MixtralExperts"); }));
    const recorded t5("google-t5__t5-small");
    CHECK(t5.query_result("decoder") == t5.row("decoder", [](const std::string& p) { return p == "decoder"; }));
    CHECK(t5.query_result("T5LayerNorm") ==
          t5.row("T5LayerNorm", [&](const std::string& p) { return t5.is_class(p, "T5LayerNorm"); }));
}

TEST_CASE("parameters by name") {
    CHECK(printed(llama + " --format csv model.layers.0.mlp.up_proj.weight") ==
          "scope,params,active,weight_bytes\nmodel.layers.0.mlp.up_proj.weight,16777216,16777216,33554432\n");
    CHECK(printed(llama + " --format csv params model.layers.*.mlp.*_proj.weight") ==
          "scope,params\nmodel.layers.*.mlp.*_proj.weight,805306368\n");
    CHECK(
        refused(llama + " mult model.layers.0.mlp.up_proj.weight") ==
        "llmcost: 'model.layers.0.mlp.up_proj.weight' is a parameter and supports params, active and weight_bytes; for "
        "mult, use its module 'model.layers.0.mlp.up_proj'\n");
    CHECK(refused(llama + " params lm_head.weight") ==
          "llmcost: 'lm_head.weight' is tied; its tensor is counted at its first name\n");
}

TEST_CASE("a scope alone has every metric") {
    const std::string all = printed(llama + " --format csv attn");
    CHECK(
        all.starts_with("scope,add,mult,div,sqrt,exp,log,tanh,erf,trig,pow,neg,cmp,flops,active_flops,torch_flops,macs,"
                        "params,active,cache,"
                        "act,written,weight_bytes,cache_bytes\nattn,"));
}

// the golden's training step of 3 x 67
TEST_CASE("what autograd keeps is told of a training step") {
    CHECK(printed(llama + " --format csv --batch 3 --sequence 67 --dtype float32 saved_bytes") ==
          "scope,saved_bytes\nall,717563300\n");
    CHECK(refused(llama + " --past 5 saved_bytes").starts_with("llmcost: saved_bytes: describes a training step"));
    CHECK(refused(llama + " --input 5 saved_bytes").starts_with("llmcost: saved_bytes: describes a training step"));
}

TEST_CASE("what does not exist is never a zero") {
    const std::string hint = " (see llmcost --model … --tree)\n";
    CHECK(refused("--model meta-llama/Llama-3.2-1B mult attnn") ==
          "llmcost: no scope 'attnn' in meta-llama/Llama-3.2-1B; nearest: attn, model.layers.*.self_attn" + hint);
    CHECK(refused(llama + " mul attn") ==
          "llmcost: no metric 'mul' " + error_suffix + "; nearest: mult (see llmcost --help)\n");
    CHECK(refused(llama + " mul") == "llmcost: no metric or scope 'mul' " + error_suffix + "; nearest: mult" + hint);
    CHECK(refused(llama + " linear") ==
          "llmcost: no metric or scope 'linear' " + error_suffix + "; nearest: Linear" + hint);
    CHECK(
        refused(llama + " mult model.layers.99.mlp")
            .starts_with("llmcost: no scope 'model.layers.99.mlp' " + error_suffix + "; nearest: model.layers.*.mlp"));
    CHECK(refused(llama + " mult model.layers.3.mlp.upproj").find("nearest: model.layers.*.mlp.up_proj") !=
          std::string::npos);
    CHECK(refused(llama + " model.layers.0.mlp.up_proj.wieght").find("nearest: model.layers.*.mlp.up_proj.weight") !=
          std::string::npos);
    CHECK(refused(llama + " qproj").find("nearest: model.layers.*.self_attn.q_proj, ") != std::string::npos);
    CHECK(refused(llama + " experts") ==
          "llmcost: no scope 'experts' " + error_suffix +
              "; its roles: embedding, attn, mlp, norm, rotary, head, transformer, all\n");
    // names that are not near are no help: all that there are, or what a word is short for
    const std::string roles =
        "scopes: embedding, attn, mlp, norm, rotary, head, transformer, all, classes and paths" + hint;
    CHECK(refused(llama + " storage")
              .starts_with("llmcost: no metric or scope 'storage' " + error_suffix + "; metrics: add, mult, "));
    CHECK(refused(llama + " storage").ends_with(", saved_bytes; " + roles));
    CHECK(refused(llama + " params storage") == "llmcost: no scope 'storage' " + error_suffix + "; " + roles);
    CHECK(refused(llama + " attn foo")
              .ends_with(", cache_bytes, encoder_cache_bytes, saved_bytes (see llmcost --help)\n"));
    CHECK(has(refused(llama + " attention"), "; nearest: attn, "));
    CHECK(printed(llama + " parameters") == printed(llama + " params"));
    CHECK(has(refused(llama + " parametres"), "; nearest: params"));
    CHECK(refused(llama + " latency") == "llmcost: 'latency' is a command and must come first: llmcost latency\n");
    CHECK(refused(llama + " attn mlp") == "llmcost: expected one scope, found 'attn' and 'mlp'\n");
    CHECK(refused(llama + " none") != "");
    CHECK(refused(llama + " mult\x1b[31m").find("'mult\\x1b[31m'") != std::string::npos);
}

TEST_CASE("patterns stay within one part of a path") {
    using llmcost::matches_pattern;
    CHECK(matches_pattern("a.*.c", "a.b.c"));
    CHECK(matches_pattern("a.*.c", "a..c"));
    CHECK(matches_pattern("*_proj", "up_proj"));
    CHECK(matches_pattern("a.*b*", "a.xbx"));
    CHECK(matches_pattern("*", "model"));
    CHECK(!matches_pattern("*", "model.norm"));
    CHECK(!matches_pattern("a.*", "a.b.c"));
    CHECK(!matches_pattern("a.*.c", "a.b.b.c"));
    CHECK(!matches_pattern("a", "ab"));
    CHECK(!matches_pattern("ab", "a"));
    CHECK(!matches_pattern("", "a"));
    CHECK(matches_pattern("", ""));
    CHECK(llmcost::fold_indices("model.layers.12.mlp.w1.0") == "model.layers.*.mlp.w1.*");
    CHECK(llmcost::fold_indices("") == "");
}
