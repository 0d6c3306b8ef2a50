import { escapeControl, asJson } from '../lib/escape-control.ts';
import type { Options } from '../app/options.ts';
import { saidOn } from '../app/warnings.ts';
import { formatProblem } from '../desired/problem.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { parseMoment } from '../model/duration.ts';
import { causeWords, changeText } from '../report/row.ts';
import { redactTexts, redactor } from '../secrets.ts';
import { readSettings, type Settings } from '../settings.ts';
import type { StateStore } from '../state/store.ts';
import { managedTemplates, readHistory, type ShownEntry } from '../app/history-entries.ts';
import { loadTemplates } from '../app/load-templates.ts';
import { matchNames } from '../model/match-names.ts';
import { matchTemplates, unknownNames } from '../app/match-templates.ts';
import { openStore, inAppContext, sandboxTokens } from '../app/app-context.ts';

/** The newest writes, the oldest first. */
export const history = async (patterns: readonly string[], options: Options, io: Io): Promise<number> => {
  const settings = readSettings({
    flags: options,
    needs: { baseUrl: true, tokens: true },
    mayLeaveOut: true,
    env: io.env,
    cwd: io.cwd,
    say: saidOn(io),
  });
  const since = readSince(options['since'], io.clock.now());
  const store = openStore(settings, io.clock);
  try {
    return await show(patterns, options, { settings, store, since }, io);
  } finally {
    await store.close();
  }
};

interface HistoryScope {
  readonly settings: Settings;
  readonly store: StateStore;
  readonly since: number;
}

const show = async (
  patterns: readonly string[],
  options: Options,
  { settings, store, since }: HistoryScope,
  io: Io,
): Promise<number> => {
  const templates = await resolveNames(patterns, settings, store, options, io);
  const filter = { templates, since };
  const outcome = outcomes.find((one) => one === options['outcome']);
  const entries: ShownEntry[] = [];
  for (const client of settings.clients) {
    const tokens = settings.sandbox ? sandboxTokens(client.name) : client.tokens;
    const found = await readHistory(
      store,
      { ...client, tokens },
      settings.sandbox,
      outcome ? { ...filter, outcome } : filter,
    );
    for (const entry of found) entries.push(entry);
  }
  const sorted = entries.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const shown = redactTexts(sorted.slice(-mostShown), redactor(settings.secrets()));
  const severalClients = settings.clients.length > 1;
  io.stdout.write(options['format'] === 'json' ? asJson(shown) : asText(shown, severalClients));
  if (sorted.length > shown.length)
    io.stderr.write(
      `the newest ${shown.length} of ${sorted.length} writes: --since and names of templates choose others\n`,
    );
  for (const problem of redactTexts(settings.leftOut, redactor(settings.secrets())))
    io.stderr.write(`${formatProblem(problem)}\n`);
  return settings.leftOut.length > 0 ? 1 : 0;
};

/** As `/api/history` gives them at once. */
const mostShown = 1_000;

/** Templates that have been managed, or that a file describes now: others have no history. */
const resolveNames = async (
  patterns: readonly string[],
  settings: Settings,
  store: StateStore,
  options: Options,
  io: Io,
): Promise<readonly string[]> => {
  if (patterns.length === 0) return [];
  const known = await Promise.all(
    settings.clients.map(async (client) => {
      const tokens = settings.sandbox ? sandboxTokens(client.name) : client.tokens;
      const described = await loadTemplates(client, {});
      return [
        ...(await managedTemplates(store, { ...client, tokens }, settings.sandbox)),
        ...described.templates.map(({ template }) => template),
      ];
    }),
  );
  const names = known.flat();
  const local = matchNames(patterns, names);
  if (local.unknown.length === 0) return local.found;
  const { found, unknown } = await inAppContext(options, io, ({ clients }) =>
    matchTemplates(patterns, clients, names),
  );
  if (unknown.length === 0) return found;
  throw new UserError(`no template or history is called ${unknownNames(unknown, names)}`);
};

const outcomes = ['applied', 'failed', 'unknown', 'duplicate'] as const;

const readSince = (since: Options[string], now: number): number => {
  if (typeof since !== 'string') return 0;
  const time = parseMoment(since, now);
  if (time === null)
    throw new UserError('--since: expected a duration such as 2d, or a time such as 2026-11-20T20:00:00Z');
  return time;
};

const asText = (entries: readonly ShownEntry[], withClient: boolean): string =>
  entries.map((entry) => asLine(entry, withClient)).join('') || 'no writes\n';

const asLine = (entry: ShownEntry, withClient: boolean): string => {
  const { at, client, template, action, recordId, before, after, outcome, error, cause, source } = entry;
  const name = withClient ? `${client}: ${template}` : template;
  const change = changeText(before, after);
  const id = recordId === null ? '' : ` #${recordId}`;
  const why = error === null ? '' : ` (${error})`;
  const place = source ? ` · ${source.file}:${source.line}` : '';
  const because = cause === undefined ? '' : ` · ${causeWords[cause]}${place}`;
  return `${at} ${outcome.padEnd(9)} ${escapeControl(`${name}: ${action}${id} ${change}${why}${because}`)}\n`;
};
