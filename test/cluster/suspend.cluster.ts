import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { never, triggerToken } from '../daemon/daemon.ts';
import { runProcess } from '../process.ts';
import type { LogLine, Program } from '../program.ts';
import { allPassed, linesOf, newFleet } from './fleet.ts';

const before = ['192.0.2.1'];
const after = ['192.0.2.1', '192.0.2.2'];
const suspended = ({ status }: LogLine): boolean => status === 'suspended';

const newPair = async () => {
  const fleet = await newFleet({ schedule: never, leaseDuration: 10_000, count: 1 });
  Object.assign(fleet.env, { DNS_SYNC_TRIGGER_TOKEN: triggerToken });
  const template = 'web-of-client-0';
  const program = (...args: readonly string[]) => runProcess(args, { cwd: fleet.cwd, env: fleet.env });
  return { ...fleet, template, program };
};

describe('several processes that share a store', () => {
  it('obey a suspension that another one has made, until that resumes it', async () => {
    const { clients, template, program, service, describeAll, agree, daemon } = await newPair();
    const daemons = [daemon(), daemon()];
    // Either of them may make a pass, so nobody waits for a line of one of them.
    const passes = async (count: number): Promise<void> => {
      while (suspendedPasses(daemons) < count) await setTimeout(20);
    };
    await allPassed(clients, daemons);
    await program('suspend', template, '--reason', 'an audit');
    await passes(1);
    const seen = suspendedPasses(daemons);
    await describeAll(after);
    await passes(seen + 1);
    expect(service.writes()).toEqual([]);
    await agree(before);
    expect((await program('apply', template, '--yes', '--force')).stdout).toMatch(
      /suspended by .+: an audit/,
    );
    expect((await program('resume', template)).stdout).toMatch(/^web-of-client-0: resumed; /);
    await agree(after);
    expect(service.writes()).toHaveLength(1);
  });

  it('obey what somebody does on the page of one that does not own the client', async () => {
    const { template, service, describeAll, agree, daemon } = await newPair();
    const worker = daemon();
    await worker.event('pass.finished');
    const web = daemon('--listen', '127.0.0.1:0');
    const url = String((await web.event('daemon.started'))['listen']);
    const page = await signedIn(url);
    // The process of the page knows the template from the pass of the other one.
    await page.shows(`/templates/${template}`, '<button>Suspend</button>');
    const target = { client: 'client-0', template };
    await page.act('suspend', { ...target, reason: 'an audit', duration: '' });
    await worker.event('pass.finished', suspended);
    await describeAll(after);
    await worker.event('pass.finished', suspended);
    expect(service.writes()).toEqual([]);
    await page.shows(`/templates/${template}`, 'an audit');
    await page.act('resume', target);
    await agree(after);
    const asked = new Date().toISOString();
    await page.act('sync', {});
    const isSync = ({ trigger, time }: LogLine): boolean => trigger === 'request' && String(time) > asked;
    expect(await worker.event('pass.finished', isSync)).toMatchObject({
      client: 'client-0',
      status: 'in-sync',
    });
  });
});

/** How many suspended passes they have finished together. */
const suspendedPasses = (daemons: readonly Program[]): number =>
  daemons.flatMap(linesOf).filter((line) => line['event'] === 'pass.finished' && suspended(line)).length;

/** Somebody in a browser who has signed in to act. */
const signedIn = async (url: string) => {
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
    /** Resolves when it does. What is new after the first event is told. */
    shows: async (path: string, text: string): Promise<void> => {
      const { body } = await fetch(`${url}/events`);
      const reader = body!.getReader();
      await reader.read();
      while (!(await read(path)).includes(text)) await reader.read();
      await reader.cancel();
    },
    act: (action: string, fields: Readonly<Record<string, string>>) => post(`/act/${action}`, fields),
  };
};
