// --model: what is read of a model's config.json, and what commands make of it.
#include "app/model_config.hpp"
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace ropelab::app;
using ropelab::CsvText;

namespace {

std::string path_of(const std::string& model) {
  return ROPELAB_TEST_DATA "/models/" + model + ".json";
}

std::string summary_of(const std::string& model) {
  return summary(read_model_config(path_of(model)));
}

// A file of a model with these members in place of its own; null takes one away.
std::string changed(const std::string& model, const std::string& members) {
  auto json = nlohmann::json::parse(ropelab::read_text_file(path_of(model)));
  json.merge_patch(nlohmann::json::parse(members));
  return json.dump();
}

// What refuses it, without the path in front.
std::string refusal_of_text(const std::string& text) {
  const TemporaryFolder folder;
  folder.write("config.json", text);
  const std::string path = folder / "config.json";
  try {
    read_model_config(path);
  } catch (const std::invalid_argument& problem) {
    const std::string sentence = problem.what(), front = "'" + path + "': ";
    CHECK(sentence.substr(0, front.size()) == front);
    return sentence.substr(front.size());
  }
  return "accepted";
}

std::string model_refusal(const std::string& model, const std::string& members) {
  return refusal_of_text(changed(model, members));
}

std::string summary_with(const std::string& model, const std::string& members) {
  const TemporaryFolder folder;
  folder.write("config.json", changed(model, members));
  return summary(read_model_config(folder / "config.json"));
}

std::vector<std::string> with_model(std::vector<std::string> arguments,
                                    const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The same table, but for no column.
void check_same(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  CAPTURE(a, b);
  const Outcome first = run(a), second = run(b);
  CHECK(first.status == 0);
  CHECK(first.error == second.error);
  CHECK(first.output == second.output);
}

}  // namespace

TEST_CASE("The shapes of public models are read as transformers reads them") {
  CHECK(summary_of("llama-2-7b") ==
        "llama: context=4096, layers=32, heads=32, key-value-heads=32, head-dim=128, "
        "hidden-size=4096, base=10000, rope-dim=128");
  CHECK(summary_of("llama-3.1-8b") ==
        "llama: context=131072, layers=32, heads=32, key-value-heads=8, head-dim=128, "
        "hidden-size=4096, base=500000.0, rope-dim=128, "
        "scaling=llama3:factor=8:original=8192:low_freq_factor=1:high_freq_factor=4");
  CHECK(summary_of("mistral-7b-v0.1") ==
        "mistral: context=32768, layers=32, heads=32, key-value-heads=8, head-dim=128, "
        "hidden-size=4096, window=4096, base=10000.0, rope-dim=128");
  CHECK(summary_of("qwen2.5-7b-instruct") ==
        "qwen2: context=32768, layers=28, heads=28, key-value-heads=4, head-dim=128, "
        "hidden-size=3584, base=1000000.0, rope-dim=128, "
        "scaling=yarn:factor=4:original=32768:beta_fast=32:beta_slow=1:truncate=true:rule=default:"
        "mscale=1");
  CHECK(summary_of("gpt-neox-20b") ==
        "gpt_neox: context=2048, layers=44, heads=64, key-value-heads=64, head-dim=96, "
        "hidden-size=6144, base=10000, rope-dim=24");
  CHECK(summary_of("bloom-560m") ==
        "bloom: context=2048, layers=24, heads=16, key-value-heads=16, head-dim=64, "
        "hidden-size=1024, alibi, bias-scale=after");
  CHECK(summary_of("mpt-7b") ==
        "mpt: context=2048, layers=32, heads=32, key-value-heads=32, head-dim=128, "
        "hidden-size=4096, alibi, bias-scale=after");
  CHECK(summary_of("falcon-rw-1b") ==
        "falcon: context=2048, layers=24, heads=32, key-value-heads=32, head-dim=64, "
        "hidden-size=2048, alibi, bias-scale=before");
  CHECK(summary_of("falcon-7b") ==
        "falcon: context=2048, layers=32, heads=71, key-value-heads=1, head-dim=64, "
        "hidden-size=4544, base=10000, rope-dim=64");
}

TEST_CASE("Keys of newer files mean the same as those of older ones") {
  CHECK(summary_with("llama-3.1-8b",
                     R"({"rope_theta": null, "rope_scaling": null, "rope_parameters":
                         {"rope_theta": 500000.0, "rope_type": "llama3", "factor": 8.0,
                          "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                          "original_max_position_embeddings": 8192}})") ==
        summary_of("llama-3.1-8b"));
  CHECK(summary_with("gpt-neox-20b",
                     R"({"rotary_pct": null, "rotary_emb_base": null, "rope_parameters":
                         {"rope_theta": 10000, "partial_rotary_factor": 0.25,
                          "rope_type": "default"}})") == summary_of("gpt-neox-20b"));
  CHECK(summary_with("bloom-560m", R"({"n_embed": null, "hidden_size": 1024, "n_layer": null,
                                       "num_hidden_layers": 24, "n_head": 16})") ==
        summary_of("bloom-560m"));
  CHECK(summary_with("falcon-7b", R"({"num_attention_heads": null, "n_head": 71})") ==
        summary_of("falcon-7b"));
  // Files of ALiBi models have had the default since then.
  CHECK(summary_with("falcon-rw-1b", R"({"rope_parameters": {"rope_type": "default",
                                         "rope_theta": 10000.0}})") == summary_of("falcon-rw-1b"));
}

