import { describe, expect, it } from 'vitest';
import { never, triggerToken } from '../daemon/daemon.ts';
import { runProcess } from '../process.ts';
import type { LogLine, Program } from '../program.ts';
import { addressOf, allPassed, linesOf, newFleet } from './fleet.ts';

const template = 'web-of-client-0';

/** Of a pass that would add so many records if the template were not suspended. */
const holding =
  (adds: number) =>
  ({ status, summary }: LogLine): boolean =>
    status === 'suspended' && JSON.stringify(summary).includes(`"held":{"add":${adds},`);

describe('two processes that share a store', () => {
  it('obey what a command suspends, and what somebody does on the page of the one that does not own the client', async () => {
    const { clients, service, describeAll, agree, daemon, cwd, env } = await newFleet({
      schedule: never,
      leaseDuration: 10_000,
      count: 1,
    });
    Object.assign(env, { DNS_SYNC_TRIGGER_TOKEN: triggerToken });
    const program = (...args: readonly string[]) => runProcess(args, { cwd, env });
    const daemons = [daemon('--listen', '127.0.0.1:0'), daemon('--listen', '127.0.0.1:0')];
    const pages = await Promise.all(daemons.map(signedIn));
    const each = (task: (page: Page) => Promise<void>): Promise<void[]> => Promise.all(pages.map(task));
    const wanted = ['192.0.2.1'];
    for (const how of ['by command', 'on the page']) {
      await each((one) => one.shows('<button>Suspend</button>'));
      // Not that of the process that owns the client now.
      const page = lastPass(daemons[0]!) < lastPass(daemons[1]!) ? pages[0]! : pages[1]!;
      const writes = service.writes().length;
      if (how === 'by command') await program('suspend', template, '--reason', how);
      else await page.act('suspend', { reason: how, duration: '' });
      await each((one) => one.shows(how));
      const before = [...wanted];
      wanted.push(`192.0.2.${wanted.length + 1}`);
      const changed = new Date().toISOString();
      await describeAll(wanted);
      await allPassed(clients, daemons, (line) => String(line['time']) > changed && holding(1)(line));
      await agree(before);
      expect((await program('apply', template, '--yes', '--force')).stdout).toContain(how);
      expect(service.writes()).toHaveLength(writes);
      if (how === 'by command')
        expect((await program('resume', template)).stdout).toMatch(/^web-of-client-0: resumed; /);
      else await page.act('resume', {});
      await agree(wanted);
      expect(service.writes()).toHaveLength(writes + 1);
    }
  });
});

const lastPass = (daemon: Program): string => {
  const { time } = linesOf(daemon).findLast(({ event }) => event === 'pass.finished') ?? { time: '' };
  return String(time);
};

type Page = Awaited<ReturnType<typeof signedIn>>;

/** Somebody in a browser who has signed in to act. */
const signedIn = async (daemon: Program) => {
  const url = await addressOf(daemon);
  let cookie = '';
  const post = async (path: string, fields: Readonly<Record<string, string>>): Promise<void> => {
    const { status, headers } = await fetch(`${url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url, cookie },
      body: new URLSearchParams(fields),
    });
    expect(status).toBe(303);
    cookie ||= headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
  };
  const read = async (path: string): Promise<string> =>
    (await fetch(`${url}${path}`, { headers: { cookie } })).text();
  await post('/sign-in', { token: triggerToken, name: 'Anna Example' });
  return {
    /** Resolves when that of the template does. What is new after the first event is told. */
    shows: async (text: string): Promise<void> => {
      const { body } = await fetch(`${url}/events`);
      const reader = body!.getReader();
      await reader.read();
      while (!(await read(`/templates/${template}`)).includes(text)) await reader.read();
      await reader.cancel();
    },
    act: (action: string, fields: Readonly<Record<string, string>>) =>
      post(`/act/${action}`, { client: 'client-0', template, ...fields }),
  };
};
