#include "ropelab/checkpoint/token_file.hpp"

#include <cstring>
#include <random>
#include <stdexcept>

#include "catch.hpp"
#include "ropelab/checkpoint/npy.hpp"
#include "temporary_folder.hpp"

using namespace ropelab;

namespace {

using Ids = std::vector<std::int32_t>;

// What is said of a file with this in it, after its path.
std::string token_refusal(const std::string& bytes, long long vocabulary = 250880) {
  const TemporaryFolder folder;
  const std::string path = folder.write("tokens", bytes);
  try {
    read_token_ids(path, vocabulary);
    return "it was taken";
  } catch (const std::invalid_argument& problem) {
    const std::string sentence = problem.what(), start = "'" + path + "': ";
    CHECK(sentence.substr(0, start.size()) == start);
    return sentence.substr(start.size());
  }
}

Ids ids(const std::string& bytes, long long vocabulary = 250880) {
  const TemporaryFolder folder;
  return read_token_ids(folder.write("tokens", bytes), vocabulary);
}

// A .npy file as NumPy lays it out, but for the padding of its header.
std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return file + header + data;
}

template <class Stored>
std::string stored(const std::vector<Stored>& numbers) {
  std::string bytes(numbers.size() * sizeof(Stored), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::string dictionary(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }    \n";
}

template <class Stored>
Ids through_npy(const std::string& descr, const std::vector<Stored>& numbers) {
  return ids(npy(dictionary(descr, "(" + std::to_string(numbers.size()) + ",)"), stored(numbers)));
}

}  // namespace

TEST_CASE("ids are read from text with white space or commas between them") {
  CHECK(ids("7") == Ids{7});
  CHECK(ids("  1 2\t3\r\n4\n\n5\n") == Ids{1, 2, 3, 4, 5});
  CHECK(ids("1,2, 3 ,4,\n5") == Ids{1, 2, 3, 4, 5});
  CHECK(ids("0 007 250879") == Ids{0, 7, 250879});
}

TEST_CASE("text that is not token ids is refused with its line") {
  const std::string right = "; whole numbers from 0 to 250879 would be right";
  CHECK(token_refusal("1 2\n3 four") == "line 2: 'four' is no token id" + right);
  CHECK(token_refusal("1\n\n-2") == "line 3: '-2' is no token id" + right);
  CHECK(token_refusal("-0") == "line 1: '-0' is no token id" + right);
  CHECK(token_refusal("+1") == "line 1: '+1' is no token id" + right);
  CHECK(token_refusal("1.0") == "line 1: '1.0' is no token id" + right);
  CHECK(token_refusal("1e3") == "line 1: '1e3' is no token id" + right);
  CHECK(token_refusal("0x10") == "line 1: '0x10' is no token id" + right);
  CHECK(token_refusal("[1]") == "line 1: '[1]' is no token id" + right);
  CHECK(token_refusal("250880") == "line 1: '250880' is no token id" + right);
  CHECK(token_refusal("99999999999999999999") ==
        "line 1: '99999999999999999999' is no token id" + right);
  CHECK(token_refusal("1,,2") == "line 1: there is a comma without an id before it" + right);
  CHECK(token_refusal(",1") == "line 1: there is a comma without an id before it" + right);
  CHECK(token_refusal("1,\n") == "line 2: there is a comma behind the last id" + right);
  CHECK(token_refusal(std::string("1\0", 2)) == "line 1: '1\\x00' is no token id" + right);
  CHECK(token_refusal("") == "there are no tokens in it; one would be right");
  CHECK(token_refusal(" \n") == "there are no tokens in it; one would be right");
  CHECK(token_refusal("256", 256) ==
        "line 1: '256' is no token id; whole numbers from 0 to 255 "
        "would be right");
}

