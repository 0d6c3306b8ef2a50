import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import type { Route } from '../../src/model/route.ts';
import { listening } from './scripted-server.ts';

const at = (name: string): string => path.join(import.meta.dirname, 'certificates', name);

/** A certificate that `certificates/make.sh` made. */
export const certificate = (name: string): string => readFileSync(at(`${name}.pem`), 'utf8');

/** The certificate of an authority of one's own. */
export const authority = { file: at('authority.pem'), pem: certificate('authority') };

/** Authorities whose file stays as it is. */
export const trusted = (pem: string | null): Route['ca'] =>
  pem === null ? null : { pem: () => pem, readAgain: () => false };

/**
 * A port that takes TLS, as `localhost`, `127.0.0.1` or `panel.example.net`, and hands it, in clear, to another one.
 */
export const secureFront = async (port: number, options: TlsOptions = {}): Promise<number> => {
  const keys = { key: readFileSync(at('server.key')), cert: certificate('server') };
  const server = createServer({ ...keys, ...options }, (socket) => {
    const onward = connect(port, '127.0.0.1').on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  server.on('tlsClientError', (_, socket) => socket.destroy());
  return (await listening(server)).port;
};
