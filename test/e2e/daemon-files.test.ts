import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { reportSchema } from '../../src/report-schema.ts';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, contentsOf, describing, startDaemon } from './daemon.ts';
import { workplace, type LogLine } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const isAfterEdit = ({ trigger }: LogLine): boolean => trigger === 'file-change';
/** A service with a template for each file `templates/NAME.yaml`, and the daemon after its first pass. */
const started = async (...names: readonly string[]) => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  const write = (name: string, content: string): Promise<void> =>
    writeBelow(cwd, `templates/${name}.yaml`, content);
  const ids = new Map<string, number>();
  for (const name of names) {
    ids.set(name, await addTemplate(service, name, '192.0.2.1'));
    await write(name, describing(name, '192.0.2.1'));
  }
  const daemon = await startDaemon([], { cwd, env: service.env });
  expect(await daemon.event('pass.finished')).toMatchObject({ status: 'in-sync' });
  const idOf = (name: string): number => ids.get(name) ?? expect.fail(`there is no ${name}`);
  /** What somebody else does to the record at the service. */
  const drift = async (name: string, content: string): Promise<void> => {
    const [record] = await service.records(idOf(name));
    await service.change('edit-record', { record_id: record?.id, content });
  };
  const contents = (name: string): Promise<string[]> => contentsOf(service, idOf(name));
  return { service, cwd, write, daemon, drift, contents, idOf };
};

describe('templates without a file', () => {
  it('are on the page', async () => {
    const { service, daemon } = await started('site');
    await addTemplate(service, 'trial', '192.0.2.1');
    await daemon.pass();
    expect(await (await daemon.ask('/')).text()).toMatch(/have no file \([^)]*trial/);
  });
});

describe('template files that change', () => {
  it('in place and drop a record put it to another use half a minute later, when nothing can be on its way', async () => {
    const service = await startService();
    const id = await addTemplate(service, 'site', '192.0.2.1');
    const cwd = await workplace({ withExamples: false });
    const write = (name: string): Promise<void> =>
      writeBelow(
        cwd,
        'templates/site.yaml',
        `${describing('site', '192.0.2.1', 'surplus: park\n')}  - {type: A, name: ${name}, content: 192.0.2.2}\n`,
      );
    await write('www');
    let passed = 0;
    const clock = { ...systemClock, now: () => Date.now() + passed };
    const { event, json } = await startDaemon([], { cwd, env: service.env, clock });
    await event('pass.finished');
    await write('mail');
    passed += 3_000;
    await event('pass.finished', isAfterEdit);
    const names = async (): Promise<(string | null)[]> =>
      (await service.records(id)).map(({ name }) => name ?? null);
    expect(await names()).toEqual([null, 'www']);
    const report = reportSchema.parse(await json('/api/report'));
    expect(report.templates[0]?.differences).toMatchObject([
      { action: 'update', outcome: 'skipped', error: expect.stringContaining('may still be on its way') },
    ]);
    passed += 30_000;
    await event('pass.finished', isAfterEdit);
    expect(await names()).toEqual([null, 'mail']);
  });
});
