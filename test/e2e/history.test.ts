import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { status } from '../wire/scripted-server.ts';
import { run, workplace, type Launch } from './program.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { storeHandle } from '../../src/state/store-handle.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { fileStore } from '../../src/state/store.ts';
import { clientToken, startService } from './service.ts';
import { historyOf } from '../state/samples.ts';

vi.setConfig({ testTimeout: 30_000 });

/** A memory of one write that was refused, and then of those that the examples ask for. */
const written = async (): Promise<Launch> => {
  let isRefusing = true;
  const service = await startService(({ method }) =>
    isRefusing && method === 'PUT' ? status(422, 'not now') : null,
  );
  const launch = { cwd: await workplace(), env: service.env };
  await run(['apply', 'voice', '--yes'], launch);
  isRefusing = false;
  await run(['apply', '--yes'], launch);
  return launch;
};

describe('history', () => {
  it('shows every write, the oldest first, filters them, and has a line for each', async () => {
    const launch = await written();
    const entries = async (...args: string[]): Promise<unknown[]> => {
      const { code, stdout, stderr } = await run(['history', '--format', 'json', ...args], launch);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout);
    };
    const all = await entries();
    expect(all).toHaveLength(7);
    expect(all[0]).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      client: 'default',
      run: expect.stringMatching(/^[0-9a-f-]{36}$/),
      templateId: 31,
      template: 'voice',
      action: 'update',
      recordId: 313,
      before: { type: 'SRV', name: '_sips._tcp', content: '5 5060 sip.example.net', priority: 10, ttl: 300 },
      after: { type: 'SRV', name: '_sips._tcp', content: '5 5061 sip.example.net', priority: 10, ttl: 300 },
      outcome: 'failed',
      error: expect.stringContaining('the service answered 422: not now'),
      write: expect.stringMatching(/^[0-9a-f-]{36}\/\d+$/),
      cause: 'unknown',
      trigger: 'command',
      source: { file: 'templates/voice.yaml', line: 10, column: 5 },
      revision: null,
    });
    expect(await entries('voice')).toMatchObject([{ outcome: 'failed' }, { outcome: 'applied' }]);
    expect(await entries('voice', '--outcome', 'failed')).toEqual([all[0]]);
    expect(await entries('--outcome', 'applied')).toHaveLength(6);
    expect(await entries('--since', '1h')).toEqual(all);
    expect(await entries('--since', '2099-01-01T00:00:00Z')).toEqual([]);

    const { code, stdout } = await run(['history', 'voice'], launch);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^\S+Z failed {4}voice: update #313 _sips\._tcp SRV 10 5 5060 sip\.example\.net ttl 300 → .*422: not now\) · cause unknown · templates\/voice\.yaml:10$/,
      ),
      expect.stringMatching(
        /^\S+Z applied {3}voice: update #313 .* → .* 5 5061 sip\.example\.net ttl 300 · cause unknown · .*:10$/,
      ),
      '',
    ]);
  });

  it('names the client, and sorts the writes of several by time', async () => {
    const service = await startService();
    const { DNS_SYNC_CLIENT_TOKEN: _, ...env } = service.env;
    const cwd = await workplace();
    await writeFile(
      path.join(cwd, 'dns-template-sync.yaml'),
      `
      clients:
        acme: {templates: templates/standard-web.yaml, clientToken: {env: ACME_TOKEN}}
        bakery: {templates: templates/voice.yaml, clientToken: {env: BAKERY_TOKEN}}
      `,
    );
    const launch = { cwd, env: { ...env, ACME_TOKEN: 'token of acme', BAKERY_TOKEN: 'token of the bakery' } };
    const first = await run(['apply', '--client', 'bakery', '--yes'], launch);
    expect(first.stderr).toMatch(/^dns-template-sync: bakery: no saved state for this client/m);
    const second = await run(['apply', '--yes'], launch);
    expect(second.stderr).toMatch(/^dns-template-sync: acme: no saved state for this client.*$/m);
    expect(second.stderr).not.toContain('bakery: ');
    const { stdout } = await run(['history'], launch);
    expect(stdout).toMatch(
      /^\S+Z applied {3}bakery: voice: update #313 .*\n(\S+Z applied {3}acme: standard-web: .*\n){3}$/,
    );
    const only = await run(['history', '--client', 'bakery'], launch);
    expect(only.stdout).toMatch(/^\S+Z applied {3}voice: /);
  });

  it('shows the newest thousand, and says that there are more', async () => {
    const launch = await written();
    const store = fileStore(systemClock);
    const stateDir = path.join(launch.cwd, 'state');
    const location = storeLocation(
      { stateDir, baseUrl: launch.env?.['DNS_SYNC_BASE_URL'] ?? '', name: 'default' },
      clientToken,
      false,
    );
    const signal = new AbortController().signal;
    const use = { timeout: 0, signal, onWait: () => undefined, lostPause: 0 };
    await storeHandle(store, () => undefined).write(location, use, async ({ memory }) => {
      const [newest] = await store.read(location, async (saved) => (saved ? historyOf(saved) : []));
      const history = Array.from({ length: 1_000 }, (_, index) => ({
        ...newest!,
        at: newest!.at - index,
        write: `run/${index}`,
      }));
      await memory.save({ row: null, records: [], forgotten: [], entries: [], left: [], history });
    });
    await store.close();
    const { code, stdout, stderr } = await run(['history', '--format', 'json'], launch);
    const shown: unknown[] = JSON.parse(stdout);
    expect({ code, length: shown.length }).toEqual({ code: 0, length: 1_000 });
    expect(shown.at(-2)).toMatchObject({ write: expect.stringMatching(/^[0-9a-f-]{36}/) });
    expect(stderr).toBe('the newest 1000 writes: --since and names of templates choose others\n');
  });
});