TEST_CASE("ids are read from .npy of every whole type and version") {
  const Ids wanted = {0, 5, 127};
  CHECK(through_npy<std::int8_t>("|i1", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::int8_t>("<i1", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::uint8_t>("|u1", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::int16_t>("<i2", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::uint16_t>("<u2", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::int32_t>("<i4", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::uint32_t>("<u4", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::int64_t>("<i8", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::uint64_t>("<u8", {0, 5, 127}) == wanted);
  CHECK(through_npy<std::uint16_t>("<u2", {65535}) == Ids{65535});

  const std::string data = stored(std::vector<std::int64_t>{3, 4});
  CHECK(ids(npy(dictionary("<i8", "(1, 2)"), data)) == Ids{3, 4});
  CHECK(ids(npy(dictionary("<i8", "(2,)"), data, 2)) == Ids{3, 4});
  CHECK(ids(npy(dictionary("<i8", "(2,)"), data, 3)) == Ids{3, 4});
  CHECK(ids(npy(R"({"shape":(2),"fortran_order":False,"descr":"<i8"})", data)) == Ids{3, 4});
}

TEST_CASE("a .npy file that is not a row of token ids is refused") {
  const std::string data = stored(std::vector<std::int64_t>{3, 4});
  const auto with = [&](const std::string& header) { return token_refusal(npy(header, data)); };
  const std::string types =
      "; whole numbers, little-endian (such as '<i8' or '<i4'), would be right";
  CHECK(with(dictionary(">i8", "(2,)")) == "it holds numbers of type '>i8'" + types);
  CHECK(with(dictionary("|i8", "(2,)")) == "it holds numbers of type '|i8'" + types);
  CHECK(with(dictionary("<f8", "(2,)")) == "it holds numbers of type '<f8'" + types);
  CHECK(with(dictionary("|b1", "(16,)")) == "it holds numbers of type '|b1'" + types);
  CHECK(with(dictionary("|O", "(2,)")) == "it holds numbers of type '|O'" + types);
  CHECK(with(dictionary("", "(2,)")) == "it holds numbers of type ''" + types);
  const std::string shapes = "; (L,) or (1, L) would be right";
  CHECK(with(dictionary("<i8", "()")) == "its shape is ()" + shapes);
  CHECK(with(dictionary("<i8", "(2, 1)")) == "its shape is (2, 1)" + shapes);
  CHECK(with(dictionary("<i8", "(1, 1, 2)")) == "its shape is (1, 1, 2)" + shapes);
  CHECK(with(dictionary("<i8", "(3,)")) ==
        "its shape is (3) of 8 bytes each, but 16 bytes follow; as many would be right");
  CHECK(with(dictionary("<i8", "(1,)")) ==
        "its shape is (1) of 8 bytes each, but 16 bytes follow; as many would be right");
  CHECK(token_refusal(npy(dictionary("<i8", "(2,)"), data + "x")) ==
        "its shape is (2) of 8 bytes each, but 17 bytes follow; as many would be right");
  CHECK(token_refusal(npy(dictionary("<i8", "(0,)"), "")) ==
        "there are no tokens in it; one would be right");
  CHECK(with(dictionary("<i8", "(2305843009213693954,)")) ==
        "its shape is (2305843009213693954) of 8 bytes each, but 16 bytes follow; "
        "as many would be right");
  CHECK(with("{'descr': '<i8', 'fortran_order': True, 'shape': (1, 2)}") ==
        "it is in Fortran order; C order would be right");
  CHECK(with("{'descr': '<i8', 'fortran_order': False}") ==
        "its header has no shape; descr, fortran_order and shape would be right");
  CHECK(with("{'shape': (2,), 'fortran_order': False}") ==
        "its header has no descr; descr, fortran_order and shape would be right");
  CHECK(with("{'descr': '<i8', 'descr': '<i8'}") ==
        "its header has descr more than once; once would be right");
  CHECK(with("{'descr': '<i8', 'order': 'C'}") ==
        "its header has 'order'; descr, fortran_order and shape alone would be right");
  const auto broken = ContainsSubstring("its header is no dictionary of descr, fortran_order");
  for (const char* header :
       {"", "[]", "{", "{'descr", "{'descr': [('a', '<i8')]}", "{'shape': (-1,)}",
        "{'fortran_order': 0}", "{'shape': (99999999999999999999,)}", "{'shape': (2"}) {
    CHECK_THAT(with(header), broken);
  }
  CHECK_THAT(with(dictionary("<i8", "(2,)") + "x"), broken);

  CHECK(token_refusal(npy(dictionary("<i8", "(2,)"), data, 4)) ==
        "it is of version 4.0 of .npy; 1.0, 2.0 or 3.0 would be right");
  const std::string whole = npy(dictionary("<i8", "(2,)"), data);
  for (const std::size_t size : {6u, 7u, 8u, 9u, 10u, 40u}) {
    CHECK(token_refusal(whole.substr(0, size)) ==
          "it ends within its header; a whole .npy file would be right");
  }
}

TEST_CASE("ids of .npy that are out of range are refused with their place") {
  const auto of = [](const std::string& descr, const std::string& data) {
    return token_refusal(npy(dictionary(descr, "(2,)"), data), 256);
  };
  const std::string right = "; whole numbers from 0 to 255 would be right";
  CHECK(of("<i8", stored(std::vector<std::int64_t>{3, 256})) == "number 2 of 2 is 256" + right);
  CHECK(of("<i2", stored(std::vector<std::int16_t>{-1, 0})) == "number 1 of 2 is -1" + right);
  CHECK(of("<i8", stored(std::vector<std::int64_t>{0, std::int64_t{1} << 32})) ==
        "number 2 of 2 is 4294967296" + right);
  CHECK(of("<u8", stored(std::vector<std::uint64_t>{0, ~std::uint64_t{0}})) ==
        "number 2 of 2 is 18446744073709551615" + right);
}

TEST_CASE("the bytes of a text are its ids") {
  const TemporaryFolder folder;
  CHECK(read_bytes_as_ids(folder.write("text", std::string("a\0\xff\n", 4))) ==
        Ids{97, 0, 255, 10});
  CHECK(read_bytes_as_ids(folder / "text", 3) == Ids{97, 0, 255});
  CHECK(read_bytes_as_ids(folder / "text", 5).size() == 4);
  CHECK(read_bytes_as_ids("/dev/zero", 3) == Ids{0, 0, 0});
  CHECK(read_bytes_as_ids(ROPELAB_TEST_DATA "/bloom/tiny-kjv/heldout.txt").size() == 65536);
  const std::string empty = folder.write("empty", "");
  CHECK_THROWS_WITH(read_bytes_as_ids(empty),
                    "'" + empty + "': there are no tokens in it; one would be right");
  const std::string missing = folder / "missing";
  CHECK_THROWS_WITH(read_bytes_as_ids(missing), "'" + missing + "': No such file or directory");
  CHECK_THROWS_WITH(read_token_ids(missing, 256), "'" + missing + "': No such file or directory");
}

TEST_CASE("token files too long to be any are not read") {
  const TemporaryFolder folder;
  const std::string path = folder.write("long", "1");
  std::filesystem::resize_file(path, (1ull << 30) + 1);
  const std::string sentence =
      "'" + path +
      "': it is longer than 1073741824 bytes, the most that is read; a shorter one "
      "would be right";
  CHECK_THROWS_WITH(read_token_ids(path, 256), sentence);
  CHECK_THROWS_WITH(read_bytes_as_ids(path), sentence);
  CHECK(read_bytes_as_ids(path, 2) == Ids{49, 0});
}

TEST_CASE(".npy files broken at random are read or refused, nothing else") {
  std::mt19937_64 random(3);
  const std::string sound = npy(dictionary("<i2", "(1, 4)"), stored(Ids{1, 2}));
  int taken = 0;
  for (int n = 0; n < 10000; ++n) {
    std::string file = sound;
    for (int flips = 0; flips < 2; ++flips) {
      const std::size_t place = 6 + random() % (file.size() - 6);
      file[place] = static_cast<char>(random());
    }
    if (n % 3 == 0) file.resize(random() % file.size());
    try {
      const auto row = parse_npy_ids(file, 1LL << 31, "others would be right");
      CHECK(row.size() <= file.size());
      ++taken;
    } catch (const std::invalid_argument& problem) {
      CHECK(std::string(problem.what()).size() > 20);
    }
  }
  CHECK(taken > 0);
}
