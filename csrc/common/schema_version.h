// For torch_sparse_ops/_library.py, included once in each library: raised together with its SCHEMA_VERSION whenever a
// schema changes.
#pragma once

extern "C" __attribute__((visibility("default"))) int torch_sparse_ops_schema_version() {
  return 1;
}
