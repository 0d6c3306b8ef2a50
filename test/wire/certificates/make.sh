#!/bin/sh
# Makes the certificates beside this file: of an authority, and several of one server, valid from 2020 to 2120
# (server.pem), expired (expired.pem), and not valid yet (early.pem). The key of the authority is thrown away, so nobody
# can sign anything more with it; the key of the server is for tests alone.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

cat > "$work/openssl.cnf" <<END
[req]
distinguished_name = name
[name]
[ca]
default_ca = own
[own]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
default_startdate = 20200101000000Z
default_enddate = 21200101000000Z
policy = any
unique_subject = no
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:localhost, DNS:panel.example.net, IP:127.0.0.1
END
: > "$work/index"

request() { # KEY NAME
  openssl req -config "$work/openssl.cnf" -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout "$1" -subj "/CN=$2" -out "$work/request"
}
sign() { # EXTENSIONS OUT OPTION...
  extensions=$1 out=$2
  shift 2
  openssl ca -config "$work/openssl.cnf" -batch -notext -extensions "$extensions" \
    -keyfile "$work/authority.key" -in "$work/request" -out "$out" "$@"
}

request "$work/authority.key" authority
sign authority authority.pem -selfsign
request "$work/server.key" localhost
sign server server.pem -cert authority.pem
sign server expired.pem -cert authority.pem -enddate 20210101000000Z
sign server early.pem -cert authority.pem -startdate 21100101000000Z
{ echo 'Of a server in tests. Nothing else may use it: everybody has it.'; cat "$work/server.key"; } > server.key
