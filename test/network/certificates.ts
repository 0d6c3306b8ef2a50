import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer } from 'node:tls';
import { onTestFinished } from 'vitest';

interface Authority {
  /** A file with its certificate. */
  readonly file: string;
  readonly pem: string;
  /** What a server of `localhost`, `127.0.0.1` and `panel.example.net` shows. */
  readonly server: { readonly key: Buffer; readonly cert: Buffer };
}

/** A certificate authority of one's own, made by openssl. */
export const newAuthority = (): Authority => {
  const directory = mkdtempSync(path.join(tmpdir(), 'authority-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const at = (name: string): string => path.join(directory, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...newKey, '-subj', '/CN=authority', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  const names = 'subjectAltName=DNS:localhost,DNS:panel.example.net,IP:127.0.0.1';
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-addext', names];
  const own = ['-addext', 'basicConstraints=critical,CA:FALSE', '-keyout', at('key'), '-out', at('cert')];
  openssl('req', '-x509', ...newKey, '-subj', '/CN=localhost', ...signed, ...own);
  return {
    file: at('ca.pem'),
    pem: readFileSync(at('ca.pem'), 'utf8'),
    server: { key: readFileSync(at('key')), cert: readFileSync(at('cert')) },
  };
};

/** A port that takes TLS and hands it, in clear, to another one. */
export const secureFront = async ({ server: keys }: Authority, port: number): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer(keys, (socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const one of [socket, onward]) sockets.add(one.on('error', () => socket.destroy()));
    socket.pipe(onward).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return (server.address() as AddressInfo).port;
};
