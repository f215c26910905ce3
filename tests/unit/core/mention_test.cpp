// SPDX-License-Identifier: Apache-2.0
#include "kith/core/mention.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kith::mention_test {

std::string in_angles(std::string_view id, std::string_view value) {
  return "<" + std::string(id) + ">" + std::string(value);
}

TEST(Mention, IsSpelledWithAndWithoutAValue) {
  EXPECT_EQ(spelled("[[missing=zero]] or [[self]]: one", in_angles),
            "<missing>zero or <self>: one");
  EXPECT_EQ(spelled("[[scale=]]", in_angles), "<scale>");
}

TEST(Mention, LeavesOtherBracketsAlone) {
  for (const char* text : {"", "[[", "]]", "[[self", "[self]", "[[1, 2], [3]]", "[[other=x]]"}) {
    EXPECT_EQ(spelled(text, in_angles), text);
  }
  EXPECT_EQ(spelled("[[[self]]]", in_angles), "[<self>]");
  EXPECT_EQ(spelled("[[x [[self]]", in_angles), "[[x <self>");
}

TEST(Mention, IsSpelledInEveryTextOfADocument) {
  const Json document = {{"a", "[[data]]"}, {"b", {1, "x [[labels]]", {{"c", nullptr}}}}};
  const Json expected = {{"a", "<data>"}, {"b", {1, "x <labels>", {{"c", nullptr}}}}};
  EXPECT_EQ(spelled_json(document, in_angles), expected);
}

}  // namespace kith::mention_test
