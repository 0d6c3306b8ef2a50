import { html, type Markup, type MarkupValue } from '../report/markup.ts';
import { htmlPage } from './frame.ts';

/** Pages without a script. `root`: the way to the other pages. */

interface SignInPage {
  readonly root: string;
  /** The page that was asked for. */
  readonly next: string;
  /** Why somebody could not sign in. */
  readonly error: string | null;
  /** Whether somebody may act, and whether only readers who have signed in see the pages. */
  readonly canAct: boolean;
  readonly isClosed: boolean;
  /** Whether it loads itself again at once. */
  readonly reloads: boolean;
}

export const renderSignIn = ({ root, next, error, canAct, isClosed, reloads }: SignInPage): string =>
  smallPage(
    'Sign in',
    html`<form class="sign-in" method="post" action="${root}sign-in">
        <input type="hidden" name="next" value="${next}" />
        ${
          canAct
            ? html`<label for="name">Your name${isClosed ? ', to act' : ''}</label>
                <input
                  id="name"
                  name="name"
                  autocomplete="username"
                  maxlength="60"
                  ${!isClosed && html` required autofocus`}
                />`
            : html`<input name="name" autocomplete="username" value="dns-template-sync" hidden readonly />`
        }
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
      ${error !== null && html`<p class="failed" role="alert">${error}</p>`}
      <p class="aside">
        The settings of this program have the tokens.
        ${isClosed && html`<code>pageToken</code> shows the pages.`}
        ${
          canAct
            ? html`<code>triggerToken</code> also asks for passes, and suspends and resumes templates; your
                name is shown beside what you suspend.`
            : ''
        }
        ${!isClosed && html`<a href="${root}${next}">Back</a>`}
      </p>`,
    reloads && html`<meta http-equiv="refresh" content="0" />`,
  );

/** For an action that was refused. */
export const renderRefusal = (why: string, root: string): string =>
  smallPage(
    'Nothing was done',
    html`<p class="failed" role="alert">${why}</p>
      <p>
        <a href="${root}sign-in">Sign in to act</a> · <a href="${root}">Show the state of all templates</a>
      </p>`,
  );

/** For an address of which there is no page. */
export const renderNotFound = (root: string): string =>
  smallPage(
    'Not found',
    html`<p>There is no such page. <a href="${root}">Show the state of all templates</a></p>`,
  );

const smallPage = (title: string, main: Markup, head: MarkupValue = null): string =>
  htmlPage({
    title,
    state: 'pending',
    head,
    body: html`<header><h1>dns-template-sync</h1></header>
      <main id="main">
        <section aria-labelledby="title">
          <h2 id="title">${title}</h2>
          ${main}
        </section>
      </main>`,
  });
