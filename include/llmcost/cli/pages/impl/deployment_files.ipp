// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/deployment_files.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// How an engine is deployed: its images, and the options of prefill and decode workers.
struct engine_deployment {
    string_ref engine;
    std::string_view image;  ///< of the engine's project
    std::string_view dynamo_image;
    std::string_view dynamo_module;  ///< of `python3 -m`
    std::string_view dynamo_model;   ///< option of the model
    std::size_t num_command_words;   ///< arguments of the launch command before its options, with the model
    std::string_view prefill;        ///< options of a prefill worker; empty: not possible without Dynamo
    std::string_view decode;
    std::string_view dynamo_prefill;
    std::string_view dynamo_decode;
    bool has_cache_transceiver = false;  ///< for the KV cache of disaggregated workers
};
inline constexpr engine_deployment engine_deployments[]{
    {"vllm", "vllm/vllm-openai:v0.33.0", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.1", "dynamo.vllm", "--model", 3,
     R"(--kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"kv_producer"})",
     R"(--kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"kv_consumer"})", "--is-prefill-worker",
     "--is-decode-worker"},
    {"sglang", "lmsysorg/sglang:v0.5.23", "nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.3.1", "dynamo.sglang",
     "--model-path", 5, "--disaggregation-mode prefill --disaggregation-transfer-backend nixl",
     "--disaggregation-mode decode --disaggregation-transfer-backend nixl",
     "--disaggregation-mode prefill --disaggregation-transfer-backend nixl",
     "--disaggregation-mode decode --disaggregation-transfer-backend nixl"},
    {"trtllm", "nvcr.io/nvidia/tensorrt-llm/release:1.3.0", "nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.3.1",
     "dynamo.trtllm", "--model-path", 2, "", "", "--disaggregation-mode prefill", "--disaggregation-mode decode",
     true}};

/// The options of `dynamo.trtllm` for those of `trtllm-serve`.
inline constexpr std::pair<std::string_view, std::string_view> dynamo_trtllm_options[]{
    {"--tp_size", "--tensor-parallel-size"},  {"--pp_size", "--pipeline-parallel-size"},
    {"--ep_size", "--expert-parallel-size"},  {"--enable_attention_dp", "--enable-attention-dp"},
    {"--max_num_tokens", "--max-num-tokens"}, {"--max_batch_size", "--max-batch-size"}};

/// The Kubernetes resource of the devices of a vendor.
struct device_resource {
    string_ref vendor;
    std::string_view name;
};
inline constexpr device_resource device_resources[]{
    {"NVIDIA", "nvidia.com/gpu"}, {"AMD", "amd.com/gpu"}, {"Intel", "habana.ai/gaudi"}, {"Google", "google.com/tpu"}};

LLMCOST_INLINE std::string_view resource_of(const device& d) {
    for (const device_resource& r : device_resources)
        if (r.vendor == d.vendor) return r.name;
    return device_resources[0].name;
}

LLMCOST_INLINE const engine_deployment& engine_deployment_of(const engine& e) {
    for (const engine_deployment& d : engine_deployments)
        if (d.engine == e.name) return d;
    return engine_deployments[0];
}

LLMCOST_INLINE std::vector<std::string> words_of(std::string_view text) {
    return text.empty() ? std::vector<std::string>{} : split_list(text, ' ');
}

/// A word for a POSIX shell.
LLMCOST_INLINE std::string shell_quoted(const std::string& word) {
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,@+-";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + '\'';
}

/// A YAML string in double quotes.
LLMCOST_INLINE std::string yaml_quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

/// A resource name of Kubernetes: lower-case letters, digits and dashes, at most 40 characters.
LLMCOST_INLINE std::string kubernetes_name(std::string_view model) {
    std::string out;
    for (const char c : model.substr(std::min(model.size(), model.rfind('/') + 1))) {
        const bool is_letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (is_letter || (!out.empty() && out.back() != '-'))
            out += is_letter ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
    }
    out.resize(std::min<std::size_t>(out.size(), 40));
    while (!out.empty() && out.back() == '-') out.pop_back();
    return out.empty() ? "model" : out;
}

/// The lines of a YAML list, one argument each.
LLMCOST_INLINE std::string yaml_list(const std::vector<std::string>& arguments, std::string_view indent) {
    std::string out;
    for (const std::string& argument : arguments) out += std::string(indent) + "- " + yaml_quoted(argument) + '\n';
    return out;
}

LLMCOST_INLINE std::vector<std::string> joined(std::vector<std::string> arguments, std::string_view more) {
    for (std::string& argument : words_of(more)) arguments.push_back(std::move(argument));
    return arguments;
}

