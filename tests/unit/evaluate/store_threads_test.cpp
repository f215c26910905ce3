// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "kith/evaluate/store.hpp"
#include "store_records.hpp"
#include "support/files.hpp"

namespace kith::store_threads_test {
namespace {

TEST(StoreThreads, ShareOneStore) {
  constexpr int kThreads = 6;
  constexpr int kUnits = 60;
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  {
    Store store(path);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&store, &wrong, t] {
        // All ask for the same records, and every unit is written by two of them.
        const std::int64_t candidate =
            store.add_candidate(store.add_experiment(some_experiment()), some_candidate());
        for (int unit = 0; unit < kUnits; ++unit) {
          const UnitKey key{candidate, t / 2, unit};
          store.put(key, fold_result_of(key));
          const auto back = store.fold_result(key);
          if (!back || back->losses != fold_result_of(key).losses) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
  const Store store(path, StoreAccess::kReadOnly);
  ASSERT_EQ(store.experiments().size(), 1U);
  ASSERT_EQ(store.candidates(store.experiments()[0]).size(), 1U);
  const std::int64_t candidate = store.candidates(store.experiments()[0])[0];
  for (int partition = 0; partition < kThreads / 2; ++partition) {
    for (int unit = 0; unit < kUnits; ++unit) {
      const UnitKey key{candidate, partition, unit};
      EXPECT_EQ(store.fold_result(key).value().losses, fold_result_of(key).losses);
    }
  }
}

TEST(StoreThreads, MayEachHaveTheirOwnStoreOfOneFile) {
  constexpr int kThreads = 4;
  constexpr int kUnits = 25;
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&path, &failed, t] {
      try {
        for (int round = 0; round < 3; ++round) {
          Store store(path);
          const std::int64_t candidate =
              store.add_candidate(store.add_experiment(some_experiment()), some_candidate());
          for (int unit = 0; unit < kUnits; ++unit) {
            store.put({candidate, t, round * kUnits + unit}, FoldResult{{1.0 * t}, 0});
          }
        }
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
        ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(folder.count(), 1U) << "who closed it last left one file";
  const Store store(path, StoreAccess::kReadOnly);
  for (int t = 0; t < kThreads; ++t) {
    for (int unit = 0; unit < 3 * kUnits; ++unit) EXPECT_TRUE(store.has({1, t, unit}));
  }
}

}  // namespace
}  // namespace kith::store_threads_test
