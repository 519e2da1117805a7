// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

using namespace llmcost::testing;
namespace fs = std::filesystem;

namespace {

constexpr const char* commit = "0123456789abcdef0123456789abcdef01234567";

/// A folder of its own that goes with the object, and what a test puts there.
class scratch_folder : public temporary_folder {
public:
    [[nodiscard]] fs::path write(const fs::path& name, const std::string& text) const {
        write_file(path() / name, text);
        return path() / name;
    }
    /// A configuration in the cache of the Hugging Face tools.
    void cache(const std::string& repository, const std::string& text) const {
        (void)write("hub/" + repository + "/refs/main", commit);
        (void)write("hub/" + repository + "/snapshots/" + commit + "/config.json", text);
    }
};

/// A llama of one layer: 2·97·8 + 2·64 + 2·32 + 3·8·16 + 3·8 parameters with an untied head.
std::string tiny(const std::string& extra_keys = "") {
    return R"({"model_type":"llama","vocab_size":97,"hidden_size":8,"intermediate_size":16,"num_hidden_layers":1,)"
           R"("num_attention_heads":2,"num_key_value_heads":1)" +
           extra_keys + "}";
}
constexpr const char* tiny_params = "scope,params\nall,2152\n";

outcome failing(const std::string& line, int code, const surroundings& settings = {}) {
    outcome got = llmcost_line(line, settings);
    INFO(line);
    CHECK(got.code == code);
    CHECK(got.out == "");
    CHECK(got.err.starts_with("llmcost: "));
    CHECK(got.err.find('\n') == got.err.size() - 1);
    return got;
}

}  // namespace

TEST_CASE("a configuration from standard input, a file, a folder") {
    const scratch_folder folder;
    const std::string query = " --format csv params";
    CHECK(printed("--config -" + query, {.in = tiny()}) == tiny_params);
    const fs::path file = folder.write("some/config.json", tiny());
    CHECK(printed("--config " + file.string() + query) == tiny_params);
    CHECK(printed("--model " + file.string() + query) == tiny_params);
    CHECK(printed("--model " + file.parent_path().string() + query) == tiny_params);
    CHECK(printed("--config -", {.in = tiny()}).find("configuration from standard input") != std::string::npos);
    CHECK(printed("--config " + file.string()).find("configuration file " + file.string()) != std::string::npos);
}

TEST_CASE("a folder is its config.json, else the error names what it holds") {
    const scratch_folder folder;
    const fs::path file = folder.write("some/config.json", tiny());
    CHECK(printed("--config " + (folder.path() / "some").string() + " --format csv params") == tiny_params);
    CHECK(printed("--config " + (folder.path() / "some").string()).find("configuration file " + file.string()) !=
          std::string::npos);
    (void)folder.write("adapter/adapter_config.json", "{}");
    (void)folder.write("adapter/model.safetensors", "");
    (void)folder.write("adapter/sub/x", "");
    (void)folder.write("adapter/.hidden", "");
    const std::string path = (folder.path() / "adapter").string();
    const std::string expected_error =
        "llmcost: " + path +
        ": a folder without a config.json; it holds adapter_config.json, model.safetensors, sub/\n";
    CHECK(failing("--config " + path, 3).err == expected_error);
    CHECK(failing("--model " + path, 3).err == expected_error);
    CHECK(failing("--model " + path + '/', 3).err.find("a folder without a config.json") != std::string::npos);
    CHECK(failing("latency --device h200 --model " + path, 3).err == expected_error);
    for (int i = 0; i < 9; ++i) (void)folder.write("many/" + std::to_string(i), "");
    CHECK(
        has(failing("--config " + (folder.path() / "many").string(), 3).err, "it holds 0, 1, 2, 3, 4, 5 and 3 more\n"));
    fs::create_directory(folder.path() / "empty");
    CHECK(has(failing("--config " + (folder.path() / "empty").string(), 3).err, "; it holds nothing\n"));
    // a link into nothing is there
    fs::create_symlink("nothing", folder.path() / "empty" / "config.json");
    CHECK(has(failing("--model " + (folder.path() / "empty").string(), 3).err, "/empty/config.json: cannot be opened"));
}

