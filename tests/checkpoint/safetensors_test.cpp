#include "ropelab/checkpoint/safetensors.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "catch.hpp"
#include "checkpoint/safetensors_text.hpp"
#include "temporary_folder.hpp"

using namespace ropelab;

namespace {

struct Broken {
  std::string header;
  std::size_t data_bytes;
  std::string sentence;  // whole, or with "..." at its end the start of it
};

std::string safetensors_refusal(const std::string& file) {
  try {
    parse_safetensors(bytes_of(file));
    return "it was taken";
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
}

void check_refused(const Broken& broken) {
  INFO(broken.header);
  const std::string got = safetensors_refusal(safetensors(broken.header, broken.data_bytes));
  const auto dots = broken.sentence.rfind("...");
  const bool start = dots != std::string::npos && dots + 3 == broken.sentence.size();
  CHECK((start ? got.substr(0, dots) : got) ==
        (start ? broken.sentence.substr(0, dots) : broken.sentence));
}

const std::string kTwo =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},)"
    R"("a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})";

}  // namespace

TEST_CASE("tensors come in the order of their data, as views into the file") {
  const std::string file = safetensors(kTwo + "  \n\t", 28);
  const auto tensors = parse_safetensors(bytes_of(file));
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "a");
  CHECK(tensors[0].type == TensorType::bfloat16);
  CHECK(tensors[0].shape == std::vector<std::size_t>{2});
  CHECK(tensors[1].name == "b");
  CHECK(tensors[1].shape == std::vector<std::size_t>{2, 3});
  CHECK(tensors[1].bytes.size() == 24);
  CHECK(tensors[1].bytes.front() == std::byte{4});
  CHECK(reinterpret_cast<const char*>(tensors[1].bytes.data()) == file.data() + file.size() - 24);
}

TEST_CASE("no tensors, empty tensors and scalars are in order") {
  CHECK(parse_safetensors(bytes_of(safetensors("{}", 0))).empty());
  CHECK(parse_safetensors(bytes_of(safetensors(R"({"__metadata__":{}})", 0))).empty());
  const auto tensors = parse_safetensors(bytes_of(safetensors(
      R"({"scalar":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("between":{"dtype":"F32","shape":[3,0],"data_offsets":[8,8]},)"
      R"("bits":{"dtype":"F4","shape":[2],"data_offsets":[8,9]},)"
      R"("behind":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[9,9]}})",
      9)));
  REQUIRE(tensors.size() == 4);
  CHECK(tensors[0].name == "scalar");
  CHECK(tensors[0].count() == 1);
  CHECK(tensors[1].name == "between");
  CHECK(tensors[3].count() == 0);
}

