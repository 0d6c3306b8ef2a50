#!/usr/bin/env bash
# usage: .ci/proxy.sh DIRECTORY
# Unpacks Debian's tinyproxy and nginx into a directory, so that tests can run it. Nothing is installed, and nobody has to be
# root. Needs Debian's package lists (apt-get update).
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
if [ -x "$directory/usr/bin/tinyproxy" ] && [ -x "$directory/usr/sbin/nginx" ]; then exit 0; fi

cd "$directory"
apt-get download -qq tinyproxy-bin nginx
for package in *.deb; do dpkg-deb --extract "$package" .; done
rm ./*.deb
