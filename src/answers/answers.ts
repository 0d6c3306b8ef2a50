import type { Resolver } from 'node:dns/promises';
import { limit } from '../lib/limit.ts';
import { canonicalContent, canonicalName, canonicalType } from '../model/canonical.ts';
import { canonicalHost } from '../model/host.ts';
import { hasPriority, type RecordData } from '../model/record.ts';
import type { SubdomainRecord } from '../model/template.ts';
import type { AnswerDifference, ServerResult, SubdomainAnswers } from '../result.ts';
import {
  ask,
  codeOf,
  isAskedType,
  isSilence,
  resolverAt,
  silenceWords,
  unlessAbsent,
  type AskedType,
} from './ask.ts';
import { delegatedServers, givenServers, type KnownServer } from './find-servers.ts';

export interface AnswersOptions {
  /** The address of a recursive server; null: those of the system. */
  readonly resolver: string | null;
  /** Milliseconds after the last write during which a difference is pending; at least the highest TTL. */
  readonly grace: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Milliseconds before a question is repeated. */
  readonly timeout: number;
}

export interface SubdomainQuestion {
  readonly subdomain: string;
  /** The records at the service. */
  readonly records: readonly SubdomainRecord[];
  /** The only servers to ask; empty: those that the zone is delegated to. */
  readonly nameservers: readonly string[];
  /** When the subdomain's template was last written, in ms since the epoch; null if unknown. */
  readonly lastWriteAt: number | null;
  /** Whether what a record points at does not matter. */
  readonly ignores?: (record: RecordData) => boolean;
  /** The previous answers: what was drift then is not pending. */
  readonly previous: SubdomainAnswers | null;
}

export type Answers = (question: SubdomainQuestion) => Promise<SubdomainAnswers>;

/** Compares each record set that the service shows of a subdomain with what each of its name servers answers. */
export const openAnswers = (options: AnswersOptions): Answers => {
  const { timeout } = options;
  const resolver = resolverAt(options.resolver, timeout);
  const servers = new Map<string, Server>();
  const serverAt = (address: string): Server => {
    const known = servers.get(address) ?? {
      resolver: resolverAt(address, timeout),
      // Questions at once.
      limited: limit(32),
      hasAnswered: false,
      silence: null,
    };
    servers.set(address, known);
    return known;
  };
  options.signal.addEventListener('abort', () => {
    for (const one of [resolver, ...[...servers.values()].map((server) => server.resolver)]) one.cancel();
  });
  const targets = new Map<string, Promise<boolean>>();
  const isGone = (target: string): Promise<boolean> => {
    const known = targets.get(target) ?? doesNotExist(target, resolver);
    targets.set(target, known);
    return known;
  };
  return async (question) => {
    const { nameservers, ignores = () => false } = question;
    const subdomain = canonicalHost(question.subdomain);
    const found = await (nameservers.length > 0
      ? givenServers(nameservers, options.resolver === null ? null : resolver)
      : delegatedServers(subdomain, resolver));
    if (typeof found === 'string') return failed(found);
    if (found.length === 0) return failed('there is no route to any of the name servers');
    const sets = setsOf(subdomain, question.records);
    const reads = await Promise.all(
      found.map((server) => read(server, subdomain, sets, () => serverAt(server.address))),
    );
    // Only a resolver that is given too is sure to know the same names as servers that are given.
    const knowsTargets = nameservers.length === 0 || options.resolver !== null;
    const dangling = knowsTargets
      ? await danglingIn(sets, isGone, ignores, `resolver ${options.resolver ?? 'of the system'}`)
      : [];
    return summed(reads, dangling, isFresh(question, options) && question.previous?.status !== 'drifted');
  };
};

interface Server {
  readonly resolver: Resolver;
  readonly limited: ReturnType<typeof limit>;
  hasAnswered: boolean;
  /** Why it is not asked again in this round: it has answered nothing. */
  silence: string | null;
}

/** All records of one name and type at the service. */
interface RecordSet {
  /** Absolute. */
  readonly name: string;
  readonly type: AskedType;
  readonly records: readonly RecordData[];
}

/** Without types that no template has, and what is in a zone of its own below. */
const setsOf = (subdomain: string, records: readonly SubdomainRecord[]): readonly RecordSet[] => {
  const absolute = (name: string | null): string => {
    const own = canonicalHost(canonicalName(name));
    return own === '' ? subdomain : isWithin(own, subdomain) ? own : `${own}.${subdomain}`;
  };
  const zones = records.flatMap(({ type, name }) =>
    canonicalType(type) === 'NS' && absolute(name) !== subdomain ? [absolute(name)] : [],
  );
  const sets = new Map<string, RecordSet>();
  for (const { type: given, name: relative, content, priority } of records) {
    const [type, name] = [canonicalType(given), absolute(relative)];
    if (!isAskedType(type) || !isName(name) || zones.some((zone) => isWithin(name, zone))) continue;
    const record: RecordData = {
      type,
      name: relative,
      content: canonicalContent(type, content),
      priority: hasPriority(type) ? priority : null,
      ttl: null,
    };
    const key = `${name} ${type}`;
    sets.set(key, { name, type, records: [...(sets.get(key)?.records ?? []), record] });
  }
  return [...sets.values()];
};

const isWithin = (name: string, zone: string): boolean => name === zone || name.endsWith(`.${zone}`);