/// `sh` script that starts all engines of a deployment on one machine, each on its own devices and port.
LLMCOST_INLINE std::string launch_script(const deployment& p, const saved_deployment& saved) {
    const engine_deployment& e = engine_deployment_of(p.engine);
    std::string out = "#!/bin/sh\n# " + printable(p.name_of_model.name) + " on " + printable(p.device->title) +
                      ", written by llmcost plan\n";
    if (saved.nodes > 1)
        out += "# Each engine spans " + std::to_string(saved.nodes) +
               " nodes: start Ray (vLLM) or set the node rank (SGLang, TensorRT-LLM) before this command\n";
    if (saved.is_disaggregated())
        out += "# Prefill and decode workers require a router of the engine; dynamo.yaml contains one\n";
    out += "set -eu\n";
    std::int64_t first = 0, port = 8000;
    const std::string_view variable =
        p.device->vendor == string_ref("AMD") ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
    const auto start = [&](std::int64_t replicas, std::string_view role_options) {
        for (std::int64_t i = 0; i < replicas; ++i) {
            std::string visible;
            for (std::int64_t d = 0; d < saved.devices && saved.nodes == 1; ++d)
                visible += (d > 0 ? "," : "") + std::to_string(first + d);
            std::string line = visible.empty() ? "" : std::string(variable) + '=' + visible;
            for (const std::string& word :
                 joined(joined(words_of(saved.command), role_options), "--host 0.0.0.0 --port " + std::to_string(port)))
                line += (line.empty() ? "" : " ") + shell_quoted(word);
            out += line + " &\n";
            first += saved.devices;
            ++port;
        }
    };
    start(saved.replicas, saved.is_disaggregated() ? e.prefill : std::string_view{});
    start(saved.decode_workers, e.decode);
    return out + "wait\n";
}

/// A Kubernetes Deployment of the engines of one role, with the labels of llm-d.
LLMCOST_INLINE std::string kubernetes_deployment(const deployment& p, const saved_deployment& saved,
                                                 std::string_view role, std::int64_t replicas,
                                                 std::string_view role_options) {
    const engine_deployment& e = engine_deployment_of(p.engine);
    const std::string name = kubernetes_name(p.name_of_model.name), role_name = name + '-' + std::string(role);
    const std::string devices = yaml_quoted(std::to_string(saved.devices));
    const std::vector<std::string> arguments =
        joined(joined(words_of(saved.command), role_options), "--host 0.0.0.0 --port 8000");
    const std::string labels = "app: " + name + "\n        llm-d.ai/inference-serving: \"true\"\n        " +
                               "llm-d.ai/engine-type: " + std::string(p.engine.name) +
                               "\n        llm-d.ai/model: " + name + "\n        llm-d.ai/role: " + std::string(role) +
                               '\n';
    return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " + role_name +
           "\nspec:\n  replicas: " + std::to_string(replicas) + "\n  selector:\n    matchLabels:\n      app: " + name +
           "\n      llm-d.ai/role: " + std::string(role) + "\n  template:\n    metadata:\n      labels:\n        " +
           labels +
           "    spec:\n      containers:\n        - name: modelserver\n          image: " + std::string(e.image) +
           "\n          command:\n" + yaml_list(arguments, "            ") +
           "          env:\n            - name: HF_TOKEN\n              valueFrom:\n                secretKeyRef:\n"
           "                  name: hf-token-secret\n                  key: HF_TOKEN\n                  optional: "
           "true\n"
           "          ports:\n            - containerPort: 8000\n          readinessProbe:\n            httpGet:\n"
           "              path: /health\n              port: 8000\n            failureThreshold: 360\n"
           "          resources:\n            limits:\n              " +
           std::string(resource_of(*p.device)) + ": " + devices +
           "\n          volumeMounts:\n            - name: shm\n              mountPath: /dev/shm\n"
           "      volumes:\n        - name: shm\n          emptyDir:\n            medium: Memory\n";
}

LLMCOST_INLINE std::string kubernetes_manifest(const deployment& p, const saved_deployment& saved) {
    const engine_deployment& e = engine_deployment_of(p.engine);
    const std::string name = kubernetes_name(p.name_of_model.name);
    if (saved.is_disaggregated())
        return kubernetes_deployment(p, saved, "prefill", saved.replicas, e.prefill) + "---\n" +
               kubernetes_deployment(p, saved, "decode", saved.decode_workers, e.decode);
    return kubernetes_deployment(p, saved, "both", saved.replicas, {}) +
           "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: " + name + "\nspec:\n  selector:\n    app: " + name +
           "\n  ports:\n    - port: 8000\n";
}

