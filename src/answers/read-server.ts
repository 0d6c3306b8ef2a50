import { randomBytes } from 'node:crypto';
import type { AnswerDifference, ServerResult } from '../result.ts';
import type { DnsServer } from './dns-server.ts';
import { soaIn } from './find-servers.ts';
import type { AskedType, DnsReply } from './message.ts';
import { isName, isWithin, parentOf } from './names.ts';
import { agree, answeredSet, sameData, type RecordSet, type ShownRecords } from './record-sets.ts';

/** What one server answers otherwise than the service shows. */
export interface ServerReading {
  readonly status: ServerResult['status'];
  readonly message: string | null;
  readonly serial: number | null;
  /** The primary server that the zone's serials are counted by. */
  readonly primary: string | null;
  readonly differences: readonly Omit<AnswerDifference, 'server'>[];
}

/** Asks one server for each record set that the service shows, and for what might stand beside them. */
export const readServer = async (server: DnsServer, shown: ShownRecords): Promise<ServerReading> => {
  const start = await readZone(server, shown.subdomain);
  if ('status' in start) return { ...nothing, ...start };
  const differences: Omit<AnswerDifference, 'server'>[] = [];
  const reading = new Reading(server, shown, start.apex, (difference) => differences.push(difference));
  try {
    await reading.compare();
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return { ...nothing, ...start, status: error.status, message: error.message };
  }
  const isDrifted = differences.some(({ kind }) => kind !== 'flattened');
  const end = isDrifted ? await readZone(server, shown.subdomain) : start;
  const hasMoved = 'serial' in end && end.serial !== start.serial;
  return {
    ...start,
    status: !isDrifted ? 'in-sync' : hasMoved ? 'pending' : 'drifted',
    message: hasMoved && isDrifted ? 'the zone changed while it was read' : null,
    differences,
  };
};

const nothing = { serial: null, primary: null, differences: [] };

interface Zone {
  /** Null where the server does not tell. */
  readonly apex: string | null;
  readonly serial: number | null;
  readonly primary: string | null;
}

/** The zone that the server has for a subdomain, or why it has none. */
const readZone = async (
  server: DnsServer,
  subdomain: string,
): Promise<Zone | Pick<ServerReading, 'status' | 'message'>> => {
  for (let name: string | null = subdomain; name !== null; name = parentOf(name)) {
    const reply = await server.ask({ name, type: 'SOA' });
    const fault = faultOf(reply, name);
    if (fault !== null) {
      // Above the zone the server need not know anything.
      return name === subdomain ? fault : { apex: null, serial: null, primary: null };
    }
    const soa = soaIn(reply!, name);
    if (soa !== undefined) return { apex: soa.name, serial: soa.serial, primary: soa.content };
  }
  return { apex: null, serial: null, primary: null };
};

/** Why a reply cannot be taken for an answer; null where it can. */
const faultOf = (
  reply: DnsReply | null,
  name: string,
): { status: 'silent' | 'refused' | 'lame'; message: string } | null => {
  if (reply === null) return { status: 'silent', message: 'it does not answer' };
  if (reply.rcode === 'REFUSED') return { status: 'refused', message: `it refuses the question for ${name}` };
  if (!isAnswer(reply))
    return { status: 'lame', message: `it answers ${reply.rcode} to the question for ${name}` };
  return reply.isAuthoritative
    ? null
    : { status: 'lame', message: `it answers without authority to the question for ${name}` };
};

const isAnswer = ({ rcode }: DnsReply): boolean => rcode === 'NOERROR' || rcode === 'NXDOMAIN';

class ReadError extends Error {
  readonly status: ServerReading['status'];

  constructor({ status, message }: { status: ServerReading['status']; message: string }) {
    super(message);
    this.status = status;
  }
}

/** One reading of one server. */
class Reading {
  readonly #server: DnsServer;
  readonly #shown: ShownRecords;
  readonly #apex: string | null;
  readonly #add: (difference: Omit<AnswerDifference, 'server'>) => void;
  /** A label that no zone has by itself: what answers to it is a wildcard. */
  readonly #label = `r${randomBytes(8).toString('hex')}`;
  readonly #wildcards = new Map<string, Promise<RecordSet | null>>();
  readonly #foreign = new Set<string>();

  constructor(
    server: DnsServer,
    shown: ShownRecords,
    apex: string | null,
    add: (difference: Omit<AnswerDifference, 'server'>) => void,
  ) {
    this.#server = server;
    this.#shown = shown;
    this.#apex = apex;
    this.#add = add;
  }