TEST_CASE("Keys that may be there or not have the default of their type of model") {
  const auto model = [](const std::string& name, const std::string& members) {
    const TemporaryFolder folder;
    folder.write("config.json", changed(name, members));
    return read_model_config(folder / "config.json");
  };
  CHECK(model("llama-2-7b", R"({"num_key_value_heads": null})").key_value_heads == 32);
  CHECK(model("mistral-7b-v0.1", R"({"num_key_value_heads": null})").key_value_heads == 8);
  CHECK(model("llama-2-7b", R"({"head_dim": 96})").head_dim == 96);
  CHECK(model("qwen2.5-7b-instruct", R"({"model_type": "qwen3", "hidden_size": 1024})").head_dim ==
        128);
  CHECK(model("mistral-7b-v0.1", R"({"sliding_window": null})").sliding_window == 4096);
  CHECK(model("qwen2.5-7b-instruct", R"({"use_sliding_window": true})").sliding_window == 131072);
  CHECK(model("falcon-7b", R"({"new_decoder_architecture": true, "num_kv_heads": 71})")
            .key_value_heads == 71);
  CHECK(model("mpt-7b", R"({"attn_config": {"attn_type": "multiquery_attention"}})")
            .key_value_heads == 1);
  CHECK(model("mpt-7b", R"({"attn_config": {"alibi": false, "rope": true}})").grid->rope_dim ==
        128);
  CHECK_FALSE(model("mpt-7b", R"({"attn_config": {"alibi": false}})").grid);
  CHECK_FALSE(model("bloom-560m", R"({"seq_length": null})").context);
  CHECK(model("qwen2.5-7b-instruct", "{}").projection_bias);
  CHECK_FALSE(model("llama-3.1-8b", "{}").projection_bias);
  CHECK(model("llama-3.1-8b", R"({"attention_bias": true})").projection_bias);
  CHECK_FALSE(model("mpt-7b", "{}").projection_bias);
  CHECK(model("mpt-7b", R"({"no_bias": false})").projection_bias);
  CHECK_FALSE(model("mpt-7b", R"({"no_bias": null})").projection_bias);
  CHECK(model("falcon-rw-1b", "{}").projection_bias);
  // merge_patch takes keys away; here one is null.
  const TemporaryFolder folder;
  folder.write("config.json",
               R"({"model_type": "mistral", "hidden_size": 64, "num_attention_heads": 4,
                   "num_hidden_layers": 1, "max_position_embeddings": 9, "sliding_window": null,
                   "num_key_value_heads": null})");
  const ModelConfig nulls = read_model_config(folder / "config.json");
  CHECK_FALSE(nulls.sliding_window);
  CHECK(nulls.key_value_heads == 4);
}

