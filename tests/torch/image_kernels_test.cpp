// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/devices/all.hpp>
#include <llmcost/torch/convolution_kernels.hpp>
#include <llmcost/torch/kernel_time.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

// Kernels of image models, as PyTorch 2.11 with cuDNN 9.19 launched them on an H200 in training steps of torchvision's
// ResNet-18, ResNet-50, MobileNetV2 and EfficientNet-B0.
namespace llmcost {
namespace {

using kind = torch_kernel_kind;

tensor image_tensor(std::initializer_list<std::int64_t> sizes, dtype type) {
    tensor v;
    v.type = type;
    v.numel = 1;
    for (const std::int64_t size : sizes) {
        v.size[v.rank++] = size;
        v.numel *= static_cast<std::uint64_t>(size);
    }
    v.make_contiguous_strides();
    return v;
}

/// A convolution of images with `side` rows and columns, or without `is_contiguous` in channels-last.
struct convolution_case {
    std::int64_t batch, channels, side, filters, group_channels, kernel, output_side;
    dtype type = dtype::float32;
    bool is_contiguous = true;

    [[nodiscard]] tape_operands operands() const {
        tape_operands o;
        o.inputs = {image_tensor({batch, channels, side, side}, type),
                    image_tensor({filters, group_channels, kernel, kernel}, type)};
        o.output = image_tensor({batch, filters, output_side, output_side}, type);
        if (!is_contiguous) o.inputs[0].make_channels_last_strides();
        return o;
    }
};

std::vector<kind> kinds_of(const convolution_case& c, convolution_result result) {
    std::vector<kind> kinds;
    for (const torch_kernel& k : convolution_kernels(c.operands(), result)) kinds.push_back(k.kind);
    return kinds;
}

double microseconds_of(const convolution_case& c, std::initializer_list<convolution_result> results) {
    double seconds = 0;
    for (const convolution_result result : results)
        for (const torch_kernel& k : convolution_kernels(c.operands(), result))
            seconds += kernel_seconds(*find_device("h200"), k);
    return 1e6 * seconds;
}

}  // namespace

TEST_CASE("A convolution is an implicit GEMM between conversions of its layout") {
    // `nchwToNhwcKernel` of the input and the weight, `sm90_xmma_fprop_implicit_gemm`, `nhwcToNchwKernel`
    const convolution_case c{64, 64, 56, 64, 64, 3, 56};
    const auto list = convolution_kernels(c.operands(), convolution_result::output);
    CHECK(kinds_of(c, convolution_result::output) ==
          std::vector{kind::layout, kind::layout, kind::convolution, kind::layout});
    CHECK(std::string_view(list[2].name) == "aten::cudnn_convolution");
    CHECK(list[2].rows == 64 * 56 * 56);
    CHECK(list[2].columns == 64);
    CHECK(list[2].inner == 576);
    CHECK(list[2].flops == 14'797'504'512);
    CHECK(kinds_of(c, convolution_result::input_gradient) ==
          std::vector{kind::layout, kind::layout, kind::convolution, kind::layout});
    CHECK(kinds_of(c, convolution_result::weight_gradient) ==
          std::vector{kind::layout, kind::layout, kind::convolution_weight, kind::layout});

    SUBCASE("Tensors in channels-last are not converted") {
        convolution_case last = c;
        last.is_contiguous = false;
        CHECK(kinds_of(last, convolution_result::output) == std::vector{kind::convolution});
    }
}

TEST_CASE("A convolution with one position and aligned images is a product of each image") {
    // `cutlass_80_tensorop_s1688gemm_…_nn_align4`
    const convolution_case aligned{32, 144, 56, 24, 144, 1, 56};
    const auto list = convolution_kernels(aligned.operands(), convolution_result::output);
    REQUIRE(kinds_of(aligned, convolution_result::output) == std::vector{kind::convolution_images});
    CHECK(list[0].batch == 32);
    CHECK(list[0].rows == 24);
    CHECK(list[0].columns == 3136);
    CHECK(list[0].inner == 144);
    CHECK(kinds_of(aligned, convolution_result::weight_gradient) == std::vector{kind::convolution_images});

    SUBCASE("bfloat16 images of 7 x 7 pixels are converted, those of 14 x 14 pixels are not") {
        const convolution_case unaligned{64, 512, 7, 2048, 512, 1, 7, dtype::bfloat16};
        CHECK(kinds_of(unaligned, convolution_result::output) ==
              std::vector{kind::layout, kind::convolution, kind::layout});
        const convolution_case half{64, 256, 14, 1024, 256, 1, 14, dtype::bfloat16};
        CHECK(kinds_of(half, convolution_result::output) == std::vector{kind::convolution_images});
    }
    SUBCASE("The weight gradient of up to 32 channels is an implicit GEMM") {
        const convolution_case few{32, 24, 56, 144, 24, 1, 56};
        CHECK(kinds_of(few, convolution_result::weight_gradient) ==
              std::vector{kind::layout, kind::layout, kind::convolution_weight});
        CHECK(kinds_of(few, convolution_result::input_gradient) == std::vector{kind::convolution_images});
    }
}

TEST_CASE("A depthwise convolution is a kernel of PyTorch, in channels-last of cuDNN") {
    convolution_case c{32, 192, 28, 192, 1, 3, 28};
    const auto list = convolution_kernels(c.operands(), convolution_result::output);
    REQUIRE(kinds_of(c, convolution_result::output) == std::vector{kind::depthwise});
    CHECK(std::string_view(list[0].name) == "aten::_conv_depthwise2d");
    CHECK(kinds_of(c, convolution_result::input_gradient) == std::vector{kind::depthwise_input});
    CHECK(kinds_of(c, convolution_result::weight_gradient) == std::vector{kind::depthwise_weight});
    c.is_contiguous = false;
    CHECK(kinds_of(c, convolution_result::input_gradient) == std::vector{kind::depthwise});
    CHECK(std::string_view(convolution_kernels(c.operands(), convolution_result::output)[0].name) ==
          "aten::cudnn_convolution");
}

TEST_CASE("Times of convolutions are close to the measured ones") {
    using enum convolution_result;
    struct measurement {
        convolution_case c;
        double forward, backward;  ///< microseconds; backward without the gradient of an image of three channels
    };
    const measurement measurements[]{
        {{64, 64, 56, 64, 64, 3, 56}, 138.1, 358.1},
        {{64, 512, 7, 512, 512, 3, 7}, 73.9, 193.9},
        {{64, 64, 56, 64, 64, 3, 56, dtype::bfloat16}, 85.9, 187.0},
        {{64, 256, 14, 256, 256, 3, 14, dtype::bfloat16}, 45.4, 98.6},
        {{64, 256, 56, 512, 256, 1, 28, dtype::bfloat16}, 161.5, 357.9},
        {{64, 256, 14, 1024, 256, 1, 14, dtype::bfloat16}, 49.6, 91.2},
        {{64, 512, 7, 2048, 512, 1, 7, dtype::bfloat16}, 34.4, 65.1},
        {{32, 16, 112, 96, 16, 1, 112}, 62.5, 347.4},
        {{32, 144, 56, 24, 144, 1, 56}, 25.0, 55.4},
        {{32, 96, 112, 96, 1, 3, 56}, 107.6, 780.3},
        {{32, 144, 56, 144, 1, 3, 56}, 142.4, 458.1},
        {{32, 1152, 7, 1152, 1, 5, 7}, 31.1, 238.8},
    };
    double sum = 0;
    for (const measurement& m : measurements) {
        const double forward = microseconds_of(m.c, {output}) / m.forward;
        const double backward = microseconds_of(m.c, {input_gradient, weight_gradient}) / m.backward;
        CAPTURE(m.c.channels);
        CAPTURE(m.c.side);
        CHECK(std::abs(std::log(forward)) < 0.25);
        CHECK(std::abs(std::log(backward)) < 0.25);
        sum += std::abs(std::log(forward)) + std::abs(std::log(backward));
    }
    CHECK(sum / (2 * std::size(measurements)) < 0.10);
}

TEST_CASE("Times of batch norms are close to the measured ones") {
    struct measurement {
        std::int64_t batch, channels, side;
        dtype type;
        double forward, backward;  ///< microseconds
    };
    const measurement measurements[]{
        {64, 64, 112, dtype::float32, 461.6, 1161.6},  {64, 64, 56, dtype::float32, 117.9, 297.4},
        {32, 144, 28, dtype::float32, 16.0, 30.6},     {32, 384, 14, dtype::float32, 10.6, 19.5},
        {32, 1280, 7, dtype::float32, 17.0, 21.6},     {8, 1024, 14, dtype::float32, 14.0, 17.2},
        {64, 64, 112, dtype::bfloat16, 767.1, 1385.0}, {64, 512, 28, dtype::bfloat16, 134.8, 152.8},
        {64, 256, 56, dtype::bfloat16, 317.0, 438.2},  {64, 2048, 7, dtype::bfloat16, 108.7, 46.8},
    };
    for (const measurement& m : measurements) {
        torch_kernel k;
        k.type = m.type;
        k.batch = m.batch;
        k.rows = m.channels;
        k.columns = m.batch * m.side * m.side;
        k.bytes_read = static_cast<std::uint64_t>(k.rows * k.columns * (m.type == dtype::float32 ? 4 : 2));
        k.bytes_written = k.bytes_read;
        const std::vector<kind> forward =
            m.type == dtype::float32
                ? std::vector{kind::batch_norm}
                : std::vector{kind::batch_norm_statistics, kind::batch_norm_update, kind::batch_norm_transform};
        double seconds = 0;
        for (const kind part : forward) {
            k.kind = part;
            seconds += kernel_seconds(*find_device("h200"), k);
        }
        CAPTURE(m.channels);
        CAPTURE(m.side);
        CHECK(1e6 * seconds == doctest::Approx(m.forward).epsilon(0.20));
        k.kind = kind::batch_norm_backward;
        CHECK(1e6 * kernel_seconds(*find_device("h200"), k) == doctest::Approx(m.backward).epsilon(0.20));
    }
}

}  // namespace llmcost
