import { nameById, type DesiredTemplate } from '../../src/model/template.ts';
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
      'id' | 'template' | 'mode' | 'surplus' | 'adopt' | 'limits' | 'ignore' | 'subdomains'
    >
  >;
  readonly nature?: Partial<Nature>;
  /** What the file of a second template says, which is empty at the service. */
  readonly beside?: readonly string[];
  /** Seconds between two steps, if not thirty. */
  readonly pause?: number;
  /** Whether it is about plans alone: played where all goes well, and nowhere else. */
  readonly isCalm?: boolean;
  /** Whether one process makes all passes: what it keeps in memory is no part of a state that was seen before. */
  readonly isOneProcess?: boolean;
  /** Of both together. */
  readonly maxAddsPerPass?: number;
  /** Why something that the file says is never written here, or not by the first pass that could. */
  readonly open?: string;
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
      /** The names of two records. */
      readonly swaps?: readonly [string, string];
      readonly in?: 2;
      /** What the file says from now on. */
      readonly file?: readonly string[];
      /** Whether the state is an older copy then. */
      readonly isOlder?: boolean;
    };

/** What the file says from now on besides its records. */
export type PolicyStep = Partial<Pick<DesiredTemplate, 'surplus' | 'adopt' | 'mode' | 'template'>>;

const park = { surplus: 'park' } as const;

export interface Form {
  readonly name: string;
  readonly ttl: number;
  readonly data: string;
}

const firstForm: Form = { name: 'www', ttl: 300, data: 'A 192.0.2.1' };

/** Edits of a record; null: the file does not have it. Done twice, an edit has another result. */
const edits: Readonly<Record<string, (form: Form) => Form | null>> = {
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

const linesOf = (form: Form | null): readonly string[] =>
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

/** Nothing is written to what is suspended. */
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
    name: 'a record makes way for a type that the service refuses, and listings are behind, park',
    open: 'the service refuses it',
    file: ['www A 192.0.2.1'],
    service: ['www A 192.0.2.1'],
    policy: park,
    nature: { refusesType: 'CNAME', ownLag: 300_000 },
    steps: ['pass', ['www CNAME web.example.net'], 'pass'],
  },
  {
    name: 'a type that the service refuses',
    open: 'the service refuses it',
    file: ['www AAAA 2001:db8::1', 'ftp A 192.0.2.2'],
    nature: { refusesType: 'AAAA' },
    steps: ['pass', 'pass', 'apply'],
  },
  {
    name: 'a name is frozen, since the service refuses what the file wants there, park',
    open: 'the service refuses it',
    file: ['www A 192.0.2.1', 'ftp A 192.0.2.2'],
    policy: park,
    nature: { refusesType: 'CNAME' },
    steps: [
      'pass',
      ['mail A 192.0.2.1', 'www CNAME web.example.org', 'ftp A 192.0.2.3'],
      ['ftp A 192.0.2.3'],
    ],
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
    name: 'two records of two types whose names somebody swaps, park',
    file: ['www A 192.0.2.1', 'ftp CNAME web.example.org'],
    service: ['www A 192.0.2.1', 'ftp CNAME web.example.org'],
    policy: park,
    steps: ['pass', 'pass', { swaps: ['www', 'ftp'] }, 'pass'],
  },
  {
    name: 'one of a type beside somebody’s, park',
    file: ['www A 192.0.2.1'],
    service: ['ftp CNAME theirs.example.org', 'www A 192.0.2.1'],
    policy: park,
    steps: [
      'pass',
      { adds: 'zoo A 192.0.2.9', file: ['www A 192.0.2.1', 'api CNAME web.example.org'] },
      'pass',
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
    name: 'an edit shortly after somebody’s',
    open: 'no name of the file is at the service',
    file: ['www A 192.0.2.1'],
    pause: 3,
    steps: ['pass', { adds: 'ftp A 192.0.2.9' }, 'the clock jumps', ['www A 192.0.2.2']],
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
    name: 'a record in another spelling that was always there',
    open: 'it may be the one of the file in another spelling',
    isCalm: true,
    file: ['@ A 192.0.2.9'],
    service: ['@ A 192.0.2.9', 'www. A 192.0.2.7'],
    pause: 400,
    steps: ['pass', ['@ A 192.0.2.9', 'www A 192.0.2.1'], 'pass'],
  },
  {
    name: 'an A without a name becomes a CNAME, park',
    file: ['@ A 192.0.2.1'],
    policy: park,
    steps: ['pass', ['@ CNAME web.example.org'], 'pass'],
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
  ...pairs,
];
