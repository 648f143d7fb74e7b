#!/usr/bin/env bash
# Generates the stubs of proto/ into numbridge/v1; with --check, only says whether they are up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
.venv/bin/python -m grpc_tools.protoc -I proto \
    --plugin=protoc-gen-mypy=.venv/bin/protoc-gen-mypy --plugin=protoc-gen-mypy_grpc=.venv/bin/protoc-gen-mypy_grpc \
    --python_out="$out" --grpc_python_out="$out" --mypy_out=quiet:"$out" --mypy_grpc_out=quiet:"$out" \
    proto/numbridge/v1/*.proto
if [ "${1:-}" = --check ]; then
    if ! diff -r -q -x __init__.py -x __pycache__ "$out/numbridge/v1" numbridge/v1; then
        echo "numbridge/v1 is not what proto/ says: run make proto" >&2
        exit 1
    fi
else
    rm -f numbridge/v1/*_pb2*
    cp "$out"/numbridge/v1/* numbridge/v1/
fi
