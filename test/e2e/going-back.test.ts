import { cp, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mutatedProgram } from './mutated-program.ts';
import { run, workplace, type Ended } from './program.ts';
import { startService } from './service.ts';

/** The program with one more migration. */
const newerProgram = (): string => mutatedProgram(['currentVersion=5', 'currentVersion=6']);

/** What the file says beside the records that the template has from the start. */
const describe = async (cwd: string, ...records: readonly string[]): Promise<void> => {
  const lines = records.map((record) => `  - {type: A, ${record}}\n`).join('');
  await mkdir(path.join(cwd, 'templates'), { recursive: true });
  await writeFile(
    path.join(cwd, 'templates/web.yaml'),
    `template: standard-web\nadopt: true\nrecords:\n${lines}`,
  );
};

it('goes back from a newer version as the documentation says, and writes nothing twice', async () => {
  const cwd = await workplace({ withExamples: false });
  const state = path.join(cwd, 'state');
  const service = await startService();
  const apply = ['apply', '--yes'];
  const older = (): Promise<Ended> => run(apply, { cwd, env: service.env });
  const copy = (from: string, to: string) => cp(from, to, { recursive: true, preserveTimestamps: true });
  const named = async (name: string): Promise<string[]> =>
    (await service.records(17)).filter((record) => record.name === name).map(({ content }) => content);

  await describe(cwd, 'name: first, content: 192.0.2.1');
  await older();
  await copy(state, `${state}-copy`);
  await describe(cwd, 'name: first, content: 192.0.2.2', 'name: second, content: 192.0.2.2');
  await run(apply, { cwd, env: service.env }, newerProgram());
  expect([await named('first'), await named('second')]).toEqual([['192.0.2.2'], ['192.0.2.2']]);

  await describe(cwd, 'name: first, content: 192.0.2.3', 'name: second, content: 192.0.2.3');
  const refused = await older();
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('was written by a newer version of this program');
  expect([await named('first'), await named('second')]).toEqual([['192.0.2.2'], ['192.0.2.2']]);

  await rename(state, `${state}-newer`);
  await copy(`${state}-copy`, state);
  expect(await older()).toMatchObject({ code: 0, stdout: expect.stringContaining('2 applied') });
  expect([await named('first'), await named('second')]).toEqual([['192.0.2.3'], ['192.0.2.3']]);
});