/// The options of a Dynamo worker for the launch command of an engine. `role`: `prefill`, `decode`, or empty.
///
/// Workers of disaggregated TensorRT-LLM require a cache transceiver; prefill workers have no overlap scheduler.
LLMCOST_INLINE std::vector<std::string> dynamo_options(const deployment& p, const saved_deployment& saved,
                                                       std::string_view role) {
    const engine_deployment& e = engine_deployment_of(p.engine);
    std::vector<std::string> arguments = words_of(saved.command);
    std::vector<std::string> out{std::string(e.dynamo_model), p.name_of_model.name};
    std::string members;
    const auto add_member = [&](const std::string& member) { members += (members.empty() ? "" : ", ") + member; };
    for (std::size_t i = e.num_command_words; i < arguments.size(); ++i) {
        if (arguments[i] == "--kv_cache_dtype" && i + 1 < arguments.size()) {
            add_member(R"("kv_cache_config": {"dtype": ")" + arguments[++i] + "\"}");
            continue;
        }
        for (const auto& [option_name, dynamo_name] : dynamo_trtllm_options)
            if (arguments[i] == option_name) arguments[i] = dynamo_name;
        out.push_back(arguments[i]);
    }
    if (e.has_cache_transceiver && !role.empty()) add_member(R"("cache_transceiver_config": {"backend": "DEFAULT"})");
    if (e.has_cache_transceiver && role == "prefill") add_member(R"("disable_overlap_scheduler": true)");
    if (!members.empty()) {
        out.emplace_back("--override-engine-args");
        out.push_back('{' + members + '}');
    }
    return out;
}

/// A worker of a DynamoGraphDeployment.
LLMCOST_INLINE std::string dynamo_worker(const deployment& p, const saved_deployment& saved, std::string_view name,
                                         std::string_view role, std::int64_t replicas, std::string_view role_options) {
    const engine_deployment& e = engine_deployment_of(p.engine);
    const std::int64_t devices_per_node = saved.devices / saved.nodes;
    return "    " + std::string(name) + ":\n      envFromSecret: hf-token-secret\n      componentType: worker\n" +
           (role.empty() ? "" : "      subComponentType: " + std::string(role) + '\n') +
           "      replicas: " + std::to_string(replicas) + '\n' +
           (saved.nodes > 1 ? "      multinode:\n        nodeCount: " + std::to_string(saved.nodes) + '\n' : "") +
           "      resources:\n        limits:\n          gpu: " + yaml_quoted(std::to_string(devices_per_node)) +
           "\n      extraPodSpec:\n        mainContainer:\n          image: " + std::string(e.dynamo_image) +
           "\n          command:\n            - python3\n            - -m\n            - " +
           std::string(e.dynamo_module) + "\n          args:\n" +
           yaml_list(joined(dynamo_options(p, saved, role), role_options), "            ");
}

LLMCOST_INLINE std::string dynamo_deployment(const deployment& p, const saved_deployment& saved) {
    const engine_deployment& e = engine_deployment_of(p.engine);
    std::string out = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: " +
                      kubernetes_name(p.name_of_model.name) +
                      "\nspec:\n  services:\n    Frontend:\n      componentType: frontend\n      replicas: 1\n"
                      "      extraPodSpec:\n        mainContainer:\n          image: " +
                      std::string(e.dynamo_image) + '\n';
    if (!saved.is_disaggregated()) return out + dynamo_worker(p, saved, "worker", {}, saved.replicas, {});
    return out + dynamo_worker(p, saved, "prefill", "prefill", saved.replicas, e.dynamo_prefill) +
           dynamo_worker(p, saved, "decode", "decode", saved.decode_workers, e.dynamo_decode);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::vector<output_file> deployment_files(const std::string& directory, const deployment& p,
                                                         const saved_deployment& saved) {
    const std::filesystem::path folder(directory);
    std::vector<output_file> files{{(folder / "launch.sh").string(), detail::launch_script(p, saved)}};
    const bool has_workers = !saved.is_disaggregated() || !detail::engine_deployment_of(p.engine).prefill.empty();
    if (saved.nodes == 1 && has_workers)
        files.push_back({(folder / "kubernetes.yaml").string(), detail::kubernetes_manifest(p, saved)});
    files.push_back({(folder / "dynamo.yaml").string(), detail::dynamo_deployment(p, saved)});
    return files;
}

}  // namespace llmcost::cli
