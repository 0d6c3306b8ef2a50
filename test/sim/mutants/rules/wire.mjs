/** @type {readonly import('../table.mjs').Mutation[]} */
export const wire = [
  {
    rule: '§2 an add sends a priority only for MX and SRV',
    file: 'src/plan/step.ts',
    from: 'priority: hasPriority(desired.type) ? desired.priority : null',
    to: 'priority: desired.priority',
    tests: ['plan/wire'],
    unseen: 'no file gives an A a priority',
  },
  {
    rule: '§2 an update of a PTR sends its name',
    file: 'src/plan/step.ts',
    from: "changes.has('name') || definition?.name === 'required'",
    to: "changes.has('name')",
    tests: ['plan/wire'],
  },
  {
    rule: '§2 an update of an MX or SRV sends its priority',
    file: 'src/plan/step.ts',
    from: 'priority: definition?.hasPriority === true ? (desired.priority ?? current.priority) : null',
    to: "priority: changes.has('priority') ? desired.priority : null",
    tests: ['plan/wire'],
  },
  {
    rule: '§2 an update sends only changed fields',
    file: 'src/plan/step.ts',
    from: "ttl: changes.has('ttl') ? desired.ttl : null",
    to: 'ttl: desired.ttl',
    tests: ['plan/wire'],
  },
  {
    rule: '§2 an update never has to clear a name',
    file: 'src/plan/blocked.ts',
    from: "if (desired.name === '' && fields.includes('name') && isForNothing)",
    to: "if (desired.name === '' && fields.includes('name') && !isForNothing)",
    tests: ['plan/pairing'],
  },
  {
    rule: '§2 a nameless add takes only a nameless record',
    file: 'src/plan/surplus.ts',
    from: "const pool = desired.name === '' ? nameless : ofType;",
    to: 'const pool = ofType;',
    tests: ['plan/surplus'],
  },
];
