import { html, Markup } from '../report/markup.ts';
import { icon } from './icon.ts';
import { hashOf } from './frame.ts';
import { style } from './style.ts';

/** The sign-in page; `next` is the page that was requested. */
export const renderSignIn = (isWrong: boolean, next: string): string => {
  const errorLine = isWrong
    ? html`<p class="failed" role="alert">This is not the page token.</p>`
    : html`<p class="aside">The page token is in the settings of this program: <code>pageToken</code>.</p>`;
  return smallPage(
    'Sign in',
    html`<form class="sign-in" method="post" action="/sign-in">
        <input name="username" autocomplete="username" value="dns-template-sync" hidden readonly />
        <input type="hidden" name="next" value="${next}" />
        <label for="token">Page token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required autofocus />
        <button>Sign in</button>
      </form>
      ${errorLine}`,
  );
};

/** The page to sign in with the trigger token. `error`: why that was refused. */
export const renderActSignIn = (error: string | null, next: string): string =>
  smallPage(
    'Sign in to act',
    html`<form class="sign-in" method="post" action="/act/sign-in">
        <input type="hidden" name="next" value="${next}" />
        <label for="name">Your name</label>
        <input id="name" name="name" autocomplete="name" maxlength="60" required autofocus />
        <label for="token">Trigger token</label>
        <input id="token" name="token" type="password" autocomplete="off" required />
        <button>Sign in</button>
      </form>
      ${
        error === null
          ? html`<p class="aside">
              The trigger token is in the settings of this program: <code>triggerToken</code>. Your name is
              shown beside what you suspend. <a href="${next}">Back</a>
            </p>`
          : html`<p class="failed" role="alert">${error}</p>`
      }`,
  );

/** For an action that was refused. */
export const renderRefusal = (why: string): string =>
  smallPage(
    'Nothing was done',
    html`<p class="failed" role="alert">${why}</p>
      <p><a href="/act">Sign in to act</a> · <a href="/">Show the state of all templates</a></p>`,
  );

/** For an address of which there is no page. */
export const renderNotFound = (): string =>
  smallPage('Not found', html`<p>There is no such page. <a href="/">Show the state of all templates</a></p>`);

/** A page without a script. */
const smallPage = (title: string, main: Markup): string => {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · dns-template-sync</title>
        <link rel="icon" href="${icon('pending')}" />
        ${new Markup(`<style>${style}</style>`)}
      </head>
      <body>
        <header><h1>dns-template-sync</h1></header>
        <main id="main">
          <section aria-labelledby="title">
            <h2 id="title">${title}</h2>
            ${main}
          </section>
        </main>
      </body>
    </html>`;
  return `${page.source}\n`;
};

/** The content security policy: its own style, and a form that posts only here. */
export const smallPagePolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');
