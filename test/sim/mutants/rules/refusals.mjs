/** @type {readonly import('../table.mjs').Mutation[]} */
export const refusals = [
  {
    rule: '§3.6 after a refusal one reading may show the record',
    file: 'src/apply/write.ts',
    from: '  if (record) return commit(work, step, intent, record, context);\n',
    to: '',
    tests: ['apply/trust'],
  },
  {
    rule: '§3.6 pauses after refusals grow',
    file: 'src/apply/write.ts',
    from: 'grownPause(failures, growth)',
    to: 'grownPause(1, growth)',
    tests: ['apply/sending'],
  },
  {
    rule: '§3.6 pauses after refusals end with six hours',
    file: 'src/apply/write.ts',
    from: 'longest: Math.max(shortest, longestPause)',
    to: 'longest: Infinity',
    tests: ['apply/sending'],
  },
  {
    rule: '§3.6 an apply ends the pause after a refusal',
    file: 'src/reconcile.ts',
    from: "if (trigger === 'command') for (const { ledger } of works) ledger.forgive(retry);",
    to: 'if (retry) for (const { ledger } of works) ledger.forgive(retry);',
    tests: ['apply/sending'],
  },
  {
    rule: '§3.6 401 ends the calls of the client',
    file: 'src/apply/halt.ts',
    from: 'isDenied === true || retryAt !== null;',
    to: 'retryAt !== null;',
    tests: ['apply/halt'],
  },
  {
    rule: '§3.6 what cannot be remembered ends the writes of the client (a full disk)',
    file: 'src/apply/kept.ts',
    from: '    halt.reason ??= error.message;\n',
    to: '',
    tests: ['apply/sending'],
  },
  {
    rule: '§3 where one template fails by a defect, no other goes on writing (allEnded)',
    file: 'src/reconcile.ts',
    from: '    halt.reason ??= messageOf(error);\n',
    to: '',
    tests: ['apply/sending'],
  },
];
