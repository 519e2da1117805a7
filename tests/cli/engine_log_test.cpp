// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "program.hpp"

// `llmcost check --engine-log`. The figures of the logs are published measurements.
using namespace llmcost::testing;

namespace {

/// A log in a temporary file.
class log_file {
public:
    explicit log_file(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / "llmcost_engine_log_test.log") {
        std::ofstream(path_) << text;
    }
    log_file(const log_file&) = delete;
    log_file& operator=(const log_file&) = delete;
    ~log_file() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    [[nodiscard]] std::string check(const std::string& options = {}) const {
        return "check --offline --engine-log " + path_.string() + options;
    }

private:
    std::filesystem::path path_;
};

// Llama 3.1 8B on an H100 with vLLM 0.13 (docs/memory.md).
const std::string vllm_log =
    R"((APIServer pid=101) INFO 11-20 09:14:02 [api_server.py:1977] vLLM API server version 0.13.0
(APIServer pid=101) INFO 11-20 09:14:02 [utils.py:253] non-default args: {'model': 'meta-llama/Llama-3.1-8B-Instruct', 'max_model_len': 8192, 'gpu_memory_utilization': 0.9}
(EngineCore_DP0 pid=140) INFO 11-20 09:14:20 [core.py:93] Initializing a V1 LLM engine (v0.13.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', speculative_config=None, dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, pipeline_parallel_size=1, quantization=None, kv_cache_dtype=auto
(EngineCore_DP0 pid=140) INFO 11-20 09:14:31 [gpu_model_runner.py:3562] Model loading took 14.9889 GiB memory and 6.201 seconds
(EngineCore_DP0 pid=140) INFO 11-20 09:14:52 [gpu_worker.py:375] Available KV cache memory: 51.38 GiB
(EngineCore_DP0 pid=140) INFO 11-20 09:14:52 [kv_cache_utils.py:1291] GPU KV cache size: 420,896 tokens
(EngineCore_DP0 pid=140) INFO 11-20 09:14:52 [kv_cache_utils.py:1296] Maximum concurrency for 8,192 tokens per request: 51.38x
(EngineCore_DP0 pid=140) INFO 11-20 09:15:03 [gpu_model_runner.py:4588] Graph capturing finished in 5 secs, took 0.52 GiB
)";

// Qwen3-8B on a B200 with SGLang; the log has no version.
const std::string sglang_log =
    R"([2026-04-11 08:01:10] server_args=ServerArgs(model_path='Qwen/Qwen3-8B', dtype='auto', kv_cache_dtype='auto', context_length=None, mem_fraction_static=0.853, max_running_requests=None, chunked_prefill_size=16384, tp_size=1, disable_radix_cache=False)
[2026-04-11 08:01:31] Load weight begin. avail mem=177.73 GB
[2026-04-11 08:01:40] Load weight end. elapsed=8.91 s, type=Qwen3ForCausalLM, dtype=torch.bfloat16, avail mem=162.45 GB, mem usage=15.28 GB.
[2026-04-11 08:01:40] KV Cache is allocated. #tokens: 992896, K size: 68.18 GB, V size: 68.18 GB
[2026-04-11 08:01:52] Capture cuda graph end. Time elapsed: 11.20 s. mem usage=0.60 GB. avail mem=24.89 GB.
[2026-04-11 08:01:53] max_total_num_tokens=992896, chunked_prefill_size=16384, max_prefill_tokens=16384, max_running_requests=4096, context_len=40960, available_gpu_mem=24.89 GB
)";

const std::string llama_cpp_log =
    R"(build: 6123 (79c1160b) with cc for x86_64-linux-gnu
print_info: file type   = Q4_K - Medium
print_info: general.name     = Meta Llama 3.1 8B Instruct
load_tensors: offloaded 33/33 layers to GPU
load_tensors:        CUDA0 model buffer size =  4403.49 MiB
load_tensors:   CPU_Mapped model buffer size =   281.81 MiB
llama_context: n_seq_max     = 1
llama_context: n_ctx         = 8192
llama_context: n_ctx_per_seq = 8192
llama_context: n_ubatch      = 512
alloc_compute_meta:      CUDA0 compute buffer size =   248.10 MiB
llama_kv_cache:      CUDA0 KV buffer size =  1024.00 MiB
llama_kv_cache: size = 1024.00 MiB (  8192 cells,  32 layers,  1/1 seqs), K (f16):  512.00 MiB, V (f16):  512.00 MiB
)";