// The classes' own defaults, from transformers' configuration_*.py: the arguments of __init__, or
// the fields, of LlamaConfig and the others.
TEST_CASE("A file that names its type of model alone is that of transformers' class") {
  const auto of_type = [](const std::string& type) {
    const TemporaryFolder folder;
    folder.write("config.json", fmt::format(R"({{"model_type": "{}"}})", type));
    return summary(read_model_config(folder / "config.json"));
  };
  CHECK(of_type("llama") ==
        "llama: context=2048, layers=32, heads=32, key-value-heads=32, head-dim=128, "
        "hidden-size=4096, base=10000, rope-dim=128");
  CHECK(of_type("mistral") ==
        "mistral: context=131072, layers=32, heads=32, key-value-heads=8, head-dim=128, "
        "hidden-size=4096, window=4096, base=10000, rope-dim=128");
  CHECK(of_type("mixtral") ==
        "mixtral: context=131072, layers=32, heads=32, key-value-heads=8, head-dim=128, "
        "hidden-size=4096, base=1000000, rope-dim=128");
  CHECK(of_type("phi3") ==
        "phi3: context=4096, layers=32, heads=32, key-value-heads=32, head-dim=96, "
        "hidden-size=3072, base=10000, rope-dim=96");
  CHECK(of_type("qwen2") ==
        "qwen2: context=32768, layers=32, heads=32, key-value-heads=32, head-dim=128, "
        "hidden-size=4096, base=10000, rope-dim=128");
  CHECK(of_type("qwen3") ==
        "qwen3: context=32768, layers=32, heads=32, key-value-heads=32, head-dim=128, "
        "hidden-size=4096, base=10000, rope-dim=128");
  CHECK(of_type("gpt_neox") ==
        "gpt_neox: context=2048, layers=44, heads=64, key-value-heads=64, head-dim=96, "
        "hidden-size=6144, base=10000, rope-dim=24");
  CHECK(of_type("bloom") ==
        "bloom: layers=2, heads=8, key-value-heads=8, head-dim=8, hidden-size=64, alibi, "
        "bias-scale=after");
  CHECK(of_type("mpt") ==
        "mpt: context=2048, layers=24, heads=16, key-value-heads=16, head-dim=128, "
        "hidden-size=2048, alibi, bias-scale=after");
  CHECK(of_type("falcon") ==
        "falcon: context=2048, layers=32, heads=71, key-value-heads=1, head-dim=64, "
        "hidden-size=4544, base=10000, rope-dim=64");
  // Phi3Config has original_max_position_embeddings=4096.
  CHECK_THAT(summary_with("longrope-small", R"({"original_max_position_embeddings": null,
                              "rope_parameters": {"original_max_position_embeddings": null}})"),
             ContainsSubstring("longrope:original=4096:"));
}

