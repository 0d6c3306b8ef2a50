import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openClient } from '../../src/commands/client.ts';
import type { PassRequest } from '../../src/commands/pass-request.ts';
import { readSettings } from '../../src/settings.ts';
import type { ClientSettings } from '../../src/settings/client.ts';
import { json, scriptedServer } from '../hosting/scripted-server.ts';
import { newFolder } from '../state/samples.ts';

/** Clients of one service without templates, and how often each had asked when its files had been read. */
const newClients = async () => {
  const server = await scriptedServer(json([]));
  const cwd = newFolder();
  mkdirSync(path.join(cwd, 'templates'));
  writeFileSync(path.join(cwd, 'templates/web.yaml'), 'template: web\nrecords: []\n');
  const [settings] = readSettings({
    flags: { baseUrl: server.url, stateDir: path.join(cwd, 'state') },
    needs: { baseUrl: true, tokens: true },
    env: { HOME: cwd, DNS_SYNC_USER_TOKEN: 'user-token', DNS_SYNC_CLIENT_TOKEN: 'client-token' },
    cwd,
  }).clients;
  return () => openOne(settings!);
};

const newClient = async () => (await newClients())();

const openOne = (settings: ClientSettings) => {
  const client = openClient({
    settings,
    strict: false,
    isSandbox: false,
    warn: () => undefined,
  });
  onTestFinished(() => client.close());
  const asked = vi.spyOn(client.service, 'listDnsTemplates');
  const pass = async (dryRun: boolean) => {
    asked.mockClear();
    let askedBefore = -1;
    let readAt = Number.NaN;
    const request: PassRequest = {
      run: 'one',
      trigger: 'request',
      templates: [],
      signal: new AbortController().signal,
      onChange: () => undefined,
      dryRun,
      lockTimeout: 0,
      onDesired: (desired) => {
        askedBefore = asked.mock.calls.length;
        readAt = Date.now();
        // Until the clock shows another time: what begins now does not begin with the reading.
        while (Date.now() === readAt);
        return desired;
      },
    };
    const { startedAt, holdReason } = await client.pass(request);
    return { askedBefore, asked: asked.mock.calls.length, began: Date.parse(startedAt) - readAt, holdReason };
  };
  return pass;
};

test.each([true, false])(
  'a pass over new files reads them before the service, dry run %s',
  async (dryRun) => {
    const open = await newClients();
    await open()(false);
    expect(await open()(dryRun)).toMatchObject({ askedBefore: 0, asked: 1, holdReason: null });
  },
);

test('the first pass with a token identifies its client once', async () => {
  const pass = await newClient();
  expect(await pass(false)).toMatchObject({ askedBefore: 1, asked: 1, holdReason: null });
});

test('every later pass lists the service once, beforehand', async () => {
  const pass = await newClient();
  await pass(false);
  for (const dryRun of [false, true])
    expect(await pass(dryRun)).toMatchObject({ askedBefore: 1, asked: 1, holdReason: null });
});

test('a pass begins before its files are read', async () => {
  const pass = await newClient();
  expect((await pass(false)).began).toBeLessThanOrEqual(0);
});
