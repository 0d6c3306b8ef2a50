/** @type {readonly import('../table.mjs').Mutation[]} */
export const answers = [
  {
    rule: '§3.1 an answer is believed only if it is of the same template',
    file: 'src/apply/answer.ts',
    from: 'if (answer.id !== before.id) return',
    to: 'if (answer.id === -before.id) return',
    tests: ['apply/trust'],
  },
  {
    rule: '§3.1 an answer is believed only with every id of the reading before',
    file: 'src/apply/answer.ts',
    from: 'if (lost > 0) return `the answer lacks',
    to: 'if (lost > 1_000) return `the answer lacks',
    tests: ['apply/trust'],
  },
  {
    rule: '§3.1 an answer is believed only with at most one new id, after an add',
    file: 'src/apply/answer.ts',
    from: 'return added > mostNew(action) ? `the answer',
    to: 'return added > 1_000 ? `the answer',
    tests: ['apply/trust'],
  },
  {
    rule: '§3.1 after an unknown outcome the template stops for this pass',
    file: 'src/apply/write.ts',
    from: '  work.stopped = `stopped after a write whose outcome is unknown: ${error}`;\n',
    to: '',
    tests: ['apply/trust'],
  },
  {
    rule: '§3.1 in one pass each wanted record is written once',
    file: 'src/apply/template.ts',
    from: "isTried(step, work) ? 'tried'",
    to: "work.ledger.version > 40 ? 'tried'",
    tests: ['apply/sending'],
  },
  {
    rule: '§3.2 a new id of its type, or the wanted record, is what an add made',
    file: 'src/apply/answer.ts',
    from: "if (!first || !areCopies || hasRival) return { kind: 'unclear' };",
    to: "if (!first) return { kind: 'arrived', record: ofType[0]!.record };",
    tests: ['apply/sending'],
  },
  {
    rule: '§3.2 an id that memory knows is not new in an answer (metBefore)',
    file: 'src/apply/write.ts',
    from: 'ids.has(id) || ledger.isKnown(id) || ledger.view.strangers.has(id)',
    to: 'ids.has(id) || ledger.view.strangers.has(id)',
    tests: ['apply/sending'],
  },
  {
    rule: '§3.2 the id of a stranger is not new in an answer (metBefore)',
    file: 'src/apply/write.ts',
    from: 'ids.has(id) || ledger.isKnown(id) || ledger.view.strangers.has(id)',
    to: 'ids.has(id) || ledger.isKnown(id)',
    tests: ['apply/sending'],
  },
];
