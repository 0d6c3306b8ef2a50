/** @type {readonly import('../table.mjs').Mutation[]} */
export const lockAndEnd = [
  {
    rule: '§3.7 one writer per client',
    file: 'src/state/lock.ts',
    from: 'while (!takes(connection)) {',
    to: 'while (false as boolean) {',
    tests: ['state/lock'],
    isOfBuild: true,
  },
  {
    rule: '§3.9 once told to end, no new write starts',
    file: 'src/apply/template.ts',
    from: '  signal.aborted || halt.reason !== null || work.stopped !== null;',
    to: '  halt.reason !== null || work.stopped !== null;',
    tests: ['apply/sending'],
  },
];
