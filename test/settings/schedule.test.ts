import { validate } from 'node-cron';
import { expect, test } from 'vitest';
import { isTimezone, scheduleProblem } from '../../src/settings/schedule.ts';

const taken = [
  '* * * * *|*/5 * * * *|0 4 * * 1-5|30 2,14 1 jan,jul mon|0-30/10 * * * *|15 3 29 2 *|0 0 * * 7',
  '*/10 * * * * *|0,30 * * * * *| 0  4 * * * ',
].flatMap((line) => line.split('|'));

test.each(taken)('the schedule %j is taken, and so does the scheduler', (expression) => {
  expect([scheduleProblem(expression), validate(expression)]).toEqual([null, true]);
});

test.each([
  ['|@daily', 'five or six fields, not 1'],
  ['* * * *', 'five or six fields, not 4'],
  ['X * * * *', 'minutes from 0 to 59, not "X"', '*/90 */0 1-0 5/10 60 1, -1'],
  ['* X * * *', 'hours from 0 to 23, not "X"', '24'],
  ['* * X * *', 'day of month from 1 to 31, not "X"', '0 L'],
  ['* * * X *', 'month from 1 to 12, not "X"', '13 mon'],
  ['* * * * X', 'day of week from 0 to 7, not "X"', '8 noday'],
  ['0 0 30 2 *|0 0 31 4,6 *', 'a day that its months have'],
  ['* * * * * *|*/9 * * * * *|0,55 * * * * *', 'at least 10 s between two runs'],
])('the schedule %j is refused: %s %s', (expressions, problem, fields = 'X') => {
  for (const expression of expressions.split('|'))
    for (const field of fields.split(' '))
      expect(scheduleProblem(expression.replace('X', field))).toBe(problem.replace('X', field));
});

test('a time zone is one that this Node.js knows', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', '', 'Mars/Olympus', ' UTC '];
  expect(zones.filter(isTimezone)).toEqual(zones.slice(0, 3));
});
