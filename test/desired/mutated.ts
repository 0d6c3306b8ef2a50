import * as fc from 'fast-check';
import { badFiles } from '../files/bad-files.ts';

/* Template files, good and bad, to which things happen. Octets stand as characters (Latin-1). */

const seeds = [
  'template: web\nid: 17\nttl: 1h\nmode: edits\nsurplus: park\nadopt: true\nlimits: {maxAdds: 3}\nvars: {web: 192.0.2.1}\ninclude: [_mail.yaml]\nignore:\n  - {type: TXT, name: "_acme*"}\nrecords:\n  - {type: A, name: www, content: ["${web}", 192.0.2.2], ttl: 5m}\n  - type: SRV\n    name: _sip._tcp\n    priority: 10\n    weight: 5\n    port: 5060\n    target: sip.example.net\n',
  ...badFiles()
    .flatMap(({ files }) => Object.values(files))
    .flatMap((file) => (Buffer.isBuffer(file) && file.length < 20_000 ? file.toString('latin1') : [])),
];

const words = [
  ...Array.from('\0\t\n\r "\'#%&*,-:<>?@[]`{}|!~$\u00ff\u00fe\u00bf'),
  ...'&a ,*a,<<: ,!!str ,!x ,${,$${,${web},? ,: ,- ,null,true,.inf,0x1f,"\\uD800",[[[[,{{{{'.split(','),
  '\n---\n',
  '\n...\n',
  '%YAML 1.1\n',
  '\n  ',
  '|\n',
  '>-\n',
  '\r\n',
  // In UTF-8: a byte order mark, a line separator.
  '\u00ef\u00bb\u00bf',
  '\u00e2\u0080\u00a8',
];

/** What may happen to a file. Places are fractions of its length. */
const mutation = fc.oneof(
  fc.record({
    do: fc.constant('insert' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    text: fc.constantFrom(...words),
    times: fc.constantFrom(1, 1, 1, 2, 100),
  }),
  fc.record({
    do: fc.constant('remove' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(30),
  }),
  fc.record({
    do: fc.constant('repeat' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(60),
    times: fc.constantFrom(1, 2, 50),
  }),
  fc.record({
    do: fc.constant('splice' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    other: fc.nat(seeds.length - 1),
  }),
  fc.record({
    do: fc.constant('octet' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    octet: fc.nat(255),
  }),
);
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

const mutate = (content: string, change: Mutation): string => {
  const at = Math.floor(change.at * content.length);
  const [before, after] = [content.slice(0, at), content.slice(at)];
  switch (change.do) {
    case 'insert':
      return before + change.text.repeat(change.times) + after;
    case 'remove':
      return before + after.slice(change.length);
    case 'repeat':
      return before + after.slice(0, change.length).repeat(change.times) + after;
    case 'splice':
      return before + seeds[change.other]!.slice(Math.floor(change.at * seeds[change.other]!.length));
    case 'octet':
      return before + String.fromCharCode(change.octet) + after.slice(1);
  }
};

/** What is left of a file after some mutations. */
export const mutatedFile: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...seeds), fc.array(mutation, { minLength: 1, maxLength: 8 }))
  .map(([seed, changes]) => changes.reduce(mutate, seed).slice(0, 500_000));