TEST_CASE("what the format forbids is refused in a sentence") {
  const std::string right = "; dtype, shape and data_offsets would be right";
  const std::string whole = "whole numbers from 0 to 18446744073709551615 would be right";
  const auto a = [](const std::string& dtype, const std::string& shape,
                    const std::string& offsets) {
    return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  const auto two = [&](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  const std::vector<Broken> all = {
      // The header itself.
      {"", 0, "its header is empty; an object, {...}, would be right"},
      {" {}", 0, "its header begins with the byte 0x20; 0x7b, {, would be right"},
      {"[]", 0, "its header begins with the byte 0x5b; 0x7b, {, would be right"},
      {"\xef\xbb\xbf{}", 0, "its header begins with the byte 0xef; 0x7b, {, would be right"},
      {"{", 0, "its header is not JSON at byte 2: syntax error while parsing object key..."},
      {R"({"a")", 0, "its header is not JSON at byte 5: ..."},
      {"{}{}", 0, "its header is not JSON at byte 3: ..."},
      {"{} // why", 0, "its header is not JSON at byte 4: ..."},
      {"{'a':{}}", 0, "its header is not JSON at byte 2: ..."},
      {"{\"\xff\":{}}", 0, "its header is not JSON at byte 3: ..."},
      {"{\"\\ud800\":{}}", 0, "its header is not JSON at byte 9: ..."},
      {std::string("{}\0\0", 4), 0,
       "its header has a zero at byte 3; JSON, which has none, would be right"},
      {std::string("{}\0{", 4), 0,
       "its header has a zero at byte 3; JSON, which has none, would be right"},
      // Names.
      {R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
       R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
       0, "its header has 'a' more than once; once would be right"},
      {R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
       R"("\u0061":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
       0, "its header has 'a' more than once; once would be right"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0,
       "its header has '__metadata__' more than once; once would be right"},
      {R"({"__metadata__":{"a":"1","a":"1"}})", 0,
       "__metadata__ has 'a' more than once; once would be right"},
      {R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0,
       "tensor 'a' has dtype more than once; once would be right"},
      {R"({"a":{"dtype":"U8","shape":[],"shape":[0],"data_offsets":[0,0]}})", 0,
       "tensor 'a' has shape more than once; once would be right"},
      {R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"data_offsets":[0,0]}})", 0,
       "tensor 'a' has data_offsets more than once; once would be right"},
      // Metadata.
      {R"({"__metadata__":null})", 0, "__metadata__ is null; an object of texts would be right"},
      {R"({"__metadata__":["pt"]})", 0,
       "__metadata__ is a list; an object of texts would be right"},
      {R"({"__metadata__":{"step":1}})", 0, "__metadata__ has 1 for 'step'; a text would be right"},
      {R"({"__metadata__":{"a":{"b":"c"}}})", 0,
       "__metadata__ has an object for 'a'; a text would be right"},
      // Keys of a tensor.
      {R"({"a":1})", 0,
       "tensor 'a' is 1; an object of dtype, shape and data_offsets would be right"},
      {R"({"a":"F32"})", 0,
       "tensor 'a' is 'F32'; an object of dtype, shape and data_offsets would be right"},
      {R"({"a":[]})", 0,
       "tensor 'a' is a list; an object of dtype, shape and data_offsets would be right"},
      {R"({"a":{}})", 0, "tensor 'a' has no dtype" + right},
      {R"({"a":{"dtype":"U8","data_offsets":[0,0]}})", 0, "tensor 'a' has no shape" + right},
      {R"({"a":{"dtype":"U8","shape":[0]}})", 0, "tensor 'a' has no data_offsets" + right},
      {R"({"a":{"dtype":"U8","shape":[0],"offsets":[0,0]}})", 0,
       "tensor 'a' has 'offsets'; dtype, shape and data_offsets alone would be right"},
      {R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"strides":[1]}})", 0,
       "tensor 'a' has 'strides'; dtype, shape and data_offsets alone would be right"},
      // Types.
      {a("\"float32\"", "[1]", "[0,4]"), 4,
       "tensor 'a': dtype is 'float32'; one of BOOL, F4, F6_E2M3, ..."},
      {a("\"f32\"", "[1]", "[0,4]"), 4, "tensor 'a': dtype is 'f32'; one of BOOL, ..."},
      {a("32", "[1]", "[0,4]"), 4, "tensor 'a': dtype is 32; one of BOOL, ..."},
      {a("[\"F32\"]", "[1]", "[0,4]"), 4, "tensor 'a': dtype is a list; one of BOOL, ..."},
      {a("null", "[1]", "[0,4]"), 4, "tensor 'a': dtype is null; one of BOOL, ..."},
      // Shapes.
      {a("\"U8\"", "4", "[0,4]"), 4,
       "tensor 'a': shape is 4; a list of whole numbers would be right"},
      {a("\"U8\"", "\"4\"", "[0,4]"), 4,
       "tensor 'a': shape is '4'; a list of whole numbers would be right"},
      {a("\"U8\"", "{}", "[0,4]"), 4,
       "tensor 'a': shape is an object; a list of whole numbers would be right"},
      {a("\"U8\"", "[-4]", "[0,4]"), 4, "tensor 'a': shape holds -4; " + whole},
      {a("\"U8\"", "[-0]", "[0,0]"), 0, "tensor 'a': shape holds -0; " + whole},
      {a("\"U8\"", "[4.0]", "[0,4]"), 4, "tensor 'a': shape holds 4.0; " + whole},
      {a("\"U8\"", "[4e0]", "[0,4]"), 4, "tensor 'a': shape holds 4e0; " + whole},
      {a("\"U8\"", "[\"4\"]", "[0,4]"), 4, "tensor 'a': shape holds '4'; " + whole},
      {a("\"U8\"", "[true]", "[0,1]"), 1, "tensor 'a': shape holds true; " + whole},
      {a("\"U8\"", "[null]", "[0,1]"), 1, "tensor 'a': shape holds null; " + whole},
      {a("\"U8\"", "[[4]]", "[0,4]"), 4, "tensor 'a': shape holds a list; " + whole},
      {a("\"U8\"", "[{}]", "[0,4]"), 4, "tensor 'a': shape holds an object; " + whole},
      {a("\"U8\"", "[18446744073709551616]", "[0,4]"), 4,
       "tensor 'a': shape holds 18446744073709551616; " + whole},
      {a("\"F32\"", "[2,9223372036854775807]", "[0,16]"), 16,
       "tensor 'a': its shape [2, 9223372036854775807] takes more bytes than can be counted; "
       "fewer would be right"},
      {a("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0,
       "tensor 'a': its shape [4294967296, 4294967296] takes more bytes than can be counted; "
       "fewer would be right"},
      {a("\"F32\"", "[2,3]", "[0,20]"), 20,
       "tensor 'a': its shape [2, 3] of F32 takes 24 bytes, but data_offsets [0, 20] hold 20; "
       "as many would be right"},
      {a("\"F32\"", "[]", "[0,0]"), 0,
       "tensor 'a': its shape [] of F32 takes 4 bytes, but data_offsets [0, 0] hold 0; "
       "as many would be right"},
      {a("\"F4\"", "[3]", "[0,2]"), 2,
       "tensor 'a': its shape [3] of F4 takes 12 bits; a whole number of bytes would be right"},
      // Offsets.
      {a("\"U8\"", "[4]", "[0]"), 4,
       "tensor 'a': data_offsets holds 1 numbers; two, begin and end, would be right"},
      {a("\"U8\"", "[4]", "[0,2,4]"), 4,
       "tensor 'a': data_offsets holds 3 numbers; two, begin and end, would be right"},
      {a("\"U8\"", "[4]", "[-1,3]"), 4, "tensor 'a': data_offsets holds -1; " + whole},
      {a("\"U8\"", "[4]", "[0,4.5]"), 4, "tensor 'a': data_offsets holds 4.5; " + whole},
      {a("\"U8\"", "[4]", "[0,1e400]"), 4, "its header is not JSON at byte ..."},
      {a("\"U8\"", "[4]", "[4,0]"), 4,
       "tensor 'a': data_offsets is [4, 0]; an end that is not before the begin would be right"},
      {a("\"U8\"", "[4]", "[0,4]"), 3,
       "tensor 'a': data_offsets is [0, 4], but the file has 3 bytes of data; "
       "an end up to that would be right"},
      {a("\"U8\"", "[4]", "[18446744073709551615,3]"), 4,
       "tensor 'a': data_offsets is [18446744073709551615, 3]; "
       "an end that is not before the begin would be right"},
      {a("\"U8\"", "[4]", "[18446744073709551611,18446744073709551615]"), 4,
       "tensor 'a': data_offsets is [18446744073709551611, 18446744073709551615], "
       "but the file has 4 bytes of data; an end up to that would be right"},
      {two("[0,4]", "[3,7]"), 7,
       "tensor 'b' begins at byte 3 of the data, inside tensor 'a'; behind it would be right"},
      {two("[0,4]", "[0,4]"), 4,
       "tensor 'b' begins at byte 0 of the data, inside tensor 'a'; behind it would be right"},
      {two("[0,4]", "[6,10]"), 10,
       "bytes 4 to 5 of its data belong to no tensor; every byte in one would be right"},
      {two("[1,5]", "[5,9]"), 9,
       "bytes 0 to 0 of its data belong to no tensor; every byte in one would be right"},
      {two("[0,4]", "[4,8]"), 20,
       "bytes 8 to 19 of its data belong to no tensor; every byte in one would be right"},
      {"{}", 1, "bytes 0 to 0 of its data belong to no tensor; every byte in one would be right"},
  };
  for (const Broken& broken : all) check_refused(broken);
}

