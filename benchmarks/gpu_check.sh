#!/bin/bash
# Everything that only a machine with a GPU can show, within 8 minutes: builds from source, runs the CUDA tests, looks for
# bad accesses and races with compute-sanitizer where it is installed, and measures. Needs torch, nvcc, pytest,
# hypothesis and ninja, and no network. A short table comes last; full results go to $OUT (default ./gpu_results).
set -uo pipefail
cd "$(dirname "$0")/.."
OUT=$(realpath -m "${OUT:-gpu_results}")
PYTHON=${PYTHON:-python3}
export PYTHONPATH="$PWD" PYTHONUNBUFFERED=1 FORCE_CUDA=1 MAX_JOBS=${MAX_JOBS:-$(nproc)}
"$PYTHON" -c "import torch; torch.cuda.init()" || exit 1
mkdir -p "$OUT"
: >"$OUT/log.txt"
summary=()
failures=0

# step NAME SECONDS COMMAND...: runs a command within a time limit, with its output in log.txt.
step() {
  local name=$1 limit=$2 start=$SECONDS output status result=ok
  output=$(mktemp)
  shift 2
  echo "== $name" | tee -a "$OUT/log.txt"
  timeout "$limit" "$@" >"$output" 2>&1
  status=$?
  if [ $status -ne 0 ]; then
    result="FAILED ($status)"
    [ $status -eq 124 ] && result="stopped after $limit s"
    failures=$((failures + 1))
    tail -n 15 "$output"
  fi
  summary+=("$(printf '%-10s %-22s %4d s   %s' "$name" "$result" $((SECONDS - start)) \
    "$(grep -E ' (passed|failed)|ERROR SUMMARY|RACECHECK SUMMARY|CUDA library' "$output" | tail -n 1)")")
  cat "$output" >>"$OUT/log.txt"
  rm "$output"
}

# Few enough for a sanitizer: runs that end within blocks and across them, rows narrow and wide, whole words and bytes.
subset="test_value and not large and (float32 or bool or bfloat16) and (wide_rows or one_segment or many_ or duplicates)"
pytest=("$PYTHON" -m pytest -q -m cuda -p no:cacheprovider tests/test_cuda.py)
parallel=()
"$PYTHON" -c "import xdist" 2>/dev/null && parallel=(-n 6)

step build 150 "$PYTHON" setup.py build_ext --inplace
if [ $failures -eq 0 ]; then
  step tests 170 "${pytest[@]}" "${parallel[@]}"
  if command -v compute-sanitizer >/dev/null; then
    # Without torch's cache of memory, so that each tensor's end is the end of an allocation.
    step memcheck 45 env PYTORCH_NO_CUDA_MEMORY_CACHING=1 \
      compute-sanitizer --tool memcheck --error-exitcode 9 "${pytest[@]}" -k "$subset"
    step racecheck 45 compute-sanitizer --tool racecheck --error-exitcode 9 "${pytest[@]}" -k "$subset"
  fi
  step benchmark 130 "$PYTHON" benchmarks/run.py --device cuda --quick --output-dir "$OUT"
  cat "$OUT/cuda-quick.md" 2>/dev/null
fi

echo
"$PYTHON" -c "import torch; print(torch.cuda.get_device_name(), '· torch', torch.__version__)"
printf '%s\n' "${summary[@]}"
[ $failures -eq 0 ]
