# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""check.py LLMCOST: compares `llmcost mcp` with the commands, through the official Python client (package mcp).

The tools count and memory of 50 bundled models have the JSON of their commands, or their errors. Exit code 77: mcp is missing.
"""
import asyncio
import json
import os
import subprocess
import sys

try:
    import jsonschema
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
except ImportError:
    sys.exit(77)
try:
    from mcp import Client  # from version 2: negotiates protocols without `initialize`, too
except ImportError:
    Client = None

PROGRAM = sys.argv[1]
ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1", "LC_ALL": "C.UTF-8"}
SERVER = StdioServerParameters(command=PROGRAM, args=["mcp"], env=ENVIRONMENT)
NUM_MODELS = 50
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print("check.py:", text)


def run(*args):
    done = subprocess.run([PROGRAM, *args], env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False)
    return done.stdout, done.stderr


def models():
    """Names of bundled models, at equal distances."""
    names = [row["name"] for row in json.loads(run("models", "--format", "json")[0])["bundled"]]
    return [names[i * len(names) // NUM_MODELS] for i in range(NUM_MODELS)]


async def called(client, tool, arguments):
    return (await client.call_tool(tool, arguments)).model_dump(by_alias=True)


async def check_tools(client):
    tools = [tool.model_dump(by_alias=True) for tool in (await client.list_tools()).tools]
    expect(1 <= len(tools) <= 8, "from one to eight tools")
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
        expect(tool["annotations"]["readOnlyHint"], f"{tool['name']}: readOnlyHint")
    return {tool["name"]: tool for tool in tools}


async def check_model(client, tools, name):
    for tool, line in (("count", ()), ("memory", ("memory",))):
        arguments = {"model": name, "batch": 2, "sequence": 64}
        jsonschema.validate(arguments, tools[tool]["inputSchema"])
        result = await called(client, tool, arguments)
        out, messages = run(*line, "--model", name, "--batch", "2", "--sequence", "64", "--format", "json")
        if out:
            expect(result["structuredContent"] == json.loads(out), f"{tool}, {name}: the command has another result")
        else:
            expect(result["isError"], f"{tool}, {name}: the command has an error")
            expect(result["content"][0]["text"] == messages.strip(), f"{tool}, {name}: the command has another error")


async def check_legacy():
    """The protocol with `initialize`."""
    async with stdio_client(SERVER) as (read, write), ClientSession(read, write) as client:
        started = (await client.initialize()).model_dump(by_alias=True)
        expect(started["serverInfo"]["name"] == "llmcost", "the server has a name")
        tools = await check_tools(client)
        for name in models():
            await check_model(client, tools, name)
        refused = await called(client, "memory", {"model": "openai-community/gpt2", "bach": 2})
        expect(refused["isError"] and "nearest: batch" in refused["content"][0]["text"], "an unknown argument is an error")
        config = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
                  "num_attention_heads": 4, "vocab_size": 100, "architectures": ["LlamaForCausalLM"]}
        result = await called(client, "count", {"config": config, "metrics": ["params"]})
        # embedding and head, and of each layer: four projections of attention, three of the MLP, two norms; the last norm
        expected = 2 * 100 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 64
        expect(f'"params": {expected}' in json.dumps(result["structuredContent"]), "a configuration is an argument")


async def check_modern():
    """The protocol with `server/discover`."""
    async with Client(SERVER) as client:
        expect(client.protocol_version >= "2026-07-28", f"negotiated {client.protocol_version}")
        await check_tools(client)
        result = await called(client, "count", {"model": "openai-community/gpt2"})
        expect(result["structuredContent"] == json.loads(run("--model", "openai-community/gpt2", "--format", "json")[0]),
               "a result of the newest protocol")


asyncio.run(check_legacy())
if Client is not None:
    asyncio.run(check_modern())
sys.exit(1 if failures else 0)
