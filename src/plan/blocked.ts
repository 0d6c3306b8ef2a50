import { canonicalName, canonicalType } from '../model/canonical.ts';
import { dataOf, type ActualRecord } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import type { Blocked, Surplus } from './difference.ts';
import type { ActualEntry, DesiredEntry, Pair } from './entry.ts';
import { matchesIgnore } from './ignore.ts';
import type { BlockedStep } from './order.ts';
import type { PlanMemory } from './memory.ts';
import { parkedForm } from './parked.ts';
import type { Block, PlanInput } from './plan-input.ts';

/** `suspect`: a present record that may be the missing one. */
export const blockOfAdd = (
  desired: DesiredEntry,
  suspect: ActualEntry | undefined,
  input: PlanInput,
): Blocked | null => {
  const block = input.blockOf?.(desired, null);
  if (block) return blockedAs(block, desired, null);
  return suspect ? blockedAs(suspicionOf(desired, suspect, input.desired), desired, suspect.record) : null;
};

const suspicionOf = (
  desired: DesiredEntry,
  { record, type }: ActualEntry,
  { ignore }: DesiredTemplate,
): Block => ({
  reason: 'not-converging',
  message:
    type !== desired.type
      ? `record ${record.id} was this record and now has another type: ${canonicalType(record.type)}`
      : record.isUnreadable
        ? `record ${record.id} may be this record, and what the service shows of it cannot be understood: correct or delete it there`
        : matchesIgnore(ignore, record)
          ? `record ${record.id} (${shown(record)}) may be this record, and an ignore rule matches it: change it at the service, or the rule`
          : `record ${record.id} (${shown(record)}) may be this record in the service's spelling: accept it, or, if it is a different record, apply --retry`,
});

const shown = ({ name, type, content }: ActualRecord): string => `${name ?? '@'} ${type} ${content}`;

/** `twin`: a record that equals it but for its TTL, and that does not become now what the file wants of it. */
export const blockBeside = (desired: DesiredEntry, twin: ActualEntry | undefined): Blocked | null => {
  if (twin === undefined) return null;
  const message = `record ${twin.record.id} equals it but for the TTL until its own change is written`;
  return blockedAs({ reason: 'not-converging', message }, desired, twin.record);
};

/** An update cannot clear a name: fields that are not sent keep their value (specification §4.6). */
export const blockOfUpdate = (
  { desired, actual, fields }: Pair,
  { blockOf, memory }: PlanInput,
): Blocked | null => {
  const { record } = actual;
  const isForNothing = fields.length === 1 || !isNamedByService(actual, memory);
  if (desired.name === '' && fields.includes('name') && isForNothing) {
    const message = `record ${record.id} has the name ${record.name} now, and a name cannot be cleared`;
    return blockedAs({ reason: 'not-converging', message }, desired, record);
  }
  const block = blockOf?.(desired, actual);
  return block ? blockedAs(block, desired, record) : null;
};

/** If the service chose the name, the other fields can still change. */
const isNamedByService = ({ name, record }: ActualEntry, memory: PlanMemory): boolean => {
  const known = memory.byId.get(record.id);
  return known?.keptName === name && canonicalName(known.wanted.name) === '';
};

/** Why a record cannot be parked; null if it can be. One that was ignored then could not come back. */
export const parkBlockIn = (
  actual: ActualEntry,
  { desired, parkBlockOf }: PlanInput,
): Pick<Surplus, 'error' | 'retryAt'> | null => {
  const form = parkedForm(actual.record, actual.type);
  // The service may end its name as it ended the one that the record has.
  const ends = ['', ...actual.name.split('.').map((_, at, labels) => `.${labels.slice(at).join('.')}`)];
  const ignored = ends
    .map((end) => `${form.name}${end}`)
    .find((name) => matchesIgnore(desired.ignore, { ...form, name }));
  return ignored !== undefined
    ? {
        error: `an ignore rule matches ${ignored}, as it may be called once it is parked: it could not come back`,
      }
    : (parkBlockOf?.(actual, form) ?? null);
};

const blockedAs = (block: Block, desired: DesiredEntry, actual: ActualRecord | null): Blocked => ({
  action: 'blocked',
  reason: block.reason,
  desired: dataOf(desired.record),
  source: desired.record.source,
  ...(actual ? { recordId: actual.id, current: dataOf(actual) } : {}),
  ...(block.retryAt ? { retryAt: block.retryAt } : {}),
  message: block.message,
});

export const blockedByConflict = ({ step, reason, conflicts }: BlockedStep): Blocked => {
  const { difference } = step;
  return {
    action: 'blocked',
    reason,
    desired: difference.desired,
    source: difference.source,
    ...(difference.action === 'add' ? {} : { recordId: difference.recordId, current: difference.current }),
    conflicts,
    message:
      reason === 'cname-conflict'
        ? 'a CNAME must be alone at its name (RFC 1034 §3.6.2)'
        : 'a null MX must be the only MX of its name (RFC 7505 §3)',
  };
};