TEST_CASE("Scalings of all types are read with what follows from the lengths") {
  const auto scaling = [](const std::string& members) {
    const TemporaryFolder folder;
    folder.write("config.json",
                 changed("longrope-small",
                         R"({"rope_parameters": null, "original_max_position_embeddings": null})"));
    auto json = nlohmann::json::parse(folder.read("config.json"));
    json["rope_scaling"] = nlohmann::json::parse(members);
    folder.write("config.json", json.dump());
    return read_model_config(folder / "config.json").grid->scaling;
  };
  CHECK(scaling(R"({"type": "default"})").empty());
  CHECK(scaling(R"({"type": "linear", "factor": 0.1})") == "linear:factor=0.1");
  CHECK(scaling(R"({"rope_type": "dynamic", "type": "dynamic", "factor": 2})") ==
        "dynamic-ntk:factor=2:original=131072");
  CHECK(scaling(R"({"type": "yarn", "original_max_position_embeddings": 4096, "truncate": false,
                    "beta_fast": 16, "beta_slow": null})") ==
        "yarn:factor=32:original=4096:beta_fast=16:beta_slow=1:truncate=false:rule=default:"
        "mscale=1");
  CHECK(scaling(R"({"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096,
                    "mscale": 0.707, "mscale_all_dim": 1.0})") ==
        "yarn:factor=40:original=4096:beta_fast=32:beta_slow=1:truncate=true:rule=ratio:"
        "mscale=0.707:mscale_all_dim=1");
  // Which transformers leaves out: one of the two, and both beside an attention_factor.
  CHECK(scaling(R"({"type": "yarn", "factor": 4, "original_max_position_embeddings": 4096,
                    "mscale": 0.707})") ==
        "yarn:factor=4:original=4096:beta_fast=32:beta_slow=1:truncate=true:rule=default:mscale=1");
  CHECK(scaling(R"({"type": "yarn", "factor": 4, "original_max_position_embeddings": 4096,
                    "mscale": 0.7, "mscale_all_dim": 1, "attention_factor": 1.5})") ==
        "yarn:factor=4:original=4096:beta_fast=32:beta_slow=1:truncate=true:attention_factor=1.5");
  CHECK(scaling(R"({"type": "su", "original_max_position_embeddings": 4096, "factor": 8.0,
                    "attention_factor": 1.25, "short_factor": [1, 1, 1, 1.5],
                    "long_factor": [1, 2, 3, 4e0]})") ==
        "longrope:original=4096:short_factor=1 1 1 1.5:long_factor=1 2 3 4:attention_factor=1.25");
  CHECK(read_model_config(path_of("longrope-small")).grid->scaling ==
        "longrope:original=4096:short_factor=1 1.05 1.1 1.25:long_factor=1.1 2.5 30.25 64:"
        "factor=32");
}

TEST_CASE(
    "A broken file is refused with the line, a wrong key with its value and what would be right") {
  CHECK_THAT(refusal_of_text("{\n\"a\": 1,\n}"),
             Catch::Matchers::StartsWith("line 3: this is not JSON: syntax error"));
  CHECK_THAT(refusal_of_text(""), Catch::Matchers::StartsWith("line 1: this is not JSON: "));
  CHECK_THAT(refusal_of_text("{}\n}"), Catch::Matchers::StartsWith("line 2: this is not JSON: "));
  CHECK(refusal_of_text("[1]") == "it holds a list; an object, {...}, would be right");
  CHECK(refusal_of_text(R"({"a": {"b": 1, "b": 2}})") ==
        "it has 'b' more than once; once would be right");
  CHECK_THAT(refusal_of_text(std::string(100000, '[')), ContainsSubstring("100 levels"));
  CHECK_THAT(refusal_of_text("{}"), Catch::Matchers::StartsWith("there is no model_type; one of"));
  CHECK_THAT(model_refusal("llama-2-7b", R"({"model_type": "gpt2"})"),
             Catch::Matchers::StartsWith("model_type is \"gpt2\"; one of llama, mistral"));
  CHECK(refusal_of_text(R"({"model_type": "llama", "num_attention_heads": null})") ==
        "num_attention_heads is null; a whole number from 1 to 65536 would be right");
  CHECK(refusal_of_text(R"({"model_type": "bloom", "n_layer": null})") ==
        "n_layer or num_hidden_layers is null; a whole number from 1 to 4096 would be right");
  CHECK(model_refusal("llama-2-7b", R"({"num_attention_heads": "32"})") ==
        "num_attention_heads is \"32\"; a number would be right");
  for (const char* heads : {"0", "-1", "1.5", "65537", "1e400"}) {
    CAPTURE(heads);
    const std::string sentence =
        refusal_of_text(fmt::format(R"({{"model_type": "llama", "num_hidden_layers": 1,
                                        "hidden_size": 64, "num_attention_heads": {}}})",
                                    heads));
    if (std::string(heads) == "1e400") {
      CHECK_THAT(sentence, ContainsSubstring("1e400"));
    } else {
      CHECK(sentence == fmt::format("num_attention_heads is {}; a whole number from 1 to 65536 "
                                    "would be right",
                                    heads));
    }
  }
  CHECK(model_refusal("llama-2-7b", R"({"hidden_size": 4097})") ==
        "hidden_size is 4097 and num_attention_heads is 32; a multiple of the heads, up to 1048576 "
        "times as much, would be right");
  CHECK(model_refusal("llama-3.1-8b", R"({"num_key_value_heads": 5})") ==
        "num_key_value_heads is 5 and num_attention_heads is 32; key-value heads that divide the "
        "heads would be right");
  CHECK(model_refusal("bloom-560m", R"({"hidden_size": 2048})") ==
        "hidden_size is 2048 and n_embed is 1024; only one of them, or the same, would be right");
  CHECK(model_refusal("falcon-rw-1b", R"({"alibi": "yes"})") ==
        "alibi is \"yes\"; true or false would be right");
  CHECK(model_refusal("falcon-rw-1b", R"({"rope_scaling": {"type": "linear", "factor": 2.0}})") ==
        "it has both alibi and a scaling of RoPE; one of them would be right");
  CHECK(model_refusal("mpt-7b", R"({"attn_config": {"rope": true}})") ==
        "it has both attn_config.alibi and attn_config.rope; one of them would be right");
  CHECK(model_refusal("llama-2-7b", R"({"rope_theta": -1})") ==
        "rope_theta is -1; a number above 0 would be right");
  CHECK(
      model_refusal("gpt-neox-20b", R"({"rotary_pct": 0.24})") ==
      "rotary_pct is 0.24, which rotates 23 of 96 dimensions; an even number from 2 to 96 would be "
      "right");
  CHECK(
      model_refusal("llama-3.1-8b", R"({"rope_parameters": {"rope_theta": 10000.0}})") ==
      "rope_parameters is an object and rope_scaling is an object; only one of them, or the same, "
      "would be right");
}

