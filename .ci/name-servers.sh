#!/usr/bin/env bash
# usage: .ci/name-servers.sh DIRECTORY
# Unpacks name servers of Debian into a directory, so that tests can run them: knot and bind9, which have zones, unbound,
# which asks another server, and tools that print zones. Nothing is installed, and nobody has to be root. Needs Debian's
# package lists (apt-get update).
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
if [ -x "$directory/usr/bin/ldns-read-zone" ]; then exit 0; fi

is_installed() { dpkg-query --show --showformat='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

packages=(knot bind9 unbound bind9-utils bind9-dnsutils ldnsutils)
options=(--recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances)
while read -r package; do
  is_installed "$package" || packages+=("$package")
done < <(apt-cache depends "${options[@]}" "${packages[@]}" | grep -E '^(lib[a-z0-9.+-]+|bind9-libs)$' | grep -v -e perl -e elogind | sort -u)

mkdir -p "$directory/packages"
cd "$directory/packages"
apt-get download -qq "${packages[@]}"
for package in *.deb; do dpkg-deb --extract "$package" "$directory"; done
rm -r "$directory/packages"
