import { longestReason } from '../model/suspension.ts';
import { encoded } from '../report/address.ts';
import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { type Frame, htmlPage } from './frame.ts';
import { deeds } from './query.ts';

/** What the reader has just done; a pass of all clients, or of one; signing in and out. */
export const actionBar = (frame: Frame, client: string | null): MarkupValue => {
  const { reader, query, root, page } = frame;
  const isActor = reader.role === 'act';
  if (!reader.canAct && reader.role === null) return null;
  return html`<section class="acts" aria-label="Actions">
    ${query.did !== null && html`<p role="status">${deeds.find(([deed]) => deed === query.did)?.[1]}</p>`}
    ${isActor && form('act/sync', frame, { client }, html`<button>Sync now</button>`)}
    ${reader.canAct && !isActor && html`<a href="${root}sign-in?next=${encoded(page)}">Sign in to act</a>`}
    ${reader.role !== null && form('sign-out', frame, {}, html`<button>Sign out</button>`)}
  </section>`;
};

/** Suspends a template, or ends that. */
export const templateActions = (
  frame: Frame,
  { client, template }: { readonly client: string; readonly template: string },
): MarkupValue =>
  frame.reader.role === 'act' &&
  html`<div class="acts">
    ${form(
      'act/suspend',
      frame,
      { client, template },
      html`<label>Reason <input name="reason" required maxlength="${longestReason}" /></label>
        <label
          >For
          <select name="duration">
            ${durations.map(([value, words]) => html`<option value="${value}">${words}</option>`)}
          </select></label
        >
        <button>Suspend</button>`,
    )}
    ${form('act/resume', frame, { client, template }, html`<button>Resume</button>`)}
  </div>`;

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
  { root, page }: Frame,
  hidden: Readonly<Record<string, string | null>>,
  fields: Markup,
): Markup =>
  html`<form method="post" action="${root}${action}">
    ${Object.entries({ next: page, ...hidden }).map(
      ([name, value]) => value !== null && html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    ${fields}
  </form>`;

interface SignInPage {
  /** The way to the other pages. */
  readonly root: string;
  /** The page that was asked for. */
  readonly next: string;
  /** Why somebody could not sign in. */
  readonly error: string | null;
  /** Whether only readers who have signed in see the pages. */
  readonly isClosed: boolean;
  /** Whether it loads itself again at once. */
  readonly reloads: boolean;
}

export const renderSignIn = ({ root, next, error, isClosed, reloads }: SignInPage): string =>
  smallPage(
    'Sign in',
    html`<form class="sign-in" method="post" action="${root}sign-in">
        <input type="hidden" name="next" value="${next}" />
        <label for="name">Your name, to act</label>
        <input id="name" name="name" autocomplete="username" maxlength="60" ${!isClosed && nameFirst} />
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          ${isClosed && html` autofocus`}
        />
        <button>Sign in</button>
      </form>
      ${error !== null && html`<p class="red" role="alert">${error}</p>`}
      <p class="aside">
        The settings of this program have the tokens. <code>pageToken</code> shows the pages.
        <code>triggerToken</code> also asks for passes, and suspends and resumes templates; your name is shown
        beside what you suspend. ${!isClosed && html`<a href="${root}${next}">Back</a>`}
      </p>`,
    root,
    reloads && html`<meta http-equiv="refresh" content="0" />`,
  );

const nameFirst = html` required autofocus`;

/** Why there is no page, or nothing was done. `root`: the way to the pages. */
export const renderRefusal = (title: string, why: string, root: string): string =>
  smallPage(
    title,
    html`<p role="alert">${why}</p>
      <p><a href="${root}">Show the state of all templates</a></p>`,
    root,
  );

const smallPage = (title: string, parts: Markup, root: string, head: MarkupValue = null): string => {
  const main = html`<section>
    <h2>${title}</h2>
    ${parts}
  </section>`;
  return htmlPage({ title, root, head, frame: null, main });
};
