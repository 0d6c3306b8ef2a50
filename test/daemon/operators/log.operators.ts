import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { workplace } from '../../program.ts';
import { startService } from '../../service.ts';
import { status } from '../../wire/scripted-server.ts';
import { addTemplate, describing, startDaemon } from '../daemon.ts';
import { writeBelow } from '../ways.ts';
import { withTools } from './tools.ts';

/** Lives through an edit, drift, an add whose answer is lost, an invalid file and a removed one, and ends. */
const troubledDaemon = async () => {
  let isLosing = false;
  const service = await startService(({ method }) => (isLosing && method !== 'GET' ? status(500) : null));
  const id = await addTemplate(service, 'site', '192.0.2.1');
  await addTemplate(service, 'shop', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const edit = (name: string, text: string): Promise<void> => writeBelow(cwd, `templates/${name}.yaml`, text);
  const editSite = (address: string): Promise<void> =>
    edit('site', `${describing('site', address)}  - {type: A, name: www, content: 192.0.2.9}\n`);
  await editSite('192.0.2.1');
  await edit('shop', describing('shop', '192.0.2.1'));
  const daemon = await startDaemon([], { cwd, env: { ...service.env, LOG_LEVEL: 'debug' } });
  await daemon.event('pass.finished');

  await editSite('192.0.2.2');
  const edited = await daemon.event('change.applied');
  await daemon.event('pass.finished');

  const [record] = await service.records(id);
  await service.change('edit-record', { record_id: record?.id, content: '192.0.2.7' });
  const corrected = await daemon.pass();

  const [, www] = await service.records(id);
  await service.change('remove-record', { record_id: www?.id });
  isLosing = true;
  const failed = await daemon.pass();

  isLosing = false;
  await edit('shop', 'template: shop\nrecords:\n  - {type: A, content: nonsense}\n');
  const invalid = await daemon.event('templates.invalid');
  await daemon.event('pass.finished', ({ run }) => run === invalid['run']);
  await rm(path.join(cwd, 'templates/shop.yaml'));
  const unmanaged = await daemon.event('template.unmanaged');
  await daemon.event('pass.finished', ({ run }) => run === unmanaged['run']);

  daemon.signal('SIGTERM');
  const { stdout: log } = await daemon.ended;
  return { log, cwd, edited, corrected, failed, invalid };
};

it('answers the questions of the documentation', async () => {
  const { log, cwd, edited, corrected, failed, invalid } = await troubledDaemon();
  await writeFile(path.join(cwd, 'log.jsonl'), log);
  const page = await readFile('.github/docs/daemon.md', 'utf8');
  const answers: string[][] = [];
  for (const [, command = ''] of page.matchAll(/^# .+\?\n(jq .+)$/gm)) {
    const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd, env: withTools() });
    answers.push(stdout.trimEnd().split('\n'));
  }
  const [causes, writes, unknown, pass, why, files, requests] = answers;
  expect(answers).toHaveLength(7);
  const place = '"templates/site.yaml",3,null';
  for (const cause of [`"site","edited",${place},"file-change"`, `"site","drifted",${place},"request"`])
    expect(causes).toContainEqual(expect.stringContaining(cause));
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
