import { Markup } from './markup.ts';

/** Colours have a contrast of at least 4.5 to 1 on their ground, in the light and in the dark. */
export const style = new Markup(`
:root {
  color-scheme: light dark;
  --ground: #fff; --line: #d5dae1; --text: #1b2129; --aside: #57606c;
  --green: #14702f; --yellow: #855200; --red: #b3202c; --magenta: #8a2f8c; --cyan: #0a6477;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #14181d; --line: #37404b; --text: #e4e8ed; --aside: #a0aab6;
    --green: #6fd08c; --yellow: #e6b450; --red: #ff8f8a; --magenta: #e29be4; --cyan: #6cc7da;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 80rem;
  background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 0; }
h3 { font-size: 1rem; margin: 1rem 0 0; }
p { margin: .25rem 0; }
code { font: .9em/1.5 ui-monospace, monospace; unicode-bidi: isolate; white-space: pre-wrap; }
.record code { word-break: break-all; }
.name { font-weight: 600; }
time { white-space: nowrap; }
.summary { font-size: 1.1rem; }
.aside { color: var(--aside); font-size: .9rem; }
.badge {
  display: inline-block; padding: 0 .6em; border: 1px solid; border-radius: 1em;
  font-size: .85rem; font-weight: 600; line-height: 1.6; vertical-align: middle; white-space: nowrap;
}
main > section { margin-top: 1.5rem; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; }
ul { list-style: none; margin: .5rem 0 0; padding: 0; }
li { padding: .5rem 0; border-top: 1px solid var(--line); }
.rows li {
  display: grid; gap: 0 1rem; align-items: baseline;
  grid-template-columns: 6rem 4rem minmax(6rem, 1fr) minmax(0, 3fr) minmax(0, 3fr);
}
.sign { font-weight: 600; }
.record > div + div { margin-top: .25rem; }
.why p { margin-top: .25rem; font-size: .9rem; }
del { text-decoration: none; color: var(--red); }
ins { text-decoration: none; color: var(--green); }
details { display: inline-block; vertical-align: top; max-width: 100%; }
summary { cursor: pointer; }
details[open] > summary { color: var(--aside); }
.in-sync, .add .sign, .applied { color: var(--green); }
.drifted, .update .sign, .stale .sign, .warning { color: var(--yellow); }
.failed, .unknown, .blocked .sign, .missing .sign, .error { color: var(--red); }
.held, .surplus .sign, .foreign .sign, .skipped { color: var(--magenta); }
.pending, .park .sign { color: var(--cyan); }
footer { margin-top: 2rem; color: var(--aside); font-size: .9rem; }
footer h2 { font-size: 1rem; }
dl { margin: .5rem 0 0; display: grid; gap: .25rem 2rem; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); }
dt { display: inline; font-weight: 600; }
dt::after { content: ":"; }
dd { display: inline; margin: 0; }
@media screen and (max-width: 48rem) {
  body { padding: 1rem .75rem 2rem; }
  main > section { padding: .75rem; }
  .rows li { grid-template-columns: auto auto 1fr; }
  .record, .why { grid-column: 1 / -1; margin-top: .25rem; }
}
@media print {
  :root { color-scheme: light; font-size: 9.5pt; }
  body { max-width: none; padding: 0; }
  main > section { border: 0; padding: 0; }
  li { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  ::details-content { content-visibility: visible; }
}
`);