TEST_CASE("the folder that a name of the hub is also must have a config.json, before the hub is asked") {
    const scratch_folder folder;
    loopback_server server([](const server_request& to) { return server_reply::make(to, 404, {}, "no"); });
    const surroundings settings{
        .variables = {{"HF_HUB_OFFLINE", "0"}, {"HF_HOME", folder.path().string()}, {"HF_ENDPOINT", server.url()}}};
    (void)folder.write("here/org/name/model.gguf", "GGUF");
    (void)folder.write("here/meta-llama/Llama-3.2-1B/notes", "");
    const fs::path original_path = fs::current_path();
    fs::current_path(folder.path() / "here");
    const std::string local_error = failing("--model org/name", 3, settings).err;
    const std::string path_like = failing("--model ./org", 3, settings).err;
    const std::string nowhere = failing("--model ./nothing", 3, settings).err;
    const std::string home = failing("--model=~/nothing", 3, settings).err;
    const std::size_t requested = server.requests().size();
    (void)failing("--model org/name@main", 3, settings);
    const std::size_t num_revision_requests = server.requests().size();
    // what is bundled is no secret
    const std::string bundled = printed("--model meta-llama/Llama-3.2-1B --format csv params", settings);
    folder.cache("models--org--name", tiny());
    const std::string cached = printed("--model org/name --format csv params", settings);
    fs::current_path(original_path);
    CHECK(local_error ==
          "llmcost: org/name: a folder without a config.json; it holds model.gguf "
          "(for the Hub repository, use --model org/name@main)\n");
    CHECK(path_like == "llmcost: ./org: a folder without a config.json; it holds name/\n");
    CHECK(nowhere == "llmcost: ./nothing: no such file or directory\n");
    CHECK(home ==
          "llmcost: ~/nothing: no such file or directory; the shell expands ~ only at the beginning of an argument\n");
    CHECK(requested == 0);
    CHECK(num_revision_requests > 0);
    CHECK(bundled == "scope,params\nall,1235814400\n");
    CHECK(cached == tiny_params);
}

TEST_CASE("what is no config.json is named, wherever it is given") {
    const scratch_folder folder;
    const fs::path file = folder.write("model.gguf", "GGUF\3");
    const std::string expected_error =
        "this is a GGUF file (weights); expected the config.json of the model that it was made from\n";
    CHECK(failing("--config " + file.string(), 3).err == "llmcost: " + file.string() + ": " + expected_error);
    CHECK(
        has(failing("--model " + file.string(), 3).err, ": byte 4: expected a version of 4 bytes"));  // a source itself
    CHECK(failing("--config -", 3, {.in = "GGUF\3"}).err == "llmcost: standard input: " + expected_error);
    folder.cache("models--org--name", "<!DOCTYPE html>");
    CHECK(has(failing("--model org/name", 3, {.variables = {{"HF_HOME", folder.path().string()}}}).err,
              "/config.json: this is an HTML page, "));
}

TEST_CASE("a name is a file, else cached, else bundled") {
    const scratch_folder folder;
    const surroundings settings{.variables = {{"HF_HOME", folder.path().string()}}};
    const std::string query = "--model meta-llama/Llama-3.2-1B --format csv params";
    CHECK(printed(query, settings) == "scope,params\nall,1235814400\n");
    CHECK(printed("--model META-LLAMA/llama-3.2-1b", settings).starts_with("meta-llama/Llama-3.2-1B "));
    folder.cache("models--meta-llama--Llama-3.2-1B", tiny());
    CHECK(printed(query, settings) == tiny_params);
    CHECK(printed("--model meta-llama/Llama-3.2-1B", settings)
              .find("cached configuration of commit " + std::string(commit)) != std::string::npos);
    CHECK(printed("--model meta-llama/Llama-3.2-1B@" + std::string(commit) + " --format csv params", settings) ==
          tiny_params);
    CHECK(printed(query + " --revision main", settings) == tiny_params);
    // an answer in words says where the configuration is from when the name alone does not tell
    const outcome text_output = llmcost_line("--model meta-llama/Llama-3.2-1B params", settings);
    CHECK(text_output.code == 0);
    CHECK(text_output.err == "llmcost: cached configuration of commit " + std::string(commit) + "\n");
}