  async compare(): Promise<void> {
    const { sets, subdomain } = this.#shown;
    const names = new Set([subdomain, ...sets.map(({ name }) => name)]);
    const parents = new Set([...names].flatMap((name) => this.#wildcardParent(name) ?? []));
    await inTurns([...parents], (parent) => this.#compareWildcard(parent));
    await inTurns([...names], (name) => this.#compareName(name));
  }

  /** Of a literal star nothing can be a wildcard's answer, nor of what stands at the apex. */
  #wildcardParent(name: string): string | null {
    if (name === this.#apex || name.startsWith('*.')) return null;
    const parent = parentOf(name);
    return parent !== null && (this.#apex === null || isWithin(parent, this.#apex)) ? parent : null;
  }

  /** A wildcard that the service does not show. */
  async #compareWildcard(parent: string): Promise<void> {
    const star = `*.${parent}`;
    if (!isWithin(parent, this.#shown.subdomain) || this.#shown.typesAt(star).size > 0) return;
    if ((await this.#ofWildcard(parent, 'A')) === null) return;
    for (const type of wildcardTypes) this.#takeForeign(await this.#ask(star, type));
  }

  async #compareName(name: string): Promise<void> {
    const shown = this.#shown.typesAt(name);
    const types = typesBeside(shown, name === this.#shown.subdomain);
    await Promise.all(types.map((type) => this.#compareSet(name, type)));
  }

  async #compareSet(name: string, type: AskedType): Promise<void> {
    const desired = this.#shown.set(name, type);
    const { answered, alias } = await this.#read(name, type);
    if (agree(desired, answered) && !(await this.#isOfWildcard(answered))) return;
    if (desired === undefined) {
      // What a wildcard answers for a name that is missing is told of the name.
      if (answered.records.length > 0 && !(await this.#isOfWildcard(answered))) this.#takeForeign(answered);
      return;
    }
    const isThere = answered.records.length > 0 && !(await this.#isOfWildcard(answered));
    const flattened = type === 'CNAME' && !isThere && name === this.#apex ? await this.#addresses(name) : [];
    this.#add({
      kind: flattened.length > 0 ? 'flattened' : isThere ? 'stale' : 'missing',
      name,
      type,
      desired: desired.records,
      current: isThere ? answered.records : flattened,
    });
    if (alias !== null && !this.#shown.typesAt(name).has('CNAME') && !(await this.#isOfWildcard(alias)))
      this.#takeForeign(alias);
  }

  async #addresses(name: string): Promise<RecordSet['records']> {
    const sets = await Promise.all([this.#ask(name, 'A'), this.#ask(name, 'AAAA')]);
    return sets.flatMap(({ records }) => records);
  }

  /** An alias shows in the answers for every type. */
  #takeForeign({ name, type, records }: RecordSet): void {
    const key = `${name} ${type}`;
    if (records.length === 0 || this.#foreign.has(key)) return;
    this.#foreign.add(key);
    this.#add({ kind: 'foreign', name, type, desired: [], current: records });
  }

  /**
   * Whether an answer is what a wildcard says for a name that is not there: below a name that is, the wildcard above
   * it does not answer (RFC 4592 §2.2.1).
   */
  async #isOfWildcard(answered: RecordSet): Promise<boolean> {
    const { name, type, records } = answered;
    const parent = this.#wildcardParent(name);
    if (parent === null || records.length === 0 || this.#shown.typesAt(`*.${name}`).size > 0) return false;
    const beside = await this.#ofWildcard(parent, type);
    if (beside === null || !sameData(beside.records, records)) return false;
    const below = await this.#ofWildcard(name, type);
    return below !== null && sameData(below.records, records);
  }

  /** What a wildcard below this name answers; null where there is none. */
  #ofWildcard(parent: string, type: AskedType): Promise<RecordSet | null> {
    const key = `${parent} ${type}`;
    const found = this.#wildcards.get(key) ?? this.#askForWildcard(parent, type);
    this.#wildcards.set(key, found);
    return found;
  }

  async #askForWildcard(parent: string, type: AskedType): Promise<RecordSet | null> {
    const name = `${this.#label}.${parent}`;
    if (!isName(name)) return null;
    if (type !== 'A' && (await this.#ofWildcard(parent, 'A')) === null) return null;
    const reply = await this.#reply(name, type);
    return reply.rcode === 'NXDOMAIN'
      ? null
      : answeredSet(this.#shown.subdomain, { name, type }, reply.answers);
  }

  async #ask(name: string, type: AskedType): Promise<RecordSet> {
    return (await this.#read(name, type)).answered;
  }

  async #read(name: string, type: AskedType): Promise<{ answered: RecordSet; alias: RecordSet | null }> {
    const { answers } = await this.#reply(name, type);
    const of = (one: AskedType): RecordSet =>
      answeredSet(this.#shown.subdomain, { name, type: one }, answers);
    const alias = type === 'CNAME' ? null : of('CNAME');
    return { answered: of(type), alias: alias !== null && alias.records.length > 0 ? alias : null };
  }

  /** A name that is delegated away is answered without authority: nothing of that counts. */
  async #reply(name: string, type: AskedType): Promise<DnsReply> {
    const reply = await this.#server.ask({ name, type });
    if (reply !== null && !reply.isAuthoritative && isAnswer(reply)) return { ...reply, answers: [] };
    const fault = faultOf(reply, `${name} ${type}`);
    if (fault !== null) throw new ReadError(fault);
    return reply!;
  }
}

const wildcardTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const;

/** At the subdomain itself most is felt of what should not be there; an address beside another one, at every name. */
const typesBeside = (shown: ReadonlySet<AskedType>, isSubdomain: boolean): AskedType[] => {
  const beside: AskedType[] = shown.has('CNAME')
    ? []
    : isSubdomain
      ? ['A', 'AAAA', 'CNAME', 'MX', 'TXT']
      : shown.has('A') || shown.has('AAAA')
        ? ['A', 'AAAA']
        : [];
  return [...new Set([...shown, ...beside])];
};

/** So many of a long list at a time: what is known of the others would only take memory. */
const inTurns = async <T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> => {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await task(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: namesAtOnce }, work));
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
};

const namesAtOnce = 32;
