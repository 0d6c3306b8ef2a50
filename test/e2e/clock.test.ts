import { describe, expect, it } from 'vitest';
import { testClock } from '../clock.ts';
import { writeBelow } from '../daemon/ways.ts';
import { status } from '../wire/scripted-server.ts';
import { addTemplate, contentsOf, describing } from './daemon.ts';
import { run, workplace } from './program.ts';
import { startService, type Meddling } from './service.ts';

/** A template with one address, a file with another one, and a clock that only sleeping and the test move. */
const place = async (meddle?: Meddling) => {
  const service = await startService(meddle);
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const clock = testClock('2026-11-20T12:00:00Z');
  const edit = (address: string): Promise<void> =>
    writeBelow(cwd, 'templates/site.yaml', describing('site', address));
  await edit('192.0.2.2');
  const program = (args: string, env: Record<string, string> = {}) =>
    run(args.split(' '), { cwd, clock, env: { ...service.env, ...env } });
  return { service, clock, edit, program, contents: () => contentsOf(service, id) };
};

const minutes = 60_000;

describe('a command decides by the clock that it is given', () => {
  it('how long a service has asked it to wait', async () => {
    let isBusy = true;
    const { clock, program } = await place(() => {
      const answer = isBusy ? status(429, '', { 'retry-after': 'Fri, 20 Nov 2026 12:00:20 GMT' }) : null;
      isBusy = false;
      return answer;
    });
    const before = clock.now();
    expect(await program('plan')).toMatchObject({ code: 0, stderr: expect.stringContaining('waiting 20 s') });
    expect(clock.now() - before).toBe(20_000);
  });

  it('what a service asks to wait is said, by plan and by apply', async () => {
    const busy = status(429, 'slow down', { 'retry-after': '3600' });
    const all = await place(() => busy);
    const writes = await place(({ method }) => (method === 'PUT' ? busy : null));
    for (const { stdout, code } of [
      await all.program('plan'),
      await all.program('apply --yes'),
      await writes.program('apply --yes'),
    ]) {
      expect(code).toBe(1);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
        'the service answered 429: too many requests, and asks to wait 1h: slow down',
      );
    }
    expect(writes.service.writes()).toHaveLength(1);
  });

  it('when a write was, and which ones are shown', async () => {
    const { clock, edit, program } = await place();
    await program('apply --yes');
    clock.forward(60 * minutes);
    await edit('192.0.2.3');
    await program('apply --yes');
    const all = (await program('history')).stdout.trimEnd().split('\n');
    expect(all.map((line) => line.slice(0, 16))).toEqual(['2026-11-20T12:00', '2026-11-20T13:00']);
    expect((await program('history --since 30m')).stdout.trimEnd().split('\n')).toEqual(all.slice(1));
  });
});
