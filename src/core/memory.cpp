// SPDX-License-Identifier: Apache-2.0
#include "kith/core/memory.hpp"

#include <sys/sysinfo.h>

#include <fstream>
#include <limits>
#include <string>

namespace kith {

double available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  double kibibytes = 0;
  std::string rest;
  while (info >> key >> kibibytes && std::getline(info, rest)) {
    if (key == "MemAvailable:") return kibibytes * 1024.0;
  }
  struct sysinfo system {};
  if (sysinfo(&system) != 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(system.totalram) * static_cast<double>(system.mem_unit);
}

}  // namespace kith