/// The figure of a quantity and a device.
nlohmann::json figure_of(const nlohmann::json& check, const std::string& quantity, const std::string& device = {}) {
    for (const nlohmann::json& f : check["figures"])
        if (f["quantity"] == quantity && f.value("device", "") == device) return f;
    return {};
}

bool is_within(const nlohmann::json& f, double percent) {
    return f["difference_percent"].is_number() && std::abs(f["difference_percent"].get<double>()) < percent;
}

}  // namespace

TEST_CASE("a log of vLLM is compared with the prediction for its model and options") {
    const log_file log(vllm_log);
    const nlohmann::json check = json_of(log.check(" --device h100"));
    CHECK(check["model"] == "meta-llama/Llama-3.1-8B-Instruct");
    CHECK(check["engine"] == "vllm");
    CHECK(check["version"] == "0.13.0");
    REQUIRE(check["figures"].size() == 5);
    const nlohmann::json weights = figure_of(check, "weights");
    CHECK(weights["line_number"] == 4);
    CHECK(weights["line"] == "Model loading took 14.9889 GiB memory and 6.201 seconds");
    CHECK(weights["measured"].get<double>() == doctest::Approx(14.9889 * 1073741824));
    CHECK(weights["predicted"] == 8'030'261'248 * 2 + 131'072 * 128 * 2);
    CHECK(is_within(weights, 0.01));
    CHECK(is_within(figure_of(check, "kv_cache"), 0.2));
    CHECK(is_within(figure_of(check, "kv_cache_tokens"), 0.2));
    CHECK(is_within(figure_of(check, "max_concurrency"), 0.2));
    CHECK(figure_of(check, "cuda_graphs")["predicted"] == nullptr);
    CHECK(figure_of(check, "cuda_graphs")["measured"].get<double>() == doctest::Approx(0.52 * 1073741824));

    // without a device, tokens are those of the memory in the log: 26,306 blocks of 2 MiB
    const nlohmann::json without_device = json_of(log.check());
    CHECK(figure_of(without_device, "kv_cache")["predicted"] == nullptr);
    CHECK(figure_of(without_device, "kv_cache")["note"] == "requires --device or --memory");
    CHECK(figure_of(without_device, "kv_cache_tokens")["predicted"] == 26306 * 16);
}

TEST_CASE("options of the command line replace those of a log") {
    const log_file log(vllm_log);
    const nlohmann::json check = json_of(log.check(" --device h100 --gpu-memory-utilization 0.5 --tp 2"));
    CHECK(figure_of(check, "weights")["difference_percent"].get<double>() < -49);
    CHECK(figure_of(check, "kv_cache")["difference_percent"].get<double>() < -40);
    const nlohmann::json other = json_of(log.check(" --model Qwen/Qwen3-8B"));
    CHECK(other["model"] == "Qwen/Qwen3-8B");
    CHECK(figure_of(other, "weights")["difference_percent"].get<double>() > 1);
}

TEST_CASE("a log of SGLang states the fraction and the free memory of the device") {
    const log_file log(sglang_log);
    const nlohmann::json check = json_of(log.check());
    CHECK(check["engine"] == "sglang");
    CHECK(check["version"] == nullptr);
    CHECK(is_within(figure_of(check, "weights"), 0.05));
    CHECK(figure_of(check, "kv_cache")["measured"].get<double>() == doctest::Approx(136.36 * 1073741824));
    CHECK(is_within(figure_of(check, "kv_cache"), 0.05));
    CHECK(is_within(figure_of(check, "kv_cache_tokens"), 0.05));
    CHECK(figure_of(check, "max_running_requests")["predicted"] == 4096);
    CHECK(has(figure_of(check, "kv_cache")["note"].get<std::string>(), "no version in the log"));
    CHECK_FALSE(has(figure_of(json_of(log.check(" --engine-version 0.5.10")), "kv_cache")["note"].get<std::string>(),
                    "no version"));
}

