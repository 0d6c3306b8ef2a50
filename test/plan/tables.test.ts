import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { playTheme } from '../scenarios/theme.ts';
import { playSituation } from './situation.ts';

/** What is planned in a situation, each in two orders of all its records. */
for (const name of readdirSync(import.meta.dirname))
  if (name.endsWith('.txt')) playTheme(`../plan/${name}`, playSituation);

test('of many records that are blocked none is tried after the other for what it might reuse', () => {
  const [plan] = playSituation({
    title: '',
    steps: Object.entries({
      file: 'surplus: park | www CNAME web.example.org | n[1-20000] A 192.0.2.3',
      service: '#1 www A 192.0.2.2 | #[2-20001] n[1-20000] CNAME a.example.net',
      known: 'untold #1 www A 192.0.2.2',
      plan: '',
    }).map(([text, lines]) => ({ text, lines: lines.split(' | '), from: 0, to: 0 })),
  });
  expect(plan!.said.slice(0, 2)).toEqual([
    'park #1: _parked-1 A 0.0.0.0 [edited]',
    'add: www CNAME web.example.org [edited]',
  ]);
});
