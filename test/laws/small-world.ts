import { parseScenarios, type Scenario } from '../scenarios/notation.ts';
import { faithful, type Nature } from './nature.ts';

/** One template, few records, few steps; each step ends with a pass. */
export interface SmallWorld {
  readonly name: string;
  /** Whether each change of the program plays it with two faults, not with one. */
  readonly isCore: boolean;
  /** Whether it is about plans alone: played where all goes well, and nowhere else. */
  readonly isCalm: boolean;
  /** Whether one process makes all passes: what it keeps in memory is no part of a state that was seen before. */
  readonly isOneProcess: boolean;
  /** Whether somebody may suspend the client at any time. */
  readonly isSuspendedMeanwhile: boolean;
  /** Why something that the file says is never written here, or not by the first pass that could; null if all is. */
  readonly open: string | null;
  /** What the file says at first: records as in a zone file, and keys of a template file. */
  readonly file: readonly string[];
  readonly service: readonly string[];
  /** What the file of a second template says, which is empty at the service; null: there is none. */
  readonly beside: readonly string[] | null;
  readonly nature: Partial<Nature>;
  /** Of both templates together. */
  readonly maxAddsPerPass: number;
  /** Seconds between two steps. */
  readonly pause: number;
  readonly steps: readonly string[];
}

export const plainWorld: Omit<SmallWorld, 'name' | 'file' | 'steps'> = {
  isCore: false,
  isCalm: false,
  isOneProcess: false,
  isSuspendedMeanwhile: false,
  open: null,
  service: [],
  beside: null,
  nature: {},
  maxAddsPerPass: 300,
  pause: 30,
};

export const parseWorlds = (text: string): readonly SmallWorld[] => parseScenarios(text).map(worldOf);

const worldOf = ({ title, steps }: Scenario): SmallWorld => {
  const given = new Map(steps.map((step) => [step.text, step.lines]));
  const is = given.get('is') ?? [];
  return {
    name: title,
    isCore: is.includes('core'),
    isCalm: is.includes('calm'),
    isOneProcess: is.includes('one process'),
    isSuspendedMeanwhile: is.includes('suspended meanwhile'),
    open: given.get('open')?.[0] ?? null,
    file: given.get('file')!,
    service: given.get('service') ?? [],
    beside: given.get('beside') ?? null,
    nature: Object.fromEntries((given.get('nature') ?? []).map(quirkOf)),
    maxAddsPerPass: Number(given.get('most adds')?.[0] ?? plainWorld.maxAddsPerPass),
    pause: Number(given.get('seconds between')?.[0] ?? plainWorld.pause),
    steps: given.get('steps')!,
  };
};

/** `ownLag 300000`, `namesNameless true`, `ignores name`. */
const quirkOf = (line: string): [key: string, value: unknown] => {
  const [key = '', value = ''] = line.split(' ');
  if (!(key in faithful)) throw new Error(`no service has such a nature: ${line}`);
  if (value === 'true' || value === 'false') return [key, value === 'true'];
  return [key, /^\d+$/.test(value) ? Number(value) : value];
};
