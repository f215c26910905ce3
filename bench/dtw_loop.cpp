// SPDX-License-Identifier: Apache-2.0
// Dynamic time warping of all pairs as one would write it in C: two rows of the table, one cell
// after the other. bench/measure.py times it beside `kith measure --measure dtw`.
//   dtw_loop FILE N LENGTH OUT     series as doubles, one behind the other; distances likewise
#include <cmath>
#include <cstdio>
#include <cstdlib>

static double warp(const double* a, const double* b, int length, double* before, double* now) {
  for (int j = 0; j <= length; ++j) before[j] = INFINITY;
  before[0] = 0;
  for (int i = 0; i < length; ++i) {
    now[0] = INFINITY;
    for (int j = 0; j < length; ++j) {
      double best = before[j];
      if (before[j + 1] < best) best = before[j + 1];
      if (now[j] < best) best = now[j];
      now[j + 1] = (a[i] - b[j]) * (a[i] - b[j]) + best;
    }
    double* swap = before;
    before = now;
    now = swap;
  }
  return std::sqrt(before[length]);
}

int main(int argc, char** argv) {
  if (argc != 5) return 1;
  const int n = std::atoi(argv[2]);
  const int length = std::atoi(argv[3]);
  const std::size_t values = static_cast<std::size_t>(n) * static_cast<std::size_t>(length);
  const std::size_t pairs = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto row = static_cast<std::size_t>(length) + 1;
  auto* series = static_cast<double*>(std::malloc(values * sizeof(double)));
  auto* distances = static_cast<double*>(std::calloc(pairs, sizeof(double)));
  auto* rows = static_cast<double*>(std::malloc(2 * row * sizeof(double)));
  std::FILE* in = std::fopen(argv[1], "rb");
  if (in == nullptr || std::fread(series, sizeof(double), values, in) != values) return 1;
  std::fclose(in);
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      distances[i * n + j] = distances[j * n + i] =
          warp(series + i * length, series + j * length, length, rows, rows + row);
    }
  }
  std::FILE* out = std::fopen(argv[4], "wb");
  if (out == nullptr || std::fwrite(distances, sizeof(double), pairs, out) != pairs) return 1;
  std::fclose(out);
  std::free(series);
  std::free(distances);
  std::free(rows);
  return 0;
}
