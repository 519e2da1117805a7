# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
class Llmcost < Formula
  desc "Exact cost of neural networks from config.json: FLOPs, memory and latency"
  homepage "https://github.com/llmcost/llmcost"
  url "https://github.com/llmcost/llmcost/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"
  head "https://github.com/llmcost/llmcost.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json"

  uses_from_macos "curl"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DLLMCOST_BUILD_TESTS=OFF",
                    "-DLLMCOST_BUILD_EXAMPLES=OFF", "-DLLMCOST_BUILD_BENCHMARKS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match "1235814400", shell_output("#{bin}/llmcost --model meta-llama/Llama-3.2-1B --format csv params")
  end
end
