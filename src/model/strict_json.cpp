// SPDX-License-Identifier: Apache-2.0
#include "model/strict_json.hpp"

#include <fmt/format.h>

#include <set>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr int kDeepest = 32;
/// Json finds a key by walking over all of them; the other kind has a tree.
template <class J>
constexpr std::size_t kMostKeys = std::is_same_v<J, Json> ? 20000 : 1000000;

/// Called by the parser at each event; throws at the first broken rule.
template <class J>
class Rules {
 public:
  explicit Rules(const std::string& subject) : subject_(subject) {}

  void check(int depth, typename J::parse_event_t event, const J& parsed) {
    using Event = typename J::parse_event_t;
    if (depth > kDeepest) refuse(fmt::format("it is nested more than {} deep", kDeepest));
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event != Event::key) return;
    const auto& key = parsed.template get_ref<const std::string&>();
    if (!keys_.back().insert(key).second) refuse(fmt::format("key {} twice", in_quotes(key)));
    if (keys_.back().size() > kMostKeys<J>) {
      refuse(fmt::format("more than {} keys in one object", kMostKeys<J>));
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& rule) const {
    throw broken("{} breaks a rule: {}", subject_, rule);
  }

  std::string subject_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

}  // namespace

template <class J>
J parse_strict(std::string_view text, const std::string& subject) {
  Rules<J> rules(subject);
  try {
    return J::parse(text, [&](int depth, typename J::parse_event_t event, J& parsed) {
      rules.check(depth, event, parsed);
      return true;
    });
  } catch (const typename J::parse_error& error) {
    throw broken("{} is not valid JSON at byte {}", subject, error.byte);
  } catch (const typename J::exception&) {
    throw broken("{} has a number out of range", subject);
  }
}

template <class J>
std::string strict_text(const J& json, const std::string& subject) {
  try {
    std::string text = json.dump();
    (void)parse_strict<J>(text, subject);
    return text;
  } catch (const typename J::exception&) {
    throw Error(ErrorCode::kInvalidArgument, subject + " has text that is not UTF-8");
  } catch (const Error& error) {
    throw Error(ErrorCode::kInvalidArgument, error.what());
  }
}

template nlohmann::json parse_strict(std::string_view text, const std::string& subject);
template Json parse_strict(std::string_view text, const std::string& subject);
template std::string strict_text(const nlohmann::json& json, const std::string& subject);
template std::string strict_text(const Json& json, const std::string& subject);

}  // namespace kith::detail
