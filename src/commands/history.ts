import { inAppContext, type AppContext } from '../app/app-context.ts';
import { newestWrites, outcomes, type ShownEntry } from '../app/history.ts';
import { matchTemplates } from '../app/names.ts';
import { formatProblem } from '../desired/problem.ts';
import { UserError } from '../errors.ts';
import { asJson, escapeControl } from '../lib/escape-control.ts';
import { parseMoment } from '../model/duration.ts';
import { causeWords, changeText } from '../report/row.ts';
import type { Run } from './table.ts';

/** The newest writes, the oldest first. */
export const history: Run = (patterns, options, io) => {
  const since = options['since'] === undefined ? 0 : parseMoment(String(options['since']), io.clock.now());
  if (since === null)
    throw new UserError('--since: expected a duration such as 2d, or a time such as 2026-11-20T20:00:00Z');
  const task = async ({ clients, settings, redact }: AppContext): Promise<number> => {
    // Others have no history.
    const saved = await Promise.all(
      clients.map((client) => client.saved(async (memory) => (await memory?.templates()) ?? [])),
    );
    const managed = saved.flat().map(({ template }) => template);
    const templates = await matchTemplates(patterns, clients, managed);
    const outcome = outcomes.find((one) => one === options['outcome']) ?? null;
    const query = { templates, since, outcome, limit: mostShown + 1 };
    const entries = await newestWrites(clients, query, redact);
    const shown = entries.slice(-mostShown);
    const line = (entry: ShownEntry): string => asLine(entry, clients.length > 1);
    const text = shown.length === 0 ? 'no writes\n' : shown.map(line).join('');
    io.stdout.write(options['format'] === 'json' ? asJson(shown) : text);
    if (entries.length > mostShown)
      io.stderr.write(`the newest ${mostShown} writes: --since and names of templates choose others\n`);
    for (const problem of redact(settings.leftOut)) io.stderr.write(`${formatProblem(problem)}\n`);
    return settings.leftOut.length > 0 ? 1 : 0;
  };
  return inAppContext(options, io, task, { mayLeaveOut: true });
};

/** As `/api/history` gives them. */
const mostShown = 1_000;

const asLine = (entry: ShownEntry, withClient: boolean): string => {
  const { at, client, template, action, recordId, before, after, outcome, error, cause, source } = entry;
  const name = withClient ? `${client}: ${template}` : template;
  const id = recordId === null ? '' : ` #${recordId}`;
  const why = error === null ? '' : ` (${error})`;
  const place = source ? ` · ${source.file}:${source.line}` : '';
  const because = cause === undefined ? '' : ` · ${causeWords[cause]}${place}`;
  const text = `${name}: ${action}${id} ${changeText(before, after)}${why}${because}`;
  return `${at} ${outcome.padEnd(9)} ${escapeControl(text)}\n`;
};
