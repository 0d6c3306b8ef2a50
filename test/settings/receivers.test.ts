import { expect, it } from 'vitest';
import { settingsPlace } from './place.ts';

const { write, read } = settingsPlace();

/** What the settings file says of the receivers, one a line. */
const notifying = (...receivers: string[]): string =>
  `clients: {acme: {}, bakery: {}}\nnotify:\n${receivers.map((one) => `  ${one}\n`).join('')}`;

it('receivers have names, and say what they are told and of whom', () => {
  const slackUrl = 'https://hooks.example.net/services/T0/B0/a-secret';
  write('url', `${slackUrl}\n`);
  const config = notifying(
    'ops: {type: webhook, url: "https://ops.example.net/hook", secret: {env: HOOK_SECRET}, on: [held, failed], clients: [acme], timeout: 3s}',
    'chat: {type: slack, url: {file: url}}',
  );
  const { notify, secrets } = read({ config, env: { HOOK_SECRET: 'the hook secret' } });
  const [ops, chat] = notify;
  const own = { name: 'ops', type: 'webhook', on: ['held', 'failed'], clients: ['acme'], timeout: 3_000 };
  expect(ops).toMatchObject(own);
  const on = ['drift', 'suspended', 'held', 'failed', 'unknown'];
  expect(chat).toMatchObject({ type: 'slack', secret: null, on, clients: null, timeout: 10_000, after: 0 });
  // Only now: commands that notify nobody do not need them.
  expect(secrets()).toEqual([]);
  const address = 'https://ops.example.net/hook';
  const found = [ops?.url.read(), ops?.secret?.read(), chat?.url.read()];
  expect(found).toEqual([address, 'the hook secret', slackUrl]);
  expect(secrets()).toEqual(['the hook secret', slackUrl]);
});

it.each(['http://127.0.0.1:9000/hook', 'http://ops.example.net/hook", allowInsecure: true, type: "webhook'])(
  'an address may be in clear to this machine, or where that is allowed: %s',
  (url) => {
    const entry = url.includes('type') ? `{url: "${url}"}` : `{type: webhook, url: "${url}"}`;
    expect(read({ config: notifying(`ops: ${entry}`) }).notify).toHaveLength(1);
  },
);

it.each(['no address: a-secret', 'http://ops.example.net/a-secret', 'ftp://ops.example.net/a-secret'])(
  'an address from elsewhere is checked when it is read, and is in no message: %s',
  (address) => {
    const config = notifying('ops: {type: webhook, url: {env: OPS}}');
    const { notify } = read({ config, env: { OPS: address } });
    expect(() => notify[0]?.url.read()).toThrow(
      /^dns-template-sync\.yaml:3:\d+: notify\.ops\.url: (?!.*a-secret)/,
    );
  },
);
