import { escapeControl } from '../lib/escape-control.ts';
import { moment, stateIcon } from '../report/html-words.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { longestReason } from '../model/suspension.ts';
import { worstOf } from '../result.ts';
import type { ClientSummary, PageFrame } from './facts.ts';
import { encoded, type Notice } from './query.ts';

interface Target {
  /** Null: all. */
  readonly client: string | null;
  readonly template?: string;
}

/** What became of the reader's last action; signing in and out; and a pass of all clients, or of one. */
export const actionBar = (
  frame: PageFrame,
  target: Target,
  clients: readonly ClientSummary[],
): MarkupValue => {
  const { reader, notice, root, page } = frame;
  if (!reader.canAct && reader.role === null) return null;
  const isActor = reader.role === 'act';
  return html`<section class="acts" aria-label="Actions">
    ${notice !== null && noticeLine(notice, clients, frame)}
    ${isActor && form('act/sync', frame, target, html`<button>Sync now</button>`)}
    ${reader.canAct && !isActor && html`<a href="${root}sign-in?next=${encoded(page)}">Sign in to act</a>`}
    ${reader.role !== null && form('sign-out', frame, {}, html`<button>Sign out</button>`)}
  </section>`;
};

const noticeLine = ({ did, at }: Notice, clients: readonly ClientSummary[], frame: PageFrame): Markup => {
  const ended = clients.flatMap(({ lastPass }) =>
    lastPass !== null && lastPass.startedAt >= at ? lastPass.status : [],
  );
  return html`<p role="status">
    ${deeds[did]}
    ${
      ended.length < clients.length
        ? html`The pass that was asked for at ${moment(at, frame)} has not ended yet.`
        : html`The pass that was asked for has ended: ${stateIcon(worstOf(ended))}`
    }
  </p>`;
};

const deeds: Readonly<Record<Notice['did'], string>> = {
  sync: '',
  suspend: 'The template is suspended.',
  resume: 'The template is resumed.',
  nothing: 'The template was not suspended.',
};

/** Suspends a template, or ends that. */
export const templateActions = (frame: PageFrame, target: Required<Target>): MarkupValue =>
  frame.reader.role === 'act' &&
  html`<details class="acts" data-key="suspend">
    <summary>Suspend or resume ${escapeControl(target.template)}</summary>
    ${form(
      'act/suspend',
      frame,
      target,
      html`<label>Reason <input name="reason" required maxlength="${longestReason}" /></label>
        <label
          >For
          <select name="duration">
            ${durations.map(([value, words]) => html`<option value="${value}">${words}</option>`)}
          </select></label
        >
        <button>Suspend</button>`,
    )}
    ${form('act/resume', frame, target, html`<button>Resume</button>`)}
  </details>`;

/** As in settings; empty: until somebody resumes it. */
const durations = [
  ['1h', '1 hour'],
  ['8h', '8 hours'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['', 'until resumed'],
] as const;

const form = (
  action: string,
  { root, page }: PageFrame,
  { client, template }: Partial<Target>,
  fields: Markup,
): Markup =>
  html`<form method="post" action="${root}${action}">
    <input type="hidden" name="next" value="${page}" />
    ${client != null && html`<input type="hidden" name="client" value="${client}" />`}
    ${template !== undefined && html`<input type="hidden" name="template" value="${template}" />`} ${fields}
  </form>`;
