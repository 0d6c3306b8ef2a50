import type { Nature } from './nature.ts';
import { edits, firstForm, linesOf, type Form, type SmallWorld, type Step } from './worlds.ts';

/*
 * Worlds that nobody has thought of: too many for each change of the program, with one fault over an hour of two
 * processors. What one of them shows becomes a world of its own.
 */

const park = { surplus: 'park' } as const;
const policies: Readonly<Record<string, SmallWorld['policy']>> = { report: {}, park };
/** What a world is about is whether something is written wrongly, not whether it is written in the end. */
const open = 'whatever comes of it';

const natures: Readonly<Record<string, Partial<Nature>>> = {
  'names the nameless': { namesNameless: true },
  'appends a placeholder': { ending: '.##DOMAIN##' },
  'appends a dot': { ending: '.' },
  'raises TTLs': { leastTtl: 7_200 },
  'has one TTL a set': { oneTtlPerSet: true },
  'quotes texts': { quotesTexts: true },
  'respells hosts': { respellsHosts: true },
  'ignores names': { ignores: 'name' },
  'ignores contents': { ignores: 'content' },
  'ignores TTLs': { ignores: 'ttl' },
  'refuses duplicates': { rejectsDuplicates: true },
  'answers shortly': { answersShort: true },
  'lowers types': { lowersTypes: true },
  'shows @': { nameless: '@' },
  'spells its panel': { spellsPanel: true },
  'shows a priority of all': { noPriority: 0 },
  'answers shortly, names the nameless': { answersShort: true, namesNameless: true },
  'answers shortly, appends a dot': { answersShort: true, ending: '.' },
};

/** A record, one that follows it in place, and one that may not stand beside it or is of another kind. */
const forms: readonly (readonly [string, string, string])[] = [
  ['www A 192.0.2.1', 'www A 192.0.2.2', 'www CNAME web.example.org'],
  ['@ MX 10 mx.example.net', '@ MX 20 mx.example.net', '@ MX 0 .'],
  ['@ TXT one', '@ TXT two', '@ TXT v=spf1 -all'],
  ['www CNAME web.example.org', 'www CNAME cdn.example.org', 'ftp CNAME web.example.org'],
];

const storiesOf = ([one, next, other]: (typeof forms)[number]): readonly (readonly Step[])[] => [
  [[next], [one]],
  [[], [one]],
  [[other], [one]],
  [{ changes: [one, other] }, [next]],
  [{ removes: one }, [next]],
];

const ofNatures = Object.entries(natures).flatMap(([what, nature]) =>
  forms.flatMap((form) =>
    Object.entries(policies).flatMap(([how, policy]) =>
      storiesOf(form).map((steps, at): SmallWorld => ({
        name: `a service that ${what}, ${form[0]}, ${how}, story ${at + 1}`,
        open,
        file: [form[0]],
        service: ['mail A 192.0.2.9'],
        policy: { ...policy, adopt: true },
        nature,
        steps: ['pass', ...steps, 'pass'],
      })),
    ),
  ),
);

/** What the file says after each of these edits; null if one of them would change nothing. */
const formsAfter = (names: readonly string[]): readonly (Form | null)[] | null => {
  let form: Form | null = firstForm;
  const after: (Form | null)[] = [];
  for (const name of names) {
    const next: Form | null = edits[name]!(form ?? firstForm);
    if (linesOf(next).join() === linesOf(form).join()) return null;
    form = next;
    after.push(form);
  }
  return after;
};

const names = Object.keys(edits);

const ofThreeEdits = names.flatMap((one) =>
  names.flatMap((two) =>
    names.flatMap((three): SmallWorld[] => {
      const after = formsAfter([one, two, three]);
      if (after === null) return [];
      const steps: readonly Step[] = ['pass', ...after.map(linesOf), 'pass'];
      const name = `${one}, then ${two}, then ${three}`;
      return [{ name, open, file: linesOf(firstForm), policy: park, steps }];
    }),
  ),
);

/** What happens between two edits, by the record that the file has then. */
const between: Readonly<Record<string, (record: string) => Step>> = {
  'the state is lost': () => 'the state is lost',
  'the clock jumps': () => 'the clock jumps',
  'the clock is set back': () => 'the clock is set back',
  '--retry': () => '--retry',
  '--force': () => '--force',
  'somebody removes it': (record) => ({ removes: record }),
  'somebody renames it': (record) => ({ changes: [record, record.replace(/^\S+/, 'api')] }),
  'somebody changes it': (record) => ({ changes: [record, record.replace('192.0.2.', '192.0.2.10')] }),
  'somebody adds it': (record) => ({ adds: record }),
  'somebody takes the name': () => ({ adds: 'ftp 300 A 192.0.2.77' }),
  'somebody puts a CNAME there': () => ({ adds: 'ftp 300 CNAME other.example.org' }),
};

const ofWhatIsBetween = names.flatMap((one) =>
  names.flatMap((two) =>
    Object.entries(policies).flatMap(([how, policy]) => {
      const [first, second] = formsAfter([one, two]) ?? [];
      if (first === undefined || second === undefined) return [];
      const [record = ''] = linesOf(first ?? firstForm);
      return Object.entries(between).map(([what, step]): SmallWorld => ({
        name: `${one}, ${what}, then ${two}, ${how}`,
        open,
        file: linesOf(firstForm),
        ...(policy ? { policy } : {}),
        steps: ['pass', linesOf(first), step(record), linesOf(second), 'pass'],
      }));
    }),
  ),
);

export const generated: readonly SmallWorld[] = [...ofThreeEdits, ...ofWhatIsBetween, ...ofNatures];
