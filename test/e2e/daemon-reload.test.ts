import { describe, expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { silence, status, type Answer, type SeenRequest } from '../wire/scripted-server.ts';
import { addTemplate, contentsOf, describing, never, startDaemon, triggerToken } from './daemon.ts';
import { startOnTerminal } from './process.ts';
import { start, workplace, type LogLine } from './program.ts';
import { startService, userToken, type Meddling } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const tokenOf = ({ query, body }: SeenRequest): string | null =>
  new URLSearchParams(`${query}&${body}`).get('client_token');

const isRequested = ({ trigger }: LogLine): boolean => trigger === 'request';

const byToken = 'clientToken: {file: token}\n';

/** The daemon after its first pass, under a settings file, on one template with a variable `address`. */
const started = async (meddle: Meddling = () => null, env: Readonly<Record<string, string>> = {}) => {
  const service = await startService(meddle);
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const write = (file: string, content: string): Promise<void> => writeBelow(cwd, file, content);
  const settings = (lines: string): Promise<void> => write('dns-template-sync.yaml', lines);
  await write('token', 'first-token\n');
  await write('templates/site.yaml', describing('site', '"${address}"'));
  await settings(`${byToken}vars: {address: 192.0.2.1}\n`);
  const launch = {
    cwd,
    env: {
      DNS_SYNC_BASE_URL: service.url,
      DNS_SYNC_USER_TOKEN: userToken,
      ANOTHER_TOKEN: 'another-token',
      ...env,
    },
  };
  const daemon = await startDaemon([], launch);
  expect(await daemon.event('pass.finished')).toMatchObject({ status: 'in-sync' });
  return { service, launch, write, settings, daemon, contents: () => contentsOf(service, id) };
};

describe('SIGHUP', () => {
  it('starts watching again', async () => {
    const { write, settings, daemon, contents } = await started();
    await write('elsewhere/site.yaml', describing('site', '192.0.2.3'));
    await settings(`${byToken}templates: elsewhere\n`);
    daemon.signal('SIGHUP');
    await daemon.event('pass.finished', isRequested);
    await write('elsewhere/site.yaml', describing('site', '192.0.2.4'));
    await daemon.event('pass.finished', ({ trigger }) => trigger === 'file-change');
    // The file was young when the settings named it: the first pass because of it may be of what it said before.
    await vi.waitFor(async () => expect(await contents()).toEqual(['192.0.2.4']), { timeout: 10_000 });
  });

  it('uses a replaced token, and shows neither', async () => {
    const { service, write, settings, daemon } = await started(({ method, body }) =>
      method === 'PUT' ? status(422, `what is ${body}?`) : null,
    );
    await write('second', 'second-token');
    await settings('clientToken: {file: second}\nvars: {address: 192.0.2.2}\n');
    daemon.signal('SIGHUP');
    await daemon.event('change.failed');
    await daemon.event('pass.finished', isRequested);
    expect(tokenOf(service.seen.at(-1)!)).toBe('second-token');
    for (const token of ['first-token', 'second-token', triggerToken])
      expect(daemon.output()).not.toContain(token);
  });

  it('leaves one service for another, of which nothing is known yet', async () => {
    const [service, other] = [await startService(), await startService()];
    await addTemplate(service, 'site', '192.0.2.1');
    const id = await addTemplate(other, 'site', '192.0.2.9');
    const cwd = await workplace({ withExamples: false });
    const settings = (url: string): Promise<void> =>
      writeBelow(cwd, 'dns-template-sync.yaml', `${byToken}baseUrl: ${url}\n`);
    await writeBelow(cwd, 'token', 'first-token\n');
    await writeBelow(cwd, 'templates/site.yaml', describing('site', '192.0.2.1'));
    await settings(service.url);
    const daemon = await startDaemon([], { cwd, env: { DNS_SYNC_USER_TOKEN: userToken } });
    expect(await daemon.event('pass.finished')).toMatchObject({ status: 'in-sync' });
    const asked = service.seen.length;
    await settings(other.url);
    daemon.signal('SIGHUP');
    await daemon.event('pass.finished', isRequested);
    expect(await contentsOf(other, id)).toEqual(['192.0.2.1']);
    expect(service.seen).toHaveLength(asked);
  });

  it('says what needs a restart', async () => {
    const { launch, settings } = await started();
    await settings(`${byToken}vars: {address: 192.0.2.1}\nlisten: 127.0.0.1:0\n`);
    const other = start(['run', '--schedule', never], {
      ...launch,
      env: { ...launch.env, DNS_SYNC_STATE_DIR: 'other' },
    });
    await other.event('pass.finished');
    await settings(`${byToken}vars: {address: 192.0.2.1}\nlisten: off\n`);
    other.signal('SIGHUP');
    await other.says('listen has changed: the new one takes effect after a restart');
    expect(await other.event('pass.finished', isRequested)).toMatchObject({ status: 'in-sync' });
  });
});

describe('a terminal that is closed', () => {
  it('ends the program', async () => {
    const json = ['--log-format', 'json'];
    const args = ['run', '--sandbox', '--listen', '127.0.0.1:0', '--schedule', never, ...json];
    const program = startOnTerminal(args, { cwd: await workplace() });
    const { listen } = await program.event('daemon.started');
    const isAlive = (): Promise<boolean> =>
      fetch(`${String(listen)}/livez`).then(
        ({ ok }) => ok,
        () => false,
      );
    await program.event('pass.finished');
    expect(await isAlive()).toBe(true);
    program.signal('SIGKILL');
    await vi.waitFor(async () => expect(await isAlive()).toBe(false), { timeout: 10_000 });
  });
});

describe('SIGTERM', () => {
  it('waits no longer for a write than writeTimeout', async () => {
    let answer: Answer | null = silence;
    const { service, launch, settings, daemon, contents } = await started(
      ({ method }) => (method === 'PUT' ? answer : null),
      { DNS_SYNC_WRITE_TIMEOUT: '1s' },
    );
    await settings(`${byToken}vars: {address: 192.0.2.2}\n`);
    daemon.signal('SIGHUP');
    await vi.waitFor(() => expect(service.writes()).toHaveLength(1));
    daemon.signal('SIGTERM');
    const { code, stdout } = await daemon.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('"change.unknown"');
    answer = null;
    const next = await startDaemon([], launch);
    await next.event('pass.finished');
    expect(await contents()).toEqual(['192.0.2.2']);
  });
});
