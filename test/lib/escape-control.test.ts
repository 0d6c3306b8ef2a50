import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeInJson, unseen } from '../../src/lib/escape-control.ts';

describe('JSON in a terminal or a CI runner', () => {
  const hostile = fc.constantFrom('\x7f', '\x9b', '\u202e', '\u200b', '\ud800', '\u2028', '\u00a0', 'ü', '#');
  const texts = fc
    .array(fc.oneof(hostile, fc.constantFrom('##[add-mask]', '##vso[task.complete]'), fc.string()))
    .map((parts) => parts.join(''));

  it('has no character that nobody sees and no command of a runner, and says the same', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, texts), (text) => {
        const json = escapeInJson(JSON.stringify({ text }));
        expect(JSON.parse(json)).toEqual({ text });
        expect(json.match(unseen)).toBeNull();
        expect(json).not.toMatch(/##(vso)?\[/i);
      }),
    );
  });
});
