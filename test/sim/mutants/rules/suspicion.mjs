const suspicionFile = 'src/reconcile/core/suspicion.ts';

/**
 * What an older copy of memory cannot be trusted for.
 *
 * @type {readonly import('../table.mjs').Mutation[]}
 */
export const suspicion = [
  {
    rule: '§6 a desired record under an id that was never seen makes memory doubtful',
    file: suspicionFile,
    from: 'if (unseen.length > 0) {',
    to: 'if (unseen.length > 1_000) {',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 an id below the highest one was seen',
    file: suspicionFile,
    from: 'id > highestId && ',
    to: 'id > 0 && ',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 an id that memory knows was seen',
    file: suspicionFile,
    from: 'id > highestId && !isKnownId(memory, id)',
    to: 'id > highestId',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 a record that differs was not made by an add of ours',
    file: suspicionFile,
    from: 'pair.fields.length === 0 && !isExpected(pair, memory.records)',
    to: '!isExpected(pair, memory.records)',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 an add that was given up may land late',
    file: suspicionFile,
    from: 'pair.fields.length === 0 && !isExpected(pair, memory.records)',
    to: 'pair.fields.length === 0',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 an add of a record that was there before may also take effect late',
    file: suspicionFile,
    from: "return known.recordId === null || known.failure?.kind === 'unknown';",
    to: 'return known.recordId === null;',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 while an add is pending no id is strange',
    file: suspicionFile,
    from: ' || pending.length > 0) return [];',
    to: ') return [];',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 with a doubtful state, a missing record may have been added before',
    file: suspicionFile,
    from: '({ adds: uncountedAdds } as const)',
    to: '({} as const)',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 with a doubtful state, causes are unknown',
    file: suspicionFile,
    from: '  for (const pair of pairs) if (pair.fields.length > 0) distrustChanged(draft, pair);\n',
    to: '',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 with a doubtful state, a changed record that the file dropped is not the file’s',
    file: suspicionFile,
    from: '    if (isForgotten && !sameData(known.seen ?? known.wanted, record)) unbind(draft, id);\n',
    to: '',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 with a doubtful state, an unchanged record that the file dropped stays known',
    file: suspicionFile,
    from: 'if (isForgotten && !sameData(known.seen ?? known.wanted, record)) unbind',
    to: 'if (isForgotten) unbind',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§3.8 without state, nothing is added beside a record that may be it',
    file: suspicionFile,
    from: 'const lost = perhapsAdded(state.basis, plan);',
    to: 'const lost: DesiredEntry[] = [];',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§6 with a doubtful state, the binding of a missing record stays',
    file: suspicionFile,
    from: 'const isKnown = draft.now.view.byKey.has(key);',
    to: 'const isKnown = false;',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§3.4 a retry is enough in the pass that finds a doubtful state',
    file: 'src/reconcile/pass.ts',
    from: 'suspectMemory(state);',
    to: 'suspectMemory(override(state, pass));',
    tests: ['reconcile/older-memory'],
  },
  {
    rule: '§3.8 with state, a record is added beside a similar one',
    file: suspicionFile,
    from: 'if (memory.view.hasBeenRead || memory.view.byKey.size > 0 || desired.adopt) return [];',
    to: 'if (desired.adopt) return [];',
    tests: ['reconcile/older-memory'],
  },
];