TEST_CASE("a log of SGLang with data-parallel attention has the devices of --tp") {
    std::string text = sglang_log;
    text.replace(text.find("tp_size=1"), 9, "tp_size=4, dp_size=2, enable_dp_attention=True");
    const nlohmann::json check = json_of(log_file(text).check(" --engine-version 0.5.10"));
    // attention 36 · 4,096 · (2 · 4,096 + 2 · 1,024) / 2, MLPs 36 · 3 · 4,096 · 12,288 / 4, the head 151,936 · 4,096 /
    // 4, the embedding, norms 4,096 · 73 + 36 · 2 · 128; tables 40,960 · 128 in float32
    constexpr std::int64_t elements = 36 * 4096 * std::int64_t{10240} / 2 + 36 * 3 * 4096 * std::int64_t{12288} / 4 +
                                      151936 * std::int64_t{4096} * 5 / 4 + 4096 * 73 + 36 * 2 * 128;
    CHECK(figure_of(check, "weights")["predicted"].get<double>() ==
          doctest::Approx(static_cast<double>(2 * elements + 40960 * 128 * 4)).epsilon(1e-3));
    CHECK(figure_of(check, "max_running_requests")["predicted"] == 4096);
}

TEST_CASE("buffers of llama.cpp are compared by device") {
    const log_file log(llama_cpp_log);
    CHECK(has(refused(log.check()), "'Meta Llama 3.1 8B Instruct', which is no name of a configuration"));
    const nlohmann::json check = json_of(log.check(" --model meta-llama/Llama-3.1-8B"));
    CHECK(check["version"] == "b6123");
    CHECK(figure_of(check, "compute_buffer", "GPU0").is_null());  // the line is that of an image encoder
    CHECK(is_within(figure_of(check, "weights", "GPU0"), 0.01));
    CHECK(is_within(figure_of(check, "weights", "CPU"), 0.01));
    CHECK(figure_of(check, "kv_cache", "GPU0")["predicted"] == std::int64_t{1} << 30);
}

TEST_CASE("a comparison is printed as text, CSV and Markdown") {
    const log_file log(vllm_log);
    const std::string page = printed(log.check(" --device h100"));
    CHECK(has(page, "line 5: Available KV cache memory: 51.38 GiB\n"));
    CHECK(has(page, "420,896"));
    CHECK(has(page, "0.9 of H100 SXM - weights 15.0 GiB - activations "));
    CHECK(has(printed(log.check(" --format csv")), "line,log,quantity,measured,predicted,difference,note\n"));
    CHECK(has(printed(log.check(" --format csv")),
              "\"GPU KV cache size: 420,896 tokens\",kv_cache_tokens,420896,420896,"));
    CHECK(has(printed(log.check(" --format markdown")), "| kv\\_cache\\_tokens | 420896 |"));
}

TEST_CASE("errors of engine logs") {
    const log_file no_log("hello\nworld\n");
    CHECK(has(refused(no_log.check(" --model Qwen/Qwen3-8B"), {}, 3),
              ".log:2: no line of a start-up log until the end; "));
    const log_file no_model("INFO [gpu_worker.py:375] Available KV cache memory: 51.38 GiB\n");
    CHECK(has(refused(no_model.check()), "the log states no model; --model, --config or --gguf is required"));
    CHECK(printed(no_model.check(" --model Qwen/Qwen3-8B --format csv")).size() > 0);
    const log_file unknown_model(
        "INFO non-default args: {'model': '/no/such/folder'}\nINFO [a.py:1] Available KV cache memory: 51.38 GiB\n");
    CHECK(has(llmcost_line(unknown_model.check()).err, "/no/such/folder"));
    CHECK(has(refused("check --engine-log /no/such/file", {}, 3), "/no/such/file"));
    CHECK(has(refused("check --gguf x.gguf --tp 2"), "--tp: requires --engine-log"));
    CHECK(has(refused("check --gguf x.gguf --format csv"), "supported only with --engine-log"));
}

