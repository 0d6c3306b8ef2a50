import { randomOf, type Random } from './random.ts';
import { plainWorld, type SmallWorld } from './small-world.ts';

/** A small world by its number. Whether all that its file says can ever be written is not known, so only the laws count. */
export const generatedWorld = (seed: number): SmallWorld => {
  const random = randomOf(seed);
  const file = drawRecords(random);
  const others = drawRecords(random);
  const nature: SmallWorld['nature'] = Object.assign(
    {},
    ...[0.5, 0.3, 0.1].map((odds) => random.chance(odds) && random.pick(quirks)),
  );
  return {
    ...plainWorld,
    name: `generated ${seed}`,
    open: 'nobody looked at it',
    service: random.pick([[], file, others, [...new Set([...file.slice(1), ...others])]]),
    file: [
      `surplus: ${random.pick(['park', 'park', 'report'])}`,
      `adopt: ${random.chance(0.3)}`,
      `mode: ${random.pick(['enforce', 'enforce', 'edits'])}`,
      ...file.map((line) => (random.chance(0.2) ? line.replace(' ', ` ${random.pick([60, 300])} `) : line)),
    ],
    nature,
    steps: ['pass', drawStep(random, file), drawStep(random, others)],
  };
};

const quirks: readonly SmallWorld['nature'][] = [
  { ending: '.##DOMAIN##' },
  { ending: '.' },
  { namesNameless: true },
  { leastTtl: 600 },
  { oneTtlPerSet: true },
  { respellsHosts: true },
  { rejectsDuplicates: true },
  { ignores: 'content' },
  { ignores: 'name' },
  { ignores: 'ttl' },
  { answersShort: true },
  { refusesType: 'CNAME' },
  { refusesType: 'A' },
  { refusesType: 'MX' },
  { ownLag: 300_000 },
];

/** One or two names, each with what may stand beside each other. */
const drawRecords = (random: Random): readonly string[] => {
  const names = random.chance(0.5) ? [random.pick(['www', 'ftp', '@'])] : ['www', random.pick(['ftp', '@'])];
  return names.flatMap((name) => {
    const contents = random.pick([
      ['A 192.0.2.1'],
      ['A 192.0.2.2'],
      ['A 192.0.2.1', 'A 192.0.2.2'],
      ['TXT one'],
      ['MX 10 a.example.net'],
      ['MX 10 a.example.net', 'MX 20 b.example.net'],
      ['MX 0 .'],
      name === '@' ? ['TXT two'] : ['CNAME web.example.org'],
      name === '@' ? ['A 192.0.2.3'] : ['CNAME cdn.example.org'],
    ]);
    return contents.map((content) => `${name} ${content}`);
  });
};

/** Mostly an edit; else what people and fate do. */
const drawStep = (random: Random, known: readonly string[]): string => {
  const one = random.pick(known);
  const other = random.pick(drawRecords(random));
  return random.pick([
    `file ${drawRecords(random).join(' & ')}`,
    `file ${drawRecords(random).join(' & ')}`,
    `file ${known.slice(1).join(' & ') || 'nothing'}`,
    `somebody + ${other}`,
    `somebody - ${one}`,
    `somebody ~ ${one} -> ${other}`,
    `file surplus: ${random.pick(['park', 'report'])}`,
    'the state is lost',
    'an older state',
    '--retry',
    '--force',
  ]);
};
