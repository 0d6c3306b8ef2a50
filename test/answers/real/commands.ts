import path from 'node:path';

/** A zone: its name, and its records in the form of a zone file, without SOA. */
export interface RealZone {
  readonly apex: string;
  readonly serial?: number;
  /** Null: a zone that the server is to serve and has nothing of. */
  readonly records: readonly string[] | null;
}

export interface RealServer {
  readonly place: string;
  readonly port: number;
}

/** How a server is started in a directory, where it finds `server.conf`. */
export interface Command {
  /** Below the directory of all servers. */
  readonly file: string;
  readonly config: string;
  readonly args: readonly string[];
}

export const serverKinds = ['knot', 'nsd', 'bind9', 'powerdns'] as const;
export type ServerKind = (typeof serverKinds)[number];

export const frontKinds = ['dnsdist', 'unbound', 'dnsmasq'] as const;
export type FrontKind = (typeof frontKinds)[number];

/** Servers that have zones. */
export const serverCommands: Record<
  ServerKind,
  (directory: string, port: number, zones: readonly RealZone[], root: string) => Command
> = {
  knot: (directory, port, zones) => ({
    file: 'usr/sbin/knotd',
    args: ['-c', 'server.conf'],
    config: `server:
  listen: 127.0.0.1@${port}
  rundir: ${directory}/run
database:
  storage: ${directory}/db
acl:
  - id: local
    address: 127.0.0.1
    action: [update, transfer]
zone:
${zones.map(({ apex }) => `  - domain: ${apex}\n    file: ${directory}/${apex}.zone\n    acl: local\n`).join('')}`,
  }),
  nsd: (directory, port, zones) => ({
    file: 'usr/sbin/nsd',
    args: ['-d', '-c', 'server.conf'],
    config: `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  chroot: ""
  zonesdir: ${directory}
  database: ""
  pidfile: ${directory}/run/nsd.pid
  xfrdfile: ${directory}/db/xfrd.state
  zonelistfile: ${directory}/db/zone.list
  xfrdir: ${directory}/db
  logfile: ${directory}/run/log
remote-control:
  control-enable: no
${zones.map(({ apex }) => `zone:\n  name: ${apex}\n  zonefile: ${apex}.zone\n  provide-xfr: 127.0.0.1 NOKEY\n`).join('')}`,
  }),
  bind9: (directory, port, zones) => ({
    file: 'usr/sbin/named',
    args: ['-g', '-c', 'server.conf'],
    config: `options {
  directory "${directory}";
  pid-file "${directory}/run/named.pid";
  session-keyfile "${directory}/run/key";
  managed-keys-directory "${directory}/db";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
  dnssec-validation no;
};
controls { };
${zones.map(({ apex }) => `zone "${apex}" { type primary; file "${apex}.zone"; };\n`).join('')}`,
  }),
  powerdns: (directory, port, zones, root) => ({
    file: 'usr/sbin/pdns_server',
    args: Object.entries({
      'config-dir': directory,
      'module-dir': path.join(root, 'usr/lib/x86_64-linux-gnu/pdns'),
      'socket-dir': `${directory}/run`,
      'local-address': '127.0.0.1',
      'local-port': port,
      launch: 'bind',
      'bind-config': 'server.conf',
      'expand-alias': 'yes',
      resolver: `127.0.0.1:${port}`,
      guardian: 'no',
      daemon: 'no',
      'security-poll-suffix': '',
    }).map(([name, value]) => `--${name}=${value}`),
    config: zones
      .map(({ apex }) => `zone "${apex}" { type master; file "${directory}/${apex}.zone"; };\n`)
      .join(''),
  }),
};

/** Servers that ask another one: a load balancer with a cache, a resolver and a forwarder. */
export const frontCommands: Record<
  FrontKind,
  (directory: string, port: number, origin: RealServer, apex: string) => Command
> = {
  dnsdist: (_, port, origin) => ({
    file: 'usr/bin/dnsdist',
    args: ['--supervised', '--disable-syslog', '-C', 'server.conf'],
    config: `setLocal('127.0.0.1:${port}')
setSecurityPollSuffix('')
newServer({ address = '${origin.place}', healthCheckMode = 'up' })
getPool(''):setCache(newPacketCache(1000))
`,
  }),
  unbound: (directory, port, origin, apex) => ({
    file: 'usr/sbin/unbound',
    args: ['-d', '-c', 'server.conf'],
    config: `server:
  interface: 127.0.0.1@${port}
  directory: "${directory}"
  pidfile: "${directory}/run/pid"
  username: ""
  chroot: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "iterator"
remote-control:
  control-enable: no
stub-zone:
  name: ${apex}
  stub-addr: ${origin.place.replace(':', '@')}
`,
  }),
  dnsmasq: (_, port, origin) => ({
    file: 'usr/sbin/dnsmasq',
    args: ['--keep-in-foreground', '--conf-file=server.conf', '--user=', '--group='],
    config: `port=${port}
listen-address=127.0.0.1
bind-interfaces
no-resolv
no-hosts
server=${origin.place.replace(':', '#')}
`,
  }),
};
