import { validate } from 'node-cron';
import { describe, expect, it } from 'vitest';
import { isTimezone, scheduleProblem } from '../../src/settings/schedule.ts';

describe('scheduleProblem', () => {
  it.each([
    '* * * * *',
    '*/5 * * * *',
    '0 4 * * 1-5',
    '30 2,14 1 jan,jul mon',
    '0-30/10 * * * *',
    '15 3 29 2 *',
    '0 0 * * 7',
    '*/10 * * * * *',
    '0,30 * * * * *',
    ' 0  4 * * * ',
  ])('takes %s, and so does the scheduler', (expression) => {
    expect(scheduleProblem(expression)).toBeNull();
    expect(validate(expression)).toBe(true);
  });

  it.each([
    ['', 'five or six fields, not 1'],
    ['* * * *', 'five or six fields, not 4'],
    ['@daily', 'five or six fields, not 1'],
    ['*/90 * * * *', 'minutes from 0 to 59, not "*/90"'],
    ['*/0 * * * *', 'minutes from 0 to 59, not "*/0"'],
    ['1-0 * * * *', 'minutes from 0 to 59, not "1-0"'],
    ['5/10 * * * *', 'minutes from 0 to 59, not "5/10"'],
    ['60 * * * *', 'minutes from 0 to 59, not "60"'],
    ['1, * * * *', 'minutes from 0 to 59, not "1,"'],
    ['* 24 * * *', 'hours from 0 to 23, not "24"'],
    ['* * 0 * *', 'day of month from 1 to 31, not "0"'],
    ['* * L * *', 'day of month from 1 to 31, not "L"'],
    ['* * * 13 *', 'month from 1 to 12, not "13"'],
    ['* * * * 8', 'day of week from 0 to 7, not "8"'],
    ['* * * * noday', 'day of week from 0 to 7, not "noday"'],
    ['0 0 30 2 *', 'a day that its months have'],
    ['0 0 31 4,6 *', 'a day that its months have'],
    ['* * * * * *', 'at least 10 s between two runs'],
    ['*/9 * * * * *', 'at least 10 s between two runs'],
    ['0,55 * * * * *', 'at least 10 s between two runs'],
    ['-1 * * * *', 'minutes from 0 to 59, not "-1"'],
  ])('refuses %s', (expression, problem) => {
    expect(scheduleProblem(expression)).toBe(problem);
  });
});

describe('isTimezone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])('knows %s', (zone) => {
    expect(isTimezone(zone)).toBe(true);
  });

  it.each(['', 'Mars/Olympus', 'Europe', ' UTC '])('does not know "%s"', (zone) => {
    expect(isTimezone(zone)).toBe(false);
  });
});
