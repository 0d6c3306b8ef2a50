import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AnswersRounds } from '../../../src/daemon/passes/answers-rounds.ts';
import { answersKey, type KnownAnswers } from '../../../src/report/answers.ts';
import { notAsked, type PassResult, type SubdomainAnswers } from '../../../src/result.ts';
import { pass, template } from '../../report/every-kind.ts';

const drifted: SubdomainAnswers = { status: 'drifted', servers: [], differences: [] };
const inSync: SubdomainAnswers = { status: 'in-sync', servers: [], differences: [] };

/** A pass over two subdomains, with what their name servers are known to answer. */
const passWith = (answers: readonly SubdomainAnswers[]): PassResult =>
  pass({
    templates: [
      template({
        template: 'web',
        subdomains: answers.map((one, at) => ({
          subdomain: `${'ab'[at]}.example`,
          status: 'in-sync',
          message: null,
          differences: [],
          answers: one,
        })),
      }),
    ],
  });

const answersOf = ({ templates }: PassResult): string[] =>
  templates.flatMap(({ subdomains }) => subdomains.map(({ answers }) => answers.status));

test('what another process was answered takes the place of own answers', async () => {
  const heard: KnownAnswers = new Map([[answersKey('web', 'a.example'), drifted]]);
  let onEnd = (): void => undefined;
  const ended = new Promise<void>((resolve) => (onEnd = resolve));
  const rounds = new AnswersRounds({
    ask: () => Promise.resolve(heard),
    onEnd,
    log: pino({ level: 'silent' }),
  });
  rounds.start();
  await ended;
  const own = passWith([notAsked, notAsked]);
  expect(answersOf(rounds.addTo(own))).toEqual(['drifted', 'off']);
  const theirs = passWith([inSync, drifted]);
  rounds.adopt(theirs);
  expect(answersOf(rounds.addTo(theirs))).toEqual(['in-sync', 'drifted']);
  expect(answersOf(rounds.addTo(own))).toEqual(['in-sync', 'drifted']);
  await rounds.close();
});

test('a round that does not end is ended after half an hour, and the next one begins', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const begun: AbortSignal[] = [];
  let onEnd = (): void => undefined;
  const ended = new Promise<void>((resolve) => (onEnd = resolve));
  const rounds = new AnswersRounds({
    ask: (signal) => {
      begun.push(signal);
      return new Promise((resolve) => {
        const late: SubdomainAnswers = { ...inSync, message: 'late' };
        signal.addEventListener('abort', () => resolve(new Map([[answersKey('web', 'a.example'), late]])));
      });
    },
    onEnd,
    log: pino({ level: 'silent' }),
  });
  rounds.start();
  rounds.start();
  expect(begun).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(30 * 60_000);
  await ended;
  rounds.start();
  expect(begun).toHaveLength(2);
  await rounds.close();
});
