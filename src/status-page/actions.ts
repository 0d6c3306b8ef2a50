import { escapeControl } from '../lib/escape-control.ts';
import { html, type Markup } from '../report/markup.ts';
import { encoded } from './query.ts';

/** What people may do on a page: nothing; sign in; or act, with the proof that a form is from this page. */
export type Acting =
  | { readonly kind: 'off' }
  | { readonly kind: 'signed-out' }
  | {
      readonly kind: 'signed-in';
      /** Stands in each form. */
      readonly formToken: string;
      /** What became of the last action. Filled in for each reader. */
      readonly outcome: Markup | string;
    };

/** Signing in and out, and a pass of all clients, or of one. */
export const actionBar = (
  acting: Acting,
  { page, client }: { readonly page: string; readonly client: string | null },
): Markup | string => {
  if (acting.kind === 'off') return '';
  if (acting.kind === 'signed-out')
    return html`<p class="acts"><a href="/act?next=${encoded(page)}">Sign in to act</a></p>`;
  return html`<section class="acts" aria-label="Actions">
    ${acting.outcome}
    ${form(acting.formToken, { action: 'sync', page, client }, html`<button>Sync now</button>`)}
    ${form(acting.formToken, { action: 'sign-out', page }, html`<button>Sign out</button>`)}
  </section>`;
};

/** Suspends a template, or ends that. */
export const templateActions = (
  acting: Acting,
  { page, client, template }: { readonly page: string; readonly client: string; readonly template: string },
): Markup | string => {
  if (acting.kind !== 'signed-in') return '';
  const target = { page, client, template };
  return html`<div class="acts">
    <details data-key="suspend">
      <summary>Suspend or resume ${escapeControl(template)}</summary>
      ${form(
        acting.formToken,
        { action: 'suspend', ...target },
        html`<label>Reason <input name="reason" required maxlength="${String(longestReason)}" /></label>
          <label
            >For
            <select name="duration">
              ${durations.map(([value, words]) => html`<option value="${value}">${words}</option>`)}
            </select></label
          >
          <button>Suspend</button>`,
      )}
      ${form(acting.formToken, { action: 'resume', ...target }, html`<button>Resume</button>`)}
    </details>
  </div>`;
};

export const longestReason = 200;

/** As in settings; empty: until somebody resumes it. */
const durations = [
  ['1h', '1 hour'],
  ['8h', '8 hours'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['', 'until resumed'],
] as const;

interface Target {
  readonly action: 'sync' | 'suspend' | 'resume' | 'sign-out';
  readonly page: string;
  readonly client?: string | null;
  readonly template?: string;
}

const form = (formToken: string, { action, page, client, template }: Target, fields: Markup): Markup =>
  html`<form method="post" action="/act/${action}">
    <input type="hidden" name="form" value="${formToken}" />
    <input type="hidden" name="next" value="${page}" />
    ${client == null ? '' : html`<input type="hidden" name="client" value="${client}" />`}
    ${template === undefined ? '' : html`<input type="hidden" name="template" value="${template}" />`}
    ${fields}
  </form>`;