TEST_CASE("an unknown type is told those that are near, and where all are") {
    const auto unknown_type_error = [](const std::string& type) {
        return refused("--config -", {.in = R"({"model_type": ")" + type + "\"}"}, 3);
    };
    CHECK(
        unknown_type_error("qwen2_v") ==
        "llmcost: standard input: /model_type: \"qwen2_v\" is not supported; nearest: qwen2_vl, qwen2_vl_text, qwen2; "
        "llmcost models lists all supported types\n");
    CHECK(
        unknown_type_error("sees") ==
        "llmcost: standard input: /model_type: \"sees\" is not supported; llmcost models lists all supported types\n");
}

TEST_CASE("a part of a configuration whose type is not known") {
    const std::string nested_config =
        R"({"model_type": "sees", "torch_dtype": "bfloat16", "vision_config": {}, "text_config": )" + tiny() + "}";
    CHECK(printed("--config - --part text_config --format csv params", {.in = nested_config}) == tiny_params);
    const std::string page = printed("--config - --part text_config", {.in = nested_config});
    CHECK(page.find("configuration from standard input, text_config only") != std::string::npos);
    CHECK(page.find("bfloat16") != std::string::npos);
    const std::string local_error = failing("--config - params", 3, {.in = nested_config}).err;
    CHECK(local_error.find("\"sees\" is not supported; llmcost models lists all supported types") != std::string::npos);
    CHECK(local_error.find("; its nested configuration is supported: --part text_config\n") != std::string::npos);
    CHECK(failing("--config - --part vision_config", 3, {.in = nested_config})
              .err.find("/vision_config/model_type: missing") != std::string::npos);
    CHECK(failing("--config - --part audio_config", 3, {.in = nested_config})
              .err.find("/audio_config: missing; expected an object") != std::string::npos);
}

TEST_CASE("names that are nowhere") {
    const surroundings settings;
    CHECK(failing("--model nobody/nothing --offline", 4).err.find("since --offline is set") != std::string::npos);
    CHECK(failing("--model nobody/nothing", 4).err.find("since HF_HUB_OFFLINE is set") != std::string::npos);
    CHECK(failing("--model meta-llama/Llama-3.2-1", 4).err.find("similar bundled names: meta-llama/Llama-3.2-1B") !=
          std::string::npos);
    // a revision is one of the hub's: the bundled configuration may be another
    (void)failing("--model meta-llama/Llama-3.2-1B@refs/pr/7", 4);
    (void)failing("--model meta-llama/Llama-3.2-1B --revision refs/pr/7", 4);
    CHECK(failing("--model a/b@c --revision d", 2).err == "llmcost: --revision: cannot be combined with 'a/b@c'\n");
    CHECK(failing("--model a/b/c", 3).err.find("repository id") != std::string::npos);
    CHECK(failing("--config /nonexistent/config.json", 3).err.find("/nonexistent/config.json: cannot be opened") !=
          std::string::npos);
    CHECK(failing("", 2).err.find("a model is required") != std::string::npos);
    CHECK(failing("frobnicate", 2).err ==
          "llmcost: no command 'frobnicate'; expected one of compare, formula, models, devices, memory, train, fit, "
          "check, "
          "graph, op, latency, serve, simulate, plan, calibrate, sweep, ops, levels, local, report, why, mcp; "
          "otherwise a model is "
          "required: "
          "--model org/name or --config FILE (see llmcost --help)\n");
    CHECK(failing("devices extra", 2).err == "llmcost: devices: expected only options, found 'extra'\n");
    CHECK(failing("mult attn", 2).err.starts_with("llmcost: a model is required: "));
    CHECK(failing("--model x --device h200", 2).err ==
          "llmcost: no option '--device' (see --help); --device is an option of llmcost compare, memory, train, fit, "
          "check, "
          "graph, op, "
          "latency, serve, simulate, plan, calibrate, sweep, ops, levels, local, report\n");
    CHECK(failing("--model x --rate=3", 2).err.ends_with("; --rate is an option of llmcost serve, simulate, plan\n"));
    CHECK(failing("--model a --config b", 2).err == "llmcost: --model: cannot be combined with --config\n");
    CHECK(failing("--config - --revision b", 2).err == "llmcost: --revision: requires --model\n");
}

