# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe: `conan create .ci/packaging/conan` in the source tree."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class LlmcostConan(ConanFile):
    name = "llmcost"
    license = "Apache-2.0"
    homepage = "https://github.com/llmcost/llmcost"
    description = "Exact cost of neural networks from config.json: FLOPs, parameters, memory and latency"
    topics = ("llm", "flops", "transformer", "header-only")
    package_type = "application"
    settings = "os", "compiler", "build_type", "arch"
    options = {"json": [True, False], "program": [True, False]}
    default_options = {"json": True, "program": True}
    generators = "CMakeDeps"

    def set_version(self):
        header = os.path.join(self.recipe_folder, "..", "..", "..", "include", "llmcost", "base", "version.hpp")
        self.version = re.search(r'version = "([^"]+)"', load(self, header))[1]

    def export_sources(self):
        top = os.path.join(self.recipe_folder, "..", "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "examples/llmcost/*", "configs/*"):
            copy(self, pattern, top, self.export_sources_folder)

    def configure(self):
        if self.options.program:
            self.options.json = True
        else:
            self.package_type = "header-library"

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if self.options.json:
            self.requires("nlohmann_json/[>=3.10 <4]", transitive_headers=True)
        if self.options.program:
            self.requires("libcurl/[>=7.78 <9]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        if not self.info.options.program:  # headers do not depend on the settings
            self.info.settings.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["LLMCOST_BUILD_PROGRAM"] = bool(self.options.program)
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.variables[f"LLMCOST_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # the package has configuration files of its own for find_package and pkg-config
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "llmcost")]
        self.cpp_info.bindirs = ["bin"] if self.options.program else []
        self.cpp_info.libdirs = []
