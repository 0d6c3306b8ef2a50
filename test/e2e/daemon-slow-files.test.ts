import { rename, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, contentsOf, describing, startDaemon } from './daemon.ts';
import { workplace, type LogLine } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 120_000 });

const isAfterEdit = ({ trigger }: LogLine): boolean => trigger === 'file-change';
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

/** Of which nothing comes, since the last is wrong: the pass after it is short. */
const recordsOf = (count: number): string =>
  `records:\n${lines(count, (index) => `- {type: TXT, name: n${index}, content: x}\n`)}- {type: TXT}\n`;
const including = (name: string): string => `---\ntemplate: ${name}\ninclude: [_shared.yaml]\n`;

/** Files as large as they may be, or of which much is made: each takes seconds. */
const slow: Record<string, Record<string, string>> = {
  'a small fragment of many templates': {
    '_shared.yaml': recordsOf(5_000),
    'large.yaml': lines(90, (index) => including(`large-${index}`)),
  },
};

describe('while the daemon reads for seconds', () => {
  it.each(Object.entries(slow))('%s, it answers other requests', async (_, files) => {
    const service = await startService();
    const id = await addTemplate(service, 'site', '192.0.2.1');
    const cwd = await workplace({ withExamples: false });
    const edit = (content: string): Promise<void> =>
      writeBelow(cwd, 'templates/site.yaml', describing('site', content));
    await edit('192.0.2.1');
    const daemon = await startDaemon([], { cwd, env: service.env });
    await daemon.event('pass.finished');
    for (const [name, text] of Object.entries(files)) {
      await writeBelow(cwd, `next/${name}`, text);
      await utimes(path.join(cwd, 'next', name), 0, 0);
      await rename(path.join(cwd, 'next', name), path.join(cwd, 'templates', name));
    }
    let answers = 0;
    const read = daemon.event('pass.finished', isAfterEdit);
    for (let isRead = false; !isRead; answers += 1) {
      expect((await daemon.ask('/livez')).ok).toBe(true);
      isRead = daemon
        .lines()
        .some(({ event, trigger }) => event === 'pass.finished' && trigger === 'file-change');
    }
    await read;
    expect(answers).toBeGreaterThan(20);
    await edit('192.0.2.2');
    await daemon.event('change.applied');
    expect(await contentsOf(service, id)).toEqual(['192.0.2.2']);
  });
});
