import { nameById, type ActualTemplate, type DesiredTemplate } from '../../src/model/template.ts';
import { parseWindows, type Windows } from '../../src/model/window.ts';
import { ignoreRules } from './files.ts';
import type { Nature } from './nature.ts';

/** One template, few records, few steps; each step ends with a pass. */
export interface SmallWorld {
  readonly name: string;
  /** Whether each change of the program plays it with two faults, not with one. */
  readonly isCore?: boolean;
  /** Records as in a zone file: what the file says at first, and what the service has. */
  readonly file: readonly string[];
  readonly service?: readonly string[];
  readonly policy?: Partial<
    Pick<
      DesiredTemplate,
      'id' | 'template' | 'mode' | 'surplus' | 'adopt' | 'limits' | 'ignore' | 'subdomains' | 'window'
    >
  >;
  readonly nature?: Partial<Nature>;
  /** What the file of a second template says, which is empty at the service. */
  readonly beside?: readonly string[];
  /** Further templates at the service, without records. */
  readonly others?: readonly Pick<ActualTemplate, 'id' | 'name' | 'publiclyAvailable'>[];
  /** Seconds between two steps, if not thirty. */
  readonly pause?: number;
  /** Milliseconds between two readings, if not ten thousand. */
  readonly settle?: number;
  /** Whether it is about plans alone: played where all goes well, and nowhere else. */
  readonly isCalm?: boolean;
  /** Whether one process makes all passes: what it keeps in memory is no part of a state that was seen before. */
  readonly isOneProcess?: boolean;
  /** Of both together. */
  readonly maxAddsPerPass?: number;
  /** Why something that the file says is never written here, or not by the first pass that could. */
  readonly open?: string;
  /** Breaches that the program is known for, to be mended. */
  readonly notKept?: readonly RegExp[];
  readonly steps: readonly Step[];
}

/** A list: what the file says from now on. */
export type Step =
  | 'pass'
  | 'apply'
  | 'plan'
  | '--retry'
  | '--force'
  | '--accept-loss'
  | 'the state is lost'
  | 'an older state'
  | 'another token'
  | 'the clock jumps'
  | 'the clock is set back'
  | 'resume'
  /** A template by this name, or null: the client. */
  | { readonly suspends: string | null }
  | readonly string[]
  | PolicyStep
  | {
      /** What somebody does at the service, in the second template if there it is. */
      readonly adds?: string;
      readonly removes?: string;
      readonly changes?: readonly [string, string];
      readonly in?: 2;
      /** What the file says from now on. */
      readonly file?: readonly string[];
      /** Whether the state is an older copy then. */
      readonly isOlder?: boolean;
    };

/** What the file says from now on besides its records. */
export type PolicyStep = Partial<Pick<DesiredTemplate, 'surplus' | 'adopt' | 'mode' | 'template'>>;

const park = { surplus: 'park' } as const;

const windowOf = (text: string): Windows => {
  const windows = parseWindows(text);
  if (typeof windows === 'string') throw new Error(windows);
  return windows;
};

export interface Form {
  readonly name: string;
  readonly ttl: number;
  readonly data: string;
}

export const firstForm: Form = { name: 'www', ttl: 300, data: 'A 192.0.2.1' };

/** Edits of a record; null: the file does not have it. Done twice, an edit has another result. */
export const edits: Readonly<Record<string, (form: Form) => Form | null>> = {
  value: (form) => ({ ...form, data: otherValues[form.data] ?? firstForm.data }),
  name: (form) => ({ ...form, name: form.name === 'www' ? 'ftp' : 'mail' }),
  type: (form) => ({ ...form, data: form.data.startsWith('A ') ? 'CNAME web.example.org' : firstForm.data }),
  ttl: (form) => ({ ...form, ttl: 2 * form.ttl }),
  dropped: () => null,
  returned: () => firstForm,
};

const otherValues: Readonly<Record<string, string>> = {
  'A 192.0.2.1': 'A 192.0.2.2',
  'A 192.0.2.2': 'A 192.0.2.3',
  'CNAME web.example.org': 'CNAME cdn.example.org',
};

export const linesOf = (form: Form | null): readonly string[] =>
  form === null ? [] : [`${form.name} ${form.ttl} ${form.data}`];

/** Every two edits that follow each other in one record set: the second is one of what the first has made, or dropped. */
const pairs = Object.entries(edits).flatMap(([one, edit]) =>
  Object.entries(edits).flatMap(([two, then]): SmallWorld[] => {
    if (one === two && (one === 'dropped' || one === 'returned')) return [];
    const edited = edit(firstForm);
    return [
      {
        name: `${one}, then ${two}`,
        isCore: one === 'value' && two === 'returned',
        ...([one, two].includes('type') ? { open: 'a CNAME beside another record' } : {}),
        file: linesOf(firstForm),
        steps: [
          'pass',
          ...(one === 'returned' ? [linesOf(null)] : []),
          linesOf(edited),
          linesOf(then(edited ?? firstForm)),
        ],
      },
    ];
  }),
);

/** Nothing is written to what is suspended, or outside of its window. */
const paused: readonly SmallWorld[] = [
  {
    name: 'a template is suspended, forced and resumed',
    file: ['www A 192.0.2.1'],
    steps: ['pass', { suspends: 'one' }, ['www A 192.0.2.2'], '--force', 'resume'],
  },
  {
    name: 'a template is suspended by its name at the service',
    file: ['www A 192.0.2.1'],
    policy: { id: 1, template: nameById(1) },
    steps: ['pass', { suspends: 'one' }, ['www A 192.0.2.2'], 'resume'],
  },
  {
    name: 'a template is suspended by the name that its file had',
    file: ['www A 192.0.2.1'],
    policy: { id: 1, template: nameById(1) },
    steps: ['pass', { suspends: nameById(1) }, { template: 'one' }, ['www A 192.0.2.2'], 'resume'],
  },
  {
    name: 'a template outside of its window',
    file: ['www A 192.0.2.1'],
    policy: { window: windowOf('Mon 03:00-04:00 UTC') },
    steps: ['pass', '--force', ['www A 192.0.2.2']],
  },
].map((world) => ({ ...world, open: 'it is paused', isCalm: true }) as SmallWorld);

