// SPDX-License-Identifier: Apache-2.0
#include "kith/core/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"

namespace kith {
namespace {

enum class Colour { kRed, kGreen };
constexpr auto enum_names(Colour /*of*/) { return named("red", "green"); }
constexpr auto enum_aliases(Colour /*of*/) { return std::array{Alias{"crimson", "red"}}; }

struct Paint {
  double cost = 1;
  Index coats = 2;
  bool matt = false;
  Colour colour = Colour::kGreen;
  std::optional<double> radius;
  std::string note;
  std::optional<Colour> trim;
};

void describe(Paint& s, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", s.cost, above(0.0), "price of a pot");
  field("coats", s.coats, between(1, 9), "how often");
  field("matt", s.matt, "no shine");
  field("colour", s.colour, "which");
  field("radius", s.radius, above(0.0), "none", "of the brush");
  field("note", s.note, "for the painter");
  field("trim", s.trim, "auto", "colour of the frame");
}

std::string refusal(std::string_view key, std::string_view text) {
  Paint paint;
  try {
    set_field(paint, "paint", key, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(Settings, AreSetFromWhatAUserTyped) {
  Paint paint;
  set_field(paint, "paint", "cost", "2.5");
  set_field(paint, "paint", "coats", "3");
  set_field(paint, "paint", "matt", "yes");
  set_field(paint, "paint", "colour", "crimson");
  set_field(paint, "paint", "radius", "0.5");
  EXPECT_EQ(paint.cost, 2.5);
  EXPECT_EQ(paint.coats, 3);
  EXPECT_TRUE(paint.matt);
  EXPECT_EQ(paint.colour, Colour::kRed);
  EXPECT_EQ(paint.radius, 0.5);
  set_field(paint, "paint", "radius", "none");
  EXPECT_FALSE(paint.radius);
  set_field(paint, "paint", "trim", "red");
  EXPECT_EQ(paint.trim, Colour::kRed);
  set_field(paint, "paint", "trim", "auto");
  EXPECT_FALSE(paint.trim);
}

TEST(Settings, RefuseWithTheValueAndTheRule) {
  EXPECT_EQ(refusal("cost", "-1"), "paint: setting cost is \"-1\"; it must be above 0");
  for (const std::string text : {"nan", "inf", "much"}) {
    EXPECT_EQ(refusal("cost", text),
              "paint: setting cost is \"" + text + "\"; it must be a finite number above 0");
  }
  EXPECT_EQ(refusal("coats", "1.5"),
            "paint: setting coats is \"1.5\"; it must be a whole number, between 1 and 9");
  EXPECT_EQ(refusal("colour", "blue"),
            "paint: setting colour is \"blue\"; it must be one of red, green");
  EXPECT_THAT(refusal("radius", "0"), testing::HasSubstr("above 0, or none"));
  EXPECT_THAT(refusal("matt", "perhaps"), testing::HasSubstr("yes or no"));
}

TEST(Settings, SuggestTheClosestNameForAnUnknownOne) {
  EXPECT_THAT(refusal("colur", "red"), testing::HasSubstr("did you mean colour?"));
  EXPECT_THAT(refusal("zzz", "red"), testing::HasSubstr("it has cost, coats"));
}

TEST(Settings, SurviveJson) {
  Paint paint{
      .cost = 0.1, .coats = 7, .matt = true, .colour = Colour::kRed, .radius = 3.0, .note = "x"};
  Paint back;
  settings_from_json(back, "paint", settings_json(paint));
  EXPECT_EQ(settings_json(back), settings_json(paint));
  EXPECT_EQ(
      settings_json(Paint{}).dump(),
      R"({"cost":1.0,"coats":2,"matt":false,"colour":"green","radius":"none","note":"","trim":"auto"})");
  EXPECT_THROW(settings_from_json(back, "paint", Json{{"cost", Json::array()}}), Error);
  EXPECT_THROW(settings_from_json(back, "paint", Json::array()), Error);
}

TEST(Settings, AreValidatedAsAWhole) {
  EXPECT_NO_THROW(validate(Paint{}, "paint"));
  EXPECT_THROW(validate(Paint{.cost = 0}, "paint"), Error);
  EXPECT_THROW(validate(Paint{.coats = 10}, "paint"), Error);
  EXPECT_THROW(validate(Paint{.radius = -1.0}, "paint"), Error);
}

TEST(Settings, ListTheirFieldsForDocumentation) {
  const std::vector<FieldInfo> rows = fields<Paint>();
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[0].rule, "above 0");
  EXPECT_EQ(rows[3].default_value, "green");
  EXPECT_THAT(rows[3].choices, testing::ElementsAre("red", "green"));
  EXPECT_EQ(rows[4].default_value, "none");
}

TEST(Settings, ListTheRolesOfTheirFields) {
  const std::vector<FieldInfo> rows = fields<Paint>();
  EXPECT_EQ(rows[0].role, FieldRole::kCost);
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_EQ(rows[i].role, FieldRole::kOwn);
}

TEST(NumberRange, SpeaksItsRule) {
  EXPECT_EQ(any_number().text(), "any number");
  EXPECT_EQ(at_least(1).text(), "at least 1");
  EXPECT_EQ((NumberRange{.low = 0, .high = 1, .low_open = true, .high_open = false}).text(),
            "above 0 and at most 1");
}

}  // namespace
}  // namespace kith
