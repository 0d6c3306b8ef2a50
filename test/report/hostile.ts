import * as fc from 'fast-check';
import { assembleReport } from '../../src/report/assemble.ts';
import type { PassResult, Report } from '../../src/result.ts';
import { anyText } from '../any-text.ts';
import { everyKind } from './every-kind.ts';

/** Texts that try to leave the place where a report shows them. */
export const hostileTexts = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'; </style></code></td></details>",
  '&lt;script&gt; &amp; &#60;b&#62;',
  '`code` ``` ~~~ | pipe || \\| **bold** _it_ # head',
  '[link](javascript:alert(1)) ![image](https://evil.example/x.png)',
  '@everyone @octocat team/repo#12 #34 GH-5 https://evil.example www.evil.example mail@evil.example',
  '\x1b[2J\x1b[31mred\x1b]0;title\x07\x9b31m\b\b\b',
  'one\ntwo\r\nthree\ttabs\u0085\u2028\u2029\v\f',
  'abc\u202e\u2066txt.exe\u2069\u200f\u061c\ufeff\u200b\u00ad\u{e0041}',
  '##[add-mask]com ##vso[task.setvariable variable=x]y ##VSO[build.addbuildtag]z',
  '::add-mask::com ::stop-commands::x',
  '  blanks  at\u00a0both\u3000ends ',
  `::${'z'.repeat(70_000)}`,
  '\x1b<|`'.repeat(2_500),
  '漢字かな交じり文👩‍👩‍👧‍👦🇩🇪e\u0301\u0301\u0301',
  'שלום عالم',
  '\ud800 lone',
  '````',
  '',
];

const hostileText = fc.oneof(
  fc.constantFrom(...hostileTexts),
  anyText({ maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.array(fc.constantFrom(...hostileTexts.slice(0, 11)), { maxLength: 3 }).map((texts) => texts.join(' ')),
);

export const someHostileTexts = fc.array(hostileText, { minLength: 1, maxLength: 23 });

/** Tries them all together, each alone, and others at random. */
export const forHostileTexts = (check: (texts: readonly string[]) => void): void =>
  fc.assert(fc.property(someHostileTexts, check), {
    numRuns: 25,
    examples: [[hostileTexts], ...hostileTexts.map((text): [string[]] => [[text]])],
  });

const freeTexts = new Set(
  'client template file revision message type name content error retryAt subdomain check'.split(' '),
);

/** A report of every kind, over one client, whose texts all come from elsewhere. */
export const reportWith = (texts: readonly string[]): Report => {
  let used = 0;
  const pass: PassResult = JSON.parse(JSON.stringify(everyKind), (key, value: unknown) => {
    if (typeof value !== 'string' || !freeTexts.has(key)) return value;
    return key === 'client' || key === 'revision' ? texts[0] : texts[used++ % texts.length];
  });
  return assembleReport([pass]);
};

/** The same report with texts that try nothing, alike where these are: what another is held against. */
export const harmlessReport = (texts: readonly string[]): Report =>
  reportWith(texts.map((text) => `plain${texts.indexOf(text)}`));

/** The kinds of parts that a page has: names decide the order of its rows, and below which of them something is said. */
const partsOf = (page: string): string[] =>
  [...new Set(page.split(/(?=<li|<p>|<p class="todo")|(?<=<\/(?:li|p)>)/))].sort();

/** A page without its texts, and without marks, which depend on their length. */
export const skeletonOf = (page: string): string[] =>
  partsOf(
    page
      .replaceAll(/ (?:data-key|href)="[^"]*"/g, '')
      .replaceAll(/<\/?mark>/g, '')
      .replaceAll(/>[^<]+/g, '>'),
  );

/** What GitHub Actions and Azure Pipelines take for a command: anywhere in a line, or at its beginning. */
export const commands = /##(?:vso)?\[|^\s*::[a-z-]+(?: [^\n]*?)?::/im;

/** Whatever steers a terminal, changes the direction of reading or hides itself. */
export const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
