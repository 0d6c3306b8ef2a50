import { parseTime } from './records.ts';

/** What becomes of one request. */
export interface Fault {
  /** In how many milliseconds a write takes effect; null: never. */
  readonly effect: number | null;
  /** A number is a status. An old answer shows what was there before. */
  readonly answer: 'true' | 'none' | 'half' | 'old' | 'empty' | 'page' | number;
  /** Seconds. */
  readonly retryAfter: number | null;
  /** What the answer lacks: templates by their names, records by `#` and id. */
  readonly without: readonly string[];
  /** What somebody changes just before. */
  readonly somebody: readonly string[];
  /** What befalls the client when this request has arrived: it dies, its state is removed, or its machine sleeps, in ms. */
  readonly mishap: 'death' | 'loss' | number | null;
  /** It is taken up once others are let go. */
  readonly isHeld: boolean;
}

export const noFault: Fault = {
  effect: 0,
  answer: 'true',
  retryAfter: null,
  without: [],
  somebody: [],
  mishap: null,
  isHeld: false,
};

/** By the words that a scenario says, of which several may be joined by commas; `*` stands for what is given. */
const faults: Readonly<Record<string, (given: string, before: Fault) => Partial<Fault>>> = {
  fine: () => ({}),
  done: () => ({ effect: 0 }),
  'done in *': (time) => ({ effect: parseTime(time) }),
  'not done': () => ({ effect: null }),
  'no answer': () => ({ answer: 'none' }),
  'half an answer': () => ({ answer: 'half' }),
  'an old answer': () => ({ answer: 'old' }),
  'an empty answer': () => ({ answer: 'empty' }),
  'a web page': () => ({ answer: 'page' }),
  'status *': (status) => ({ effect: null, answer: Number(status) }),
  'retry after *': (time) => ({ retryAfter: parseTime(time) / 1_000 }),
  'a redirect': () => ({ effect: null, answer: 307 }),
  'without *': (lacking, { without }) => ({ without: [...without, lacking] }),
  'somebody *': (line, { somebody }) => ({ somebody: [...somebody, line] }),
  killed: () => ({ effect: null, answer: 'none', mishap: 'death' }),
  'the state is removed': () => ({ mishap: 'loss' }),
  'the machine sleeps for *': (time) => ({ mishap: parseTime(time) }),
  held: () => ({ isHeld: true }),
};

/** `done, no answer`: each part changes what those before it say. */
export const readFault = (words: string): Fault => words.split(', ').reduce(withWords, noFault);

const withWords = (before: Fault, words: string): Fault => {
  for (const [pattern, make] of Object.entries(faults)) {
    const found = new RegExp(`^${pattern.replace('*', '(.+)')}$`).exec(words);
    if (found) return { ...before, ...make(found[1] ?? '', before) };
  }
  throw new Error(`no fault is known that is called ${words}`);
};