TEST_CASE("A scaling that cannot be meant is refused") {
  CHECK_THAT(model_refusal("llama-3.1-8b", R"({"rope_scaling": {"rope_type": "magic"}})"),
             Catch::Matchers::StartsWith("rope_type is \"magic\"; one of default, "));
  CHECK(model_refusal("llama-3.1-8b", R"({"rope_scaling": {"type": "yarn"}})") ==
        "rope_type is \"llama3\" and type is \"yarn\"; only one of them, or the same, would be "
        "right");
  CHECK(model_refusal("llama-3.1-8b", R"({"rope_scaling": {"low_freq_factor": null}})") ==
        "RoPE's scaling of type llama3 has no low_freq_factor; a number would be right");
  CHECK(model_refusal("llama-2-7b", R"({"rope_scaling": {"type": "linear"}})") ==
        "RoPE's scaling of type linear has no factor; a number would be right");
  CHECK_THAT(model_refusal("llama-2-7b", R"({"rope_scaling": {"factor": 2.0}})"),
             ContainsSubstring("no rope_type"));
  CHECK(model_refusal("llama-3.1-8b", R"({"rope_scaling": {"factor": "8"}})") ==
        "factor is \"8\"; a number would be right");
  CHECK_THAT(model_refusal("llama-3.1-8b", R"({"rope_scaling": {"factor": 0}})"),
             ContainsSubstring("'0' is not positive"));
  CHECK_THAT(model_refusal("longrope-small", R"({"rope_parameters": {"long_factor": [1, 2]}})"),
             Catch::Matchers::StartsWith("RoPE's scaling: "));
  CHECK(
      model_refusal("longrope-small", R"({"rope_parameters": {"long_factor": [1, 2, "3", 4]}})") ==
      "long_factor has \"3\" among its numbers; numbers alone would be right");
  CHECK(model_refusal("longrope-small", R"({"rope_parameters": {"factor": 8.0}})") ==
        "RoPE's scaling has the factor 8.0, but "
        "max_position_embeddings/original_max_position_embeddings is 131072/4096; the same would "
        "be right");
  CHECK(model_refusal("longrope-small", R"({"rope_theta": 500.0})") ==
        "rope_theta is 500.0 and rope_theta is 10000.0; only one of them, or the same, would be "
        "right");
  CHECK(
      model_refusal("llama-2-7b",
                    R"({"rope_parameters": {"full_attention": {"rope_theta": 1e4}}})") ==
      "rope_parameters has parameters of its own for full_attention; one set for all layers would "
      "be right");
}

