import { rm } from 'node:fs/promises';
import path from 'node:path';
import { writeBelow } from '../ways.ts';
import { status } from '../../wire/scripted-server.ts';
import { addTemplate, describing, startDaemon } from '../daemon.ts';
import { workplace, type LogLine } from '../../program.ts';
import { startService } from '../../service.ts';

/**
 * A daemon that lives through an edit, drift, an add whose answer is lost, an invalid file and a removed one, and ends.
 * Gives its log at the level `debug`, the lines that stand for these, and its report while the add was unknown.
 */
export const troubledDaemon = async () => {
  let isLosing = false;
  const service = await startService(({ method }) => (isLosing && method !== 'GET' ? status(500) : null));
  const id = await addTemplate(service, 'site', '192.0.2.1');
  await addTemplate(service, 'shop', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const edit = (name: string, text: string): Promise<void> => writeBelow(cwd, `templates/${name}.yaml`, text);
  await edit('site', withWww('192.0.2.1'));
  await edit('shop', describing('shop', '192.0.2.1'));
  const daemon = await startDaemon([], { cwd, env: { ...service.env, LOG_LEVEL: 'debug' } });
  await daemon.event('pass.finished');

  await edit('site', withWww('192.0.2.2'));
  const edited = await daemon.event('change.applied');
  await daemon.event('pass.finished');

  const [record] = await service.records(id);
  await service.change('edit-record', { record_id: record?.id, content: '192.0.2.7' });
  const corrected = await daemon.pass();

  const [, www] = await service.records(id);
  await service.change('remove-record', { record_id: www?.id });
  isLosing = true;
  const failed = await daemon.pass();
  const report = await daemon.json('/api/report');

  isLosing = false;
  await edit('shop', 'template: shop\nrecords:\n  - {type: A, content: nonsense}\n');
  const invalid = await daemon.event('templates.invalid');
  const refused = await daemon.event('pass.finished', isOf(invalid));
  await rm(path.join(cwd, 'templates/shop.yaml'));
  const unmanaged = await daemon.event('template.unmanaged');
  await daemon.event('pass.finished', isOf(unmanaged));

  daemon.signal('SIGTERM');
  const { stdout } = await daemon.ended;
  const launch = { cwd, env: service.env };
  return {
    lines: daemon.lines(),
    log: stdout,
    launch,
    edited,
    corrected,
    failed,
    report,
    invalid,
    refused,
  };
};

/** Whether a line is of the same pass. */
const isOf =
  ({ run }: LogLine) =>
  (line: LogLine): boolean =>
    line['run'] === run;

const withWww = (address: string): string =>
  `${describing('site', address)}  - {type: A, name: www, content: 192.0.2.9}\n`;