TEST_CASE("memory prints the lines of an engine's log") {
    const std::string vllm = printed(
        "memory --offline --model meta-llama/Llama-3.1-8B-Instruct --sequence 1 --past 8191 --device h100 "
        "--engine-version 0.13 --gpu-memory-utilization 0.9");
    CHECK(has(vllm, "  Model loading took 14.99 GiB\n  Available KV cache memory: 51.33 GiB\n"));
    CHECK(has(vllm, " tokens\n  Maximum concurrency for 8,192 tokens per request: 51.33x\n"));
    const std::string sglang = printed(
        "memory --offline --model Qwen/Qwen3-8B --dtype bfloat16 --sequence 1 --past 8191 --device b200 "
        "--engine sglang --engine-version 0.5.10");
    CHECK(has(sglang, "  mem_fraction_static=0.853\n  Load weight end. mem usage=15.28 GB\n"));
    CHECK(has(sglang, ", chunked_prefill_size=16384, max_running_requests=4096, context_len=40960\n"));
    CHECK(
        has(refused("memory --model Qwen/Qwen3-8B --mem-fraction-static 0.8"), "supported only with --engine sglang"));
    CHECK(has(refused("memory --model Qwen/Qwen3-8B --engine sglang --engine-version newest"),
              "--engine-version: expected a version such as 0.5.9, found 'newest'"));
    CHECK(has(refused("memory --model Qwen/Qwen3-8B --tokens-per-block 64"), "supported only with --engine trtllm"));
    CHECK(json_of("memory --offline --model Qwen/Qwen3-8B --memory 80GiB --engine trtllm --tokens-per-block 64")
                  ["cache_tokens"]
                      .get<std::int64_t>() %
              64 ==
          0);
    CHECK(has(printed("memory --offline --model Qwen/Qwen3-8B --memory 80GiB --engine trtllm"),
              "(0.9 of the free memory of 80GiB)"));
    const std::string dp = "memory --model Qwen/Qwen3-8B --enable-dp-attention --tp 4 --engine ";
    CHECK(has(refused(dp + "sglang"), "--enable-dp-attention: requires --dp"));
    CHECK(has(refused(dp + "vllm --dp 2"), "--enable-dp-attention: supported only with --engine sglang"));
    CHECK(has(refused(dp + "sglang --dp 3"), "--dp: 3 does not divide --tp, 4"));
}

TEST_CASE("memory prints a pool for each attention window of TensorRT-LLM") {
    const std::string command = "memory --offline --model openai/gpt-oss-20b --sequence 1 --past 8191 --memory 80GiB";
    const std::string windows = " --engine trtllm --max-attention-window 128,131072";
    CHECK(has(printed(command + windows), "  Window size = 128, primary_blocks: "));
    const nlohmann::json pools = json_of(command + windows)["window_pools"];
    REQUIRE(pools.size() == 2);
    CHECK(pools[0]["window"] == 128);
    CHECK(pools[1]["window"] == 131072);
    CHECK(pools[0]["blocks"] == pools[1]["blocks"]);
    CHECK(has(refused(command + " --max-attention-window 128"),
              "--max-attention-window: supported only with --engine trtllm"));
    CHECK(has(refused(command + " --engine trtllm --max-attention-window 128,0"),
              "--max-attention-window: expected a whole number from 1 to "));
}

// 1,235,814,400 parameters of Llama 3.2 1B in bfloat16; 16 layers of 2 · 8 · 64 elements
TEST_CASE("memory adds a draft model with vllm and sglang") {
    const std::string target = "memory --offline --model meta-llama/Llama-3.1-8B-Instruct --sequence 1 --past 8191",
                      draft = " --draft-model meta-llama/Llama-3.2-1B";
    for (const std::string engine : {" --engine vllm", " --engine sglang"}) {
        const nlohmann::json with = json_of(target + draft + engine), without = json_of(target + engine);
        const auto added = [&](const char* key) {
            return with[key].get<std::int64_t>() - without[key].get<std::int64_t>();
        };
        CHECK(added("weights") == 2 * std::int64_t{1235814400});
        CHECK(added("cache_allocated") == 8192 * 16 * 2 * 8 * 64 * 2);
    }
    CHECK(has(refused(target + draft + " --engine trtllm"),
              "--draft-model: supported only with --engine vllm, sglang and llama.cpp"));
}

TEST_CASE("fit has the static fraction of SGLang") {
    const std::string command = "fit --offline --model Qwen/Qwen3-8B --dtype bfloat16 --memory 80GiB --sequence 8192";
    // 36 layers · 2 · 8 · 128 · 2 bytes; 0.5 of 80 GiB less 300 MiB, less 15.28 GiB of weights
    CHECK(json_of(command + " --engine sglang --mem-fraction-static 0.5")["max_batch"] ==
          static_cast<std::int64_t>((0.5 * (80 - 300.0 / 1024) - 15.28) * 1073741824 / 147456 / 8192));
    CHECK(has(refused(command + " --engine trtllm --mem-fraction-static 0.5"),
              "--mem-fraction-static: supported only with --engine sglang"));
}
