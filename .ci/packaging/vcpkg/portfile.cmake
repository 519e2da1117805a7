# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Without the feature tools, the port is headers only.
vcpkg_from_github(
  OUT_SOURCE_PATH SOURCE_PATH
  REPO llmcost/llmcost
  REF "v${VERSION}"
  SHA512 0
  HEAD_REF main)

if(NOT "tools" IN_LIST FEATURES)
  set(VCPKG_BUILD_TYPE release)
endif()
vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES tools LLMCOST_BUILD_PROGRAM)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${options} -DLLMCOST_BUILD_TESTS=OFF -DLLMCOST_BUILD_EXAMPLES=OFF -DLLMCOST_BUILD_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME llmcost CONFIG_PATH share/cmake/llmcost)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES llmcost AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