TEST_CASE("sweep takes context, heads and head_dim of a model, and no grid unless asked for") {
  const std::string llama = path_of("llama-2-7b");
  const std::vector<std::string> shape = {"--context", "4096",       "--heads",
                                          "32",        "--head-dim", "128"};
  const std::vector<std::string> dtype = {"--dtype", "float32", "--pairs", "sample:100", "--quiet"};
  for (const char* axis : {"phase", "theta"}) {
    check_same(with_model({"sweep", axis, "--model", llama}, dtype),
               with_model(with_model({"sweep", axis}, shape), dtype));
  }
  const std::vector<std::string> contexts =
      with_model({"sweep", "context", "--model", llama, "--max-phase", "1e-3"}, dtype);
  check_same(contexts, with_model({"sweep", "context", "--heads", "32", "--head-dim", "128",
                                   "--max-phase", "1e-3"},
                                  dtype));
}

TEST_CASE("A model's grid is there where a base is asked for, by whatever option") {
  const std::string llama = path_of("llama-3.1-8b");
  const std::vector<std::string> few = {"--dtype", "float32",   "--pairs", "sample:9",
                                        "--quiet", "--context", "300"};
  const std::vector<std::string> shape = {"--heads", "32",         "--head-dim",
                                          "128",     "--rope-dim", "128"};
  const std::string scaling = "llama3:factor=8,original=8192,low_freq_factor=1,high_freq_factor=4";
  const auto own = [&](const std::vector<std::string>& more) {
    return with_model(with_model(with_model({"sweep", "phase"}, shape), few), more);
  };
  const auto of_model = [&](const std::vector<std::string>& more) {
    return with_model(with_model({"sweep", "phase", "--model", llama}, few), more);
  };
  check_same(of_model({"--base", "model"}), own({"--base", "5e5", "--scaling", scaling}));
  check_same(of_model({"--base", "1e4,model"}), own({"--base", "1e4,5e5", "--scaling", scaling}));
  check_same(of_model({"--pair", "nearest"}),
             own({"--base", "5e5", "--scaling", scaling, "--pair", "nearest"}));
  check_same(of_model({"--scaling", "none"}), own({"--base", "5e5"}));
  check_same(with_model({"sweep", "base", "--model", llama}, few),
             own({"--base", "5e5", "--scaling", scaling}));
  check_same(of_model({"--theta", "1e-4"}),
             with_model(with_model({"sweep", "phase", "--heads", "32", "--head-dim", "128"}, few),
                        {"--theta", "1e-4"}));
}

TEST_CASE("frequencies prints a model's grid with the phase over its context") {
  check_same({"frequencies", "--model", path_of("gpt-neox-20b")},
             {"frequencies", "--base", "10000", "--rope-dim", "24", "--context", "2048"});
  check_same({"frequencies", "--model", path_of("qwen2.5-7b-instruct"), "--near", "1e-5"},
             {"frequencies", "--base", "1e6", "--rope-dim", "128", "--context", "32768",
              "--scaling", "yarn:factor=4,original=32768", "--near", "1e-5"});
  check_same({"frequencies", "--model", path_of("qwen2.5-7b-instruct"), "--base", "1e4",
              "--scaling", "none"},
             {"frequencies", "--base", "1e4", "--rope-dim", "128", "--context", "32768",
              "--scaling", "none"});
  check_same({"frequencies", "--model", path_of("bloom-560m"), "--base", "1e4"},
             {"frequencies", "--base", "1e4", "--context", "2048"});
}

