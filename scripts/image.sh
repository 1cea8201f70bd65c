#!/usr/bin/env bash
# Runs the steps of the Dockerfile without Docker, in a folder with the layout of the image, and starts
# the gateway from it as the image does. Prints the result of the health check.
set -euo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'kill "${pid:-}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

# Stage "build"
mkdir "$work/build"
tar -C "$source" --exclude-from="$source/.dockerignore" -c . | tar -x -C "$work/build"
cd "$work/build"
npm ci
npm run build -- --no-types
npm prune --omit=dev && rm -rf node_modules/@libsql/*-musl

# Final stage
mkdir "$work/app" "$work/data"
cp -r package.json demo.toml node_modules dist "$work/app"
cp demo.toml "$work/config.toml"
export NODE_COMPILE_CACHE=$work/app/compiled
node --max-semi-space-size=16 --expose-gc --no-maglev "$work/app/dist/gateway.js" --demo --check-config
node "$work/app/dist/gateway.js" health --help
size=$(du -sk "$work/app" | cut -f1)
echo "image steps: $size kB in the layers of the gateway"
if [ "$size" -gt 30000 ]; then echo 'image steps: more than 30 MB' >&2; exit 1; fi
port=${PORT:-18080}
cd "$work/data"
NODE_ENV=production MALLOC_TRIM_THRESHOLD_=131072 GATEWAY_SERVER__HOST=0.0.0.0 GATEWAY_SERVER__PORT=$port \
  node --max-semi-space-size=16 --expose-gc --no-maglev "$work/app/dist/gateway.js" --config "$work/config.toml" &
pid=$!
for _ in $(seq 50); do
  if GATEWAY_SERVER__PORT=$port node "$work/app/dist/gateway.js" health --config "$work/config.toml"; then
    kill -TERM "$pid"
    wait "$pid"
    echo "image steps: healthy, stopped with exit code $?"
    exit 0
  fi
  sleep 0.1
done
echo "image steps: never became healthy" >&2
exit 1
