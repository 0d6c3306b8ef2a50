import { dataKey, type SeenRequest, type WireRecord, type WireTemplate } from './wire.ts';

/** One write that reached the service. */
export interface SeenWrite {
  readonly request: SeenRequest;
  /** Before which listing after it the write was to be stored; 0 for at once, or never. */
  readonly late: number;
  /** The record after the write; null while it is not stored. */
  result: WireRecord | null;
}

/** Violations that no fault excuses. */
export const allWrongs = [
  'duplicate add',
  'duplicate made by an update',
  'foreign record touched',
  'equal record touched',
  'add that no file asked for',
  'passes interleaved',
] as const;
type Wrong = (typeof allWrongs)[number];

/** Knows what really happened at the service, and what was wrong. */
export interface Witness {
  readonly writes: readonly SeenWrite[];
  readonly wrongs: readonly { readonly wrong: Wrong; readonly what: string }[];
  /** By record: second adds after a first one that was stored later than the readings that resolve it. */
  readonly lateDuplicates: ReadonlyMap<string, number>;
  /** Records that must stay as they are. */
  protect(ids: readonly number[]): void;
  /** A file asks for these records, by `dataKey`. */
  ask(templateId: number, keys: readonly string[]): void;
  arrived(request: SeenRequest, before: WireTemplate | undefined, late: number): SeenWrite;
  stored(write: SeenWrite, before: WireTemplate | undefined, after: WireTemplate): void;
  changedByHand(before: WireTemplate | undefined, after: WireTemplate): void;
  /**
   * The caller was told how things are, by the answer to a write of that template or by a listing. A listing after
   * writes may have been asked for one template's sake, and the others be written by what was read before.
   */
  learned(caller: string, templateId: number | null): void;
  /** The caller got other information. */
  deceived(caller: string): void;
}

/** Later than the two readings that resolve an unknown outcome. */
const tooLate = 3;

export const createWitness = (): Witness => {
  const writes: SeenWrite[] = [];
  const wrongs: { wrong: Wrong; what: string }[] = [];
  const lateDuplicates = new Map<string, number>();
  const isProtected = new Set<number>();
  const asked = new Map<number, Set<string>>();
  const changedAt = new Map<number, number>();
  /** By caller: the version that it knows of each template, and of all others. */
  const knows = new Map<string, { of: Map<number, number>; others: number; hasWritten: boolean }>();
  let version = 0;

  const knowledgeOf = (caller: string): { of: Map<number, number>; others: number; hasWritten: boolean } => {
    const known = knows.get(caller) ?? { of: new Map<number, number>(), others: -1, hasWritten: false };
    knows.set(caller, known);
    return known;
  };

  const versionFor = ({ caller, templateId }: SeenRequest): number => {
    const known = knows.get(caller);
    return Math.max(known?.of.get(templateId) ?? -1, known?.others ?? -1);
  };

  const note = (wrong: Wrong, { request }: SeenWrite): void => {
    const { caller, operation, templateId, parameters } = request;
    wrongs.push({ wrong, what: `${caller}: ${operation} in ${templateId} ${JSON.stringify(parameters)}` });
  };

  const checkOrder = (write: SeenWrite): void => {
    const { caller } = write.request;
    const last = writes.at(-1)?.request.caller;
    if (last !== caller && writes.some(({ request }) => request.caller === caller))
      note('passes interleaved', write);
  };

  const checkAdd = (write: SeenWrite, before: WireTemplate, added: WireRecord): void => {
    const key = dataKey(added);
    const { templateId } = write.request;
    if (asked.size > 0 && !asked.get(templateId)?.has(key)) note('add that no file asked for', write);
    if (before.dns_template_records.every((record) => dataKey(record) !== key)) return;
    const isLate = writes.some(
      ({ late, request, result }) =>
        late >= tooLate && request.templateId === templateId && result !== null && dataKey(result) === key,
    );
    if (isLate || write.late >= tooLate) lateDuplicates.set(key, (lateDuplicates.get(key) ?? 0) + 1);
    else note('duplicate add', write);
  };

  const checkUpdate = (
    write: SeenWrite,
    before: WireTemplate,
    old: WireRecord,
    updated: WireRecord,
  ): void => {
    if (isProtected.has(old.id)) note('foreign record touched', write);
    const key = dataKey(updated);
    const isCopy = before.dns_template_records.some(
      (record) => record.id !== old.id && dataKey(record) === key,
    );
    if (isCopy && write.late === 0 && dataKey(old) !== key) note('duplicate made by an update', write);
  };

  return {
    writes,
    wrongs,
    lateDuplicates,
    protect: (ids) => {
      for (const id of ids) isProtected.add(id);
    },
    ask: (templateId, keys) => {
      asked.set(templateId, new Set([...(asked.get(templateId) ?? []), ...keys]));
    },
    arrived: (request, before, late) => {
      const write: SeenWrite = { request, late, result: null };
      const target = before?.dns_template_records.find(
        ({ id }) => String(id) === request.parameters['record_id'],
      );
      const isKnown = target !== undefined && versionFor(request) >= (changedAt.get(target.id) ?? 0);
      if (target && isKnown && holds(target, request)) note('equal record touched', write);
      knowledgeOf(request.caller).hasWritten = true;
      checkOrder(write);
      writes.push(write);
      return write;
    },
    stored: (write, before, after) => {
      const result = resultOf(write.request, before, after);
      const old = before?.dns_template_records.find(({ id }) => id === result.id);
      write.result = result;
      if (before && old) checkUpdate(write, before, old, result);
      else if (before) checkAdd(write, before, result);
      version += 1;
      changedAt.set(result.id, version);
    },
    changedByHand: (before, after) => {
      version += 1;
      const old = new Map(before?.dns_template_records.map((record) => [record.id, record]));
      for (const record of after.dns_template_records)
        if (JSON.stringify(record) !== JSON.stringify(old.get(record.id))) changedAt.set(record.id, version);
    },
    learned: (caller, templateId) => {
      const known = knowledgeOf(caller);
      if (templateId !== null) known.of.set(templateId, version);
      else if (!known.hasWritten) known.others = version;
      known.hasWritten = templateId !== null;
    },
    deceived: (caller) => {
      const { hasWritten } = knowledgeOf(caller);
      knows.set(caller, { of: new Map(), others: -1, hasWritten });
    },
  };
};

const resultOf = (
  { operation, parameters }: SeenRequest,
  before: WireTemplate | undefined,
  after: WireTemplate,
): WireRecord => {
  const old = new Set(before?.dns_template_records.map(({ id }) => id));
  const isResult = ({ id }: WireRecord): boolean =>
    operation === 'update' ? String(id) === parameters['record_id'] : !old.has(id);
  const result = after.dns_template_records.find(isResult);
  if (!result)
    throw new Error(`the embedded service stored no ${operation} of ${JSON.stringify(parameters)}`);
  return result;
};

/** Whether a record already has all values of an update. */
const holds = (record: WireRecord, { operation, parameters }: SeenRequest): boolean =>
  operation === 'update' &&
  (['content', 'name', 'priority', 'ttl'] as const).every(
    (field) => parameters[field] === undefined || parameters[field] === String(record[field] ?? ''),
  );
