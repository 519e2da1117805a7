# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# nix-build .ci/packaging/nix
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "llmcost";
  version = builtins.head (builtins.match ".*version = \"([0-9.]+)\".*" (builtins.readFile ../../../include/llmcost/base/version.hpp));
  src = pkgs.lib.cleanSource ../../..;

  nativeBuildInputs = [ pkgs.cmake pkgs.ninja ];
  buildInputs = [ pkgs.nlohmann_json pkgs.curl ];
  cmakeFlags = [
    "-DLLMCOST_BUILD_TESTS=OFF"
    "-DLLMCOST_BUILD_EXAMPLES=OFF"
    "-DLLMCOST_BUILD_BENCHMARKS=OFF"
    "-DLLMCOST_STATIC_RUNTIME=OFF"
  ];
  # libcurl is loaded when the Hub is used
  postFixup = ''
    patchelf --add-rpath ${pkgs.lib.makeLibraryPath [ pkgs.curl ]} $out/bin/llmcost
  '';

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/llmcost --offline --model meta-llama/Llama-3.2-1B --format csv params | grep 1235814400
  '';

  meta = {
    description = "Exact cost of neural networks from config.json: FLOPs, parameters, memory and latency";
    license = pkgs.lib.licenses.asl20;
    mainProgram = "llmcost";
  };
}
