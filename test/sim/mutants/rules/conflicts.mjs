/** @type {readonly import('../table.mjs').Mutation[]} */
export const conflicts = [
  {
    rule: '§2 a record beside those of the file whose name differs by a placeholder or the final dot alone stands at the name',
    file: 'src/plan/kept-names.ts',
    from: '({ name }) => bareName(name) !== name',
    to: '() => false',
    tests: ['plan/conflicts'],
  },
  {
    rule: '§2 cname-conflict: no other record beside a CNAME',
    file: 'src/plan/conflict.ts',
    from: "  other: ['CNAME'],",
    to: '  other: [],',
    tests: ['plan/conflicts'],
  },
  {
    rule: '§2 cname-conflict: no CNAME beside another record',
    file: 'src/plan/conflict.ts',
    from: "CNAME: ['CNAME', 'null MX', 'MX', 'other']",
    to: "CNAME: ['CNAME', 'null MX', 'MX']",
    tests: ['plan/conflicts'],
  },
  {
    rule: '§2 null-mx-conflict: no null MX beside another MX',
    file: 'src/plan/conflict.ts',
    from: "'null MX': ['CNAME', 'MX']",
    to: "'null MX': ['CNAME']",
    tests: ['plan/conflicts'],
  },
  {
    rule: '§2 null-mx-conflict: no MX beside a null MX',
    file: 'src/plan/conflict.ts',
    from: "  MX: ['CNAME', 'null MX']",
    to: "  MX: ['CNAME']",
    tests: ['plan/conflicts'],
  },
  {
    rule: '§2 conflicts count ignored and unknown records too',
    file: 'src/plan/plan.ts',
    from: '      everything,\n      wants:',
    to: '      everything: ours,\n      wants:',
    tests: ['plan/conflicts'],
  },
  {
    rule: '§2 conflicts count pending adds too',
    file: 'src/plan/draft.ts',
    from: '      actual: work.everything,\n      pending,',
    to: '      actual: work.everything,\n      pending: [],',
    tests: ['plan/conflicts'],
  },
  {
    rule: '§2 a missing record whose id is something else now is not added',
    file: 'src/plan/blocked.ts',
    from: 'const retyped = known && byId.get(known.id);',
    to: 'const retyped = known && byId.get(-known.id);',
    tests: ['plan/pairing'],
  },
];