TEST_CASE("a name that only the hub knows is downloaded, once") {
    const scratch_folder folder;
    small_hub hub;
    hub.content = tiny();
    loopback_server server(hub);
    const surroundings settings{
        .variables = {{"HF_HUB_OFFLINE", "0"}, {"HF_HOME", folder.path().string()}, {"HF_ENDPOINT", server.url()}}};
    const std::string page = printed("--model org/name", settings);
    CHECK(page.starts_with("org/name "));
    CHECK(page.find("configuration from the Hub, commit " + first_commit) != std::string::npos);
    const std::size_t requested = server.requests().size();
    CHECK(requested > 0);
    CHECK(printed("--model org/name --format csv params", settings) == tiny_params);
    CHECK(printed("--model org/name", settings).find("cached configuration of commit " + first_commit) !=
          std::string::npos);
    CHECK(server.requests().size() == requested);
    // what the hub does not know is not found; what is bundled is not asked for
    CHECK(failing("--model nobody/nothing", 3, settings).err.find("missing, private or gated") != std::string::npos);
    const std::size_t num_before = server.requests().size();
    (void)printed("--model meta-llama/Llama-3.2-1B", settings);
    CHECK(server.requests().size() == num_before);
}

TEST_CASE("a pipeline of diffusers has the configuration of its denoiser") {
    const std::string flux = R"({"_class_name": "FluxTransformer2DModel", "guidance_embeds": true})";
    const std::string parameters = "scope,params\nall,11901408320\n";
    const scratch_folder folder;
    small_hub hub;
    hub.content = flux;
    hub.file = "transformer/config.json";
    loopback_server server(hub);
    const surroundings settings{
        .variables = {{"HF_HUB_OFFLINE", "0"}, {"HF_HOME", folder.path().string()}, {"HF_ENDPOINT", server.url()}}};
    CHECK(printed("--model org/name --format csv params", settings) == parameters);
    const std::size_t requested = server.requests().size();
    CHECK(printed("--model org/name --format csv params", settings) == parameters);
    CHECK(server.requests().size() == requested);
    (void)folder.write("pipeline/transformer/config.json", flux);
    CHECK(printed("--config " + (folder.path() / "pipeline").string() + " --format csv params") == parameters);
}

TEST_CASE("a hub that cannot be used") {
    const scratch_folder folder;
    loopback_server server([](const server_request& to) { return server_reply::make(to, 200, {}, "hello"); });
    const surroundings settings{
        .variables = {{"HF_HUB_OFFLINE", "0"}, {"HF_HOME", folder.path().string()}, {"HF_ENDPOINT", server.url()}}};
    CHECK(failing("--model org/name", 4, settings).err.find("is this a Hugging Face hub") != std::string::npos);
}

TEST_CASE("an answer that cannot be written") {
    CHECK(failing("--version", 1, {.full = true}).err == "llmcost: the output cannot be written\n");
}

