#!/usr/bin/env bash
# usage: .ci/postgres.sh DIRECTORY
# Unpacks Debian's PostgreSQL into a directory, so that tests can run it. Nothing is installed, and nobody has to be
# root. Does nothing where one is installed. Needs Debian's package lists (apt-get update).
set -euo pipefail
for root in "$1" /; do
  if compgen -G "$root/usr/lib/postgresql/*/bin/initdb" >/dev/null; then exit 0; fi
done
directory=$(mkdir -p "$1" && cd "$1" && pwd)

is_installed() { dpkg-query --show --showformat='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

server=$(apt-cache depends postgresql | grep -o 'postgresql-[0-9]*' | head -1)
packages=("$server" "${server/postgresql/postgresql-client}")
options=(--recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances)
while read -r package; do
  is_installed "$package" || packages+=("$package")
done < <(apt-cache depends "${options[@]}" "$server" | grep -E '^lib[a-z0-9.+-]+$' | grep -v -e perl | sort -u)

mkdir -p "$directory/packages"
cd "$directory/packages"
apt-get download -qq "${packages[@]}"
for package in *.deb; do dpkg-deb --extract "$package" "$directory"; done
rm -r "$directory/packages"
