// How the threads of a block lie over rows of packs: `columns` threads side by side, `rows` rows at a time. Narrow rows
// leave no warp idle, wide ones are cut into `column_tiles` equal parts.
#pragma once

#include "launch.cuh"

namespace torch_sparse_ops {

struct RowTiling {
  int64_t packs_per_row;
  int64_t column_tiles;
  int columns;
  int rows;

  static constexpr int kMaxColumns = 32;

  explicit RowTiling(int64_t packs_per_row) : RowTiling(packs_per_row, rows_of(packs_per_row)) {}
  // Of a given number of rows at a time.
  RowTiling(int64_t packs_per_row, int rows)
      : packs_per_row(packs_per_row),
        column_tiles(ceil_div<int64_t>(packs_per_row, kThreads / rows)),
        columns(static_cast<int>(ceil_div(packs_per_row, column_tiles))),
        rows(rows) {}

  static int rows_of(int64_t packs_per_row) {
    const int64_t column_tiles = ceil_div<int64_t>(packs_per_row, kMaxColumns);
    return static_cast<int>(kThreads / ceil_div(packs_per_row, column_tiles));
  }
};

// The calling thread's place.
struct ThreadTile {
  int64_t column;  // in the whole row
  int tile_column;
  int row;
  bool is_active;  // a few threads of a block and some columns of the last tile may be left over

  __device__ ThreadTile(const RowTiling& tiling, int64_t column_tile)
      : tile_column(static_cast<int>(threadIdx.x) % tiling.columns),
        row(static_cast<int>(threadIdx.x) / tiling.columns) {
    column = column_tile * tiling.columns + tile_column;
    is_active = row < tiling.rows && column < tiling.packs_per_row;
  }
};

}  // namespace torch_sparse_ops
