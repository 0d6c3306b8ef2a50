/** @type {readonly import('../table.mjs').Mutation[]} */
export const lockAndEnd = [
  {
    rule: '§3.7 one writer per client',
    file: 'src/state/lock.ts',
    from: 'while (!takes(connection)) {',
    to: 'while (!takes(connection) && timeout < 0) {',
    tests: ['state/lock'],
    isOfBuild: true,
  },
  {
    rule: '§3.9 no new write starts during shutdown',
    file: 'src/reconcile/core/permit.ts',
    from: "return isEnding ? 'the program is shutting down' : null;",
    to: 'return null;',
    tests: ['reconcile/sending'],
    unseen: 'no pass is told to end',
  },
];
