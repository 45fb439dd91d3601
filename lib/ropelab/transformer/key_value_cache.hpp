// Keys and values of the tokens that a model has seen, so that it need not see them again.
#pragma once

#include <cstddef>
#include <vector>

#include "ropelab/transformer/matrix.hpp"

namespace ropelab {

// A default one is empty. It belongs to one model and one text: whoever appends to it must go on
// with the model, bias, encoding and first position that it began with. 2 * layers * hidden_size
// numbers for each token.
template <class Scalar>
class KeyValueCache {
 public:
  // Tokens that are in.
  long long size() const { return tokens_; }

 private:
  template <class>
  friend class Transformer;

  struct Layer {
    std::vector<Scalar> keys, values;  // a row for each token, head after head
  };

  std::vector<Layer> layers_;
  long long tokens_ = 0;
};

}  // namespace ropelab
