/** @type {readonly import('../table.mjs').Mutation[]} */
export const order = [
  {
    rule: '§3.1 addresses come first',
    file: 'src/model/types/a.ts',
    from: 'writePhase: 0',
    to: 'writePhase: 2',
    tests: ['plan/order'],
  },
  {
    rule: '§3.1 updates come before adds',
    file: 'src/plan/order.ts',
    from: '(isUpdate(step) ? 0 : 1)',
    to: '(isUpdate(step) ? 1 : 0)',
    tests: ['plan/order'],
  },
  {
    rule: '§3.1 parks come last',
    file: 'src/plan/order.ts',
    from: 'const lastPhase = 6;',
    to: 'const lastPhase = 0;',
    tests: ['plan/order'],
  },
  {
    rule: '§3.1 a step that clears a conflict comes before the write that needs it',
    file: 'src/plan/order.ts',
    from: '      visit(clearing);\n',
    to: '',
    tests: ['plan/conflicts'],
  },
  {
    rule: '§3.1 a write that may not be sent now moves nothing out of its place',
    file: 'src/plan/place.ts',
    from: '[needs, needing, emptied].flatMap',
    to: '[needing].flatMap',
    tests: ['reconcile/permit'],
  },
  {
    rule: '§3.1 a park is undone if its write is found absent',
    file: 'src/reconcile/pass.ts',
    from: 'reverted.push(await revertParks(state, run))',
    to: 'reverted.push(state)',
    tests: ['reconcile/permit'],
  },
  {
    rule: '§3.1 a nameless record is never moved to make way',
    file: 'src/plan/order.ts',
    from: "      if (entry.name === '' && after.name !== '' && !isPark(clearing)) return true;\n",
    to: '',
    tests: ['plan/conflicts'],
  },
  {
    rule: '§3.1 a nameless record that is parked as surplus makes way',
    file: 'src/plan/order.ts',
    from: ' && !isPark(clearing)) return true;',
    to: ') return true;',
    tests: ['plan/conflicts'],
  },
];
