// Catch2 2 and 3 keep their headers in different places.
#pragma once

#if CATCH_VERSION_MAJOR_FOUND >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
