import { expect } from 'vitest';
import { startServer, type RunningServer, type ServerOptions } from '../../src/daemon/http/server.ts';
import { ChangeFeed } from '../../src/daemon/passes/change-feed.ts';
import { renderJson } from '../../src/report/report.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { listeningLogger } from './listening-logger.ts';

export type TestOptions = Partial<ServerOptions>;

export const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** The server on a free port, with nothing behind it but what is given. */
export const startTestServer = async (
  options: TestOptions = {},
): Promise<RunningServer & { readonly lines: Record<string, unknown>[] }> => {
  const { log, lines } = listeningLogger();
  const server = await startServer({
    listen: { host: '127.0.0.1', port: 0 },
    allowedHosts: () => ['dns.example.net'],
    pages: {
      overview: () => Promise.resolve(bytes('<!doctype html><title>the page</title>')),
      template: () => null,
      writes: () => Promise.resolve(bytes('writes')),
    },
    changeFeed: new ChangeFeed(),
    readiness: () => ({ ready: true, reason: null }),
    metrics: { contentType: 'text/plain; version=0.0.4', text: () => Promise.resolve('up 1\n') },
    report: () => Promise.resolve(bytes(renderJson(assembleReport([])))),
    history: () => Promise.resolve([]),
    owners: () => Promise.resolve(null),
    triggerToken: () => null,
    requestPass: () => expect.fail('nobody may ask for a pass'),
    suspend: () => expect.fail('nobody may suspend'),
    resume: () => expect.fail('nobody may resume'),
    redact: (value) => value,
    publicUrl: () => null,
    pageToken: () => null,
    onRefused: () => undefined,
    log,
    ...options,
  });
  return { ...server, lines };
};