TEST_CASE("a length of the header that cannot be is refused") {
  CHECK(safetensors_refusal("") ==
        "it holds 0 bytes; at least 8, the length of the header, would be right");
  CHECK(safetensors_refusal(std::string(7, '\0')) ==
        "it holds 7 bytes; at least 8, the length of the header, would be right");
  std::string file = safetensors("{}", 0);
  file[0] = 3;
  CHECK(safetensors_refusal(file) ==
        "its header is said to take 3 bytes, but only 2 follow; as many would be right");
  file[3] = 6;
  CHECK(safetensors_refusal(file) ==
        "its header is said to take 100663299 bytes; at most 100000000 would be right");
  file.replace(0, 8, 8, '\xff');
  CHECK(safetensors_refusal(file) ==
        "its header is said to take 18446744073709551615 bytes; at most 100000000 would be right");
}

TEST_CASE("names that nobody would print are shown so that they do no harm") {
  const std::string name = "\\u001b[31m\\n" + std::string(90, 'x') + "\xe2\x82\xac\xe2\x82\xac";
  const std::string got = safetensors_refusal(safetensors("{\"" + name + "\":1}", 0));
  CHECK(got ==
        "tensor '\\x1b[31m\\x0a" + std::string(90, 'x') +
            "\xe2\x82\xac...' is 1; an object of dtype, shape and data_offsets would be right");
}

