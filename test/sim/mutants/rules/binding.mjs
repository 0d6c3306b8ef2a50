/** @type {readonly import('../table.mjs').Mutation[]} */
export const binding = [
  {
    rule: '§2 public templates are never written, by id',
    file: 'src/plan/bind.ts',
    from: '  if (actual.publiclyAvailable) return',
    to: '  if (actual.publiclyAvailable && actual.subdomains !== null) return',
    tests: ['plan/bind'],
  },
  {
    rule: '§2 public templates are never written, by name',
    file: 'src/plan/bind.ts',
    from: 'actual.filter((template) => !template.publiclyAvailable)',
    to: '[...actual]',
    tests: ['plan/bind'],
  },
  {
    rule: '§2 several templates of one name: none is written',
    file: 'src/plan/bind.ts',
    from: 'if (actual && others.length === 0) return',
    to: 'if (actual) return',
    tests: ['plan/bind'],
  },
  {
    rule: '§5 two descriptions of a template: neither is written',
    file: 'src/plan/bind.ts',
    from: 'if (other === undefined)\n',
    to: 'if (other !== null)\n',
    tests: ['plan/bind'],
    unseen: 'no two files describe one template',
  },
  {
    rule: '§2 a file with the id of another template writes nothing',
    file: 'src/plan/bind.ts',
    from: 'return isCalled(desired, actual) ? one : failed',
    to: 'return desired ? one : failed',
    tests: ['plan/bind'],
  },
];
