import * as fc from 'fast-check';

/* Texts made of what YAML is made of: right ones of every style, into which something more may have come. */

const words = 'a b c-d _x 1 1.10 010 0x1f .5 1e3 -1 ~ null true no << é 😀 a:b http://a.b a#b -- $x'.split(
  ' ',
);
const risky = ['a  b c', "it's", 'a "b"', '', ' ', 'x{y}', '${x}', 'key: no', '::1', '-', 'a\tb', 'a\n   b'];
const blank = fc.constantFrom('', '', '', '', ' ', '  ', '\t');
const word = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...words, 'a b') },
  { weight: 1, arbitrary: fc.constantFrom(...risky) },
);
const quoted = fc.oneof(
  { weight: 2, arbitrary: word.map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: word.map((text) => `'${text.replaceAll("'", "''")}'`) },
  fc.constantFrom(
    '"a\\x41\\u00e9\\n"',
    '"a\n  b"',
    "'a\n\n  b '",
    '"a \\\n   b"',
    '"\\ud83d\\ude00"',
    '"\\ "',
  ),
);
const scalar = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 3, arbitrary: quoted },
  fc.constantFrom('&x a', '&y "b"', '*x', '*y', '&z', 'a\n   b', '!!str a'),
);
const key = fc.oneof(
  { weight: 30, arbitrary: word },
  { weight: 10, arbitrary: quoted },
  { weight: 2, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom('&x a', '*x ', 'x'.repeat(1_020)) },
);
const comment = fc.constantFrom('', '', '', '', '', '', ' # c', '\t# c', ' \t', ' # a: "b" | c', ' #');
const anchor = fc.constantFrom('', '', '', '', '', '', '&x ', '&y ', '&x\n  ');
const blockText = fc
  .tuple(
    fc.constantFrom('|', '>', '|-', '>-', '|+', '>+', '|2', '>2-'),
    fc.array(fc.constantFrom('a', 'a b', ' a', '', '- a', '# a', 'a: b', "'")),
  )
  .map(
    ([header, lines]) =>
      (indent: number) =>
        `${header}${lines.map((line) => `\n${line === '' ? '' : ' '.repeat(indent + 2)}${line}`).join('')}`,
  );

/** Given its indent, a node that begins after a blank or on a line of its own. */
type Rendered = (indent: number) => string;
const always =
  (text: string): Rendered =>
  () =>
    text;

const { block } = fc.letrec<{ flow: string; block: Rendered }>((tie) => ({
  flow: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    fc
      .tuple(blank, fc.array(fc.tuple(key, blank, tie('flow'), blank), { maxLength: 3 }), anchor)
      .map(
        ([space, entries, name]) =>
          `${name}{${space}${entries.map(([one, before, value, after]) => `${one}:${before || ' '}${value}${after}`).join(',')}}`,
      ),
    fc
      .tuple(blank, fc.array(fc.tuple(tie('flow'), blank), { maxLength: 3 }), anchor)
      .map(
        ([space, items, name]) => `${name}[${space}${items.map(([item, after]) => item + after).join(', ')}]`,
      ),
  ),
  block: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 2, arbitrary: tie('flow').map(always) },
    blockText,
    fc.tuple(fc.array(fc.tuple(key, tie('block'), comment), { minLength: 1, maxLength: 3 }), anchor).map(
      ([entries, name]) =>
        (indent: number) =>
          `${name}${entries.map(([one, value, end]) => `\n${' '.repeat(indent)}${one}: ${value(indent + 2)}${end}`).join('')}`,
    ),
    fc
      .tuple(fc.array(fc.tuple(tie('block'), comment), { minLength: 1, maxLength: 3 }), anchor, fc.boolean())
      .map(
        ([items, name, isCompact]) =>
          (indent: number) =>
            `${name}${items
              .map(([item, end]) => {
                const text = item(indent + 2);
                const compact = isCompact ? text.replace(/^\n +/, '') : text;
                return `\n${' '.repeat(indent)}- ${compact}${end}`;
              })
              .join('')}`,
      ),
  ),
}));

const pieces = [
  ...'a b 1 - : , [ ] { } | > # & * ? ! " \' ~ . @ % ... null'.split(' '),
  'a: |- |: |, |[a|{a: b|"c" |\'d\' |"e": |&x |*x |*x : | # c|--- | |[a: b]|? a'.split('|'),
  '|\n',
  '>-\n',
  '\n---\n',
  '\\n',
  '\\\n',
  '\n',
  '\n  ',
  '\n\n',
  '\t',
].flat();
const intrusion = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  text: fc.constantFrom(...pieces),
});

export const composed: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(block, { minLength: 1, maxLength: 2 }),
    fc.oneof(fc.constant([]), fc.array(intrusion, { maxLength: 2 })),
    fc.constantFrom('', '\n', '# c\n', '---\n', '--- '),
  )
  .map(([documents, intrusions, head]) =>
    intrusions.reduce(
      (source, { at, text }) => {
        const place = Math.floor(at * source.length);
        return source.slice(0, place) + text + source.slice(place);
      },
      head + documents.map((document) => document(0)).join('\n---'),
    ),
  );
