import type { ActualRecord, RecordType } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { isKnownType } from './canonical.ts';
import { drawForeign, drawRecord } from './files.ts';
import { shown } from './records.ts';
import type { World } from './world.ts';

/** What somebody else does to a template. */
export const deeds = ['adds', 'changes', 'removes'] as const;

/** The service's own, for people. */
export interface Panel {
  /** The true state. */
  templates(): readonly ActualTemplate[];
  change(templateId: number, change: (records: readonly ActualRecord[]) => readonly ActualRecord[]): void;
  newId(): number;
}

/** Other people in the service's own panel: they add, change and remove records. */
export const meddle = (
  world: World,
  service: Panel,
  templateId: number,
  deed: (typeof deeds)[number] = world.random.pick(['adds', 'removes', 'changes']),
): void => {
  const { random } = world;
  const before = service.templates().find(({ id }) => id === templateId)!.records;
  const note = (what: string, record: ActualRecord): void =>
    world.note(() => `* ${templateId}: somebody ${what} ${shown(record)}`);
  if (before.length === 0 || deed === 'adds') {
    const record = { ...drawForeign(random), id: service.newId() };
    note('adds', record);
    service.change(templateId, (records) => [...records, record]);
    return;
  }
  const victim = random.pick(before);
  if (deed === 'removes') {
    note('removes', victim);
    service.change(templateId, (records) => records.filter((record) => record !== victim));
    return;
  }
  const other = isKnownType(victim) ? drawRecord(random, victim.type as RecordType) : drawForeign(random);
  const field = random.pick(['content', 'content', 'name', 'ttl', 'priority'] as const);
  const changed = { ...victim, [field]: other[field] ?? (field === 'ttl' ? 3_600 : null) };
  note(`changes ${shown(victim)} to`, changed);
  service.change(templateId, (records) => records.map((record) => (record === victim ? changed : record)));
};
