import type { RecordData } from '../model/record.ts';
import type { SubdomainAnswers } from '../result.ts';
import type { SetDifference } from './compare-sets.ts';
import type { DnsServer } from './dns-server.ts';
import type { DnsReply } from './message.ts';
import { isName, isWithin } from './names.ts';
import type { ShownRecords } from './record-sets.ts';

/** Looks up what records point at; each target once. */
export interface TargetLookup {
  /** The record sets with targets that do not exist, without the records that are ignored. */
  dangling(shown: ShownRecords, ignores: (record: RecordData) => boolean): Promise<SetDifference[]>;
}

/**
 * A target counts as gone only if two questions, to different resolvers if there are several, are answered by NXDOMAIN
 * (RFC 8020). Silence and failures say nothing about it.
 */
export const targetLookup = (first: Asker, second: Asker): TargetLookup => {
  const known = new Map<string, Promise<string | null>>();
  const faultOf = (target: string): Promise<string | null> => {
    const fault = known.get(target) ?? (known.size < maxTargets ? find(target) : Promise.resolve(null));
    known.set(target, fault);
    return fault;
  };
  const find = async (target: string): Promise<string | null> => {
    for (const resolver of [first, second]) {
      const reply = await resolver.ask({ name: target, type: 'A' });
      if (reply?.rcode !== 'NXDOMAIN') return null;
      if (resolver === second) return faultWords(target, reply);
    }
    return null;
  };
  return {
    dangling: async (shown, ignores) => {
      const found = await Promise.all(
        shown.sets.map(async ({ name, type, records }): Promise<SetDifference[]> => {
          const faults = await Promise.all(
            records.map(async (record) => {
              const target = ignores(record) ? null : targetOf(record, shown);
              return { record, fault: target && (await faultOf(target)) };
            }),
          );
          const gone = faults.filter(({ fault }) => fault !== null);
          if (gone.length === 0) return [];
          const own = gone.map(({ record }) => record);
          const message = [...new Set(gone.map(({ fault }) => fault))].join('; ');
          return [{ kind: 'dangling', name, type, desired: own, current: own, message }];
        }),
      );
      return found.flat();
    },
  };
};

type Asker = Pick<DnsServer, 'ask'>;

/** In one round: a client with more has the first ones looked up. */
const maxTargets = 5_000;

/** Null if it has none that could dangle: those that the service shows are compared with the name servers. */
const targetOf = ({ type, content }: RecordData, shown: ShownRecords): string | null => {
  if (type !== 'CNAME' && type !== 'MX' && type !== 'SRV') return null;
  const target = content.split(' ').at(-1) ?? '';
  // RFC 6761 §6.4: what is never to exist is meant so, as the target of a parked record.
  const isMeant = isName(target) && target.includes('.') && !isWithin(target, 'invalid');
  return isMeant && shown.typesAt(target).size === 0 ? target : null;
};

const faultWords = (target: string, { answers, authorities }: DnsReply): string => {
  const end = endOf(target, answers);
  const what = end === target ? target : `${target} is an alias of ${end}, which`;
  const provider = claimableAt(end);
  if (provider !== null)
    return `${what} does not exist, and anybody can create it at ${provider}: whoever does gets the traffic`;
  const zone = authorities.find(({ type }) => type === 'SOA')?.name;
  // The answer of a top-level domain.
  return zone !== undefined && zone !== '' && zone !== '.' && !zone.includes('.')
    ? `${what} does not exist, and ${end.split('.').slice(-2).join('.')} is not delegated: if it is free, whoever registers it gets the traffic`
    : `${what} does not exist (NXDOMAIN)`;
};

/** NXDOMAIN is about the end of a chain of aliases (RFC 6604 §3). */
const endOf = (target: string, answers: DnsReply['answers']): string => {
  let end = target;
  for (const _ of answers)
    end = answers.find(({ name, type }) => type === 'CNAME' && name === end)?.content ?? end;
  return end;
};

/** Adds what dangles to what the name servers answer. It is drift, except that what is new after a write is pending. */
export const withDangling = (
  answers: SubdomainAnswers,
  dangling: readonly SetDifference[],
  { resolver, isFresh, previous }: DanglingOptions,
): SubdomainAnswers => {
  if (dangling.length === 0 || answers.status === 'failed') return answers;
  const known = new Set(previous?.status === 'drifted' ? previous.differences.map(keyOf) : []);
  const isPending = isFresh && !dangling.some((one) => known.has(keyOf(one)));
  return {
    ...answers,
    status: isPending && answers.status !== 'drifted' ? 'pending' : 'drifted',
    differences: [
      ...answers.differences,
      ...dangling.map((one) => ({ ...one, server: resolver, address: '' })),
    ],
  };
};

interface DanglingOptions {
  /** The name of what was asked. */
  readonly resolver: string;
  readonly isFresh: boolean;
  readonly previous: SubdomainAnswers | null;
}

const keyOf = ({ kind, name, type, current }: SetDifference): string =>
  JSON.stringify([kind, name, type, current]);

/**
 * Where a name that does not exist can be created by anybody with an account, by the suffix of the name. Microsoft's
 * list of resources that leave dangling records ("Prevent dangling DNS entries and avoid subdomain takeover",
 * learn.microsoft.com/azure/security/fundamentals/subdomain-takeover), and what EdOverflow/can-i-take-over-xyz on GitHub
 * lists as vulnerable by NXDOMAIN. Services that answer for names of nobody are not here: only a web page would tell.
 */
const providers: readonly (readonly [suffix: string, provider: string])[] = [
  ['azurewebsites.net', 'Azure App Service'],
  ['cloudapp.azure.com', 'Azure'],
  ['cloudapp.net', 'Azure Cloud Services'],
  ['trafficmanager.net', 'Azure Traffic Manager'],
  ['blob.core.windows.net', 'Azure Blob Storage'],
  ['azureedge.net', 'Azure CDN'],
  ['azurefd.net', 'Azure Front Door'],
  ['azure-api.net', 'Azure API Management'],
  ['azurecontainer.io', 'Azure Container Instances'],
  ['elasticbeanstalk.com', 'AWS Elastic Beanstalk'],
];

/** The provider at which anybody may claim a name that does not exist; null if none is known. */
export const claimableAt = (name: string): string | null =>
  providers.find(([suffix]) => name !== suffix && isWithin(name, suffix))?.[1] ?? null;
