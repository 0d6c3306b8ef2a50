import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSettings, type Settings } from '../../src/settings.ts';

const slackUrl = 'https://hooks.example.net/services/T0/B0/a-secret';

const read = (notify: string, env: Record<string, string> = {}): Settings => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'notify-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(
    path.join(cwd, 'dns-template-sync.yaml'),
    `clients: {acme: {}, bakery: {}}\nnotify:\n${notify}`,
  );
  writeFileSync(path.join(cwd, 'url'), `${slackUrl}\n`);
  return readSettings({ flags: {}, env: { HOME: cwd, ...env }, cwd, needsService: false });
};

describe('notify', () => {
  it('has no receivers by default', () => {
    expect(read('  {}\n').notify).toEqual([]);
  });

  it('names receivers', () => {
    const { notify, secrets } = read(
      `  ops: {type: webhook, url: "https://ops.example.net/hook", secret: {env: HOOK_SECRET}, on: [held, failed], clients: [acme], timeout: 3s}
  chat: {type: slack, url: {file: url}}\n`,
      { HOOK_SECRET: 'the hook secret' },
    );
    const [ops, chat] = notify;
    expect(ops).toMatchObject({
      name: 'ops',
      type: 'webhook',
      on: ['held', 'failed'],
      clients: ['acme'],
      timeout: 3_000,
    });
    expect(chat).toMatchObject({ name: 'chat', type: 'slack', secret: null, clients: null, timeout: 10_000 });
    expect(chat?.on).toEqual(['drift', 'suspended', 'held', 'failed', 'unknown']);
    expect([ops?.url.read(), ops?.secret?.read(), chat?.url.read()]).toEqual([
      'https://ops.example.net/hook',
      'the hook secret',
      slackUrl,
    ]);
    expect(secrets()).toEqual(['the hook secret', slackUrl]);
  });

  it('is not read by commands that notify nobody', () => {
    expect(read('  chat: {type: slack, url: {env: NOT_SET}}\n').notify).toHaveLength(1);
  });

  it.each([
    ['{type: webhook, url: "http://127.0.0.1:9000/hook"}'],
    ['{type: webhook, url: "http://ops.example.net/hook", allowInsecure: true}'],
  ])('%s is right', (entry) => {
    expect(read(`  ops: ${entry}\n`).notify).toHaveLength(1);
  });

  it.each(['no address: a-secret', 'http://ops.example.net/a-secret', 'ftp://ops.example.net/a-secret'])(
    'an address from elsewhere is checked when it is read, and is in no message: %s',
    (address) => {
      const { notify } = read('  ops: {type: webhook, url: {env: OPS}}\n', { OPS: address });
      const message = (() => {
        try {
          return notify[0]?.url.read();
        } catch (error) {
          return String(error);
        }
      })();
      expect(message).toMatch(/^UserError: dns-template-sync\.yaml:3:\d+: notify\.ops\.url: /);
      expect(message).not.toContain('a-secret');
    },
  );
});
