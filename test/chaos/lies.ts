import type { Answering, Lie } from './fault.ts';
import { dataKey, type SeenRequest, type WireRecord, type WireTemplate } from './wire.ts';

const lies: ReadonlySet<Answering> = new Set<Lie>([
  'stale',
  'short',
  'sibling',
  'extra',
  'lag',
  'half',
  'none',
]);

export const isLie = (answer: Answering): answer is Lie => lies.has(answer);

/** A faked template in a listing; `listed` is the one in the previous listing. Public ones stay. */
export const claimInListing = (
  template: WireTemplate,
  lie: Lie,
  listed: WireTemplate | undefined,
): WireTemplate => {
  if (template.publicly_available) return template;
  if (lie === 'lag') return listed ?? template;
  return withRecords(template, ({ id }) => lie === 'half' && id % 2 === 0);
};

/** The faked template in the answer to a write. `all` has the true templates. */
export const claimInAnswer = (
  lie: Lie,
  { operation, parameters }: SeenRequest,
  { before, after, all }: { before: WireTemplate; after: WireTemplate; all: readonly WireTemplate[] },
): WireTemplate => {
  const records = after.dns_template_records;
  const newest = records.toSorted((a, b) => b.id - a.id)[0];
  const own =
    operation === 'update' ? records.find(({ id }) => String(id) === parameters['record_id']) : newest;
  if (lie === 'stale' || !own) return before;
  if (lie === 'short') return withRecords(after, ({ id }) => id === own.id || id % 2 === 0);
  if (lie === 'sibling') return siblingOf(after, own, all);
  const ghost = { ...own, id: own.id + 1_000_000, content: 'ghost.example' };
  return { ...after, dns_template_records: [...records, ghost] };
};

/** Another template of the client; if possible one with the same record, so that it looks right. */
const siblingOf = (template: WireTemplate, own: WireRecord, all: readonly WireTemplate[]): WireTemplate => {
  const others = all.filter(({ id, publicly_available }) => id !== template.id && !publicly_available);
  const isAlike = (other: WireTemplate): boolean =>
    other.dns_template_records.some((record) => dataKey(record) === dataKey(own));
  return others.find(isAlike) ?? others[0] ?? template;
};

const withRecords = (template: WireTemplate, keeps: (record: WireRecord) => boolean): WireTemplate => ({
  ...template,
  dns_template_records: template.dns_template_records.filter(keeps),
});
