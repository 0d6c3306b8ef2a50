/** @type {readonly import('../table.mjs').Mutation[]} */
export const convergence = [
  {
    rule: '§3.5 what was stored otherwise than sent is not sent again',
    file: 'src/apply/write.ts',
    from: 'pairOf(step.wanted, present).fields.length > 0 ? { sent, stored: dataOf(record) } : null',
    to: 'null',
    tests: ['apply/sending'],
  },
  {
    rule: '§3.5 the same value is stored three times within a day, and no more',
    file: 'src/apply/gate.ts',
    from: 'if (recent.length < mostStores) return null;',
    to: 'if (recent.length < mostStores + 5) return null;',
    tests: ['apply/sending'],
  },
  {
    rule: '§3.5 what a later write of the pass undid is not sent again by itself',
    file: 'src/apply/remember.ts',
    from: 'work.ledger.change(recordKey(step.wanted), dataOf(step.wanted.record), { rewritten });',
    to: 'void rewritten;',
    tests: ['apply/sending'],
  },
];
