import { style as reportStyle } from '../report/html-style.ts';

/** The look of reports, and what a page that shows more of them needs besides. */
export const style = `${reportStyle.source}
:root { --soft: #f4f6f8; --bar-left: #c77700; --bar-written: #5aa9c4; }
@media screen and (prefers-color-scheme: dark) {
  :root { --soft: #1c2229; --bar-left: #e6b450; --bar-written: #4a8ea6; }
}
html { scroll-padding-top: 1rem; }
body { padding-top: 1rem; }
a { color: inherit; text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--cyan); outline-offset: 2px; border-radius: .2rem; }
main:focus { outline: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100rem; padding: .5rem 1rem; background: var(--ground); }
.skip:focus { left: 1rem; top: .5rem; z-index: 1; }
body > header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; justify-content: space-between; }
.sign-in { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0; }
.sign-in input { flex: 1 1 16rem; max-width: 32rem; }
.sign-in input, .sign-in button {
  font: inherit; padding: .4rem .75rem; color: inherit; background: var(--soft);
  border: 1px solid var(--aside); border-radius: .4rem;
}
h1 { font-size: 1.1rem; letter-spacing: .01em; }
h2 { font-size: 1.15rem; margin-bottom: .5rem; }
.link { color: var(--aside); font-size: .9rem; margin: 0; }
.link.live::before { content: "● "; color: var(--green); }
.link.lost { color: var(--red); font-weight: 600; }
.link.lost::before { content: "▲ "; }
main > section { background: var(--ground); margin-top: 1.25rem; padding: 1.1rem 1.25rem 1.25rem; border-radius: .75rem; }
main > section.now {
  display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin-top: .75rem;
  border-width: 1px 1px 1px .4rem; border-color: var(--line); border-left-color: currentColor; background: var(--soft);
}
.now > * { margin: 0; }
.now .summary { color: var(--text); font-size: 1.15rem; flex: 1 1 16rem; }
.now .badge { font-size: 1.05rem; padding: .1em .8em; }
.now .aside { flex-basis: 100%; }
.badge > span { font-size: .85em; }
.tiles { display: grid; gap: 1rem; margin: 1.25rem 0 0; grid-template-columns: repeat(4, minmax(0, 1fr)); }
.tiles > div { padding: .9rem 1.25rem; border: 1px solid var(--line); border-radius: .75rem; }
.tiles dt { display: block; color: var(--aside); font-size: .9rem; font-weight: 600; }
.tiles dt::after { content: none; }
.tiles dd { display: block; }
.tiles b { font-size: 1.5rem; font-weight: 650; line-height: 1.4; font-variant-numeric: tabular-nums; }
.tiles time { white-space: normal; }
.tiles p { margin: 0; }
.tiles span { display: inline-block; }
time { font-variant-numeric: tabular-nums; }
time[data-ago]::after { content: " · " attr(data-ago); color: var(--aside); font-weight: 400; }
.tiles time[data-ago]::after { content: attr(data-ago); display: block; font-size: .9rem; line-height: 1.5; }
.tiles p:empty { display: none; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .6rem 1rem .6rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
td:last-child { padding-right: 0; }
tbody th { font-weight: 600; }
thead th { border-top: 0; padding-top: 0; color: var(--aside); font-size: .85rem; font-weight: 600; }
td p { margin: .15rem 0; }
td > p:first-child { margin-top: 0; }
td .why { font-size: .9rem; }
td .aside .badge { font-size: .75rem; padding: 0 .5em; }
#writes ~ table td .aside { display: block; }
.add .sign { color: var(--green); } .update .sign { color: var(--yellow); } .park .sign { color: var(--cyan); }
article { margin-top: 1rem; padding-top: .25rem; }
article + article { border-top: 1px solid var(--line); padding-top: 1.25rem; margin-top: 1.25rem; }
article h3 { margin: 0; font-size: 1.05rem; }
.message { padding: .5rem .75rem; border-left: .25rem solid var(--aside); background: var(--soft); }
.subdomain { margin: 1rem 0 0 0; padding-left: 1rem; border-left: 2px solid var(--line); }
.subdomain h4 { margin: 0; font-size: 1rem; }
.rest { color: var(--aside); font-size: .9rem; margin-top: .75rem; }
.quiet { columns: 2; column-gap: 2rem; margin-top: 0; }
.quiet li { border: 0; break-inside: avoid; padding: .3rem 0; }
.quiet code { display: block; padding-left: 1.15rem; }
figure { margin: 0; }
figcaption { margin-bottom: .75rem; }
.plot { position: relative; padding-left: 3rem; }
.plot svg { display: block; width: 100%; height: 8rem; }
.scale { position: absolute; left: 0; top: 0; height: 5.9rem; margin: 0; width: 2.5rem; text-align: right; display: flex; flex-direction: column; justify-content: space-between; color: var(--aside); font-size: .8rem; line-height: 1; }
.axis { display: flex; justify-content: space-between; margin: .3rem 0 0; color: var(--aside); font-size: .8rem; font-variant-numeric: tabular-nums; }
rect.base, rect.none { fill: var(--line); }
rect.left { fill: var(--bar-left); }
rect.written { fill: var(--bar-written); }
rect.pass { fill: var(--green); }
rect.pass.drifted { fill: var(--yellow); } rect.pass.held { fill: var(--magenta); } rect.pass.failed { fill: var(--red); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .5rem 0 0 3rem; color: var(--aside); font-size: .85rem; }
.legend li { border: 0; padding: 0; }
.legend i { display: inline-block; width: .7rem; height: .7rem; margin-right: .4rem; }
.legend .left { background: var(--bar-left); } .legend .written { background: var(--bar-written); } .legend .pass { background: var(--green); height: .4rem; }
#last-passes { display: block; margin-top: 1rem; }
#last-passes table { margin-top: .75rem; }
footer p { margin: .5rem 0; }
@media screen and (max-width: 60rem) {
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
}
@media screen and (max-width: 48rem) {
  main > section { padding: .9rem; }
  .tiles { gap: .6rem; margin-top: .9rem; }
  .tiles > div { padding: .7rem .9rem; }
  .tiles b { font-size: 1.2rem; }
  .quiet { columns: 1; }
  .plot { padding-left: 0; }
  .scale { display: none; }
  .legend { margin-left: 0; }
  table, tbody { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: grid; grid-template-columns: minmax(0, 1fr); padding: .6rem 0; border-top: 1px solid var(--line); }
  tbody tr:first-child { border-top: 0; padding-top: 0; }
  th, td { border: 0; padding: .1rem 0; }
  time { white-space: normal; }
  td { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); }
  td::before { content: attr(data-label); grid-row: 1 / 9; color: var(--aside); font-size: .85rem; line-height: 1.75; }
  td > *, td > .why, td > .record { grid-column: 2; justify-self: start; margin-top: 0; }
}
@media print {
  .skip, .link, nav { display: none; }
  main > section { padding: 0; }
  .tiles > div { padding: .5rem; }
}
@media (prefers-reduced-motion: no-preference) {
  .link.live::before { animation: arrive .6s ease-out; }
  @keyframes arrive { from { opacity: 0; } }
}
`;
