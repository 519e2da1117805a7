// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>

namespace llmcost {

// Sources of the figures, and which of them are unverified: configs/devices/*.json, one file per line.
//
// Columns:
//  - names, title, vendor;
//  - dense TFLOP/s: fp64, fp64_tensor, fp32, tf32, bf16, fp16, fp8, int8, fp4;
//  - memory (GB), bandwidth (GB/s), cache (MB), compute units, link (GB/s), PCIe (GB/s), power (W);
//  - memory that the driver reports (GiB), price (none), devices per node if above 8, network (none), FP32 lanes of a
//    compute unit if not 128.
// clang-format off
inline constexpr device devices[]{
    {{"h100_sxm", "h100", ""},                              "H100 SXM",                      "NVIDIA",   34,    67,    67, 494.5,  989.4,  989.4,   1979,   1979,     0,  80,  3350,  50, 132,   450,  63,  700, 79.11},
    {{"h100_pcie", "", ""},                                 "H100 PCIe",                     "NVIDIA", 25.6,    51,  51.2,   378,    756,    756,   1513,   1513,     0,  80,  2000,  50, 114,   300,  63,  350, 79.11},
    {{"h100_nvl", "", ""},                                  "H100 NVL",                      "NVIDIA",   30,    60,    60, 417.5,  835.5,  835.5, 1670.5, 1670.5,     0,  94,  3900,  50, 132,   300,  63,  400, 93.1},
    {{"h200_sxm", "h200", ""},                              "H200 SXM",                      "NVIDIA",   34,    67,    67, 494.5,  989.4,  989.4,   1979,   1979,     0, 141,  4800,  50, 132,   450,  63,  700, 139.8},
    {{"b200_sxm", "b200", ""},                              "B200 SXM",                      "NVIDIA",   37,    37,    80,  1125,   2250,   2250,   4500,   4500,  9000, 180,  8000, 126, 148,   900,  63, 1000, 178.35},
    {{"gb200", "", ""},                                     "GB200",                         "NVIDIA",   40,    40,    80,  1250,   2500,   2500,   5000,   5000, 10000, 186,  8000, 126, 152,   900,  63, 1200, 184.31, 0, 72},
    {{"b300_sxm", "b300", ""},                              "B300 SXM",                      "NVIDIA",  1.2,   1.2,    80,  1125,   2250,   2250,   4500,  153.5, 14000, 288,  8000, 126, 148,   900, 121, 1100, 267.69},
    {{"gb300", "", ""},                                     "GB300",                         "NVIDIA",  1.3,   1.3,    80,  1250,   2500,   2500,   5000,    165, 15000, 288,  8000, 126,   0,   900,  63, 1400, 276.5, 0, 72},
    {{"a100_sxm_80gb", "a100_sxm", "a100"},                 "A100 SXM 80GB",                 "NVIDIA",  9.7,  19.5,  19.5,   156,    312,    312,      0,    624,     0,  80,  2039,  40, 108,   300,  31,  400, 79.25, 0, 0, 0, 64},
    {{"a100_sxm_40gb", "", ""},                             "A100 SXM 40GB",                 "NVIDIA",  9.7,  19.5,  19.5,   156,    312,    312,      0,    624,     0,  40,  1555,  40, 108,   300,  31,  400, 39.49, 0, 0, 0, 64},
    {{"a100_pcie_80gb", "a100_pcie", ""},                   "A100 PCIe 80GB",                "NVIDIA",  9.7,  19.5,  19.5,   156,    312,    312,      0,    624,     0,  80,  1935,  40, 108,    31,  31,  300, 79.14, 0, 0, 0, 64},
    {{"a100_pcie_40gb", "", ""},                            "A100 PCIe 40GB",                "NVIDIA",  9.7,  19.5,  19.5,   156,    312,    312,      0,    624,     0,  40,  1555,  40, 108,    31,  31,  250, 39.49, 0, 0, 0, 64},
    {{"a30", "", ""},                                       "A30",                           "NVIDIA",  5.2,  10.3,  10.3,    82,    165,    165,      0,    330,     0,  24,   933,  24,  56,    32,  31,  165, 23.53, 0, 0, 0, 64},
    {{"a10g", "", ""},                                      "A10G",                          "NVIDIA", 0.55,     0,    35,    35,     70,     70,      0,    140,     0,  24,   600,   6,  80,    31,  31,  300, 22.06},
    {{"a10", "", ""},                                       "A10",                           "NVIDIA", 0.98,     0,  31.2,  62.5,    125,    125,      0,    250,     0,  24,   600,   6,  72,    31,  31,  150, 22.06},
    {{"l4", "", ""},                                        "L4",                            "NVIDIA", 0.49,     0,  30.3,    60,    121,    121,    242,    242,     0,  24,   300,  48,  58,    31,  31,   72, 22.03},
    {{"l40s", "", ""},                                      "L40S",                          "NVIDIA", 1.43,     0,  91.6,   183,    362,    362,    733,    733,     0,  48,   864,  96, 142,    31,  31,  350, 44.4},
    {{"rtx_pro_6000_blackwell_server", "rtx_pro_6000", ""}, "RTX PRO 6000 Blackwell Server", "NVIDIA",    0,     0,     0,     0,  467.8,  467.8,  935.6,  935.6,  1871,  96,  1792, 128, 188,    63,  63,  600, 94.97},
    {{"rtx_3090", "", ""},                                  "RTX 3090",                      "NVIDIA", 0.56,     0,  35.6,  35.6,     71,     71,      0,    284,     0,  24,   936,   6,  82,    56,  31,  350, 23.69},
    {{"rtx_4090", "", ""},                                  "RTX 4090",                      "NVIDIA", 1.29,     0,  82.6,  82.6,  165.2,  165.2,  330.3,  660.6,     0,  24,  1008,  72, 128,    31,  31,  450, 23.64},
    {{"rtx_5090", "", ""},                                  "RTX 5090",                      "NVIDIA", 1.64,     0, 104.8, 104.8,  209.5,  209.5,    419,    838,  1676,  32,  1792,  96, 170,    63,  63,  575, 31.36},
    {{"rtx_3060", "", ""},                                  "RTX 3060",                      "NVIDIA",   0.2,     0,  12.7,  12.7,   25.5,   25.5,      0,    102,     0,  12,   360,   3,  28,    31,  31,  170, 11.75},
    {{"rtx_3080", "", ""},                                  "RTX 3080",                      "NVIDIA",  0.47,     0,  29.8,  29.8,   59.5,   59.5,      0,    238,     0,  10,   760,   5,  68,    31,  31,  320, 9.78},
    {{"rtx_4060", "", ""},                                  "RTX 4060",                      "NVIDIA",  0.24,     0,  15.1,  15.1,   30.2,   30.2,   60.5,    121,     0,   8,   272,  24,  24,    16,  16,  115},
    {{"rtx_4070", "", ""},                                  "RTX 4070",                      "NVIDIA",  0.46,     0,  29.1,  29.1,   58.3,   58.3,  116.6,  233.2,     0,  12,   504,  36,  46,    31,  31,  200},
    {{"rtx_4080", "", ""},                                  "RTX 4080",                      "NVIDIA",  0.76,     0,  48.7,  48.7,   97.5,   97.5,  194.9,  389.9,     0,  16, 716.8,  64,  76,    31,  31,  320, 15.99},
    {{"rtx_5070", "", ""},                                  "RTX 5070",                      "NVIDIA",  0.48,     0,  30.9,  30.9,   61.7,   61.7,  123.5,  246.9, 493.9,  12,   672,  48,  48,    63,  63,  250},
    {{"rtx_5080", "", ""},                                  "RTX 5080",                      "NVIDIA",  0.88,     0,  56.3,  56.3,  112.6,  112.6,  225.1,  450.2, 900.4,  16,   960,  64,  84,    63,  63,  360},
    {{"rtx_a6000", "", ""},                                 "RTX A6000",                     "NVIDIA",   0.6,     0,  38.7,  77.4,  154.8,  154.8,      0,  309.7,     0,  48,   768,   6,  84,    56,  31,  300, 0, 0, 2},
    {{"rtx_6000_ada", "", ""},                              "RTX 6000 Ada",                  "NVIDIA",  1.42,     0,  91.1, 182.1,  364.2,  364.2,  728.5,  728.5,     0,  48,   960,  96, 142,    31,  31,  300, 44.43},
    {{"l40", "", ""},                                       "L40",                           "NVIDIA",  1.41,     0,  90.5,  90.5,    181,    181,    362,    362,     0,  48,   864,  96, 142,    31,  31,  300, 44.4},
    {{"gb10", "dgx_spark", ""},                             "GB10",                          "NVIDIA",     0,     0,    31,     0,    125,    125,    250,      0,   500, 128,   273,  24,  48,     0, 31.5,  140, 121.69},
    {{"v100_sxm2", "v100", ""},                             "V100 SXM2",                     "NVIDIA",  7.8,     0,  15.7,     0,      0,    125,      0,     62,     0,  32,   900,   6,  80,   150,  16,  300, 31.73, 0, 0, 0, 64},
    {{"t4", "", ""},                                        "T4",                            "NVIDIA", 0.25,     0,   8.1,     0,      0,     65,      0,    130,     0,  16,   320,   4,  40,    16,  16,   70, 14.75, 0, 0, 0, 64},
    {{"h20", "", ""},                                       "H20",                           "NVIDIA",    1,     0,    44,    74,    148,    148,    296,    296,     0,  96,  4000,  60,  78,   450,  63,  400, 95},
    {{"h800_sxm", "h800", ""},                              "H800 SXM",                      "NVIDIA",    1,     0,    67, 494.5,  989.4,  989.4,   1979,   1979,     0,  80,  3350,  50, 132,   200,  63,  700, 79.11},
    {{"mi250x", "", ""},                                    "MI250X (both GCDs)",            "AMD",    47.9,  95.7,  47.9,     0,    383,    383,      0,    383,     0, 128,  3277,  16, 220,   350,  31,  560},
    {{"mi250x_gcd", "", ""},                                "MI250X GCD",                    "AMD",   23.95, 47.85, 23.95,     0,  191.5,  191.5,      0,  191.5,     0,  64, 1638.5,  8, 110,   200,  31,  280},
    {{"mi300x", "", ""},                                    "MI300X",                        "AMD",    81.7, 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9,     0, 192,  5300, 256, 304,   448,  63,  750, 191.98},
    {{"mi325x", "", ""},                                    "MI325X",                        "AMD",    81.7, 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9,     0, 256,  6000, 256, 304,   448,  63, 1000, 255.98},
    {{"mi355x", "", ""},                                    "MI355X",                        "AMD",    78.6,  78.6, 157.3,     0, 2516.6, 2516.6,   5033,   5033, 10066, 288,  8000, 256, 256, 535.5,  63, 1400, 287.98},
    {{"mi350x", "", ""},                                    "MI350X",                        "AMD",     72.1,  72.1, 144.2,     0, 2306.9, 2306.9, 4613.7, 4613.7, 9227.5, 288,  8000, 256, 256, 535.5,  63, 1000},
    {{"ryzen_ai_max_395", "strix_halo", "radeon_8060s"},    "Ryzen AI Max+ 395 (Radeon 8060S)","AMD",        0,     0,  29.7,     0,   59.4,   59.4,      0,   59.4,     0, 128,   256,  32,  40,     0,   0,  120},
    {{"gaudi2", "", ""},                                    "Gaudi2",                        "Intel",     0,     0,     0,     0,    432,      0,    865,      0,     0,  96,  2460,  48,   0,   300,  31,  600},
    {{"gaudi3", "", ""},                                    "Gaudi3",                        "Intel",     0,     0,   229,   459,   1677,    459,   1677,      0,     0, 128,  3700,  96,   0,   600,  63,  900},
    {{"tpu_v4", "", ""},                                    "TPU v4",                        "Google",    0,     0,     0,     0,    275,      0,      0,    275,     0,  32,  1200, 128,   2,   270,   0,  192},
    {{"tpu_v5e", "", ""},                                   "TPU v5e",                       "Google",    0,     0,     0,     0,    197,      0,      0,    394,     0,  16,   819,   0,   1,   180,   0,    0},
    {{"tpu_v5p", "", ""},                                   "TPU v5p",                       "Google",    0,     0,     0,     0,    459,      0,      0,    918,     0,  95,  2765,   0,   2,   540,   0,    0},
    {{"tpu_v6e", "", ""},                                   "TPU v6e",                       "Google",    0,     0,     0,     0,    918,      0,    918,   1836,     0,  32,  1640,   0,   1,   360,   0,    0},
    {{"apple_m1", "", ""},                                  "Apple M1",                      "Apple",     0,     0,   2.6,     0,    2.6,    2.6,      0,      0,     0,   0,  68.2,   8,   8,     0,   0,    0},
    {{"apple_m1_pro", "", ""},                              "Apple M1 Pro",                  "Apple",     0,     0,   5.3,     0,    5.3,    5.3,      0,      0,     0,   0, 204.8,  24,  16,     0,   0,    0},
    {{"apple_m1_max", "", ""},                              "Apple M1 Max",                  "Apple",     0,     0,  10.6,     0,   10.6,   10.6,      0,      0,     0,   0, 409.6,  48,  32,     0,   0,    0},
    {{"apple_m1_ultra", "", ""},                            "Apple M1 Ultra",                "Apple",     0,     0,  21.2,     0,   21.2,   21.2,      0,      0,     0,   0, 819.2,  96,  64,     0,   0,    0},
    {{"apple_m2", "", ""},                                  "Apple M2",                      "Apple",     0,     0,   3.6,     0,    3.6,    3.6,      0,      0,     0,   0, 102.4,   8,  10,     0,   0,    0},
    {{"apple_m2_pro", "", ""},                              "Apple M2 Pro",                  "Apple",     0,     0,   6.8,     0,    6.8,    6.8,      0,      0,     0,   0, 204.8,  24,  19,     0,   0,    0},
    {{"apple_m2_max", "", ""},                              "Apple M2 Max",                  "Apple",     0,     0,  13.6,     0,   13.6,   13.6,      0,      0,     0,   0, 409.6,  48,  38,     0,   0,    0},
    {{"apple_m2_ultra", "", ""},                            "Apple M2 Ultra",                "Apple",     0,     0,  27.2,     0,   27.2,   27.2,      0,      0,     0,   0, 819.2,  96,  76,     0,   0,    0},
    {{"apple_m3", "", ""},                                  "Apple M3",                      "Apple",      0,     0,   3.6,     0,    3.6,    3.6,      0,      0,     0,   0, 102.4,   0,  10,     0,   0,    0},
    {{"apple_m3_pro", "", ""},                              "Apple M3 Pro",                  "Apple",      0,     0,   6.4,     0,    6.4,    6.4,      0,      0,     0,   0, 153.6,   0,  18,     0,   0,    0},
    {{"apple_m3_max_40c", "apple_m3_max", ""},              "Apple M3 Max (40c)",            "Apple",     0,     0,  14.2,     0,   14.2,   14.2,      0,      0,     0,   0, 409.6,  48,  40,     0,   0,    0},
    {{"apple_m3_ultra_80c", "apple_m3_ultra", ""},          "Apple M3 Ultra (80c)",          "Apple",     0,     0,  28.2,     0,   28.2,   28.2,      0,      0,     0,   0, 819.2,  96,  80,     0,   0,    0},
    {{"apple_m4", "", ""},                                  "Apple M4",                      "Apple",      0,     0,   4.1,     0,    4.1,    4.1,      0,      0,     0,   0,   120,   0,  10,     0,   0,    0},
    {{"apple_m4_pro_20c", "apple_m4_pro", ""},              "Apple M4 Pro (20c)",            "Apple",     0,     0,   9.2,     0,    9.2,    9.2,      0,      0,     0,   0,   273,   0,  20,     0,   0,    0},
    {{"apple_m4_max_40c", "apple_m4_max", ""},              "Apple M4 Max (40c)",            "Apple",     0,     0,  18.4,     0,   18.4,   18.4,      0,      0,     0,   0,   546,   0,  40,     0,   0,    0},
    {{"apple_m5_max_40c", "apple_m5_max", ""},              "Apple M5 Max (40c)",            "Apple",     0,     0,     0,     0,      0,      0,      0,      0,     0,   0,   614,   0,  40,     0,   0,    0},
    {{"xeon_platinum_8480_plus", "xeon_8480", ""},          "Xeon Platinum 8480+ (SPR 56c)", "Intel",   3.6,     0,   7.2,     0,    229,      0,      0,    459,     0,   0, 307.2, 105,  56,    48,  63,  350},
    {{"xeon_6980p", "", ""},                                "Xeon 6980P (GNR 128c)",         "Intel",   8.2,     0,  16.4,     0,    524,    524,      0,   1049,     0,   0, 614.4, 504, 128,     0,  63,  500},
    {{"epyc_9654", "", ""},                                 "EPYC 9654 (Genoa 96c)",         "AMD",     3.7,     0,   7.4,     0,   14.7,      0,      0,   29.5,     0,   0, 460.8, 384,  96,     0,  63,  360},
    {{"epyc_9755", "", ""},                                 "EPYC 9755 (Turin 128c)",        "AMD",      11,     0,  22.1,     0,   44.2,      0,      0,   88.5,     0,   0,   576, 512, 128,     0,  63,  500},
    {{"rtx_2060", "", ""},                                   "RTX 2060",                      "NVIDIA",0, 0, 6.5, 0, 0, 26, 0, 104, 0, 6, 336, 3, 30, 16, 16, 160, 0, 0, 0, 0, 64},
    {{"rtx_2070", "", ""},                                   "RTX 2070",                      "NVIDIA",0, 0, 7.5, 0, 0, 30, 0, 120, 0, 8, 448, 4, 36, 16, 16, 175, 0, 0, 0, 0, 64},
    {{"rtx_2080", "", ""},                                   "RTX 2080",                      "NVIDIA",0, 0, 10.1, 0, 0, 40.4, 0, 161.6, 0, 8, 448, 4, 46, 16, 16, 215, 0, 0, 0, 0, 64},
    {{"rtx_2080_ti", "", ""},                                "RTX 2080 Ti",                   "NVIDIA",0, 0, 13.4, 0, 0, 53.6, 0, 214.4, 0, 11, 616, 5.5, 68, 16, 16, 250, 0, 0, 0, 0, 64},
    {{"rtx_3050", "", ""},                                   "RTX 3050",                      "NVIDIA",0, 0, 9.1, 0, 18.2, 18.2, 0, 72.8, 0, 8, 224, 2, 20, 16, 16, 130},
    {{"rtx_3060_ti", "", ""},                                "RTX 3060 Ti",                   "NVIDIA",0, 0, 16.2, 0, 32.4, 32.4, 0, 129.6, 0, 8, 448, 4, 38, 31, 31, 200},
    {{"rtx_3070", "", ""},                                   "RTX 3070",                      "NVIDIA",0, 0, 20.3, 0, 40.6, 40.6, 0, 162.4, 0, 8, 448, 4, 46, 31, 31, 220},
    {{"rtx_3070_ti", "", ""},                                "RTX 3070 Ti",                   "NVIDIA",0, 0, 21.7, 0, 43.4, 43.4, 0, 173.6, 0, 8, 608, 4, 48, 31, 31, 290},
    {{"rtx_3080_ti", "", ""},                                "RTX 3080 Ti",                   "NVIDIA",0, 0, 34.1, 0, 68.2, 68.2, 0, 272.8, 0, 12, 912, 6, 80, 31, 31, 350},
    {{"rtx_3090_ti", "", ""},                                "RTX 3090 Ti",                   "NVIDIA",0, 0, 40, 0, 80, 80, 0, 320, 0, 24, 1008, 6, 84, 31, 31, 450},
    {{"rtx_4060_ti_16gb", "", ""},                           "RTX 4060 Ti 16GB",              "NVIDIA",0, 0, 22.1, 0, 44.2, 44.2, 88.4, 176.8, 0, 16, 288, 32, 34, 16, 16, 165},
    {{"rtx_4060_ti", "", ""},                                "RTX 4060 Ti",                   "NVIDIA",0, 0, 22.1, 0, 44.2, 44.2, 88.4, 176.8, 0, 8, 288, 32, 34, 16, 16, 160},
    {{"rtx_4070_super", "", ""},                             "RTX 4070 SUPER",                "NVIDIA",0, 0, 35.5, 0, 71, 71, 142, 284, 0, 12, 504, 48, 56, 31, 31, 220},
    {{"rtx_4070_ti", "", ""},                                "RTX 4070 Ti",                   "NVIDIA",0, 0, 40.1, 0, 80.2, 80.2, 160.4, 320.8, 0, 12, 504, 48, 60, 31, 31, 285},
    {{"rtx_4070_ti_super", "", ""},                          "RTX 4070 Ti SUPER",             "NVIDIA",0, 0, 44.1, 0, 88.2, 88.2, 176.4, 352.8, 0, 16, 672, 48, 66, 31, 31, 285},
    {{"rtx_4080_super", "", ""},                             "RTX 4080 SUPER",                "NVIDIA",0, 0, 52.2, 0, 104.4, 104.4, 208.8, 417.6, 0, 16, 736, 64, 80, 31, 31, 320},
    {{"rtx_5060", "", ""},                                   "RTX 5060",                      "NVIDIA",0, 0, 19.2, 0, 38.4, 38.4, 76.8, 153.6, 153.6, 8, 448, 32, 30, 31, 31, 145},
    {{"rtx_5060_ti", "", ""},                                "RTX 5060 Ti",                   "NVIDIA",0, 0, 23.7, 0, 47.4, 47.4, 94.8, 189.6, 189.6, 16, 448, 32, 36, 31, 31, 180},
    {{"rtx_5070_ti", "", ""},                                "RTX 5070 Ti",                   "NVIDIA",0, 0, 43.9, 0, 87.8, 87.8, 175.6, 351.2, 351.2, 16, 896, 48, 70, 63, 63, 300},
    {{"rtx_a2000", "", ""},                                  "RTX A2000",                     "NVIDIA",0, 0, 8, 0, 32, 32, 0, 64, 0, 6, 288, 3, 26, 31, 31, 70},
    {{"rtx_a4000", "", ""},                                  "RTX A4000",                     "NVIDIA",0, 0, 19.2, 0, 76.8, 76.8, 0, 153.6, 0, 16, 448, 4, 48, 31, 31, 140},
    {{"rtx_a5000", "", ""},                                  "RTX A5000",                     "NVIDIA",0, 0, 27.8, 0, 111.2, 111.2, 0, 222.4, 0, 24, 768, 6, 64, 31, 31, 230},
    {{"a40", "", ""},                                        "A40",                           "NVIDIA",0, 0, 37.4, 0, 149.6, 149.6, 0, 299.2, 0, 48, 696, 6, 84, 31, 31, 300},
    {{"rtx_4000_ada", "", ""},                               "RTX 4000 Ada",                  "NVIDIA",0, 0, 26.7, 0, 106.8, 106.8, 213.6, 213.6, 0, 20, 360, 48, 48, 31, 31, 130},
    {{"rtx_5000_ada", "", ""},                               "RTX 5000 Ada",                  "NVIDIA",0, 0, 65.3, 0, 261.2, 261.2, 522.4, 522.4, 0, 32, 576, 72, 100, 31, 31, 250},
    {{"jetson_agx_orin_64gb", "jetson_agx_orin", ""},        "Jetson AGX Orin 64GB",          "NVIDIA",0, 0, 5.3, 0, 21.2, 21.2, 0, 42.4, 0, 64, 204.8, 4, 16, 0, 0, 60},
    {{"jetson_orin_nano_super", "jetson_orin_nano", ""},     "Jetson Orin Nano Super 8GB",    "NVIDIA",0, 0, 1.88, 0, 7.5, 7.5, 0, 15, 0, 8, 102, 2, 8, 0, 0, 25},
    {{"rx_580", "", ""},                                     "Radeon RX 580",                 "AMD",   0, 0, 6.2, 0, 6.2, 6.2, 0, 0, 0, 8, 256, 2, 36, 0, 16, 185},
    {{"rx_6600", "", ""},                                    "Radeon RX 6600",                "AMD",   0, 0, 8.9, 0, 17.9, 17.9, 0, 0, 0, 8, 224, 32, 28, 0, 16, 132},
    {{"rx_6700_xt", "", ""},                                 "Radeon RX 6700 XT",             "AMD",   0, 0, 13.2, 0, 26.4, 26.4, 0, 0, 0, 12, 384, 96, 40, 0, 31, 230},
    {{"rx_6800", "", ""},                                    "Radeon RX 6800",                "AMD",   0, 0, 16.2, 0, 32.3, 32.3, 0, 0, 0, 16, 512, 128, 60, 0, 31, 250},
    {{"rx_6800_xt", "", ""},                                 "Radeon RX 6800 XT",             "AMD",   0, 0, 20.7, 0, 41.5, 41.5, 0, 0, 0, 16, 512, 128, 72, 0, 31, 300},
    {{"rx_6900_xt", "", ""},                                 "Radeon RX 6900 XT",             "AMD",   0, 0, 23, 0, 46.1, 46.1, 0, 0, 0, 16, 512, 128, 80, 0, 31, 300},
    {{"rx_7600", "", ""},                                    "Radeon RX 7600",                "AMD",   0, 0, 21.8, 0, 43.5, 43.5, 0, 43.5, 0, 8, 288, 32, 32, 0, 16, 165},
    {{"rx_7700_xt", "", ""},                                 "Radeon RX 7700 XT",             "AMD",   0, 0, 35.2, 0, 70.3, 70.3, 0, 70.3, 0, 12, 432, 48, 54, 0, 31, 245},
    {{"rx_7800_xt", "", ""},                                 "Radeon RX 7800 XT",             "AMD",   0, 0, 37.3, 0, 74.6, 74.6, 0, 74.6, 0, 16, 624, 64, 60, 0, 31, 263},
    {{"rx_7900_xt", "", ""},                                 "Radeon RX 7900 XT",             "AMD",   0, 0, 51.5, 0, 103, 103, 0, 103, 0, 20, 800, 80, 84, 0, 31, 315},
    {{"rx_7900_xtx", "", ""},                                "Radeon RX 7900 XTX",            "AMD",   0, 0, 61.4, 0, 122.8, 122.8, 0, 122.8, 0, 24, 960, 96, 96, 0, 31, 355},
    {{"rx_9060_xt", "", ""},                                 "Radeon RX 9060 XT",             "AMD",   0, 0, 25.6, 0, 103, 103, 0, 205, 0, 16, 320, 32, 32, 0, 63, 160},
    {{"rx_9070", "", ""},                                    "Radeon RX 9070",                "AMD",   0, 0, 36.1, 0, 145, 145, 0, 289, 0, 16, 640, 64, 56, 0, 63, 220},
    {{"rx_9070_xt", "", ""},                                 "Radeon RX 9070 XT",             "AMD",   0, 0, 48.7, 0, 195, 195, 0, 389, 0, 16, 640, 64, 64, 0, 63, 304},
    {{"arc_a750", "", ""},                                   "Arc A750",                      "Intel", 0, 0, 17.2, 0, 114.5, 114.5, 0, 229, 0, 8, 512, 16, 28, 0, 31, 225},
    {{"arc_a770", "", ""},                                   "Arc A770",                      "Intel", 0, 0, 19.7, 0, 131, 131, 0, 262, 0, 16, 560, 16, 32, 0, 31, 225},
    {{"arc_b570", "", ""},                                   "Arc B570",                      "Intel", 0, 0, 11.5, 0, 101.5, 101.5, 0, 203, 0, 10, 380, 13.5, 18, 0, 31, 150},
    {{"arc_b580", "", ""},                                   "Arc B580",                      "Intel", 0, 0, 13.7, 0, 116.5, 116.5, 0, 233, 0, 12, 456, 18, 20, 0, 31, 190},
    {{"apple_m1_7c", "", ""},                                "Apple M1 (7c)",                 "Apple", 0, 0, 2.3, 0, 2.3, 2.3, 0, 0, 0, 0, 68.2, 0, 7, 0, 0, 0},
    {{"apple_m1_max_24c", "", ""},                           "Apple M1 Max (24c)",            "Apple", 0, 0, 8, 0, 8, 8, 0, 0, 0, 0, 409.6, 0, 24, 0, 0, 0},
    {{"apple_m1_ultra_48c", "", ""},                         "Apple M1 Ultra (48c)",          "Apple", 0, 0, 15.9, 0, 15.9, 15.9, 0, 0, 0, 0, 819.2, 0, 48, 0, 0, 0},
    {{"apple_m2_max_30c", "", ""},                           "Apple M2 Max (30c)",            "Apple", 0, 0, 10.7, 0, 10.7, 10.7, 0, 0, 0, 0, 409.6, 0, 30, 0, 0, 0},
    {{"apple_m2_ultra_60c", "", ""},                         "Apple M2 Ultra (60c)",          "Apple", 0, 0, 21.5, 0, 21.5, 21.5, 0, 0, 0, 0, 819.2, 0, 60, 0, 0, 0},
    {{"apple_m3_max_30c", "", ""},                           "Apple M3 Max (30c)",            "Apple", 0, 0, 10.7, 0, 10.7, 10.7, 0, 0, 0, 0, 307.2, 0, 30, 0, 0, 0},
    {{"apple_m3_ultra_60c", "", ""},                         "Apple M3 Ultra (60c)",          "Apple", 0, 0, 21.2, 0, 21.2, 21.2, 0, 0, 0, 0, 819.2, 0, 60, 0, 0, 0},
    {{"apple_m4_max_32c", "", ""},                           "Apple M4 Max (32c)",            "Apple", 0, 0, 14.7, 0, 14.7, 14.7, 0, 0, 0, 0, 409.6, 0, 32, 0, 0, 0},
    {{"apple_m5", "", ""},                                   "Apple M5",                      "Apple", 0, 0, 4.1, 0, 4.1, 4.1, 0, 0, 0, 0, 153.6, 0, 10, 0, 0, 0},
    {{"desktop_ddr4_3200", "", ""},                          "Desktop CPU with 2 channels of DDR4-3200","",      0, 0, 1.02, 0, 0, 0, 0, 4.08, 0, 0, 51.2, 0, 8, 0, 31, 0},
    {{"desktop_ddr5_5600", "", ""},                          "Desktop CPU with 2 channels of DDR5-5600","",      0, 0, 1.15, 0, 0, 0, 0, 4.6, 0, 0, 89.6, 0, 8, 0, 31, 0},
    {{"ryzen_9_7950x", "", ""},                              "Ryzen 9 7950X",                 "AMD",   0, 0, 2.3, 0, 0, 0, 0, 9.2, 0, 0, 83.2, 0, 16, 0, 63, 170},
    {{"ryzen_9_9950x", "", ""},                              "Ryzen 9 9950X",                 "AMD",   0, 0, 4.4, 0, 0, 0, 0, 17.6, 0, 0, 89.6, 0, 16, 0, 63, 170},
    {{"core_i9_14900k", "", ""},                             "Core i9-14900K",                "Intel", 0, 0, 2.46, 0, 0, 0, 0, 9.84, 0, 0, 89.6, 0, 24, 0, 63, 125},
    {{"ryzen_ai_5_340", "", ""},                             "Ryzen AI 5 340",                "AMD",   0, 0, 0.38, 0, 0, 0, 0, 1.52, 0, 0, 89.6, 0, 6, 0, 16, 28},
    {{"ryzen_ai_max_395_cpu", "", ""},                       "Ryzen AI Max+ 395 (CPU)",       "AMD",   0, 0, 3.07, 0, 0, 0, 0, 12.28, 0, 0, 256, 0, 16, 0, 0, 120},
    {{"threadripper_7980x", "", ""},                         "Threadripper 7980X",            "AMD",   0, 0, 6.55, 0, 0, 0, 0, 26.2, 0, 0, 166.4, 0, 64, 0, 63, 350},
    {{"epyc_7763", "", ""},                                  "EPYC 7763 (Milan 64c)",         "AMD",   0, 0, 5.02, 0, 0, 0, 0, 20.08, 0, 0, 204.8, 0, 64, 0, 31, 280},
    {{"ampereone_a192", "", ""},                             "AmpereOne A192-32X",            "Ampere",0, 0, 9.83, 0, 0, 0, 0, 39.32, 0, 0, 332.8, 0, 192, 0, 63, 350},
    {{"cix_p1", "", ""},                                     "CIX P1",                        "CIX",   0, 0, 0.5, 0, 0, 0, 0, 2, 0, 0, 88, 0, 12, 0, 16, 28},
    {{"raspberry_pi_5", "", ""},                             "Raspberry Pi 5",                "Broadcom",0, 0, 0.15, 0, 0, 0, 0, 0.6, 0, 0, 17.1, 0, 4, 0, 0.5, 12},
    {{"raspberry_pi_4", "raspberry_pi_400", ""},             "Raspberry Pi 4",                "Broadcom",0, 0, 0.06, 0, 0, 0, 0, 0.24, 0, 0, 12.8, 0, 4, 0, 0, 7},
};
// clang-format on

/// A configuration of a device with unified memory, which is sold with several memory sizes.
struct device_memory_size {
    string_ref device_name;
    string_ref names[2];
    string_ref title;
    double gigabytes;
    double visible_gibibytes;
};

namespace detail {

// Apple: Metal's recommendedMaxWorkingSetSize, approximated as 2/3 of up to 32 GiB, else 3/4. Source: logs of llama.cpp
// (`ggml_metal_init`) with 11453.25, 22906.50, 28991.03 and 51539.61 MB, which are these fractions of 16, 32, 36 and
// 64 GiB. One newer log has 12713.12 MB. Memory sizes are unverified.
// clang-format off
inline constexpr device_memory_size device_memory_sizes[]{
    {"apple_m1",          {"apple_m1_8gb", ""},             "Apple M1 8GB",           8.59,  5.333},
    {"apple_m1",          {"apple_m1_16gb", ""},            "Apple M1 16GB",         17.18,  10.67},
    {"apple_m1_pro",      {"apple_m1_pro_16gb", ""},        "Apple M1 Pro 16GB",     17.18,  10.67},
    {"apple_m1_pro",      {"apple_m1_pro_32gb", ""},        "Apple M1 Pro 32GB",     34.36,  21.33},
    {"apple_m1_max",      {"apple_m1_max_32gb", ""},        "Apple M1 Max 32GB",     34.36,  21.33},
    {"apple_m1_max",      {"apple_m1_max_64gb", ""},        "Apple M1 Max 64GB",     68.72,     48},
    {"apple_m1_ultra",    {"apple_m1_ultra_64gb", ""},      "Apple M1 Ultra 64GB",   68.72,     48},
    {"apple_m1_ultra",    {"apple_m1_ultra_128gb", ""},     "Apple M1 Ultra 128GB",  137.4,     96},
    {"apple_m2",          {"apple_m2_8gb", ""},             "Apple M2 8GB",           8.59,  5.333},
    {"apple_m2",          {"apple_m2_16gb", ""},            "Apple M2 16GB",         17.18,  10.67},
    {"apple_m2",          {"apple_m2_24gb", ""},            "Apple M2 24GB",         25.77,     16},
    {"apple_m2_pro",      {"apple_m2_pro_16gb", ""},        "Apple M2 Pro 16GB",     17.18,  10.67},
    {"apple_m2_pro",      {"apple_m2_pro_32gb", ""},        "Apple M2 Pro 32GB",     34.36,  21.33},
    {"apple_m2_max",      {"apple_m2_max_32gb", ""},        "Apple M2 Max 32GB",     34.36,  21.33},
    {"apple_m2_max",      {"apple_m2_max_64gb", ""},        "Apple M2 Max 64GB",     68.72,     48},
    {"apple_m2_max",      {"apple_m2_max_96gb", ""},        "Apple M2 Max 96GB",     103.1,     72},
    {"apple_m2_ultra",    {"apple_m2_ultra_64gb", ""},      "Apple M2 Ultra 64GB",   68.72,     48},
    {"apple_m2_ultra",    {"apple_m2_ultra_128gb", ""},     "Apple M2 Ultra 128GB",  137.4,     96},
    {"apple_m2_ultra",    {"apple_m2_ultra_192gb", ""},     "Apple M2 Ultra 192GB",  206.2,    144},
    {"apple_m3",          {"apple_m3_8gb", ""},             "Apple M3 8GB",           8.59,  5.333},
    {"apple_m3",          {"apple_m3_16gb", ""},            "Apple M3 16GB",         17.18,  10.67},
    {"apple_m3",          {"apple_m3_24gb", ""},            "Apple M3 24GB",         25.77,     16},
    {"apple_m3_pro",      {"apple_m3_pro_18gb", ""},        "Apple M3 Pro 18GB",     19.33,     12},
    {"apple_m3_pro",      {"apple_m3_pro_36gb", ""},        "Apple M3 Pro 36GB",     38.65,     27},
    {"apple_m3_max_40c",  {"apple_m3_max_48gb", ""},        "Apple M3 Max 48GB",     51.54,     36},
    {"apple_m3_max_40c",  {"apple_m3_max_64gb", ""},        "Apple M3 Max 64GB",     68.72,     48},
    {"apple_m3_max_40c",  {"apple_m3_max_128gb", ""},       "Apple M3 Max 128GB",    137.4,     96},
    {"apple_m3_ultra_80c",{"apple_m3_ultra_256gb", ""},     "Apple M3 Ultra 256GB",  274.9,    192},
    {"apple_m3_ultra_80c",{"apple_m3_ultra_512gb", ""},     "Apple M3 Ultra 512GB",  549.8,    384},
    {"apple_m4",          {"apple_m4_16gb", ""},            "Apple M4 16GB",         17.18,  10.67},
    {"apple_m4",          {"apple_m4_24gb", ""},            "Apple M4 24GB",         25.77,     16},
    {"apple_m4",          {"apple_m4_32gb", ""},            "Apple M4 32GB",         34.36,  21.33},
    {"apple_m4_pro_20c",  {"apple_m4_pro_24gb", ""},        "Apple M4 Pro 24GB",     25.77,     16},
    {"apple_m4_pro_20c",  {"apple_m4_pro_48gb", ""},        "Apple M4 Pro 48GB",     51.54,     36},
    {"apple_m4_pro_20c",  {"apple_m4_pro_64gb", ""},        "Apple M4 Pro 64GB",     68.72,     48},
    {"apple_m4_max_40c",  {"apple_m4_max_48gb", ""},        "Apple M4 Max 48GB",     51.54,     36},
    {"apple_m4_max_40c",  {"apple_m4_max_64gb", ""},        "Apple M4 Max 64GB",     68.72,     48},
    {"apple_m4_max_40c",  {"apple_m4_max_128gb", ""},       "Apple M4 Max 128GB",    137.4,     96},
    {"apple_m5_max_40c",  {"apple_m5_max_48gb", ""},        "Apple M5 Max 48GB",     51.54,     36},
    {"apple_m5_max_40c",  {"apple_m5_max_64gb", ""},        "Apple M5 Max 64GB",     68.72,     48},
    {"apple_m5_max_40c",  {"apple_m5_max_128gb", ""},       "Apple M5 Max 128GB",    137.4,     96},
};
// clang-format on

constexpr std::size_t num_memory_sizes = sizeof(device_memory_sizes) / sizeof(device_memory_sizes[0]);

struct sized_devices {
    device rows[num_memory_sizes]{};
};

/// The devices of `device_memory_sizes`: the device, with another name and memory.
inline constexpr sized_devices devices_by_memory = [] {
    sized_devices out;
    for (std::size_t i = 0; i < num_memory_sizes; ++i) {
        const device_memory_size& size = device_memory_sizes[i];
        for (const device& d : devices)
            if (d.names[0] == size.device_name) out.rows[i] = d;
        device& row = out.rows[i];
        row.names[0] = size.names[0];
        row.names[1] = size.names[1];
        row.names[2] = {};
        row.title = size.title;
        row.memory_gigabytes = size.gigabytes;
        row.visible_gibibytes = size.visible_gibibytes;
    }
    return out;
}();

/// A name of a device in nvidia-smi, rocm-smi or common use, without the brand.
struct device_alias {
    literal alias;
    literal name;
};

// clang-format off
inline constexpr device_alias device_aliases[]{
    {"H100 80GB HBM3",    "h100_sxm"},       {"H100 SXM5",         "h100_sxm"},       {"H100 SXM5 80GB",  "h100_sxm"},
    {"H100 80GB",         "h100_sxm"},       {"H100 SXM 80GB",     "h100_sxm"},       {"H100 PCIe 80GB",  "h100_pcie"},
    {"H200 141GB",        "h200_sxm"},       {"H200 SXM5",         "h200_sxm"},       {"H200 SXM 141GB",  "h200_sxm"},
    {"B200 SXM6",         "b200_sxm"},       {"B200 180GB",        "b200_sxm"},       {"B300",            "b300_sxm"},
    {"B300 SXM6 AC",      "b300_sxm"},       {"GB200 NVL72",       "gb200"},          {"GB300 NVL72",     "gb300"},
    {"A100 SXM4 80GB",    "a100_sxm_80gb"},  {"A100 80GB",         "a100_sxm_80gb"},  {"A100 SXM4 40GB",  "a100_sxm_40gb"},
    {"A100 40GB",         "a100_sxm_40gb"},  {"A100 80GB PCIe",    "a100_pcie_80gb"}, {"A100 80GB SXM",   "a100_sxm_80gb"},
    {"A100 40GB PCIe",    "a100_pcie_40gb"}, {"A30 24GB",          "a30"},            {"L40S 48GB",       "l40s"},
    {"V100 SXM2 32GB",    "v100_sxm2"},      {"V100 32GB",         "v100_sxm2"},      {"H800 80GB HBM3",  "h800_sxm"},
    {"6000 Ada Generation", "rtx_6000_ada"}, {"A6000 48GB",        "rtx_a6000"},      {"3060 12GB",       "rtx_3060"},
    {"3080 10GB",         "rtx_3080"},       {"PRO 6000 Blackwell Server Edition", "rtx_pro_6000_blackwell_server"},
    {"Grace Blackwell GB10", "gb10"},        {"Spark",             "gb10"},
    {"MI300X OAM",        "mi300x"},         {"MI325X OAM",        "mi325x"},         {"MI350X OAM",      "mi350x"},
    {"MI355X OAM",        "mi355x"},         {"Ryzen AI Max 395",  "ryzen_ai_max_395"}, {"8060S",         "ryzen_ai_max_395"},
    {"8060S Graphics",    "ryzen_ai_max_395"}, {"Strix Halo 128GB", "ryzen_ai_max_395"},
    // systems of benchmark tables: ai-dynamo/aiconfigurator, src/aiconfigurator/systems/*.yaml
    {"gb200_sxm",         "gb200"},          {"gb300_sxm",         "gb300"},          {"h20_sxm",         "h20"},
    {"PRO 6000 Server",   "rtx_pro_6000_blackwell_server"},
    {"rtxpro6000_blackwell_server", "rtx_pro_6000_blackwell_server"},
};
// clang-format on

}  // namespace detail

/// The device with this name, with or without its brand: `h100_sxm`, `NVIDIA H100 80GB HBM3`, `4090`, `M3 Max 64GB`.
/// Returns null if there is none.
[[nodiscard]] constexpr const device* find_device(string_ref name) noexcept {
    for (const device& d : devices)
        if (has_name(d, name)) return &d;
    for (const device& d : detail::devices_by_memory.rows)
        if (has_name(d, name)) return &d;
    const string_ref model = detail::without_brand(name);
    if (model.empty()) return nullptr;
    for (const device& d : devices)
        if (detail::has_name_without_brand(d, model)) return &d;
    for (const device& d : detail::devices_by_memory.rows)
        if (detail::has_name_without_brand(d, model)) return &d;
    for (const detail::device_alias& a : detail::device_aliases)
        if (detail::same_device_name(a.alias, model))
            for (const device& d : devices)
                if (d.names[0] == string_ref(a.name)) return &d;
    return nullptr;
}

}  // namespace llmcost