TEST_CASE("overrides") {
    const std::string query = " --format csv params";
    // a second layer: 2·64 + 2·32 + 3·8·16 + 2·8
    CHECK(printed("--config - --set num_hidden_layers=2" + query, {.in = tiny()}) == "scope,params\nall,2744\n");
    CHECK(printed("--config - --set num_hidden_layers=2 --set tie_word_embeddings=true" + query, {.in = tiny()}) ==
          "scope,params\nall,1968\n");
    CHECK(printed("--config - --set rope_scaling.factor=8 --set rope_scaling.rope_type=linear" + query,
                  {.in = tiny()}) == tiny_params);
    CHECK(failing("--config - --set num_hidden_layers", 2, {.in = tiny()}).err ==
          "llmcost: --set: expected KEY=VALUE, found 'num_hidden_layers'\n");
    CHECK(failing("--config - --set =3", 2, {.in = tiny()}).err == "llmcost: --set: expected KEY=VALUE, found '=3'\n");
    CHECK(failing("--config - --set hidden_size=eight", 3, {.in = tiny()})
              .err.find("/hidden_size: expected a positive integer, found \"eight\"") != std::string::npos);
    CHECK(failing("--config - --set vocab_size.x=1", 3, {.in = tiny()}).err.find("/vocab_size") != std::string::npos);
}

TEST_CASE("configurations that cannot be used") {
    const auto refused = [](const std::string& text) { return failing("--config -", 3, {.in = text}).err; };
    CHECK(refused("").starts_with("llmcost: standard input"));
    CHECK(refused("[1]").find("expected a JSON object") != std::string::npos);
    CHECK(refused("{}").find("/model_type: missing") != std::string::npos);
    const std::string unknown = refused(R"({"model_type":"lama"})");
    CHECK(unknown.find("/model_type") != std::string::npos);
    CHECK(unknown.find("nearest: llama") != std::string::npos);
    CHECK(refused(tiny(R"(,"head_dim":-1)")).find("/head_dim: expected a positive integer, found -1") !=
          std::string::npos);
    CHECK(refused(tiny(R"(,"hidden_act":"nope")")).find("/hidden_act") != std::string::npos);
}

