/** Colours have a contrast of at least 4.5 to 1 with their background, in light and dark mode. */
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
  margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 105rem;
  background: var(--ground); color: var(--text);
  font: .95rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1, h2, h3, h4 { font-size: 1rem; margin: 0; }
h2 { font-size: 1.1rem; }
p { margin: .25rem 0; }
a { color: inherit; text-decoration-color: var(--aside); text-underline-offset: .2em; }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--cyan); outline-offset: 1px; border-radius: .2rem; }
code { font: .9em/1.5 ui-monospace, monospace; unicode-bidi: isolate; white-space: pre-wrap; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.summary { font-size: 1.05rem; }
.aside, .rest { color: var(--aside); font-size: .875rem; }
.badge {
  display: inline-block; padding: 0 .6em; border: 1px solid; border-radius: 1em;
  font-size: .8rem; font-weight: 600; line-height: 1.5; vertical-align: middle; white-space: nowrap;
}
.badge > span { font-size: .85em; }
main > section { margin-top: 1.25rem; }
ul { list-style: none; margin: 0; padding: 0; }
.problems > summary h2 { display: inline; font-size: 1rem; }
.problems li { padding: .3rem 0; border-top: 1px solid var(--line); }
.now {
  display: flex; flex-wrap: wrap; gap: .25rem .9rem; align-items: center; padding: .7rem .9rem;
  border: 1px solid var(--line); border-left: .35rem solid currentColor; border-radius: .5rem; background: var(--soft);
}
main > .now { margin-top: .75rem; }
.now > * { margin: 0; }
.now .summary { color: var(--text); flex: 1 1 14rem; }
.now .badge { font-size: .95rem; padding: .05em .8em; }
.now .meta, .now .causes ~ .summary { flex-basis: 100%; color: var(--text); }
.now .causes { flex: 1 1 14rem; color: var(--text); }
.chips { display: flex; flex-wrap: wrap; gap: .35rem; margin: .75rem 0 0; }
.chips a {
  display: inline-block; padding: .1rem .7rem; border: 1px solid var(--line); border-radius: 1rem;
  font-size: .875rem; text-decoration: none; white-space: nowrap; background: var(--ground); color: var(--text);
}
.chips a:hover { border-color: currentColor; }
.chips b { font-variant-numeric: tabular-nums; }
.chips [aria-current] { background: var(--text); color: var(--ground); border-color: var(--text); }
article { border-top: 1px solid var(--line); padding: .55rem 0 .65rem; }
article > header { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; }
article > header p { margin: 0; }
.message { margin: .3rem 0; padding: .3rem .75rem; border-left: .25rem solid var(--aside); background: var(--soft); }
.names { display: flex; flex-wrap: wrap; gap: 0 1rem; }
.subdomain { margin: .5rem 0 0; padding-left: .75rem; border-left: 2px solid var(--line); }
.columns, .row summary {
  display: grid; gap: 0 .75rem; align-items: baseline;
  grid-template-columns: 6.75rem 3.5rem minmax(4rem, 1.5fr) minmax(0, 6fr) minmax(0, 2fr) minmax(0, 4.5fr);
}
.columns { position: sticky; top: 0; z-index: 1; margin: .5rem 0 0; padding: .25rem 0; background: var(--ground); color: var(--aside); font-size: .8rem; }
.row summary { padding: .1rem 0; cursor: pointer; border-radius: .2rem; list-style: none; }
.row summary::-webkit-details-marker { display: none; }
.row summary:hover, .row details[open] > summary { background: var(--soft); }
/* A long record is whole when its row is open. */
.row details:not([open]) .sides > :is(ins, del) {
  display: -webkit-inline-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; vertical-align: top;
}
.sign { font-weight: 600; white-space: nowrap; }
.row .sign::before { content: "▸"; display: inline-block; width: .9em; color: var(--aside); font-weight: 400; }
.row details[open] .sign::before { content: "▾"; }
.name { font-weight: 600; }
.cause, .todo { color: var(--aside); font-size: .875rem; }
.todo { color: var(--text); }
.changes > span + span::before { content: " · "; color: var(--aside); }
.sides i { color: var(--aside); }
del { text-decoration: none; color: var(--red); }
ins { text-decoration: none; color: var(--green); }
mark { color: inherit; background: var(--mark); border-radius: .15rem; }
.row details > p { margin: 0 0 .35rem; padding: 0 .75rem; border-left: .25rem solid var(--line); }
summary { cursor: pointer; }
.in-sync, .add .sign, .applied { color: var(--green); }
.drifted, .update .sign, .stale .sign, .warning { color: var(--yellow); }
.failed, .unknown, .blocked .sign, .missing .sign, .dangling .sign, .error { color: var(--red); }
.held, .surplus .sign, .foreign .sign, .skipped { color: var(--magenta); }
.pending, .park .sign { color: var(--cyan); }
.quiet { display: grid; gap: 0 1.5rem; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); margin-top: .35rem; }
.quiet li { padding: .15rem 0; }
footer { margin-top: 2rem; color: var(--aside); font-size: .875rem; }
@media (max-width: 64rem) {
  .columns, .row summary { grid-template-columns: 6.75rem 3.5rem minmax(4rem, 2fr) minmax(0, 6fr) minmax(10rem, 2fr); }
  .columns > :last-child { display: none; }
  .row .todo { grid-column: 4 / -1; }
}
@media (max-width: 40rem) {
  body { padding: .6rem .75rem 2rem; }
  .columns { display: block; text-align: right; }
  .columns > span { display: none; }
  .columns > :nth-child(4) { display: inline; }
  .row { border-top: 1px solid var(--line); }
  .row:first-child { border-top: 0; }
  .row summary { grid-template-columns: auto auto minmax(0, 1fr) auto; gap: 0 .5rem; padding: .3rem 0; }
  .row .sign { grid-column: 1; } .row .type { grid-column: 2; } .row .name { grid-column: 3; }
  .row summary .cause { grid-column: 4; grid-row: 1; max-width: 42vw; }
  .row .sides, .row .todo { grid-column: 1 / -1; padding-left: .9em; }
  .now .summary { flex-basis: 100%; }
  .quiet { grid-template-columns: minmax(0, 1fr); }
}
`;
