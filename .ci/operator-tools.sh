#!/usr/bin/env bash
# usage: .ci/operator-tools.sh DIRECTORY
# Unpacks promtool of Debian's Prometheus, and jq, into a directory, so that tests can run them. Nothing is installed, and nobody
# has to be root. Needs Debian's package lists (apt-get update).
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
if [ -x "$directory/usr/bin/promtool" ]; then exit 0; fi

mkdir -p "$directory/packages"
cd "$directory/packages"
apt-get download -qq prometheus jq libjq1 libonig5
for package in *.deb; do dpkg-deb --extract "$package" "$directory"; done
rm -r "$directory/packages"