TEST_CASE("hostile configurations end in an error, soon, and steer no terminal") {
    const std::string escape = R"({"model_type":"\u001b]0;title\u0007\u009b31m"})";
    const std::string error_text = failing("--config -", 3, {.in = escape}).err;
    for (const char c : error_text.substr(0, error_text.size() - 1)) CHECK(static_cast<unsigned char>(c) >= 0x20);
    CHECK(error_text.find("\xC2\x9b") == std::string::npos);
    const scratch_folder folder;
    const std::string path = folder.write("\x1b[31mred.json", tiny()).string();
    CHECK(printed("--config " + path).find('\x1b') == std::string::npos);
    CHECK(printed("--format json --config " + path).find('\x1b') == std::string::npos);
    (void)failing("--config -", 3, {.in = std::string(100'000, '[')});
    (void)failing("--config /dev/zero", 3);
    // More layers than a listing may have. Figures that need no listing are printed all the same.
    const std::string llama =
        "--config " + config_of("meta-llama__Llama-3.2-1B") + " --set num_hidden_layers=2147483647";
    (void)failing(llama, 5);
    (void)failing(llama + " --format json", 5);
    (void)failing(llama + " model.layers.7.mlp", 5);
    // two norms of 2048 in each layer and one behind them
    CHECK(printed(llama + " --format csv params LlamaRMSNorm") == "scope,params\nLlamaRMSNorm,8796093020160\n");
    // 2147483647 layers of 60,821,504 parameters, 262,670,336 around them
    CHECK(printed(llama + " --format csv params") == "scope,params\nall,130613185488615424\n");
    CHECK(failing("--config - --batch 2147483647 --sequence 2147483647 --past 2147483647", 5, {.in = tiny()})
              .err.find("overflow") != std::string::npos);
}

TEST_CASE("the golden's file read through a pipe is the golden's file") {
    const std::string query = " --format csv";
    CHECK(printed("--config -" + query, {.in = read_file(config_of("meta-llama__Llama-3.2-1B"))}) ==
          printed("--config " + config_of("meta-llama__Llama-3.2-1B") + query));
}

// what Transformers 5 writes of a model whose files say rope_theta and rope_local_base_freq
TEST_CASE("rotary parameters of single kinds of layers that are constants change nothing") {
    const std::string kinds =
        R"({"model_type":"gemma3_text","num_hidden_layers":6,"rope_parameters":{"full_attention":{"rope_type":"linear",)"
        R"("factor":8.0,"rope_theta":1e6},"sliding_attention":{"rope_type":"default","rope_theta":1e4}}})";
    CHECK(printed("--config - --format csv", {.in = kinds}) ==
          printed("--config - --format csv", {.in = R"({"model_type":"gemma3_text","num_hidden_layers":6})"}));
}

TEST_CASE("a key that nothing reads is listed, and told where it is nearly one that is read") {
    const std::string odd = tiny(R"(,"hidden_sze":64,"bos_token_id":1,"rope_scaling":null,"use_cache":false)");
    const outcome result = llmcost_line("--config - --format csv params", {.in = odd});
    CHECK(result.code == 0);
    CHECK(result.out == tiny_params);
    CHECK(result.err == "llmcost: warning: standard input: /hidden_sze: unused key; nearest: hidden_size\n");
    CHECK(llmcost_line("--config - --unused --format csv", {.in = odd}).out ==
          "key,value,nearest\n/hidden_sze,64,hidden_size\n/bos_token_id,1,\n");
    CHECK(llmcost_line("--config - --unused --format json", {.in = tiny(R"(,"bos_token_id":1)")}).out ==
          "{\n  \"unused\": [\n    {\n      \"key\": \"/bos_token_id\",\n      \"value\": \"1\",\n      \"nearest\": "
          "null\n "
          "   "
          "}\n  ]\n}\n");
    CHECK(llmcost_line("--config - --set num_hidden_layerz=2 params", {.in = tiny()})
              .err.find("/num_hidden_layerz: unused key; nearest: num_hidden_layers\n") != std::string::npos);
    CHECK(printed("--config -", {.in = tiny(R"(,"use_cache":false)")})
              .find("KV cache counted, although use_cache is false") != std::string::npos);
}

TEST_CASE("a description that is bundled is a variant of its family's") {
    CHECK(printed("--model torchvision/resnet50 --format csv params") == "scope,params\nall,25557032\n");
    CHECK(printed("--model TORCHVISION/ResNet18 --format csv params") == "scope,params\nall,11689512\n");
    CHECK(printed("--model torchvision/vit_b_16 --set sizes.num_classes=10 --format csv params head") ==
          "scope,params\nhead,7690\n");
    CHECK(printed("--model torchvision/efficientnet_b7 --format csv mult") ==
          printed("--model torchvision/efficientnet_b7 --image 600x600 --format csv mult"));
    const std::string resnet =
        "--config " LLMCOST_TEST_DIR "/../configs/models/torchvision/resnet.json --format csv params";
    CHECK(printed(resnet) == "scope,params\nall,11689512\n");
    CHECK(printed(resnet + " --set variant=resnet50") == "scope,params\nall,25557032\n");
    CHECK(has(refused(resnet + " --set variant=resnet51", {}, 3),
              "/variants: no variant \"resnet51\"; nearest: resnet50"));
    CHECK(has(failing("--model torchvision/resnet51", 4).err, "similar bundled names: torchvision/resnet50"));
    CHECK(has(printed("models resnet50"), "torchvision/wide_resnet50_2"));
}