/** RFC 1035 §3.1. */
const isName = (name: string): boolean =>
  name.length <= 253 && name.split('.').every((label) => /^[!-~]{1,63}$/.test(label));

interface ServerReading {
  readonly server: ServerResult;
  /** Anything, be it an error. */
  readonly hasAnswered: boolean;
  readonly differences: readonly AnswerDifference[];
}

const read = async (
  { name, address, refusal }: KnownServer,
  subdomain: string,
  sets: readonly RecordSet[],
  open: () => Server,
): Promise<ServerReading> => {
  const unread = (status: 'failed' | 'silent', message: string): ServerReading => ({
    server: { name, address, serial: null, status, message },
    hasAnswered: false,
    differences: [],
  });
  if (refusal !== null) return unread('failed', refusal);
  const known = open();
  const { resolver, limited, silence } = known;
  if (silence !== null) return unread('silent', silence);
  const differences: AnswerDifference[] = [];
  let [serial, message]: [number | null, string | null] = [null, null];
  let hasAnswered = true;
  try {
    // If it does not answer this, it is not asked for each set.
    serial = await unlessAbsent(
      resolver.resolveSoa(subdomain).then((soa) => soa.serial),
      null,
    );
    known.hasAnswered = true;
    await Promise.all(
      sets.map(({ name: asked, type, records: desired }) =>
        limited(async () => {
          const found = await ask(resolver, asked, type);
          if (isSame(desired, found)) return;
          const kind = found.length === 0 ? 'missing' : 'stale';
          const current = found.map((record) => ({ ...record, name: desired[0]!.name }));
          differences.push({ kind, server: name, address, name: asked, type, desired, current });
        }),
      ),
    );
  } catch (error) {
    message = silenceWords(error);
    hasAnswered = differences.length > 0 || !isSilence(error);
    if (!hasAnswered && !known.hasAnswered) known.silence = message;
  }
  const status = differences.length > 0 ? 'drifted' : message === null ? 'in-sync' : 'silent';
  return { server: { name, address, serial, status, message }, hasAnswered, differences };
};

const isSame = (some: readonly RecordData[], others: readonly RecordData[]): boolean => {
  const [one, other] = [some, others].map(
    (records) => new Set(records.map(({ content, priority }) => `${priority} ${content}`)),
  );
  return one!.size === other!.size && [...one!].every((key) => other!.has(key));
};

/** Sets with a record whose target does not exist. */
const danglingIn = async (
  sets: readonly RecordSet[],
  isGone: (target: string) => Promise<boolean>,
  ignores: (record: RecordData) => boolean,
  server: string,
): Promise<readonly AnswerDifference[]> => {
  const own = new Set(sets.map(({ name }) => name));
  const found = sets.map(async ({ name, type, records }): Promise<readonly AnswerDifference[]> => {
    if (type !== 'CNAME' && type !== 'MX' && type !== 'SRV') return [];
    const gone = [];
    for (const record of records) {
      const target = record.content.split(' ').at(-1) ?? '';
      // RFC 6761 §6.4: what is never to exist is meant so, as the target of a parked record.
      const isMeant =
        isName(target) && target.includes('.') && !isWithin(target, 'invalid') && !own.has(target);
      if (isMeant && !ignores(record) && (await isGone(target))) gone.push({ record, target });
    }
    if (gone.length === 0) return [];
    const current = gone.map(({ record }) => record);
    const message = `${[...new Set(gone.map(({ target }) => target))].join(', ')} does not exist`;
    return [{ kind: 'dangling', server, address: '', name, type, desired: current, current, message }];
  });
  return (await Promise.all(found)).flat();
};

/** Two questions must say so. A resolver that does not answer is nobody's fault. */
const doesNotExist = async (target: string, resolver: Resolver): Promise<boolean> => {
  for (const question of [() => resolver.resolve4(target), () => resolver.resolve6(target)]) {
    const code = await question().then(() => '', codeOf);
    if (code !== 'ENOTFOUND') return false;
  }
  return true;
};

const isFresh = (
  { records, lastWriteAt }: SubdomainQuestion,
  { grace, now }: Pick<AnswersOptions, 'grace' | 'now'>,
): boolean => {
  const highestTtl = 1_000 * records.reduce((highest, { ttl }) => Math.max(highest, ttl ?? 0), 0);
  return lastWriteAt !== null && Math.abs(now() - lastWriteAt) < Math.max(grace, highestTtl);
};

/** A silent server is drift while others answer, since some clients will ask it; so is one that refuses, or fails. */
const summed = (
  reads: readonly ServerReading[],
  dangling: readonly AnswerDifference[],
  isPending: boolean,
): SubdomainAnswers => {
  const servers = reads.map(({ server }) => server);
  const differences = [...reads.flatMap((one) => one.differences), ...dangling];
  if (!reads.some(({ hasAnswered }) => hasAnswered)) return { status: 'failed', servers, differences: [] };
  const isSilent = servers.some(({ status }) => status === 'silent');
  const status = isSilent || differences.length > 0 ? 'drifted' : 'in-sync';
  if (status === 'in-sync' || isSilent || !isPending) return { status, servers, differences };
  const pending = servers.map((one) =>
    one.status === 'drifted' ? { ...one, status: 'pending' as const } : one,
  );
  return { status: 'pending', servers: pending, differences };
};

const failed = (message: string): SubdomainAnswers => ({
  status: 'failed',
  servers: [{ name: '', address: '', serial: null, status: 'failed', message }],
  differences: [],
});
