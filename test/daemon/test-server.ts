import { request, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { startServer, type RunningServer, type ServerOptions } from '../../src/daemon/http/server.ts';
import { ChangeFeed } from '../../src/daemon/http/events.ts';
import { renderJson } from '../../src/report-schema.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { readSettings } from '../../src/settings.ts';
import { listeningLogger } from './listening-logger.ts';

/** What may be given; tokens as they are. */
export interface TestOptions extends Partial<Omit<ServerOptions, 'manager' | 'fleet'>>, Partial<Doings> {
  readonly allowedHosts?: () => readonly string[];
  readonly publicUrl?: () => string | null;
  readonly triggerToken?: () => string | null;
  readonly pageToken?: () => string | null;
  readonly requestPass?: ServerOptions['manager']['request'];
  readonly owners?: ServerOptions['fleet']['owners'];
}
type Doings = Pick<ServerOptions['manager'], 'suspending' | 'history'>;

const usual = readSettings({
  flags: {},
  needsService: false,
  env: { HOME: '/nowhere' },
  cwd: '/nowhere',
});

/** The server on a free port until the test ends, with nothing behind it but what is given. */
export const startTestServer = async (
  options: TestOptions = {},
): Promise<RunningServer & { readonly lines: Record<string, unknown>[] }> => {
  const { log, lines } = listeningLogger();
  const {
    allowedHosts = () => ['dns.example.net'],
    publicUrl = () => null,
    triggerToken = () => null,
    pageToken = () => null,
    requestPass = () => expect.fail('nobody may ask for a pass'),
    suspending = () => expect.fail('nobody may suspend or resume'),
    history = () => Promise.resolve([]),
    owners = () => Promise.resolve(null),
    ...others
  } = options;
  const secret = (read: () => string | null) =>
    read() === null ? null : { read: () => read() ?? '', place: '' };
  const server = await startServer({
    listen: { host: '127.0.0.1', port: 0 },
    manager: {
      get settings() {
        const tokens = { triggerToken: secret(triggerToken), pageToken: secret(pageToken) };
        return { ...usual, allowedHosts: allowedHosts(), publicUrl: publicUrl(), ...tokens };
      },
      request: requestPass,
      suspending,
      history,
    },
    fleet: { owners },
    pages: {
      overview: () => Promise.resolve('<!doctype html><title>the page</title>'),
      report: () => Promise.resolve(renderJson(assembleReport([]))),
      template: () => null,
      writes: () => Promise.resolve('writes'),
    },
    changeFeed: new ChangeFeed(),
    unready: () => null,
    metrics: { contentType: 'text/plain; version=0.0.4', text: () => Promise.resolve('up 1\n') },
    redact: (value) => value,
    onRefused: () => undefined,
    log,
    ...others,
  });
  onTestFinished(() => server.close());
  return { ...server, lines };
};

export interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

export const send = (
  url: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  method = 'GET',
  form?: string,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request(new URL(path, url), { method, headers }, (response) => {
      const { statusCode: status, headers: given } = response;
      // What streams on says enough by its head.
      const ends = given['content-type'] === 'text/event-stream' && response.destroy();
      (ends === false ? text(response) : Promise.resolve('')).then(
        (body) => resolve({ status, headers: given, body }),
        reject,
      );
    })
      .on('error', reject)
      .end(form);
  });

/** As curl sends it: the bytes of UTF-8. */
export const bearer = (secret: string) => ({
  authorization: `Bearer ${Buffer.from(secret).toString('latin1')}`,
});
