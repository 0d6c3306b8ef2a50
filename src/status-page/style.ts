import { style as reportStyle } from '../report/html-style.ts';

/** The style of reports, and what the status page needs besides. */
export const style = `${reportStyle.source}
html { scroll-padding-top: 2rem; }
.row summary :is(.todo, .cause) { white-space: normal; overflow: visible; }
main:focus { outline: none; }
.skip { position: absolute; left: -100rem; padding: .5rem 1rem; background: var(--ground); z-index: 2; }
.skip:focus { left: 1rem; top: .5rem; }
body > header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; justify-content: space-between; }
body > header a { text-decoration: none; }
.sign-in { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0; }
.sign-in label { flex: 1 1 100%; margin-bottom: -.4rem; }
.sign-in input { flex: 1 1 16rem; max-width: 32rem; }
.sign-in input, .sign-in button { padding: .4rem .75rem; }
input:not([type=radio]), button {
  font: inherit; padding: .15rem .75rem; color: inherit; background: var(--soft);
  border: 1px solid var(--aside); border-radius: .4rem;
}
input::placeholder { color: var(--aside); opacity: 1; }
button { cursor: pointer; }
.acts { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; }
.acts form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
details.acts > form { margin: .5rem 0; }
.acts p { flex: 1 1 100%; margin: 0; }
.acts button, .acts select { padding: .3rem .9rem; }
select { font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--aside); border-radius: .4rem; }
.link { color: var(--aside); font-size: .875rem; margin: 0; }
.link.live::before { content: "● "; color: var(--green); }
.link.lost { color: var(--red); font-weight: 600; }
.link.lost::before { content: "▲ "; }
.lost main { filter: grayscale(1); }
.lost .now { border-left-style: dashed; }
.way { margin: .5rem 0; font-size: .875rem; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; margin-top: .75rem; }
.filters .chips { margin: 0; }
.filters form { display: flex; gap: .35rem; flex: 0 1 20rem; }
.filters input { flex: 1 1 8rem; min-width: 0; }
.calm { margin: .75rem 0 0; padding-top: .5rem; border-top: 1px solid var(--line); }
.calm::before { content: "● "; color: var(--green); }
.leaf { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
time[data-ago]::after { content: " (" attr(data-ago) ")"; color: var(--aside); }
#link time::after { content: none; }
main > section[aria-labelledby=differences] { margin-top: 0; }
section > h2 { margin-bottom: .35rem; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .35rem 1rem .35rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
td:last-child { padding-right: 0; }
tbody th, td:nth-child(2) { min-width: 6.5rem; }
tbody th { font-weight: 600; }
thead th { border-top: 0; padding-top: 0; color: var(--aside); font-size: .8rem; font-weight: 600; }
td p { margin: .1rem 0; }
td p:first-child { margin-top: 0; }
.records li {
  display: grid; gap: 0 .75rem; align-items: baseline; padding: .1rem 0;
  grid-template-columns: 3.5rem minmax(4rem, 2fr) minmax(0, 6fr) minmax(0, 3fr);
}
.records .content { word-break: break-all; }
.row pre { margin: 0 0 .35rem; padding: 0 .75rem; border-left: .25rem solid var(--line); white-space: pre-wrap; }
figure { margin: 0; }
.chart { display: block; width: 100%; height: 5rem; margin-top: .5rem; border-bottom: 1px solid var(--line); }
rect { fill: currentColor; }
rect.none { color: var(--line); }
.axis { display: flex; justify-content: space-between; color: var(--aside); font-size: .8rem; font-variant-numeric: tabular-nums; }
@media screen and (max-width: 40rem) {
  .filters { gap: .5rem; margin-top: .5rem; }
  .filters form { flex: 1 1 100%; }
  .filters .chips { flex: 1 1 100%; flex-wrap: nowrap; overflow-x: auto; padding-bottom: .2rem; scrollbar-width: thin; }
  .chips a { padding: .05rem .55rem; }
  .records li { display: flex; flex-wrap: wrap; padding: .3rem 0; border-top: 1px solid var(--line); gap: 0 .5rem; }
  .records .content { flex: 1 0 100%; }
  table, tbody { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: grid; grid-template-columns: minmax(0, 1fr); padding: .5rem 0; border-top: 1px solid var(--line); }
  tbody tr:first-child { border-top: 0; padding-top: 0; }
  th, td { border: 0; padding: .05rem 0; }
  time { white-space: normal; }
  td { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); }
  td::before { content: attr(data-label); color: var(--aside); font-size: .85rem; line-height: 1.75; }
  td > div { grid-column: 2; }
}
@media print {
  .skip, .link, nav, .way { display: none; }
}
`;
