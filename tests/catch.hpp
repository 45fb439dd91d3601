// Catch2 2 and 3 keep their headers in different places, under some other names.
#pragma once

#if CATCH_VERSION_MAJOR_FOUND >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif
