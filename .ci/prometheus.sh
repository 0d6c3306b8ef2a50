#!/usr/bin/env bash
# usage: .ci/prometheus.sh DIRECTORY
# Unpacks promtool of Debian's Prometheus into a directory, so that tests can run it. Nothing is installed, and nobody
# has to be root. Needs Debian's package lists (apt-get update).
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
if [ -x "$directory/usr/bin/promtool" ]; then exit 0; fi

mkdir -p "$directory/packages"
cd "$directory/packages"
apt-get download -qq prometheus
dpkg-deb --extract prometheus_*.deb "$directory"
rm -r "$directory/packages"
