import { HostingError } from '../hosting/errors.ts';
import { canonicalHost } from '../model/host.ts';
import type { DesiredState, DesiredTemplate, SubdomainRecord } from '../model/template.ts';
import { matchesIgnore } from '../plan/ignore.ts';
import { answersKey, isFaulty, type KnownAnswers } from '../report/answers.ts';
import { notAsked, type SubdomainAnswers } from '../result.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { TemplateRow } from '../state/memory.ts';

export interface AnswersRequest {
  /** Only these templates; empty: all. */
  readonly templates?: readonly string[];
  /** A person asks for it, so the settings do not need to. */
  readonly isCommand?: boolean;
  /** Only these subdomains, even if no file names them; without it, all that the files name. */
  readonly subdomains?: readonly string[];
  readonly signal: AbortSignal;
  /** The previous answers. */
  readonly previous: KnownAnswers;
}

/** What a round over the name servers needs. */
export interface AnswersDeps {
  readonly settings: ClientSettings;
  readonly now: () => number;
  /** The subdomains of the embedded service are on no name server, unless one is set. */
  readonly isSandbox: boolean;
  readonly load: () => Promise<DesiredState>;
  readonly listDnsRecords: (subdomain: string) => Promise<SubdomainRecord[]>;
  readonly readRows: () => Promise<readonly TemplateRow[]>;
  /** Milliseconds for the first of three times that a server is asked. */
  readonly timeout?: number;
}

/** Asks the name servers of a client's subdomains, several at a time. */
export const askNameServers = async (request: AnswersRequest, deps: AnswersDeps): Promise<KnownAnswers> => {
  const { settings, timeout = 1_500 } = deps;
  const { signal, previous } = request;
  const questions = questionsIn(await deps.load(), request, settings);
  if (questions.length === 0) return new Map();
  const rows = await deps.readRows();
  const { openAnswers } = await import('../answers/answers.ts');
  const { resolver, answersGrace: grace } = settings;
  const check = openAnswers({ resolver, grace, now: deps.now, signal, timeout });
  const ask = async ({ template, subdomain, key }: Question): Promise<SubdomainAnswers> => {
    const nameservers = template?.nameservers ?? settings.nameservers;
    if (deps.isSandbox && nameservers.length === 0) return notAsked;
    try {
      return await check({
        subdomain,
        records: await deps.listDnsRecords(subdomain),
        nameservers,
        ignores: (record) => matchesIgnore(template?.ignore ?? [], record),
        lastWriteAt: rows.find((row) => isOf(template, row))?.lastWriteAt ?? null,
        previous: previous.get(key) ?? null,
      });
    } catch (error) {
      if (!(error instanceof HostingError)) throw error;
      return unread(error.message);
    }
  };
  const found = new Map<string, SubdomainAnswers>();
  // The oldest answers first, so that a round that takes too long does not always leave out the same ones.
  const askedAt = ({ key }: Question): number => Date.parse(previous.get(key)?.askedAt ?? '') || 0;
  const rest = questions.toSorted((one, other) => askedAt(one) - askedAt(other)).values();
  const work = async (): Promise<void> => {
    for (const question of rest) {
      if (signal.aborted) return;
      const answer = await ask(question);
      // An aborted question has no result.
      if (!signal.aborted) found.set(question.key, answer);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const hasAnswered = [...found.values()].some(({ servers }) => servers.some((server) => !isFaulty(server)));
  const now = new Date(deps.now()).toISOString();
  return new Map(
    questions.map(({ key }) => {
      const answers = found.get(key) ?? unread('the round of questions took too long');
      return [key, withAge(hasAnswered ? withSilence(answers) : answers, previous.get(key), now)];
    }),
  );
};

/** Subdomains. */
const atOnce = 8;

/** Name servers that are all silent are drift if others answered: then it is not this machine that cannot ask. */
const withSilence = (answers: SubdomainAnswers): SubdomainAnswers => {
  const { servers } = answers;
  const areSilent = servers.every(({ status, address }) => status === 'silent' && address !== '');
  return areSilent && servers.length > 0 ? { ...answers, status: 'drifted' } : answers;
};

/** If nobody could be asked, the previous answers stay, with the reason. */
const withAge = (
  answers: SubdomainAnswers,
  previous: SubdomainAnswers | undefined,
  askedAt: string,
): SubdomainAnswers => {
  if (answers.status === 'off') return answers;
  if (answers.status !== 'failed') return { ...answers, askedAt };
  if (previous?.askedAt === undefined) return answers;
  const [server] = answers.servers;
  return { ...previous, message: [server?.name, server?.message].filter(Boolean).join(': ') };
};

interface Question {
  readonly key: string;
  /** Null if no file names the subdomain. */
  readonly template: DesiredTemplate | null;
  readonly subdomain: string;
}

const questionsIn = (
  { templates }: DesiredState,
  { templates: names = [], isCommand = false, subdomains }: AnswersRequest,
  { answers }: ClientSettings,
): readonly Question[] => {
  const asked = templates.filter(
    (one) =>
      (names.length === 0 || names.includes(one.template)) &&
      (isCommand || (one.answers ?? answers) === 'on'),
  );
  const all = subdomains
    ? subdomains.map((subdomain) => ({ template: templateOf(subdomain, templates), subdomain }))
    : asked.flatMap((template) => template.subdomains.map((subdomain) => ({ template, subdomain })));
  return all.map((one) => ({ ...one, key: answersKey(one.template?.template ?? null, one.subdomain) }));
};

/** The template that names the subdomain. */
export const templateOf = (
  subdomain: string,
  templates: readonly DesiredTemplate[],
): DesiredTemplate | null => {
  const name = canonicalHost(subdomain);
  return templates.find(({ subdomains }) => subdomains.some((one) => canonicalHost(one) === name)) ?? null;
};

const isOf = (template: DesiredTemplate | null, row: TemplateRow): boolean =>
  template !== null &&
  (template.id === null ? row.template === template.template : row.templateId === template.id);

const unread = (message: string): SubdomainAnswers => ({
  status: 'failed',
  servers: [{ name: '', address: '', serial: null, status: 'failed', message }],
  differences: [],
});
