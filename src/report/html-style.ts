/** The style of all pages. Colours have a contrast of at least 4.5 to 1 with their background, in light and dark mode. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #fff; --soft: #f5f7f9; --line: #d9dee5; --text: #1b2129; --aside: #57606c; --mark: #fff0b8;
  --green: #14702f; --yellow: #855200; --red: #b3202c; --magenta: #8a2f8c; --cyan: #0a6477;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14181d; --soft: #1b2128; --line: #353e49; --text: #e4e8ed; --aside: #a0aab6; --mark: #3f350f;
    --green: #6fd08c; --yellow: #e6b450; --red: #ff8f8a; --magenta: #e29be4; --cyan: #6cc7da;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 90rem; background: var(--ground); color: var(--text);
  font: .95rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1, h2, h3, h4, h5 { font-size: 1rem; margin: 0; }
h2 { font-size: 1.1rem; margin-bottom: .35rem; }
p { margin: .25rem 0; }
ul { list-style: none; margin: 0; padding: 0; }
figure { margin: 0; }
a { color: inherit; text-decoration-color: var(--aside); text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--cyan); outline-offset: 1px; border-radius: .2rem; }
main:focus { outline: none; }
code { font: .9em/1.5 ui-monospace, monospace; unicode-bidi: isolate; white-space: pre-wrap; }
input, select, button {
  font: inherit; padding: .3rem .75rem; color: inherit; background: var(--soft);
  border: 1px solid var(--aside); border-radius: .4rem;
}
input::placeholder { color: var(--aside); opacity: 1; }
button { cursor: pointer; }
body > header, article > header, .now, .acts, .acts form, .filters, .chips, .names {
  display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline;
}
body > header { justify-content: space-between; }
body > header a { text-decoration: none; }
footer { margin-top: 2rem; }
.aside, .rest, .link, .way, footer { color: var(--aside); font-size: .875rem; margin: .1rem 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100rem; padding: .5rem 1rem; background: var(--ground); }
.skip:focus { left: 1rem; top: .5rem; }
.badge { padding: 0 .6em; border: 1px solid; border-radius: 1em; font-size: .8rem; font-weight: 600; white-space: nowrap; }
main > section { margin-top: 1.25rem; }
.now {
  padding: .7rem .9rem; background: var(--soft);
  border: 1px solid var(--line); border-left: .35rem solid currentColor; border-radius: .5rem;
}
.now > * { margin: 0; }
.now .badge { font-size: .95rem; }
.now .summary, .now .causes { color: var(--text); flex: 1 1 14rem; }
.now .meta { color: var(--text); flex-basis: 100%; }
.filters { justify-content: space-between; margin-top: .75rem; }
.filters form { display: flex; gap: .35rem; flex: 0 1 20rem; }
.filters input { flex: 1 1 8rem; min-width: 0; }
.chips a { padding: .1rem .7rem; border: 1px solid var(--line); border-radius: 1rem; font-size: .875rem; text-decoration: none; }
.chips [aria-current] { background: var(--text); color: var(--ground); }
.acts { margin: .5rem 0; }
.acts > p { flex: 1 1 100%; margin: 0; }
.sign-in { display: flex; flex-direction: column; gap: .3rem; max-width: 32rem; }
article { border-top: 1px solid var(--line); padding: .55rem 0 .65rem; }
article > header p { margin: 0; }
.message { margin: .3rem 0; padding: .3rem .75rem; border-left: .25rem solid var(--aside); background: var(--soft); }
article article { margin-top: .5rem; padding: 0 0 0 .75rem; border: 0; border-left: 2px solid var(--line); }
.row {
  display: grid; gap: 0 .75rem; align-items: baseline; padding: .2rem 0;
  grid-template-columns: 5.75rem 3.5rem minmax(4rem, 1.5fr) minmax(0, 6fr) minmax(0, 2fr);
}
.row + .row { border-top: 1px solid var(--line); }
.row > p { grid-column: 4 / -1; margin: 0; font-size: .875rem; }
.sign { font-weight: 600; white-space: nowrap; }
.name { font-weight: 600; }
.cause { color: var(--aside); font-size: .875rem; }
.list { font-size: .9rem; }
del { text-decoration: none; color: var(--red); }
ins { text-decoration: none; color: var(--green); }
mark { color: inherit; background: var(--mark); }
.green, .link.live::before { color: var(--green); }
.yellow, .warning { color: var(--yellow); }
.red, .error, .link.lost { color: var(--red); }
.magenta { color: var(--magenta); }
.cyan { color: var(--cyan); }
.link.live::before { content: "● "; }
.link.lost::before { content: "✗ "; }
.lost main { filter: grayscale(1); }
.chart { display: block; width: 100%; height: 5rem; margin-top: .5rem; border-bottom: 1px solid var(--line); }
rect { fill: currentColor; }
rect.none { color: var(--line); }
.axis { display: flex; justify-content: space-between; color: var(--aside); font-size: .8rem; }
@media (max-width: 40rem) {
  body { padding: .6rem .75rem 2rem; }
  .row { grid-template-columns: auto auto minmax(0, 1fr); gap: 0 .5rem; }
  .row > :nth-child(n + 4) { grid-column: 1 / -1; }
  .filters form { flex: 1 1 100%; }
}
`;
