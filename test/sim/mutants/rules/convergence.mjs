/** @type {readonly import('../table.mjs').Mutation[]} */
export const convergence = [
  {
    rule: '§3.5 a value that the service stored differently is not sent again',
    file: 'src/reconcile/core/commit.ts',
    from: 'pairOf(step.desired, actual).fields.length > 0 ? { sent, stored: dataOf(record) } : null',
    to: 'null',
    tests: ['reconcile/sending'],
  },
  {
    rule: '§3.5 the same value is stored three times within a day, and no more',
    file: 'src/reconcile/core/gate.ts',
    from: 'if (recent.length < maxStores) return null;',
    to: 'if (recent.length < maxStores + 5) return null;',
    tests: ['reconcile/sending'],
  },
  {
    rule: '§3.5 a value that a later write of the pass undid is not sent again by itself',
    file: 'src/reconcile/core/remember.ts',
    from: 'change(draft, recordKey(step.desired), dataOf(step.desired.record), { rewritten });',
    to: 'void rewritten;',
    tests: ['schedules/schedules'],
  },
  {
    rule: '§3.5 while the service stores it otherwise it is not sent again',
    file: 'src/reconcile/core/gate.ts',
    from: '  if (isStoredDifferently(rewritten, sent, actual.record))\n    return',
    to: '  if (isStoredDifferently(rewritten, sent, actual.record) && now < 0)\n    return',
    tests: ['reconcile/sending'],
  },
  {
    rule: '§3.5 a park that the service stores otherwise is not sent again',
    file: 'src/reconcile/core/gate.ts',
    from: 'known && isStoredDifferently(known.rewritten, sent, record)\n',
    to: 'known && known.recordId === -1 && isStoredDifferently(known.rewritten, sent, record)\n',
    tests: ['reconcile/permit'],
  },
  {
    rule: '§3.5 a record that the service turned into another desired one is not added again',
    file: 'src/reconcile/core/gate.ts',
    from: '(failing(record, desired, now) ?? storedAsOtherRecord(record, desired))',
    to: 'failing(record, desired, now)',
    tests: ['reconcile/sending'],
  },
];
