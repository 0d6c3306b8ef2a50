import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openClient } from '../../src/app/client.ts';
import { openObserver } from '../../src/app/observer.ts';
import { passOf, type PassRequest } from '../../src/app/pass-request.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { connectHosting } from '../../src/hosting/service.ts';
import { reconcile } from '../../src/reconcile/pass.ts';
import { readSettings } from '../../src/settings.ts';
import type { ClientSettings } from '../../src/settings/client.ts';
import { noMemories } from '../../src/state/memory.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { json, scriptedServer } from '../wire/scripted-server.ts';
import { newFolder } from '../state/samples.ts';

/** Clients of one service, and how often each had asked when its files had been read. */
const newClients = async (listing: readonly object[] = []) => {
  const server = await scriptedServer(json(listing));
  const cwd = newFolder();
  mkdirSync(path.join(cwd, 'templates'));
  writeFileSync(
    path.join(cwd, 'templates/web.yaml'),
    'template: web\nrecords: [{type: A, content: 192.0.2.1}]\n',
  );
  const settings = settingsIn(cwd, server.url);
  return () => openOne(settings);
};

const settingsIn = (cwd: string, url: string): ClientSettings => {
  const [settings] = readSettings({
    flags: { baseUrl: url, stateDir: path.join(cwd, 'state'), templates: [path.join(cwd, 'templates')] },
    needs: { baseUrl: true, tokens: true },
    env: { HOME: cwd, DNS_SYNC_USER_TOKEN: 'user-token', DNS_SYNC_CLIENT_TOKEN: 'client-token' },
    cwd,
  }).clients;
  return settings!;
};

const requestOf = (more: Pick<PassRequest, 'dryRun'> & Partial<PassRequest>): PassRequest => ({
  run: 'one',
  trigger: 'request',
  templates: [],
  signal: new AbortController().signal,
  onChange: () => undefined,
  lockTimeout: 0,
  ...more,
});

const newClient = async () => (await newClients())();

const openOne = (settings: ClientSettings) => {
  const client = openClient({
    settings,
    clock: systemClock,
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
    const request = requestOf({
      dryRun,
      onDesired: (desired) => {
        askedBefore = asked.mock.calls.length;
        readAt = Date.now();
        // Until the clock shows another time: what begins now does not begin with the reading.
        while (Date.now() === readAt);
        return desired;
      },
    });
    const { startedAt, holdReason, templates } = await client.pass(request);
    const began = Date.parse(startedAt) - readAt;
    return { askedBefore, asked: asked.mock.calls.length, began, holdReason, templates };
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

test('a pass begins before its files are read', async () => {
  const pass = await newClient();
  expect((await pass(false)).began).toBeLessThanOrEqual(0);
});

test('a dry run that sees causes finds the same objects again while nothing changes', async () => {
  const record = { id: 1, type: 'A', name: null, content: '192.0.2.1', ttl: 300, priority: null };
  const web = {
    id: 1,
    name: 'web',
    publicly_available: false,
    subdomains: 0,
    dns_template_records: [record],
  };
  const pass = (await newClients([web]))();
  // The first one notes what it sees, the second finds nothing new.
  for (const turn of [1, 2]) expect((await pass(true)).holdReason, `${turn}`).toBeNull();
  const { templates } = await pass(true);
  expect((await pass(true)).templates).toBe(templates);
});

test('what seeing causes takes is part of what the pass took', async () => {
  const { url } = await scriptedServer(json([]));
  const cwd = newFolder();
  const settings = settingsIn(cwd, url);
  const seeing = 20;
  const observer = openObserver({
    clock: systemClock,
    location: () => storeLocation({ ...settings, name: 'one' }, 'client-token', false),
    redacted: (memory) => {
      const end = Date.now() + seeing;
      while (Date.now() < end);
      return memory;
    },
  });
  const service = connectHosting({ ...settings, tokens: () => settings.tokens.read() });
  onTestFinished(() => Promise.all([observer.close(), service.close()]).then(() => undefined));
  const pass = passOf(requestOf({ dryRun: true }), settings, service, systemClock, false, () => null);
  const listing = service.listDnsTemplates();
  const nothing = { templates: [], unusable: [], problems: [], files: 0 };
  const result = await reconcile(nothing, {
    ...pass,
    startedAt: Date.now(),
    listing,
    memory: noMemories,
    writer: null,
    warn: () => undefined,
  });
  const seen = await observer.observe(result, nothing, listing, pass);
  expect(seen.durationMs).toBeGreaterThanOrEqual(result.durationMs + seeing);
});