TEST_CASE("a header that goes on and on is refused, not followed") {
  const std::string deep(1'000'000, '[');
  CHECK_THAT(safetensors_refusal(safetensors(R"({"a":{"dtype":"U8","shape":)" + deep, 0)),
             ContainsSubstring("tensor 'a': shape holds a list"));
  CHECK_THAT(safetensors_refusal(safetensors(R"({"a":{"dtype":)" + deep, 0)),
             ContainsSubstring("tensor 'a': dtype is a list"));
}

TEST_CASE("sentences stay short, however long what they show") {
  const std::string digits(1'000'000, '7');
  for (const std::string& header :
       {"{\"" + digits, "{\"" + digits + "\":1}", R"({"a":{"dtype":"U8","shape":[)" + digits,
        R"({"a":{"dtype":")" + digits + "\"", R"({"a":{")" + digits + "\":1}}",
        R"({"__metadata__":{"a":)" + digits + "}}", "{" + digits}) {
    const std::string sentence = safetensors_refusal(safetensors(header, 0));
    CHECK(sentence.size() > 40);
    CHECK(sentence.size() < 500);
  }
}

TEST_CASE("a file is mapped, found by name, and can be moved") {
  const TemporaryFolder folder;
  const std::string path = folder.write("x.safetensors", safetensors(kTwo, 28));
  SafetensorsFile first(path);
  const SafetensorsFile file = std::move(first);
  CHECK(file.path() == path);
  CHECK(file.tensors().size() == 2);
  REQUIRE(file.find("b") != nullptr);
  CHECK(file.find("b")->bytes.back() == std::byte{27});
  CHECK(file.find("c") == nullptr);
  CHECK(file.find("__metadata__") == nullptr);
}

TEST_CASE("what cannot be mapped is refused with its path") {
  const TemporaryFolder folder;
  const std::string missing = folder / "missing.safetensors";
  CHECK_THROWS_WITH(SafetensorsFile(missing), "'" + missing + "': No such file or directory");
  CHECK_THROWS_WITH(
      SafetensorsFile(folder.path()),
      "'" + folder.path() + "': this is not a file; a safetensors file would be right");
  const std::string empty = folder.write("empty.safetensors", "");
  CHECK_THROWS_WITH(
      SafetensorsFile(empty),
      "'" + empty + "': it holds 0 bytes; at least 8, the length of the header, would be right");
  const std::string broken = folder.write("broken.safetensors", safetensors("{}", 1));
  CHECK_THROWS_WITH(SafetensorsFile(broken), "'" + broken +
                                                 "': bytes 0 to 0 of its data belong to no tensor; "
                                                 "every byte in one would be right");
}
