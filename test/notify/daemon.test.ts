import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { notificationSchema, type Notification } from '../../src/notify/schema.ts';
import { writeBelow } from '../daemon/ways.ts';
import { reset, scriptedServer, status, type Answer, type SeenRequest } from '../wire/scripted-server.ts';
import { addTemplate, describing, startDaemon, triggerToken, type Daemon } from '../daemon/daemon.ts';
import { startProcess } from '../process.ts';
import { start, textsBelow, workplace, type Launch, type LogLine, type Program } from '../program.ts';
import { clientToken, startService, userToken } from '../service.ts';

vi.setConfig({ testTimeout: 60_000 });

const hookSecret = 'the hook secret/1+"';

const ok = status(204);

const notificationIn = ({ body }: SeenRequest): Notification => notificationSchema.parse(JSON.parse(body));
const eventsIn = (request: SeenRequest): string[] =>
  notificationIn(request).changes.map(({ template, event }) => `${template} ${event}`);

/** Somebody who is told: `answer` may be replaced at any time. */
const startReceiver = async (first: Answer = ok) => {
  let answer = first;
  const arrivals = new EventEmitter().setMaxListeners(0);
  const { url, seen, close, open } = await scriptedServer((response, request) => {
    arrivals.emit('arrived');
    return answer(response, request);
  });
  const until = async (count: number): Promise<void> => {
    while (seen.length < count) await once(arrivals, 'arrived');
  };
  return {
    url: `${url}/hook-path`,
    seen,
    close,
    open,
    until,
    answer: (next: Answer) => void (answer = next),
  };
};

const toWebhook = 'ops: {type: webhook, url: {env: HOOK}, secret: {env: HOOK_SECRET}}';

interface Surroundings {
  readonly keys?: string;
  /** Of the settings, under `notify`. */
  readonly receivers?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** `startProcess`: in a process of its own, which can be killed. */
  readonly as?: (args: readonly string[], launch: Launch) => Program;
}

/** The daemon on one template `site`, which it only looks at, told to say what it finds. */
const started = async (
  { url }: { readonly url: string },
  { keys = 'mode: report\n', receivers = toWebhook, env = {}, as = start }: Surroundings = {},
) => {
  const service = await startService();
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  await writeBelow(cwd, 'templates/site.yaml', describing('site', '192.0.2.1', keys));
  const write = (settings: string) => writeBelow(cwd, 'dns-template-sync.yaml', settings);
  await write(`notify: {${receivers}}\n`);
  const usual = { ...service.env, HOOK: url, HOOK_SECRET: hookSecret, LOG_LEVEL: 'trace' };
  const begin = async (): Promise<Daemon> => {
    const daemon = await startDaemon([], { cwd, env: { ...usual, ...env } }, as);
    await daemon.event('pass.finished');
    expect(daemon.lines().filter(({ event }) => event === 'notify.error')).toEqual([]);
    return daemon;
  };
  const [record] = await service.records(id);
  const change = (content: string) => service.change('edit-record', { record_id: record?.id, content });
  return { service, id, cwd, env: usual, write, daemon: await begin(), begin, change };
};

/** The daemon that follows, after SIGTERM. */
const restarted = async (daemon: Daemon, begin: () => Promise<Daemon>): Promise<Daemon> => {
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
  return begin();
};

const isDelivered = ({ msg }: LogLine): boolean => msg === 'notification delivered';

const delivered = (daemon: Daemon, count: number): Promise<void> =>
  vi.waitFor(() => expect(daemon.lines().filter(isDelivered)).toHaveLength(count), { timeout: 20_000 });

