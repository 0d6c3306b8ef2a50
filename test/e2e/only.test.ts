import { describe, expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate } from './daemon.ts';
import { reportOf, run, workplace, type Launch } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A template that is in sync with its file, and an edit of that which adds two records and changes one. */
const place = async (limits = '') => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  const id = await addTemplate(service, 'web', '192.0.2.1');
  const describing = (apex: string, ...names: readonly string[]): Promise<void> =>
    writeBelow(
      cwd,
      'templates/web.yaml',
      [
        `template: web\n${limits}records:`,
        `  - {type: A, content: ${apex}}`,
        ...names.map((name, at) => `  - {type: A, name: ${name}, content: 192.0.2.${at + 2}}`),
        '',
      ].join('\n'),
    );
  await describing('192.0.2.1');
  const launch: Launch = { cwd, env: service.env };
  const program = (...args: readonly string[]) => run(args, launch);
  expect(await program('apply', '--yes')).toMatchObject({ code: 0 });
  await describing('192.0.2.9', 'www', 'api');
  const now = async (): Promise<string[]> =>
    (await service.records(id)).map(({ name, content }) => `${name ?? '@'} ${content}`).toSorted();
  return { service, program, describing, now };
};

const before = ['@ 192.0.2.1'];
const only = ['--only', 'www A'];

/** Each difference, and what becomes of it. */
const fatesIn = (stdout: string): (readonly [string | null | undefined, string | undefined])[] =>
  reportOf(stdout).templates.flatMap(({ differences }) =>
    differences.map((one) => ['desired' in one ? one.desired?.name : null, one.outcome] as const),
  );

describe('a plan of some records', () => {
  it('is what apply writes', async () => {
    const { program, now } = await place();
    const planned = await program('plan', 'web', ...only, '--format', 'json', '--out', 'plan.json');
    expect(planned).toMatchObject({ code: 0 });
    const applied = await program(
      'apply',
      'web',
      ...only,
      '--plan',
      'plan.json',
      '--yes',
      '--format',
      'json',
    );
    expect(applied).toMatchObject({ code: 0 });
    expect(await now()).toEqual([...before, 'www 192.0.2.2']);
    expect(fatesIn(applied.stdout).toSorted()).toEqual(
      [
        [null, 'skipped'],
        ['api', 'skipped'],
        ['www', 'applied'],
      ].toSorted(),
    );
  });

  it('needs no plan, leaves the rest, and knows its records', async () => {
    const { program, now } = await place();
    const unknown = await program('apply', '--yes', '--only', 'wwww A');
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--only `wwww A` is no record'),
    });
    expect(await now()).toEqual(before);
    const applied = await program('apply', '--yes', ...only, '--detailed-exitcode', '--format', 'json');
    expect(applied.code).toBe(2);
    expect(reportOf(applied.stdout).templates[0]?.differences).toContainEqual(
      expect.objectContaining({ outcome: 'skipped', error: expect.stringContaining('--only') }),
    );
    expect(await now()).toEqual([...before, 'www 192.0.2.2']);
  });

  it('is not the plan of all, other or more records, whatever guards say, which writes nothing', async () => {
    const { program, now } = await place();
    await program('plan', 'web', ...only, '--format', 'json', '--out', 'plan.json');
    for (const options of [
      [],
      ['--force'],
      ['--only', 'api A'],
      ['--only', 'api A', '--force'],
      [...only, '--only', 'api A'],
    ]) {
      const applied = await program('apply', 'web', '--plan', 'plan.json', '--yes', ...options);
      expect(applied).toMatchObject({ code: 1, stdout: '' });
      expect(applied.stderr).toContain('the plan is no longer the one in plan.json; nothing was written');
    }
    expect(await now()).toEqual(before);
  });

  it('is not the plan of all records before it', async () => {
    const { program, now } = await place();
    await program('plan', 'web', '--format', 'json', '--out', 'plan.json');
    for (const force of [[], ['--force']]) {
      const applied = await program('apply', 'web', ...only, '--plan', 'plan.json', '--yes', ...force);
      expect(applied).toMatchObject({ code: 1, stdout: '' });
    }
    expect(await now()).toEqual(before);
  });

  it('is not that of a later file, though the file changes another record', async () => {
    const { program, describing, now } = await place();
    await program('plan', 'web', ...only, '--format', 'json', '--out', 'plan.json');
    await describing('192.0.2.8', 'www', 'api');
    const applied = await program('apply', 'web', ...only, '--plan', 'plan.json', '--yes');
    expect(applied).toMatchObject({ code: 1, stdout: '' });
    expect(await now()).toEqual(before);
  });
});

describe('guards', () => {
  it('count what is selected, and hold that alone', async () => {
    const { program, now } = await place('limits: {maxAdds: 1}\n');
    expect(await program('apply', 'web', '--yes')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('held'),
    });
    const applied = await program('apply', 'web', ...only, '--yes');
    expect(applied).toMatchObject({ code: 0 });
    expect(await now()).toContain('www 192.0.2.2');
  });

  it('hold what is selected, in the plan as in the pass, until a person forces that alone', async () => {
    const { program, now } = await place('limits: {maxAdds: 0}\n');
    const options = ['web', ...only, '--format', 'json'];
    const planned = await program('plan', ...options, '--out', 'plan.json');
    expect(planned).toMatchObject({ code: 0 });
    const held = await program('apply', ...options, '--plan', 'plan.json', '--yes');
    expect(held).toMatchObject({ code: 1 });
    expect(reportOf(held.stdout)).toMatchObject({ status: 'held' });
    expect(await now()).toEqual(before);
    expect(await program('apply', ...options, '--plan', 'plan.json', '--yes', '--force')).toMatchObject({
      code: 0,
    });
    expect(await now()).toEqual([...before, 'www 192.0.2.2']);
  });

  it('leave a suspended template alone, also what is selected of it', async () => {
    const { program, now } = await place();
    await program('suspend', 'web', '--reason', 'an audit');
    const applied = await program('apply', 'web', ...only, '--yes', '--force', '--format', 'json');
    expect(applied).toMatchObject({ code: 1 });
    expect(reportOf(applied.stdout)).toMatchObject({ status: 'suspended' });
    expect(await now()).toEqual(before);
  });
});
