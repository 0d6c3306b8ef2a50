import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { troubledDaemon } from './troubled-daemon.ts';
import { withTools } from './tools.ts';

it('answers the questions of the documentation', async () => {
  const { log, launch, edited, corrected, failed, invalid } = await troubledDaemon();
  await writeFile(path.join(launch.cwd, 'log.jsonl'), log);
  const page = await readFile('.github/docs/daemon.md', 'utf8');
  const questions = [...page.matchAll(/^# (.+\?)\n(jq .+)$/gm)];
  const answers: string[][] = [];
  for (const [, , command = ''] of questions) {
    const { stdout } = await promisify(execFile)('bash', ['-c', command], {
      cwd: launch.cwd,
      env: withTools(),
    });
    answers.push(stdout.trimEnd().split('\n'));
  }
  const [causes, writes, unknown, pass, why, files, requests] = answers;
  expect(answers).toHaveLength(7);
  expect(causes).toContainEqual(
    expect.stringContaining('"site","edited","templates/site.yaml",3,null,"file-change"'),
  );
  expect(causes).toContainEqual(
    expect.stringContaining('"site","drifted","templates/site.yaml",3,null,"request"'),
  );
  expect(writes).toContain(JSON.stringify([edited['write'], 'change.applied']));
  // What becomes of the one whose answer was lost, a later pass finds out.
  expect(writes).toContainEqual(expect.stringMatching(/"change\.unknown"\]$/));
  expect(unknown).toEqual([expect.stringContaining('"name":"www","content":"192.0.2.9"')]);
  expect(pass?.length).toBeGreaterThan(2);
  expect(why).toContainEqual(expect.stringContaining(`"default","${String(failed['run'])}","site: `));
  expect(files).toEqual([expect.stringContaining(`["${String(invalid['run'])}","templates/shop.yaml",3,`)]);
  expect(requests?.[0]).toContain(String(failed['run']));
  expect(corrected['error']).toBeUndefined();
});
