import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createTemplateLoader } from '../../src/desired/load.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import { options, write } from '../desired/load-files.ts';
import { startDaemon } from './daemon.ts';
import { run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const hosts = Array.from(
  { length: 200 },
  (_, index) => `  - {type: CNAME, name: host-${index}, content: target-${index}.example.net}\n`,
).join('');

const templateText = (file: number): string =>
  `template: template-${file}\nrecords:\n${hosts}${file % 3 === 0 ? wrong : ''}`;

const wrong = '  - {type: A, name: wrong, content: 192.0.2.256}\n';

/** Beyond what one thread reads alone; every third file has something wrong, one includes a fragment. */
const files: Record<string, string> = {
  '_shared.yaml': 'vars: {host: www}\nrecords:\n  - {type: TXT, name: "${host}", content: shared}\n',
  'with-fragment.yaml': 'template: with-fragment\ninclude: [_shared.yaml]\nrecords: []\n',
  ...Object.fromEntries([...Array(30).keys()].map((file) => [`template-${file}.yaml`, templateText(file)])),
};

const place = async () => {
  const cwd = await workplace({ withExamples: false });
  const templates = path.join(cwd, 'templates');
  await write(templates, files);
  // Here the sources run as they are, in one thread.
  const state = await createTemplateLoader().load({ ...options, paths: [templates] });
  const lines = state.problems.map((problem) => formatProblem(problem).replace(`${cwd}/`, ''));
  expect(lines).toHaveLength(10);
  return { cwd, state, lines };
};

describe('many files, read in several threads', () => {
  it('say to a command what they say when they are read one after the other', async () => {
    const { cwd, lines } = await place();
    const { code, stdout } = await run(['validate'], { cwd });
    expect(stdout.split('\n')).toEqual([...lines, '31 template files: 10 errors, 0 warnings', '']);
    expect(code).toBe(1);
  });

  it('say the same to the daemon, which leaves all of them to others', async () => {
    const { cwd, lines, state } = await place();
    const service = await startService();
    for (const { template, records } of state.templates) {
      const there = records.map(({ type, name, content }) => ({
        type,
        name,
        content,
        priority: null,
        ttl: 3_600,
      }));
      expect(await service.change('add-template', { name: template, records: there })).toHaveProperty('id');
    }
    const daemon = await startDaemon([], { cwd, env: service.env });
    const { problems } = await daemon.event('templates.invalid');
    expect(Array.isArray(problems) && problems.map(formatProblem)).toEqual(lines);
    expect(await daemon.event('pass.finished')).toMatchObject({ summary: { inSync: 20 * 200 + 1 } });
  });
});