export const worlds: readonly SmallWorld[] = [
  ...paused,
  { name: 'a record', isCore: true, file: ['www A 192.0.2.1'], steps: ['pass', 'pass'] },
  { name: 'two records', file: ['www A 192.0.2.1', '@ MX 10 mx.example.net'], steps: ['pass', 'pass'] },
  {
    name: 'a text edited',
    isCore: true,
    file: ['@ TXT one'],
    steps: ['pass', ['@ TXT two'], 'pass'],
  },
  {
    name: 'a text edited, park',
    file: ['@ TXT one'],
    policy: park,
    steps: ['pass', ['@ TXT two'], 'pass'],
  },
  {
    name: 'a CNAME becomes an A, park',
    isCore: true,
    file: ['www CNAME web.example.org'],
    policy: park,
    steps: ['pass', ['www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'an A becomes a CNAME and an A again, park',
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['www CNAME web.example.org'], ['www A 192.0.2.1']],
  },
  {
    name: 'a record renamed to where another was',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], ['ftp CNAME web.example.org']],
  },
  {
    name: 'a dropped record parked and used again',
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', [], ['ftp A 192.0.2.3']],
  },
  {
    name: 'a record put to use, then park given up',
    file: ['@ TXT one'],
    service: ['@ TXT old'],
    policy: { ...park, adopt: true },
    steps: ['pass', { surplus: 'report' }, 'pass'],
  },
  {
    name: 'somebody makes another record what was added',
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9', 'ftp A 192.0.2.2'],
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      { changes: ['ftp A 192.0.2.2', 'www A 192.0.2.1'] },
      ['@ A 192.0.2.9', 'www A 192.0.2.1', 'mail A 192.0.2.3'],
    ],
  },
  {
    name: 'mail given up',
    file: ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'],
    policy: park,
    steps: ['pass', ['@ MX 0 .'], 'pass'],
  },
  {
    name: 'mode edits',
    isCore: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    policy: { mode: 'edits' },
    steps: ['pass', ['www A 192.0.2.2'], ['www A 192.0.2.1']],
  },
  {
    name: 'mode edits, and somebody',
    open: 'somebody’s change stays',
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    policy: { mode: 'edits' },
    steps: [
      'pass',
      { changes: ['www A 192.0.2.1', 'www A 192.0.2.9'] },
      ['www A 192.0.2.1', 'ftp A 192.0.2.1'],
    ],
  },
  {
    name: 'somebody removes it',
    isCore: true,
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    steps: ['pass', { removes: 'www A 192.0.2.1' }, 'pass'],
  },
  {
    name: 'somebody removes it twice, retry',
    open: 'a third time only at a person’s request',
    file: ['www A 192.0.2.1'],
    steps: ['pass', { removes: 'www A 192.0.2.1' }, { removes: 'www A 192.0.2.1' }, '--retry'],
  },
  {
    name: 'somebody adds the same',
    file: ['www A 192.0.2.1'],
    steps: ['pass', { adds: 'www A 192.0.2.1' }, 'pass'],
  },
  {
    name: 'somebody changes it, and the file, too',
    file: ['www A 192.0.2.1'],
    steps: ['pass', { changes: ['www A 192.0.2.1', 'www A 192.0.2.9'] }, ['www A 192.0.2.3']],
  },
  {
    name: 'one makes way, and another one waits for somebody’s CNAME, park',
    open: 'a CNAME beside another record',
    file: ['www A 192.0.2.2'],
    service: ['www A 192.0.2.2', 'ftp CNAME web.example.net'],
    policy: park,
    steps: ['pass', ['www CNAME web.example.org', 'ftp A 192.0.2.3'], 'pass'],
  },
  {
    name: 'one makes way for an update, and another one waits for somebody’s CNAME, park',
    open: 'a CNAME beside another record',
    file: ['www MX 10 a.example.net', 'www MX 20 b.example.net'],
    service: ['www MX 10 a.example.net', 'www MX 20 b.example.net', 'ftp CNAME web.example.net'],
    policy: park,
    steps: ['pass', ['www MX 0 .', 'ftp MX 10 c.example.net'], 'pass'],
  },
  {
    name: 'a type that the service refuses, again and again',
    isCalm: true,
    open: 'the service refuses it',
    file: ['www AAAA 2001:db8::1'],
    nature: { refusesType: 'AAAA' },
    pause: 22_000,
    steps: Array.from({ length: 14 }, () => 'pass' as const),
  },
  {
    name: 'a record edited, and readings need not be apart',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    settle: 0,
    steps: ['pass', ['www A 192.0.2.2'], 'pass'],
  },
  {
    name: 'a CNAME of somebody’s',
    open: 'a CNAME beside another record',
    file: ['ftp A 192.0.2.2'],
    steps: ['pass', { adds: 'www CNAME web.example.org' }, ['ftp A 192.0.2.2', 'www A 192.0.2.1']],
  },
  {
    name: 'first contact',
    open: 'no name of the file is at the service',
    isCore: true,
    file: ['www A 192.0.2.1'],
    service: ['ftp A 192.0.2.2'],
    steps: ['pass', '--force', 'pass'],
  },
  {
    name: 'adopted',
    file: ['www A 192.0.2.1'],
    service: ['ftp A 192.0.2.2'],
    policy: { ...park, adopt: true },
    steps: ['pass', 'pass'],
  },
  {
    name: 'most is lost',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3'],
    policy: { limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 } },
    steps: ['pass', { removes: 'www A 192.0.2.1' }, { removes: 'ftp A 192.0.2.2' }, '--accept-loss'],
  },
  {
    name: 'the state is lost',
    file: ['www A 192.0.2.1'],
    steps: ['pass', 'the state is lost', 'pass'],
  },
  {
    name: 'an older state',
    file: ['www A 192.0.2.1'],
    steps: ['pass', 'an older state', 'pass'],
  },
  {
    name: 'another token of an unknown client',
    file: ['www A 192.0.2.1'],
    steps: ['pass', 'another token', 'pass'],
  },
  {
    name: 'two templates within one limit',
    open: 'more adds than allowed',
    isCore: true,
    file: ['www A 192.0.2.1'],
    beside: ['ftp A 192.0.2.2'],
    maxAddsPerPass: 1,
    steps: ['pass', 'pass'],
  },
  {
    name: 'a CNAME becomes an A, park, beside a template that is read twice',
    file: ['www CNAME web.example.org'],
    beside: ['ftp A 192.0.2.2'],
    policy: park,
    steps: [
      'pass',
      { in: 2, changes: ['ftp A 192.0.2.2', 'ftp A 192.0.2.9'], file: ['www A 192.0.2.1'] },
      'pass',
    ],
  },
  {
    name: 'two templates above their limit',
    open: 'more adds than allowed',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    beside: ['ftp A 192.0.2.2'],
    maxAddsPerPass: 2,
    steps: ['pass', ['www A 192.0.2.1'], '--force'],
  },
  {
    name: 'mode report',
    open: 'nothing is written',
    file: ['www A 192.0.2.1'],
    service: ['ftp A 192.0.2.2'],
    policy: { mode: 'report' },
    steps: ['pass', ['www A 192.0.2.2'], '--force'],
  },
  {
    name: 'an ignored record stands at the name',
    open: 'a CNAME beside another record',
    file: ['ftp A 192.0.2.2'],
    service: ['www A 192.0.2.4'],
    policy: { ...park, adopt: true, ignore: ignoreRules },
    steps: ['pass', ['www CNAME web.example.org'], 'pass'],
  },
  {
    name: 'texts of two kinds',
    file: ['@ TXT v=spf1 -all', '@ TXT token=one'],
    service: ['@ TXT token=two'],
    steps: ['pass', ['@ TXT v=spf1 mx -all', '@ TXT token=one'], ['@ TXT token=one']],
  },
  {
    name: 'a record added, retry at once',
    file: ['www A 192.0.2.1'],
    steps: ['pass', '--retry', 'pass'],
  },
  {
    name: 'names get an ending',
    open: 'the service stores something else',
    file: ['www A 192.0.2.1'],
    nature: { ending: '.##DOMAIN##' },
    steps: ['pass', ['www A 192.0.2.2'], 'pass'],
  },
  {
    name: 'a record renamed, then a CNAME instead of it, park',
    open: 'a CNAME beside another record',
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], ['ftp CNAME web.example.org'], 'pass'],
  },
  {
    name: 'two records swap their types, and again, park',
    file: ['www A 192.0.2.1', 'ftp CNAME web.example.org'],
    policy: park,
    steps: [
      'pass',
      ['ftp A 192.0.2.1', 'www CNAME web.example.org'],
      ['www A 192.0.2.1', 'ftp CNAME web.example.org'],
    ],
  },
  {
    name: 'mail given up and taken again, park',
    file: ['www MX 10 mx.example.net', 'www MX 20 mx2.example.net'],
    policy: park,
    steps: ['pass', ['www MX 0 .'], ['www MX 10 mx.example.net']],
  },
  {
    name: 'a record that somebody renames, and a CNAME instead of it',
    open: 'a CNAME beside another record',
    file: ['www A 192.0.2.1'],
    steps: [
      'pass',
      { changes: ['www A 192.0.2.1', 'api A 192.0.2.1'] },
      ['www CNAME web.example.org'],
      'pass',
    ],
  },
  {
    name: 'a record renamed there and back, park',
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], ['www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'a value changed there and back, and another one beside it',
    file: ['www 60 A 192.0.2.1'],
    steps: [
      'pass',
      ['www 300 A 192.0.2.2'],
      ['www 60 A 192.0.2.1'],
      ['www 60 A 192.0.2.1', 'www 300 A 192.0.2.3'],
    ],
  },
  {
    name: 'the nameless get a name, and are edited, park',
    open: 'the service stores something else',
    file: ['@ MX 10 mx.example.net'],
    policy: park,
    nature: { namesNameless: true },
    steps: ['pass', ['@ MX 20 mx.example.net'], ['@ MX 10 mx.example.net'], 'pass'],
  },
  {
    name: 'the nameless get a name',
    open: 'the service stores something else',
    file: ['@ A 192.0.2.1'],
    nature: { namesNameless: true },
    steps: ['pass', ['@ A 192.0.2.2'], 'pass'],
  },
  {
    name: 'TTLs are clamped',
    open: 'the service stores something else',
    file: ['www 60 A 192.0.2.1'],
    nature: { leastTtl: 300 },
    steps: ['pass', ['www 120 A 192.0.2.1'], 'pass'],
  },
  {
    name: 'duplicates are refused',
    file: ['www A 192.0.2.1'],
    nature: { rejectsDuplicates: true },
    steps: ['pass', ['www A 192.0.2.2'], 'pass'],
  },
  {
    name: 'contents are ignored',
    open: 'the service stores something else',
    file: ['www A 192.0.2.1'],
    nature: { ignores: 'content' },
    steps: ['pass', ['www A 192.0.2.2'], 'pass'],
  },
  {
    name: 'answers are short',
    file: ['www A 192.0.2.1'],
    service: ['ftp A 192.0.2.2'],
    policy: { adopt: true },
    nature: { answersShort: true },
    steps: ['pass', 'pass'],
  },
  {
    name: 'listings are cut',
    open: 'listings lack what answers show',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    service: ['@ A 192.0.2.9', 'www A 192.0.2.1', 'ftp A 192.0.2.2'],
    policy: { adopt: true },
    nature: { listed: 1, isKind: false },
    steps: ['pass', 'pass', ['mail A 192.0.2.3'], 'apply'],
  },
  {
    name: 'listings show no record',
    open: 'listings lack what answers show',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    nature: { listed: 0, isKind: false },
    steps: ['pass', 'pass', ['mail A 192.0.2.3'], 'apply'],
  },
  {
    name: 'listings show no record, and a subdomain does',
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    policy: { subdomains: ['one.example.net'] },
    nature: { listed: 0, isKind: false },
    steps: ['pass', 'pass'],
  },
  {
    name: 'the panel writes placeholders',
    open: 'a record may be it in another spelling',
    isCore: true,
    file: ['@ A 192.0.2.1', 'www A 192.0.2.2', 'ftp A 192.0.2.3'],
    service: ['@ A 192.0.2.1', 'www.##DOMAIN## A 192.0.2.9', 'ftp.example.org A 192.0.2.8'],
    nature: { spellsPanel: true },
    steps: ['pass', 'pass', 'apply'],
  },
  {
    name: 'a name with a placeholder in the panel is added to the file',
    open: 'a record may be it in another spelling',
    file: ['@ A 192.0.2.1'],
    service: ['@ A 192.0.2.1', 'www.##DOMAIN## A 192.0.2.9'],
    nature: { spellsPanel: true },
    steps: ['pass', ['@ A 192.0.2.1', 'www A 192.0.2.2'], 'pass'],
  },
  {
    name: 'a copy of a known record',
    isCalm: true,
    file: ['@ A 192.0.2.7', 'www A 192.0.2.1'],
    service: ['@ A 192.0.2.7', 'ftp A 192.0.2.1'],
    steps: [
      'pass',
      { changes: ['ftp A 192.0.2.1', 'www A 192.0.2.1'] },
      ['@ A 192.0.2.7', 'www A 192.0.2.2'],
    ],
  },
  {
    name: 'somebody changes its type',
    isCalm: true,
    open: 'its record is something else now',
    file: ['www A 192.0.2.1'],
    steps: ['pass', { changes: ['www A 192.0.2.1', 'www AAAA 2001:db8::1'] }, 'pass'],
  },
  {
    name: 'the priority of a known host',
    isCalm: true,
    file: ['@ 600 MX 10 a.example.net', '@ 600 MX 20 a.example.net'],
    service: ['@ MX 20 a.example.net'],
    steps: ['pass', 'pass'],
  },
  {
    name: 'an edit to what somebody has added',
    isCalm: true,
    file: ['@ MX 10 c.example.net'],
    steps: ['pass', { adds: '@ MX 30 b.example.net' }, ['@ MX 20 b.example.net']],
  },
  {
    name: 'the closest record',
    isCalm: true,
    file: ['@ MX 10 a.example.net', 'www A 192.0.2.1'],
    service: ['@ MX 20 c.example.net', '@ MX 10 b.example.net', 'www A 192.0.2.8', 'www A 192.0.2.9'],
    steps: ['pass', 'pass'],
  },
  {
    name: 'a copy becomes useful',
    isCalm: true,
    file: ['www A 192.0.2.1', 'www A 192.0.2.2'],
    service: ['www A 192.0.2.9', 'www A 192.0.2.1', 'www A 192.0.2.1'],
    steps: ['pass', 'pass'],
  },
  {
    name: 'a copy beside the record of the file',
    isCalm: true,
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    service: ['www A 192.0.2.1', 'www A 192.0.2.1', 'ftp A 192.0.2.2', 'ftp A 192.0.2.9'],
    steps: ['pass', 'pass'],
  },
  {
    name: 'a CNAME under a name with a placeholder',
    isCalm: true,
    open: 'a CNAME beside another record',
    file: ['ftp A 192.0.2.2'],
    service: ['ftp A 192.0.2.2', 'www.##DOMAIN## CNAME web.example.org'],
    nature: { spellsPanel: true },
    steps: ['pass', ['ftp A 192.0.2.2', 'www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'a public template of the same name',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    others: [{ id: 91, name: 'one', publiclyAvailable: true }],
    steps: ['pass', 'pass'],
  },
  {
    name: 'a name that only looks parked',
    isCalm: true,
    open: 'no name of the file is at the service',
    file: ['www A 192.0.2.1'],
    service: ['_parked-old A 192.0.2.9', '_parked-1 A 0.0.0.0'],
    policy: park,
    steps: ['pass', '--force', ['www A 192.0.2.1', 'ftp A 192.0.2.2']],
  },
  {
    name: 'forced after readings that agree',
    isCalm: true,
    open: 'no name of the file is at the service',
    file: ['www A 192.0.2.1'],
    service: ['ftp A 192.0.2.2'],
    pause: 3,
    steps: ['pass', 'pass', 'pass', 'pass', '--force'],
  },
  ...Object.entries({
    'somebody adds a record': { adds: 'mail A 192.0.2.9' },
    'somebody replaces a record by its copy': { removes: 'ftp A 192.0.2.2', adds: 'ftp A 192.0.2.2' },
    'somebody changes a TTL': { changes: ['ftp A 192.0.2.2', 'ftp 600 A 192.0.2.2'] as const },
  }).map(([name, change]): SmallWorld => ({
    name: `forced shortly after ${name}`,
    isCalm: true,
    open: 'no name of the file is at the service',
    file: ['www A 192.0.2.1'],
    service: ['ftp A 192.0.2.2'],
    pause: 3,
    steps: ['pass', 'pass', 'pass', change, '--force'],
  })),
  {
    name: 'a null MX that cannot be changed',
    isCalm: true,
    open: 'the service stores something else',
    file: ['@ MX 0 .'],
    nature: { ignores: 'content' },
    steps: ['pass', ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'], 'pass'],
  },
  {
    name: 'records that need a name or a priority',
    isCalm: true,
    file: ['10 PTR a.example.org', '_sip._tcp SRV 10 5 5060 sip.example.net', '@ MX 10 mx.example.net'],
    steps: [
      'pass',
      ['10 PTR b.example.org', '_sip._tcp SRV 10 5 5061 sip.example.net', '@ MX 10 mx2.example.net'],
      ['10 PTR b.example.org', '_sip._tcp SRV 20 5 5061 sip.example.net', '@ MX 20 mx2.example.net'],
    ],
  },
  {
    name: 'a dropped record parked, and a nameless one',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', [], ['@ A 192.0.2.5']],
  },
  {
    name: 'the id of a public template',
    isCalm: true,
    open: 'it is not of this client',
    file: ['www A 192.0.2.1'],
    policy: { id: 91 },
    others: [{ id: 91, name: 'one', publiclyAvailable: true }],
    steps: ['pass', 'pass'],
  },
  {
    name: 'the id of another template',
    isCalm: true,
    open: 'id and name do not agree',
    file: ['www A 192.0.2.1'],
    policy: { id: 3 },
    others: [{ id: 3, name: 'three', publiclyAvailable: false }],
    steps: ['pass', 'pass'],
  },
  {
    name: 'two templates of one name',
    isCalm: true,
    open: 'it is not known which of them',
    file: ['www A 192.0.2.1'],
    others: [{ id: 3, name: 'one', publiclyAvailable: false }],
    steps: ['pass', 'pass'],
  },
  {
    name: 'an edit shortly after somebody’s',
    open: 'no name of the file is at the service',
    file: ['www A 192.0.2.1'],
    pause: 3,
    steps: ['pass', { adds: 'ftp A 192.0.2.9' }, 'the clock jumps', ['www A 192.0.2.2']],
  },
  {
    name: 'an edit in the next moment after somebody’s',
    isCalm: true,
    file: ['www A 192.0.2.1', '@ TXT one'],
    pause: 3,
    steps: ['pass', { adds: 'ftp A 192.0.2.9' }, ['www A 192.0.2.2', '@ TXT one']],
  },
  {
    name: 'records of every rank',
    isCalm: true,
    file: [
      'www CNAME web.example.org',
      '@ MX 10 mx.example.net',
      '@ TXT one',
      '10 PTR a.example.org',
      'ftp A 192.0.2.1',
    ],
    steps: [
      'pass',
      [
        'www CNAME cdn.example.org',
        '@ MX 20 mx.example.net',
        '@ TXT two',
        '10 PTR a.example.org',
        'ftp A 192.0.2.2',
        '@ A 192.0.2.3',
      ],
    ],
  },
  {
    name: 'an add after an older state',
    open: 'an older state does not show how often it was added',
    file: ['www A 192.0.2.1'],
    steps: ['pass', ['www A 192.0.2.1', 'ftp A 192.0.2.2'], 'an older state', 'pass'],
  },
  {
    name: 'an older state, and names get an ending',
    open: 'the service stores something else',
    file: ['@ A 192.0.2.9'],
    nature: { ending: '.##DOMAIN##' },
    steps: ['pass', ['@ A 192.0.2.9', 'www A 192.0.2.1'], 'an older state', 'apply'],
  },
  {
    name: 'somebody adds the same, and the file makes it a CNAME, park',
    open: 'somebody’s copy stays',
    file: ['@ A 192.0.2.9'],
    policy: park,
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      { adds: 'www A 192.0.2.1' },
      ['@ A 192.0.2.9', 'www CNAME web.example.org'],
      'pass',
    ],
  },
  {
    name: 'somebody adds the same, and removes it, and names get an ending',
    open: 'the service stores something else',
    file: ['@ A 192.0.2.9'],
    nature: { ending: '.' },
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      { adds: 'www A 192.0.2.1' },
      { removes: 'www A 192.0.2.1' },
      'pass',
    ],
  },
  {
    name: 'an older state, and somebody, mode edits',
    open: 'somebody’s change stays',
    file: ['www A 192.0.2.1', 'mail A 192.0.2.7'],
    service: ['www A 192.0.2.1', 'mail A 192.0.2.7'],
    policy: { mode: 'edits' },
    steps: [
      'pass',
      ['www A 192.0.2.2', 'ftp A 192.0.2.5'],
      { changes: ['www A 192.0.2.2', 'www A 192.0.2.9'], isOlder: true },
      '--force',
    ],
  },
  {
    name: 'the state is lost, and names get an ending, then adopted',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www A 192.0.2.1', '@ A 192.0.2.9'],
    nature: { ending: '.' },
    steps: ['pass', 'the state is lost', 'pass', { surplus: 'park', adopt: true }, 'apply'],
  },
  {
    name: 'more changes than allowed',
    isCalm: true,
    open: 'more changes than allowed',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ TXT one'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ TXT one'],
    policy: { limits: { maxAdds: 0, maxChangePercent: 40, minRecords: 3 } },
    steps: [
      'pass',
      ['www A 192.0.2.3', 'ftp A 192.0.2.2', '@ TXT one', 'mail A 192.0.2.5'],
      ['www A 192.0.2.4', 'ftp A 192.0.2.4', '@ TXT two', 'mail A 192.0.2.5'],
      '--force',
    ],
  },
  {
    name: 'more adopted than allowed',
    isCalm: true,
    open: 'more changes than allowed',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    service: ['www A 192.0.2.1', 'mail A 192.0.2.7', 'shop A 192.0.2.8'],
    policy: { ...park, adopt: true, limits: { maxAdds: 100, maxChangePercent: 40, minRecords: 10 } },
    steps: ['pass', 'pass', '--force'],
  },
  {
    name: 'a record of an unknown type',
    isCalm: true,
    open: 'a CNAME beside another record',
    file: ['www A 192.0.2.1', 'ftp CNAME web.example.org'],
    service: ['www CAA 0 issue', 'ftp CAA 0 issue'],
    policy: { ...park, adopt: true },
    steps: ['pass', 'pass', '--force'],
  },
  {
    name: 'changed back again and again',
    isCalm: true,
    open: 'something else keeps changing it',
    file: ['www A 192.0.2.1'],
    pause: 4_000,
    steps: [
      'pass',
      ...Array.from({ length: 4 }, (): Step => ({ changes: ['www A 192.0.2.1', 'www A 192.0.2.9'] })),
      ['www A 192.0.2.2'],
    ],
  },
  {
    name: 'one TTL for all of a name',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www 300 A 192.0.2.1', 'www 600 A 192.0.2.2'],
    nature: { oneTtlPerSet: true },
    steps: ['pass', 'pass', 'pass'],
  },
  {
    name: 'one desired record becomes another',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www A 192.0.2.1', 'www. A 192.0.2.1'],
    nature: { ending: '.' },
    steps: ['pass', 'pass', 'apply'],
  },
  {
    name: 'names are ignored, park',
    open: 'the service stores something else',
    file: ['www CNAME web.example.org'],
    policy: park,
    nature: { ignores: 'name' },
    steps: ['pass', ['www A 192.0.2.1'], 'pass', 'apply'],
  },
  {
    name: 'a CNAME becomes an A, park, and names get an ending',
    open: 'the service stores something else',
    file: ['www CNAME web.example.org'],
    policy: park,
    nature: { ending: '.##DOMAIN##' },
    steps: ['pass', ['www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'a CNAME becomes an A, park, and no add is allowed',
    open: 'more adds than allowed',
    file: ['www CNAME web.example.org', '@ A 192.0.2.9'],
    service: ['www CNAME web.example.org', '@ A 192.0.2.9'],
    policy: { ...park, limits: { maxAdds: 0, maxChangePercent: 100, minRecords: 10 } },
    steps: ['pass', ['www A 192.0.2.1', '@ A 192.0.2.9'], '--force', 'pass'],
  },
  {
    name: 'a record leaves a name that an add fills, park, and no add is allowed',
    open: 'more adds than allowed',
    file: ['www A 192.0.2.1', '@ A 192.0.2.9'],
    service: ['www A 192.0.2.1', '@ A 192.0.2.9'],
    policy: { ...park, limits: { maxAdds: 0, maxChangePercent: 100, minRecords: 10 } },
    steps: ['pass', ['ftp A 192.0.2.1', 'www AAAA 2001:db8::1', '@ A 192.0.2.9'], '--force', 'pass'],
  },
  {
    name: 'a CNAME of somebody’s in the way, park, mode edits',
    open: 'a CNAME beside another record',
    file: ['www A 192.0.2.1'],
    service: ['www CNAME web.example.org', 'ftp A 192.0.2.2'],
    policy: { ...park, adopt: true, mode: 'edits' },
    steps: ['pass', ['www A 192.0.2.3'], { mode: 'enforce' }],
  },
  {
    name: 'two templates that are both written',
    file: ['www A 192.0.2.1'],
    beside: ['ftp A 192.0.2.2', 'ftp A 192.0.2.3'],
    steps: ['pass', ['www A 192.0.2.4', '@ TXT one'], 'pass'],
  },
  {
    name: 'a record, then apply',
    file: ['www A 192.0.2.1'],
    steps: ['pass', 'apply', 'pass'],
  },
  {
    name: 'a record, and the clock jumps',
    file: ['www A 192.0.2.1'],
    steps: ['pass', 'the clock jumps', 'pass'],
  },
  {
    name: 'a record, and the clock is set back',
    open: 'a clock that was set back',
    file: ['www A 192.0.2.1'],
    policy: { subdomains: ['one.example.net'] },
    steps: ['pass', 'the clock is set back', ['www A 192.0.2.2']],
  },
  {
    name: 'an MX edited and taken back, with a copy of somebody’s',
    file: ['@ MX 10 mx1.example.net'],
    steps: [
      'pass',
      { adds: '@ MX 10 mx2.example.net', file: ['@ MX 10 mx2.example.net', '@ MX 20 mx3.example.net'] },
      ['@ MX 10 mx1.example.net'],
    ],
  },
  {
    name: 'one TTL for all of a name, and somebody’s',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www 300 A 192.0.2.1', 'www 600 A 192.0.2.2'],
    service: ['www 900 A 192.0.2.1', 'www 900 A 192.0.2.2'],
    nature: { oneTtlPerSet: true },
    steps: ['pass', 'pass'],
  },
  {
    name: 'mail again, and no add is allowed',
    isCalm: true,
    open: 'more adds than allowed',
    file: ['@ MX 0 .'],
    service: ['@ MX 0 .'],
    policy: { limits: { maxAdds: 0, maxChangePercent: 100, minRecords: 10 } },
    steps: ['pass', ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'], '--force'],
  },
  {
    name: 'somebody gives mail up, mode edits',
    isCalm: true,
    open: 'somebody’s change stays',
    file: ['@ MX 10 mx1.example.net'],
    service: ['@ MX 10 mx1.example.net'],
    policy: { mode: 'edits' },
    steps: [
      'pass',
      {
        changes: ['@ MX 10 mx1.example.net', '@ MX 0 .'],
        file: ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'],
      },
      '--force',
    ],
  },
  {
    name: 'a dropped record parked and used again, and names get an ending',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www A 192.0.2.1'],
    policy: park,
    nature: { ending: '.##DOMAIN##' },
    steps: ['pass', [], ['ftp A 192.0.2.3']],
  },
  {
    name: 'an edit in the next moment',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    pause: 3,
    steps: ['pass', ['www A 192.0.2.2'], ['www A 192.0.2.2', 'ftp A 192.0.2.3']],
  },
  {
    name: 'an add, then an edit beside it',
    file: ['ftp A 192.0.2.2'],
    service: ['ftp A 192.0.2.2'],
    steps: [
      'pass',
      ['ftp A 192.0.2.2', 'www A 192.0.2.1'],
      ['ftp A 192.0.2.3', 'www A 192.0.2.1'],
      ['ftp A 192.0.2.3', 'www A 192.0.2.4'],
    ],
  },
  {
    name: 'one process goes on',
    isCalm: true,
    isOneProcess: true,
    file: ['@ TXT one'],
    steps: [
      'pass',
      'pass',
      'pass',
      { changes: ['@ TXT one', '@ TXT other'] },
      'pass',
      'pass',
      'the state is lost',
      ['@ TXT two'],
    ],
  },
  {
    name: 'one process plans, then writes',
    isCalm: true,
    isOneProcess: true,
    open: 'a plan writes nothing',
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.9'],
    steps: ['plan', 'plan', 'pass', ['www A 192.0.2.2']],
  },
  {
    name: 'a record of the file becomes another, and somebody makes its copy',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.8', 'www A 192.0.2.1'],
    steps: [
      'pass',
      {
        changes: ['www A 192.0.2.1', 'www A 192.0.2.9'],
        adds: 'www A 192.0.2.1',
        file: ['www A 192.0.2.1', 'www A 192.0.2.2'],
      },
    ],
  },
  {
    name: 'the file takes over the service’s spelling beside its own',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www A 192.0.2.1'],
    nature: { ending: '.' },
    steps: ['pass', ['www A 192.0.2.1', 'www. 600 A 192.0.2.1'], 'pass'],
  },
  {
    name: 'somebody uses a parked record, too',
    isCalm: true,
    open: 'a record of somebody’s is where a parked one was',
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', [], ['ftp A 192.0.2.3'], { changes: ['_parked-1 A 0.0.0.0', 'zzz A 192.0.2.3'] }],
  },
  {
    name: 'mail given up while an add may come',
    isCalm: true,
    file: ['@ MX 10 mx1.example.net'],
    service: ['@ MX 10 mx1.example.net'],
    policy: park,
    steps: ['pass', ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'], ['@ MX 0 .']],
  },
  {
    name: 'two records parked, and one used again',
    isCalm: true,
    pause: 4_000,
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    policy: park,
    steps: ['pass', [], ['mail A 192.0.2.3']],
  },
  {
    name: 'two records edited, and somebody changes both',
    isCalm: true,
    file: ['ftp A 192.0.2.1', 'www A 192.0.2.5', 'zzz A 192.0.2.6'],
    steps: [
      'pass',
      {
        changes: ['ftp A 192.0.2.1', 'ftp A 192.0.2.2'],
        adds: 'others A 192.0.2.9',
        file: ['ftp A 192.0.2.2', 'www A 192.0.2.7', 'zzz A 192.0.2.6'],
      },
    ],
  },
  {
    name: 'two records edited, and somebody changes one and removes another',
    isCalm: true,
    open: 'a missing record is missed in two readings first',
    file: ['ftp A 192.0.2.1', 'www A 192.0.2.5', 'zzz A 192.0.2.6'],
    steps: [
      'pass',
      {
        changes: ['ftp A 192.0.2.1', 'ftp A 192.0.2.2'],
        removes: 'zzz A 192.0.2.6',
        file: ['ftp A 192.0.2.2', 'www A 192.0.2.7', 'zzz A 192.0.2.6'],
      },
    ],
  },
  {
    name: 'two records edited, and somebody changes a third',
    isCalm: true,
    file: ['ftp A 192.0.2.1', 'www A 192.0.2.5', 'zzz A 192.0.2.6'],
    steps: [
      'pass',
      {
        changes: ['zzz A 192.0.2.6', 'zzz A 192.0.2.8'],
        file: ['ftp A 192.0.2.2', 'www A 192.0.2.7', 'zzz A 192.0.2.6'],
      },
    ],
  },
  {
    name: 'somebody makes another record what is to be added',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9', 'zzz A 192.0.2.5'],
    steps: [
      'pass',
      { changes: ['zzz A 192.0.2.5', 'www A 192.0.2.1'], file: ['@ A 192.0.2.9', 'www A 192.0.2.1'] },
      'pass',
    ],
  },
  {
    name: 'a CNAME becomes an A beside a text edited, park',
    isCalm: true,
    file: ['www CNAME web.example.org', '@ TXT one'],
    policy: park,
    steps: ['pass', ['www A 192.0.2.1', '@ TXT two'], 'pass'],
  },
  {
    name: 'records move one after the other, park, and no add is allowed',
    isCalm: true,
    open: 'more adds than allowed',
    file: ['www A 192.0.2.1', 'ftp TXT one'],
    service: ['www A 192.0.2.1', 'ftp TXT one'],
    policy: { ...park, limits: { maxAdds: 0, maxChangePercent: 100, minRecords: 10 } },
    steps: ['pass', ['www AAAA 2001:db8::1', 'ftp A 192.0.2.1', 'mail TXT one'], '--force'],
  },
  {
    name: 'listings are cut after an add, retry',
    isCalm: true,
    open: 'listings lack what answers show',
    file: ['@ A 192.0.2.9', 'www A 192.0.2.1'],
    service: ['@ A 192.0.2.9'],
    nature: { listed: 1, isKind: false },
    pause: 4_000,
    steps: ['pass', 'pass', '--retry'],
  },
  {
    name: 'listings lack a stranger',
    isCalm: true,
    file: ['mail A 192.0.2.9'],
    service: ['ftp A 192.0.2.2', 'mail A 192.0.2.9'],
    nature: { isKind: false },
    steps: ['pass', ['mail A 192.0.2.9', '@ A 192.0.2.2'], 'pass'],
  },
  {
    name: 'listings lack a record of the file',
    isCalm: true,
    open: 'no service of the fault model',
    file: ['www 300 A 192.0.2.1', '@ A 192.0.2.9'],
    service: ['www 300 A 192.0.2.1', '@ A 192.0.2.9'],
    nature: { isKind: false },
    steps: ['pass', 'pass', ['www 600 A 192.0.2.1', '@ A 192.0.2.9'], 'pass'],
  },
  {
    name: 'a TTL edited again and again',
    isCalm: true,
    file: ['www 300 A 192.0.2.1'],
    steps: [
      'pass',
      ['www 600 A 192.0.2.1'],
      ['www 900 A 192.0.2.1'],
      { changes: ['www A 192.0.2.1', 'www 1200 A 192.0.2.1'] },
    ],
  },
  {
    name: 'a second record of a name',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    steps: ['pass', ['www A 192.0.2.1', 'www A 192.0.2.2'], 'pass'],
  },
  {
    name: 'an A becomes a CNAME, park, and names get an ending',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.9'],
    policy: park,
    nature: { ending: '.##DOMAIN##' },
    steps: ['pass', ['www CNAME web.example.org'], 'pass'],
  },
  {
    name: 'somebody renames it while the file edits it, then a CNAME, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: [
      'pass',
      { changes: ['www A 192.0.2.1', 'zzz A 192.0.2.1'], file: ['www A 192.0.2.2'] },
      ['www CNAME web.example.org'],
    ],
  },
  {
    name: 'names are ignored, and a record is dropped, park',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www A 192.0.2.1'],
    policy: park,
    nature: { ignores: 'name' },
    steps: ['pass', [], 'pass'],
  },
  {
    name: 'a record dropped beside another added, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['@ TXT one'], 'pass'],
  },
  {
    name: 'a nameless record in the way, which serves elsewhere, park',
    isCalm: true,
    open: 'a CNAME beside another record',
    file: ['@ A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['@ CNAME web.example.org', 'ftp A 192.0.2.1'], 'pass'],
  },
  {
    name: 'somebody removes what was listed, again and again',
    isCalm: true,
    open: 'a third time only at a person’s request',
    file: ['www A 192.0.2.1'],
    pause: 4_000,
    steps: [
      'pass',
      'pass',
      { removes: 'www A 192.0.2.1' },
      'pass',
      { removes: 'www A 192.0.2.1' },
      'pass',
      '--retry',
    ],
  },
  {
    name: 'an add that the file drops, beside somebody’s',
    isCalm: true,
    open: 'an add of unknown outcome waits for a person',
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    pause: 400,
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      { adds: 'zzz A 192.0.2.7', file: ['@ A 192.0.2.9'] },
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
    ],
  },
  {
    name: 'a record edited before each add',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    pause: 400,
    steps: ['pass', ['www A 192.0.2.2'], ['www A 192.0.2.3'], '--retry'],
  },
  {
    name: 'an add beside somebody’s record at a longer name',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      {
        adds: 'www.shop A 192.0.2.1',
        file: ['@ A 192.0.2.9', 'www A 192.0.2.1', 'www.shop A 192.0.2.1'],
      },
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      'pass',
    ],
  },
  {
    name: 'a record like two adds',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    pause: 400,
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      ['@ A 192.0.2.9', 'www.shop A 192.0.2.1'],
      { adds: 'www.shop.eu A 192.0.2.1' },
    ],
  },
  {
    name: 'somebody’s record in another spelling of what was added',
    isCalm: true,
    open: 'a record may be it in another spelling',
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    pause: 400,
    steps: ['pass', ['@ A 192.0.2.9', 'www A 192.0.2.1'], { adds: 'www. A 192.0.2.7' }, 'pass'],
  },
  {
    name: 'a record in another spelling that was always there',
    // A final dot alone is no other spelling of a name to it.
    notKept: [/^law 12: /],
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9', 'www. A 192.0.2.7'],
    pause: 400,
    steps: ['pass', ['@ A 192.0.2.9', 'www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'a late add, and somebody’s copy, which is changed',
    isCalm: true,
    open: 'its copy is something else now',
    file: ['www A 192.0.2.1'],
    pause: 400,
    steps: ['pass', { adds: 'www A 192.0.2.1' }, 'pass', { changes: ['www A 192.0.2.1', 'zzz A 192.0.2.1'] }],
  },
  {
    name: 'an ignored record in another spelling, adopted',
    isCalm: true,
    open: 'a record may be it in another spelling',
    file: ['@ A 192.0.2.9', 'www A 192.0.2.1'],
    service: ['@ A 192.0.2.9', 'www. A 192.0.2.4'],
    policy: { ...park, adopt: true, ignore: ignoreRules },
    steps: ['pass', 'pass'],
  },
  {
    name: 'an A becomes an AAAA, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['www AAAA 2001:db8::1'], 'pass'],
  },
  {
    name: 'a CNAME becomes an A, park, retry',
    isCalm: true,
    file: ['www CNAME web.example.org'],
    policy: park,
    steps: ['pass', ['www A 192.0.2.1'], '--retry', 'pass'],
  },
  {
    name: 'a CNAME becomes an A, park, and somebody removes that',
    isCalm: true,
    open: 'a listing may be behind an add',
    file: ['www CNAME web.example.org'],
    policy: park,
    steps: ['pass', ['www A 192.0.2.1'], { removes: 'www A 192.0.2.1' }, 'pass'],
  },
  {
    name: 'a removed record that the file drops for a while',
    isCalm: true,
    open: 'a third time only at a person’s request',
    file: ['www A 192.0.2.1'],
    pause: 4_000,
    steps: ['pass', 'pass', { removes: 'www A 192.0.2.1' }, [], [], ['www A 192.0.2.1'], '--retry'],
  },
  {
    name: 'a record edited, and the clock jumps',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    steps: ['pass', ['www A 192.0.2.2'], 'pass', 'the clock jumps', 'pass'],
  },
  {
    name: 'somebody stores a TTL that the service does not, and takes it back',
    isCalm: true,
    open: 'the service stores something else',
    file: ['www 60 A 192.0.2.1'],
    nature: { leastTtl: 300 },
    steps: [
      'pass',
      { changes: ['www A 192.0.2.1', 'www 60 A 192.0.2.1'] },
      { changes: ['www A 192.0.2.1', 'www 300 A 192.0.2.1'] },
    ],
  },
  {
    name: 'a copy of what was just added',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      { adds: 'www A 192.0.2.1', file: ['@ A 192.0.2.9', 'www A 192.0.2.1', 'www A 192.0.2.2'] },
    ],
  },
  {
    name: 'somebody makes another record of what was just added',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    steps: ['pass', 'pass', { changes: ['www A 192.0.2.1', 'zzz A 192.0.2.7'] }, 'pass'],
  },
  {
    name: 'another address beside an add',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    steps: ['pass', ['@ A 192.0.2.9', 'www A 192.0.2.1'], { adds: 'www A 192.0.2.7' }, 'pass'],
  },
  {
    name: 'somebody gives a value of long ago back',
    isCalm: true,
    open: 'a listing may be behind an edit',
    file: ['www A 192.0.2.1'],
    steps: [
      'pass',
      'pass',
      ['www A 192.0.2.2'],
      ['www A 192.0.2.3'],
      { changes: ['www A 192.0.2.3', 'www A 192.0.2.1'] },
    ],
  },
  {
    name: 'a record renamed, then a CNAME where it was, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], ['ftp A 192.0.2.1', 'www CNAME web.example.org'], 'pass'],
  },
  {
    name: 'a record renamed, then a CNAME in its place, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], ['ftp CNAME web.example.org'], 'pass'],
  },
  {
    name: 'a CNAME renamed, park',
    isCalm: true,
    file: ['www CNAME web.example.org'],
    policy: park,
    steps: ['pass', ['ftp CNAME web.example.org'], 'pass'],
  },
  {
    name: 'a record renamed to where an add may come, park',
    isCalm: true,
    file: ['www AAAA 2001:db8::1'],
    policy: park,
    steps: ['pass', ['www AAAA 2001:db8::1', 'ftp A 192.0.2.2'], ['ftp AAAA 2001:db8::1'], 'pass'],
  },
  {
    name: 'an A without a name becomes a CNAME, park',
    isCalm: true,
    file: ['@ A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['@ CNAME web.example.org'], 'pass'],
  },
  {
    name: 'an add arrives between two readings, and names get an ending',
    isCalm: true,
    open: 'the service stores something else',
    file: ['ftp A 192.0.2.2'],
    nature: { ending: '.##DOMAIN##' },
    pause: 275,
    steps: ['pass', ['ftp A 192.0.2.2', 'www A 192.0.2.1'], ['ftp A 192.0.2.3', 'www A 192.0.2.1']],
  },
  {
    name: 'a record becomes another one, and somebody adds it again',
    isCalm: true,
    open: 'what somebody has changed is read twice',
    file: ['www A 192.0.2.1'],
    steps: [
      'pass',
      { changes: ['www A 192.0.2.1', 'www A 192.0.2.2'], file: ['www A 192.0.2.1', 'www A 192.0.2.2'] },
      'pass',
      { adds: 'www A 192.0.2.1', file: ['www A 192.0.2.1', 'www A 192.0.2.2', 'ftp A 192.0.2.3'] },
    ],
  },
  {
    name: 'somebody adds another value of what the file adds',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    steps: [
      'pass',
      { adds: 'ftp A 192.0.2.9', file: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3'] },
    ],
  },
  {
    name: 'somebody replaces one record, and removes another',
    isCalm: true,
    open: 'a person decides about what is missing beside a strange record',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    steps: ['pass', { removes: 'ftp A 192.0.2.2', adds: 'ftp A 192.0.2.2' }, 'pass'],
  },
  {
    name: 'somebody replaces one record, and changes one that the file drops, park',
    isCalm: true,
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    policy: park,
    steps: [
      'pass',
      {
        removes: 'ftp A 192.0.2.2',
        adds: 'ftp A 192.0.2.2',
        changes: ['www A 192.0.2.1', 'www A 192.0.2.7'],
        file: ['ftp A 192.0.2.2'],
      },
    ],
  },
  {
    name: 'records added to the file beside those that were always there',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9', 'www.shop A 192.0.2.1', 'ftp A 192.0.2.2'],
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      ['@ A 192.0.2.9', 'ftp A 192.0.2.2', 'mail A 192.0.2.4'],
    ],
  },
  {
    name: 'a record added to the file beside one that somebody added',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    steps: ['pass', { adds: 'www.shop A 192.0.2.1' }, ['@ A 192.0.2.9', 'www A 192.0.2.1']],
  },
  {
    name: 'names are added to the file, one of which the panel spells with a placeholder',
    isCalm: true,
    open: 'a record may be it in another spelling',
    file: ['@ A 192.0.2.1'],
    service: ['@ A 192.0.2.1', 'www.##DOMAIN## A 192.0.2.9'],
    nature: { spellsPanel: true },
    steps: ['pass', ['@ A 192.0.2.1', 'www A 192.0.2.2', 'ftp A 192.0.2.3'], 'pass'],
  },
  {
    name: 'somebody changes it, and the file wants both',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    steps: [
      'pass',
      { changes: ['www A 192.0.2.1', 'www A 192.0.2.9'] },
      ['www A 192.0.2.1', 'www A 192.0.2.9'],
    ],
  },
  {
    name: 'one process, and an edit',
    isCalm: true,
    isOneProcess: true,
    file: ['@ TXT one'],
    steps: ['pass', 'pass', 'pass', ['@ TXT two']],
  },
  {
    name: 'a parked record and a dropped one, and one is used',
    isCalm: true,
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    policy: park,
    steps: ['pass', ['www A 192.0.2.1'], ['mail A 192.0.2.3']],
  },
  {
    name: 'somebody’s record beside an add, adopted',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    policy: { ...park, adopt: true },
    steps: ['pass', ['@ A 192.0.2.9', 'www A 192.0.2.1'], { adds: 'zzz A 192.0.2.7' }, 'pass'],
  },
  {
    name: 'mode edits, and somebody changes what the file edits',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    policy: { mode: 'edits' },
    steps: ['pass', { changes: ['www A 192.0.2.1', 'www A 192.0.2.9'], file: ['www A 192.0.2.3'] }],
  },
  {
    name: 'somebody renames an A that becomes an AAAA, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: [
      'pass',
      { changes: ['www A 192.0.2.1', 'www.shop A 192.0.2.1'], file: ['www AAAA 2001:db8::1'] },
      'pass',
    ],
  },
  {
    name: 'a CNAME of somebody’s parked, then adopt given up',
    isCalm: true,
    open: 'no name of the file is at the service',
    file: ['www A 192.0.2.1'],
    service: ['www CNAME web.example.org'],
    policy: { ...park, adopt: true },
    pause: 400,
    steps: ['pass', { adopt: false }, 'pass'],
  },
  {
    name: 'few records, and more changes than allowed',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    policy: { limits: { maxAdds: 100, maxChangePercent: 40, minRecords: 10 } },
    steps: ['pass', ['www A 192.0.2.2']],
  },
  {
    name: 'more and more is lost, mode edits',
    isCalm: true,
    open: 'somebody’s change stays',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3', 'mail A 192.0.2.4'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3', 'mail A 192.0.2.4'],
    policy: { mode: 'edits', limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 } },
    steps: [
      'pass',
      { removes: 'www A 192.0.2.1' },
      { removes: 'ftp A 192.0.2.2' },
      { removes: '@ A 192.0.2.3' },
      'pass',
    ],
  },
  {
    name: 'listings lack most while an add is looked for',
    isCalm: true,
    file: ['@ A 192.0.2.9', 'ftp A 192.0.2.2'],
    service: ['@ A 192.0.2.9', 'ftp A 192.0.2.2'],
    policy: { limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 } },
    nature: { isKind: false },
    steps: ['pass', ['@ A 192.0.2.9', 'ftp A 192.0.2.2', 'www A 192.0.2.1'], 'pass', 'pass'],
  },
  {
    name: 'most is lost, and one of it replaced',
    isCalm: true,
    open: 'a person decides about what is missing beside a strange record',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3'],
    policy: { limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 } },
    steps: ['pass', { removes: 'ftp A 192.0.2.2', adds: 'ftp A 192.0.2.2' }, 'pass', 'pass'],
  },
  {
    name: 'two of three are lost',
    isCalm: true,
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3'],
    service: ['www A 192.0.2.1', 'ftp A 192.0.2.2', '@ A 192.0.2.3'],
    policy: { limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 } },
    steps: ['pass', { removes: 'ftp A 192.0.2.2' }, 'pass', 'pass'],
  },
  {
    name: 'listings lack what somebody added before the file does',
    isCalm: true,
    file: ['mail A 192.0.2.8'],
    service: ['@ A 192.0.2.9', 'mail A 192.0.2.8'],
    nature: { isKind: false },
    steps: ['pass', { adds: 'www A 192.0.2.1' }, ['mail A 192.0.2.8', 'www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'an add that the file drops, and somebody’s record in another spelling',
    isCalm: true,
    open: 'an add of unknown outcome may be a record in another spelling',
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    pause: 400,
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      { adds: 'www. A 192.0.2.7', file: ['@ A 192.0.2.9'] },
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
    ],
  },
  {
    name: 'a rename taken back while it may come, beside a dropped record, park',
    isCalm: true,
    file: ['www A 192.0.2.1', 'ftp AAAA 2001:db8::1'],
    service: ['www A 192.0.2.1', 'ftp AAAA 2001:db8::1'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], ['ftp A 192.0.2.1', 'www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'a CNAME becomes an A, park, and somebody removes that again and again',
    isCalm: true,
    open: 'a third time only at a person’s request',
    file: ['www CNAME web.example.org'],
    policy: park,
    pause: 4_000,
    steps: [
      'pass',
      ['www A 192.0.2.1'],
      'pass',
      { removes: 'www A 192.0.2.1' },
      'pass',
      { removes: 'www A 192.0.2.1' },
      'pass',
    ],
  },
  {
    name: 'a record edited after long, and the clock jumps',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    steps: ['pass', ['www A 192.0.2.2'], 'pass', 'the clock jumps', 'pass'],
  },
  {
    name: 'a record renamed, and after a while a CNAME in its place, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], 'pass', ['ftp CNAME web.example.org'], 'pass'],
  },
  {
    name: 'a record renamed, and after long a CNAME in its place, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    pause: 400,
    steps: ['pass', ['ftp A 192.0.2.1'], 'pass', ['ftp CNAME web.example.org'], 'pass'],
  },
  {
    name: 'two records like one add',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9'],
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      { adds: 'www.shop A 192.0.2.1' },
      { adds: 'www.blog A 192.0.2.1' },
    ],
  },
  {
    name: 'a record renamed twice, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], ['mail A 192.0.2.1'], 'pass'],
  },
  {
    name: 'a record edited, then dropped, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['www A 192.0.2.2'], [], 'pass'],
  },
  {
    name: 'a record edited, and the file wants what it was, too',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    steps: ['pass', ['www A 192.0.2.2'], ['www A 192.0.2.0', 'www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'a record of the file renamed, then a CNAME where it was, park',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['ftp A 192.0.2.1'], ['ftp A 192.0.2.1', 'www CNAME web.example.org'], 'pass'],
  },
  {
    name: 'a second record of a name, shortly after the first',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    steps: ['pass', 'pass', ['www A 192.0.2.1', 'www A 192.0.2.2'], 'pass'],
  },
  {
    name: 'a name in another spelling given up at first contact',
    isCalm: true,
    open: 'a record may be it in another spelling',
    file: ['www A 192.0.2.2'],
    service: ['www.##DOMAIN## A 192.0.2.9', 'ftp A 192.0.2.3'],
    nature: { spellsPanel: true },
    steps: ['pass', ['ftp A 192.0.2.3', 'mail A 192.0.2.4'], 'pass'],
  },
  {
    name: 'texts beside those to ignore',
    isCalm: true,
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1', '@ TXT old', '_acme-challenge TXT token'],
    policy: { ignore: ignoreRules },
    steps: ['pass'],
  },
  {
    name: 'a record renamed beside an add that may come, park',
    isCalm: true,
    file: ['www AAAA 2001:db8::1', '@ A 192.0.2.9'],
    service: ['www AAAA 2001:db8::1', '@ A 192.0.2.9'],
    policy: park,
    steps: [
      'pass',
      ['www AAAA 2001:db8::1', '@ A 192.0.2.9', 'ftp A 192.0.2.2'],
      ['@ A 192.0.2.9', 'ftp A 192.0.2.2', 'ftp AAAA 2001:db8::1'],
      'pass',
    ],
  },
  {
    name: 'mail given up where another mail server was before, park',
    isCalm: true,
    file: ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'],
    service: ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'],
    policy: park,
    steps: [
      'pass',
      ['mail MX 10 mx1.example.net', '@ MX 20 mx2.example.net'],
      ['mail MX 10 mx1.example.net', '@ MX 0 .'],
      'pass',
    ],
  },
  {
    name: 'somebody renames a record of a name at which an add may come',
    isCalm: true,
    file: ['ftp AAAA 2001:db8::1'],
    service: ['ftp AAAA 2001:db8::1'],
    steps: [
      'pass',
      ['ftp AAAA 2001:db8::1', 'ftp A 192.0.2.2'],
      { changes: ['ftp AAAA 2001:db8::1', 'zzz AAAA 2001:db8::1'] },
      'pass',
    ],
  },
  {
    name: 'listings lack a record of the file again and again',
    isCalm: true,
    open: 'no service of the fault model',
    file: ['www 300 A 192.0.2.1', '@ A 192.0.2.9'],
    service: ['www 300 A 192.0.2.1', '@ A 192.0.2.9'],
    nature: { isKind: false },
    pause: 290,
    steps: ['pass', 'pass', ['www 300 A 192.0.2.1', '@ A 192.0.2.8'], 'pass'],
  },
  {
    name: 'a CNAME becomes an A, park, and is wanted where an A is wanted then',
    isCalm: true,
    file: ['www CNAME web.example.org'],
    policy: park,
    steps: [
      'pass',
      ['www A 192.0.2.1'],
      ['ftp CNAME cdn.example.org'],
      ['www A 192.0.2.1', 'ftp A 192.0.2.5'],
      'pass',
      'pass',
    ],
  },
  {
    name: 'a late add beside a record that somebody renames there and back, and names get an ending',
    isCalm: true,
    open: 'the service stores something else',
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9', 'zzz A 192.0.2.7'],
    nature: { ending: '.##DOMAIN##' },
    pause: 120,
    steps: [
      'pass',
      ['@ A 192.0.2.9', 'www A 192.0.2.1'],
      { changes: ['zzz A 192.0.2.7', 'www A 192.0.2.7'], adds: 'foo A 192.0.2.5' },
      { changes: ['www A 192.0.2.7', 'zzz A 192.0.2.7'], removes: 'foo A 192.0.2.5' },
      'pass',
      'pass',
    ],
  },
  ...pairs,
];
