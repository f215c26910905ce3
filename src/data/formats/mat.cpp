// SPDX-License-Identifier: Apache-2.0
// MATLAB files of version 5 and 7.3 through matio. Neither matio nor HDF5 may be called from two
// threads, so one mutex guards the whole of a read.
#include <hdf5.h>
#include <matio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <vector>

#include "data/formats/checks.hpp"
#include "data/formats/mapped_file.hpp"
#include "data/formats/mat_check.hpp"
#include "data/formats/readers.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

std::mutex matio_mutex;
std::string matio_complaint;  // the last thing matio logged; guarded by matio_mutex

void keep_complaint(int /*level*/, char* message) {
  if (message != nullptr) matio_complaint = message;
}

/// Holds the mutex and keeps both libraries from printing.
class MatioSession {
 public:
  MatioSession() : lock_(matio_mutex) {
    // What a damaged file leaves open makes HDF5 complain on standard error when the process ends;
    // nothing is written here that its clean-up would have to save.
    static const herr_t left_alone = H5dont_atexit();
    (void)left_alone;
    matio_complaint.clear();
    Mat_LogInitFunc("kith", keep_complaint);
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~MatioSession() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }
  MatioSession(const MatioSession&) = delete;
  MatioSession& operator=(const MatioSession&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

struct CloseMat {
  void operator()(mat_t* mat) const { Mat_Close(mat); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, CloseMat>;
using MatVariable = std::unique_ptr<matvar_t, FreeVariable>;

Error corrupt(const std::string& file, const std::string& what) {
  std::string message = "the MATLAB file is corrupt or cut short: " + what;
  if (!matio_complaint.empty()) message += " (" + std::string(trim(matio_complaint)) + ")";
  return bad_input({file}, message);
}

std::string_view class_word(matio_classes type) {
  static_assert(MAT_C_EMPTY == 0 && MAT_C_SPARSE == 5 && MAT_C_OPAQUE == 17);
  constexpr std::array<std::string_view, 18> kWords = {
      "empty",  "cell array", "struct",          "object",       "char",   "sparse", "double",
      "single", "int8",       "uint8",           "int16",        "uint16", "int32",  "uint32",
      "int64",  "uint64",     "function handle", "opaque object"};
  const auto at = static_cast<std::size_t>(type);
  return at < kWords.size() ? kWords[at] : "unknown";
}

std::string_view name_of(const matvar_t& variable) {
  return variable.name != nullptr ? variable.name : "";
}

/// "S (100x100 complex double)".
std::string described(const matvar_t& variable) {
  std::string words = std::string(name_of(variable)) + " (";
  for (int i = 0; i < variable.rank; ++i) {
    words += (i > 0 ? "x" : "") + std::to_string(variable.dims[i]);
  }
  words += variable.isComplex != 0 ? " complex " : " ";
  return words + std::string(class_word(variable.class_type)) + ")";
}

bool is_real_table(const matvar_t& variable) {
  const bool numeric = variable.class_type >= MAT_C_SPARSE && variable.class_type <= MAT_C_UINT64;
  return numeric && variable.isComplex == 0 && variable.rank == 2 && variable.dims != nullptr &&
         variable.dims[0] > 0 && variable.dims[1] > 0;
}

std::vector<MatVariable> list_variables(mat_t* mat, const std::string& file) {
  std::vector<MatVariable> variables;
  while (matvar_t* next = Mat_VarReadNextInfo(mat)) variables.emplace_back(next);
  if (variables.empty()) throw corrupt(file, "no variable can be read");
  return variables;
}

/// The variable called `wanted`; without a name the only real table, where vectors and scalars
/// count only if there is no proper table.
MatVariable choose(std::vector<MatVariable> variables, const std::string& wanted,
                   const std::string& file) {
  std::vector<std::string> listed;
  listed.reserve(variables.size());
  for (const MatVariable& variable : variables) listed.push_back(described(*variable));
  const std::string has = "; the file has " + list_some(listed, 20);

  if (!wanted.empty()) {
    const auto found = std::find_if(variables.begin(), variables.end(),
                                    [&](const MatVariable& v) { return name_of(*v) == wanted; });
    if (found == variables.end()) {
      throw bad_input({file}, "there is no variable " + in_quotes(wanted) + has);
    }
    if (!is_real_table(**found)) {
      throw bad_input({file},
                      "variable " + described(**found) + " is not a real matrix of two dimensions");
    }
    return std::move(*found);
  }
  std::erase_if(variables, [](const MatVariable& v) { return !is_real_table(*v); });
  if (variables.size() > 1) {
    const auto thin = [](const MatVariable& v) { return v->dims[0] == 1 || v->dims[1] == 1; };
    if (!std::all_of(variables.begin(), variables.end(), thin)) std::erase_if(variables, thin);
  }
  if (variables.empty()) throw bad_input({file}, "there is no real matrix of two dimensions" + has);
  if (variables.size() > 1) {
    throw bad_input({file}, "several variables could be meant; name one" + has);
  }
  return std::move(variables.front());
}

/// Calls `use` with a pointer to the numbers in the type they are held in.
template <class Use>
void with_numbers(matio_types type, const void* data, const std::string& file, Use&& use) {
  switch (type) {
    case MAT_T_DOUBLE:
      return use(static_cast<const double*>(data));
    case MAT_T_SINGLE:
      return use(static_cast<const float*>(data));
    case MAT_T_INT8:
      return use(static_cast<const std::int8_t*>(data));
    case MAT_T_UINT8:
      return use(static_cast<const std::uint8_t*>(data));
    case MAT_T_INT16:
      return use(static_cast<const std::int16_t*>(data));
    case MAT_T_UINT16:
      return use(static_cast<const std::uint16_t*>(data));
    case MAT_T_INT32:
      return use(static_cast<const std::int32_t*>(data));
    case MAT_T_UINT32:
      return use(static_cast<const std::uint32_t*>(data));
    case MAT_T_INT64:
      return use(static_cast<const std::int64_t*>(data));
    case MAT_T_UINT64:
      return use(static_cast<const std::uint64_t*>(data));
    default:
      throw corrupt(file, "its numbers are of an unknown type");
  }
}

DenseBlock dense_of(const matvar_t& variable, const std::string& file) {
  const auto rows = static_cast<Index>(variable.dims[0]);
  const auto cols = static_cast<Index>(variable.dims[1]);
  RowMatrix values(rows, cols);
  with_numbers(variable.data_type, variable.data, file, [&](const auto* numbers) {
    using Number = std::remove_cvref_t<decltype(*numbers)>;
    using Held = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
    values = Eigen::Map<const Held>(numbers, rows, cols).template cast<double>();
  });
  DenseBlock block(std::move(values));
  refuse_infinite(block, file);
  return block;
}

/// Compressed columns, checked, turned into compressed rows.
SparseBlock sparse_of(const matvar_t& variable, const std::string& file) {
  const auto& held = *static_cast<const mat_sparse_t*>(variable.data);
  const auto row_count = static_cast<std::size_t>(variable.dims[0]);
  const auto column_count = static_cast<std::size_t>(variable.dims[1]);
  if (held.jc == nullptr || held.njc < column_count + 1) {
    throw corrupt(file, "its sparse columns do not add up");
  }
  const std::size_t entries = held.jc[column_count];
  if (held.jc[0] != 0 || entries > held.nir || entries > held.ndata) {
    throw corrupt(file, "its sparse columns do not add up");
  }
  SparseBlock by_column;  // the transpose: its rows are our columns
  by_column.absent = Absent::kZero;
  by_column.cols = static_cast<Index>(row_count);
  by_column.starts.assign(held.jc, held.jc + column_count + 1);
  for (std::size_t j = 0; j < column_count; ++j) {
    if (held.jc[j] > held.jc[j + 1]) throw corrupt(file, "its sparse columns do not add up");
    for (std::size_t k = held.jc[j]; k < held.jc[j + 1]; ++k) {
      const bool ascending = k == held.jc[j] || held.ir[k - 1] < held.ir[k];
      if (held.ir[k] >= row_count || !ascending) {
        throw corrupt(file, "the rows of its sparse column " + std::to_string(j + 1) +
                                " are out of range or order");
      }
    }
  }
  by_column.columns.assign(held.ir, held.ir + entries);
  by_column.values.resize(entries);
  if (entries > 0) {
    with_numbers(variable.data_type, held.data, file, [&](const auto* numbers) {
      std::transform(numbers, numbers + entries, by_column.values.begin(),
                     [](auto number) { return static_cast<double>(number); });
    });
  }
  SparseBlock block = transposed(by_column);
  refuse_not_finite(block, file);
  return block;
}

Block read_block(const std::string& content, const std::string& file, const MatOutline& outline,
                 const ReadSettings& settings, const RunContext& ctx) {
  const MatioSession session;
  const MatFile mat(Mat_Open(content.c_str(), MAT_ACC_RDONLY));
  if (mat == nullptr) throw corrupt(file, "it cannot be opened");
  const MatVariable variable = choose(list_variables(mat.get(), file), settings.variable, file);
  ctx.check_stop();

  const std::uint64_t rows = variable->dims[0];
  const std::uint64_t cols = variable->dims[1];
  const bool sparse = variable->class_type == MAT_C_SPARSE;
  constexpr std::uint64_t kMostSparse = std::uint64_t{1} << 31U;
  const bool too_large = sparse ? rows >= kMostSparse || cols > outline.largest_variable
                                : cols > outline.largest_variable / rows;
  if (too_large) {
    throw corrupt(file, "variable " + described(*variable) + " is larger than the whole file");
  }
  if (Mat_VarReadDataAll(mat.get(), variable.get()) != 0 || variable->data == nullptr) {
    throw corrupt(file, "the numbers of variable " + described(*variable) + " cannot be read");
  }
  if (sparse) return sparse_of(*variable, file);
  return dense_of(*variable, file);
}

/// An uncompressed copy of a compressed file, gone when this is.
class TemporaryCopy {
 public:
  TemporaryCopy(ByteSource& source, const RunContext& ctx) {
    std::error_code none;
    path_ = (std::filesystem::temp_directory_path(none) / "kith-XXXXXX").string();
    descriptor_ = ::mkstemp(path_.data());
    if (descriptor_ < 0) throw io_error("cannot make the temporary file " + in_quotes(path_, 400));
    try {
      copy(source, ctx);
    } catch (...) {
      discard();
      throw;
    }
  }
  ~TemporaryCopy() { discard(); }
  TemporaryCopy(const TemporaryCopy&) = delete;
  TemporaryCopy& operator=(const TemporaryCopy&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void copy(ByteSource& source, const RunContext& ctx) const {
    std::vector<char> buffer(std::size_t{1} << 18U);
    while (const std::size_t got = source.read(buffer)) {
      ctx.check_stop();
      for (std::size_t done = 0; done < got;) {
        const ssize_t written = ::write(descriptor_, buffer.data() + done, got - done);
        if (written < 0) throw io_error("cannot write the temporary file " + in_quotes(path_, 400));
        done += static_cast<std::size_t>(written);
      }
    }
  }
  void discard() const {
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }

  std::string path_;
  int descriptor_ = -1;
};

SimilaritySet read_content(const std::string& content, const std::string& file,
                           const ReadSettings& settings, const RunContext& ctx) {
  const MatOutline outline = check_mat_outline(MappedFile(content).bytes(), file);
  SimilaritySet set;
  set.block = read_block(content, file, outline, settings, ctx);
  return set;
}

}  // namespace

bool looks_like_mat(std::string_view head) {
  return head.size() >= 128 && head.starts_with("MATLAB ") &&
         (head.substr(126, 2) == "IM" || head.substr(126, 2) == "MI");
}

SimilaritySet read_mat(ByteSource& source, const ReadSettings& settings, const RunContext& ctx) {
  if (source.is_plain_file()) return read_content(source.name(), source.name(), settings, ctx);
  const TemporaryCopy copy(source, ctx);
  return read_content(copy.path(), source.name(), settings, ctx);
}

}  // namespace kith::detail