it('a webhook gets drift and its end once each, signed, across a restart', async () => {
  const receiver = await startReceiver();
  const { daemon, begin, change } = await started(receiver);
  await change('192.0.2.9');
  expect(await daemon.pass()).toMatchObject({ status: 'drifted' });
  await receiver.until(1);
  await delivered(daemon, 1);
  expect(await daemon.pass()).toMatchObject({ status: 'drifted' });

  const next = await restarted(daemon, begin);
  await next.pass();
  await change('192.0.2.1');
  expect(await next.pass()).toMatchObject({ status: 'in-sync' });
  await receiver.until(2);
  await delivered(next, 1);
  expect(receiver.seen.map(eventsIn)).toEqual([['site drift'], ['site cleared']]);

  const { body, headers } = receiver.seen[0]!;
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const digest = createHmac('sha256', hookSecret).update(signed).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${digest}`);
  expect(notificationIn(receiver.seen[0]!).changes[0]).toMatchObject({
    client: 'default',
    state: 'drifted',
    previous: 'in-sync',
    differences: [{ action: 'update', cause: 'drifted', current: { content: '192.0.2.9' } }],
  });
  const counted = (await next.scrape()).value('dns_template_sync_notifications_total', {
    outcome: 'delivered',
  });
  expect(counted).toBe(1);
  expect([...daemon.lines(), ...next.lines()].filter(({ event }) => event === 'notify.unsaved')).toEqual([]);
});

it('settings are read again at SIGHUP: waiting messages go to the new address at once', async () => {
  const later = { 'retry-after': '3600' };
  const [wrong, right] = [await startReceiver(status(404, '', later)), await startReceiver()];
  const { daemon, write, change } = await started(wrong);
  await change('192.0.2.9');
  await daemon.pass();
  await wrong.until(1);
  await write(`notify: {ops: {type: webhook, url: "${right.url}"}}\n`);
  daemon.signal('SIGHUP');
  await delivered(daemon, 1);
  expect(right.seen.map(eventsIn)).toEqual([['site drift']]);
  await write('notify: {ops: {type: webhook, url: {env: NOT_SET}}}\n');
  daemon.signal('SIGHUP');
  await daemon.says('invalid settings; keeping the previous ones');
  await change('192.0.2.1');
  await daemon.pass();
  await delivered(daemon, 2);
  expect(right.seen.map(eventsIn)).toEqual([['site drift'], ['site cleared']]);
});

it('what was told is not told again after a client came before the others, each with a state of its own', async () => {
  const receiver = await startReceiver();
  const client = (name: string, token: string): string =>
    `  ${name}: {clientToken: {env: ${token}}, stateDir: ./state-of-${name}, templates: ./${name}}\n`;
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  for (const name of ['acme', 'bakery']) {
    await addTemplate(service, `site-of-${name}`, '192.0.2.1');
    const file = describing(`site-of-${name}`, '192.0.2.2', 'mode: report\n');
    await writeBelow(cwd, `${name}/site.yaml`, file);
  }
  const { DNS_SYNC_CLIENT_TOKEN: _, ...shared } = service.env;
  const env = { ...shared, HOOK: receiver.url, HOOK_SECRET: hookSecret, ONE: 'token-1', OTHER: 'token-2' };
  const begin = async (clients: string): Promise<Daemon> => {
    await writeBelow(cwd, 'dns-template-sync.yaml', `notify: {${toWebhook}}\nclients:\n${clients}`);
    return startDaemon([], { cwd, env });
  };
  const daemon = await begin(client('bakery', 'ONE'));
  await delivered(daemon, 1);
  const next = await restarted(daemon, () => begin(client('acme', 'OTHER') + client('bakery', 'ONE')));
  await delivered(next, 1);
  await next.pass('bakery');
  expect(receiver.seen.map(eventsIn)).toEqual([['site-of-bakery drift'], ['site-of-acme drift']]);
});

it('a receiver that was down when the daemon was killed gets each message once: one that was begun with its id, and what was mended', async () => {
  const receiver = await startReceiver(status(503));
  const { daemon, begin, change } = await started(receiver, { keys: '', as: startProcess });
  await change('192.0.2.9');
  expect(await daemon.pass()).toMatchObject({ status: 'in-sync' });
  await receiver.until(1);
  await change('192.0.2.8');
  expect(await daemon.pass()).toMatchObject({ status: 'in-sync' });
  await receiver.close();
  daemon.signal('SIGKILL');
  await daemon.ended;
  const begun = receiver.seen.length;

  receiver.open();
  receiver.answer(ok);
  const next = await begin();
  await delivered(next, 2);
  const last = await restarted(next, begin);
  await last.pass();
  expect(receiver.seen.slice(begun).map(eventsIn)).toEqual([['site mended'], ['site mended']]);
  expect(receiver.seen[begun]!.body).toBe(receiver.seen[0]!.body);
  expect(new Set(receiver.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
});

it('hostile contents hold no token, and secrets of receivers are in no output or file', async () => {
  const [ops, chat] = [await startReceiver(status(500, 'oops')), await startReceiver(reset)];
  const { daemon, service, id, cwd } = await started(ops, {
    receivers: `${toWebhook}, chat: {type: slack, url: {env: CHAT}}`,
    env: { CHAT: chat.url },
  });
  const content = `${userToken} ${clientToken} ${triggerToken} <!channel> \`x\` \u001B[2J\u202E ${'y'.repeat(10_000)}`;
  await service.change('add-record', { dns_template_id: id, type: 'TXT', name: '<b>@here', content });
  await daemon.pass();
  for (const one of [ops, chat]) {
    await one.until(2);
    one.answer(ok);
  }
  await delivered(daemon, 2);
  daemon.signal('SIGTERM');
  const { stdout, stderr } = await daemon.ended;

  const secrets = [userToken, clientToken, triggerToken];
  for (const { body } of [...ops.seen, ...chat.seen]) {
    const all = JSON.stringify(JSON.parse(body));
    for (const secret of secrets) expect(all).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(all).toContain('[secret]');
  }
  const message: unknown = JSON.parse(chat.seen.at(-1)?.body ?? '');
  expect(message).toMatchObject({ text: expect.stringContaining('`site`'), blocks: [{ type: 'section' }] });
  expect(JSON.stringify(message)).not.toMatch(/<!channel>|\u001B|\u202E/);
  const files = Object.values(await textsBelow(cwd));
  for (const output of [stdout, stderr, ...files])
    for (const secret of [hookSecret, ops.url, chat.url, 'hook-path', ...secrets])
      expect(output.includes(secret)).toBe(false);
});
