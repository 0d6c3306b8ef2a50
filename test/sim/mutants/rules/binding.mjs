/** @type {readonly import('../table.mjs').Mutation[]} */
export const binding = [
  {
    rule: '§2 public templates are never written, by id',
    file: 'src/apply/bind.ts',
    from: '  if (present.publiclyAvailable)\n',
    to: '  if (present.publiclyAvailable && present.subdomains !== null)\n',
    tests: ['apply/bind'],
  },
  {
    rule: '§2 public templates are never written, by name',
    file: 'src/apply/bind.ts',
    from: 'actual.filter((template) => !template.publiclyAvailable)',
    to: '[...actual]',
    tests: ['apply/bind'],
  },
  {
    rule: '§2 several templates of one name: none is written',
    file: 'src/apply/bind.ts',
    from: 'if (present && others.length === 0) return',
    to: 'if (present) return',
    tests: ['apply/bind'],
  },
  {
    rule: '§5 two descriptions of a template: neither is written',
    file: 'src/apply/bind.ts',
    from: 'if (other === undefined) return one;',
    to: 'if (other !== null) return one;',
    tests: ['apply/bind'],
  },
];