TEST_CASE("profile, condition, limits and trace take a model too, and Falcon's bias is before") {
  const std::string falcon = path_of("falcon-rw-1b");
  const std::vector<std::string> shape = {"--context",  "2048", "--heads",      "32",
                                          "--head-dim", "64",   "--bias-scale", "before"};
  const std::vector<std::string> dtype = {"--dtype", "float32"};
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"profile", "--pairs", "sample:50", "--quiet"},
        {"condition"},
        {"limits", "--max-phase", "1e-3"},
        {"trace", "--i", "9", "--j", "3"}}) {
    check_same(with_model(with_model(command, {"--model", falcon}), dtype),
               with_model(with_model(command, shape), dtype));
  }
  check_same({"condition", "--model", falcon, "--bias-scale", "after", "--head-dim", "128"},
             {"condition", "--context", "2048", "--heads", "32", "--head-dim", "128"});
}

TEST_CASE("An option in a TOML file wins over the model, too") {
  const TemporaryFolder folder;
  folder.write("x.toml", "heads = 8\nmodel = '" + path_of("llama-2-7b") + "'\n");
  check_same({"condition", "--config", folder / "x.toml"},
             {"condition", "--context", "4096", "--heads", "8", "--head-dim", "128"});
}

TEST_CASE("The manifest says what was taken from the model") {
  const TemporaryFolder folder;
  const Outcome outcome = run({"sweep", "base", "--model", path_of("llama-3.1-8b"), "--context",
                               "100", "--dtype", "float32", "-o", folder / "x.csv"});
  REQUIRE(outcome.status == 0);
  const auto manifest = nlohmann::json::parse(folder.read("x.manifest.json"));
  const auto& parameters = manifest["parameters"];
  CHECK(parameters["model"] == path_of("llama-3.1-8b") + ": " + summary_of("llama-3.1-8b"));
  CHECK(parameters["heads"] == "32");
  CHECK(parameters["head-dim"] == "128");
  CHECK(parameters["context"] == "100");
  CHECK(parameters["base"] == "500000.0");
  CHECK(parameters["rope-dim"] == "128");
  CHECK(parameters["scaling"] ==
        "llama3:factor=8:original=8192:low_freq_factor=1:high_freq_factor=4");
}

TEST_CASE("What a model cannot tell is refused in one sentence, unless the option is given") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    CAPTURE(outcome.output);
    CHECK(outcome.status == 2);
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
    return outcome.error;
  };
  folder.write("long.json", changed("llama-2-7b", R"({"max_position_embeddings": 262145})"));
  folder.write("bloom.json", changed("bloom-560m", R"({"seq_length": null})"));
  folder.write("mpt.json", changed("mpt-7b", R"({"attn_config": {"alibi_bias_max": 16}})"));
  CHECK_THAT(
      refused({"condition", "--model", folder / "long.json"}),
      ContainsSubstring("long.json': max_position_embeddings is 262145, more than the 262144 "
                        "positions"));
  CHECK(run({"condition", "--model", folder / "long.json", "--context", "300K"}).status == 0);
  CHECK_THAT(refused({"condition", "--model", folder / "bloom.json"}),
             ContainsSubstring("there is no seq_length"));
  CHECK(run({"condition", "--model", folder / "bloom.json", "--context", "4K"}).status == 0);
  CHECK_THAT(refused({"condition", "--model", folder / "mpt.json"}),
             ContainsSubstring("alibi_bias_max is 16"));
  CHECK(run({"condition", "--model", folder / "mpt.json", "--slope", "0.5"}).status == 0);
  CHECK_THAT(refused({"frequencies", "--model", path_of("bloom-560m")}),
             ContainsSubstring("this bloom has no RoPE, and so no base"));
  CHECK_THAT(refused({"sweep", "phase", "--model", path_of("bloom-560m"), "--base", "model"}),
             ContainsSubstring("this bloom has no RoPE, and so no base"));
  CHECK_THAT(refused({"sweep", "base", "--base", "model"}),
             ContainsSubstring("--base: 'model' stands for the base of a model"));
  CHECK_THAT(refused({"condition", "--model", folder / "none.json"}),
             ContainsSubstring("none.json': No such file or directory"));
  CHECK_THAT(refused({"condition", "--model", folder.path()}), ContainsSubstring("directory"));
  CHECK_THAT(refused({"condition", "--model", path_of("bloom-560m"), "-o", path_of("bloom-560m")}),
             ContainsSubstring("bloom-560m.json"));
}
