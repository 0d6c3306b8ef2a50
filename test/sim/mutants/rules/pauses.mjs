const pauses = 'src/reconcile/core/pauses.ts';
const model = 'src/model/suspension.ts';
const gate = 'if (suspension !== null && state.suspension === null)';
const names = 'const names = [desired.template, view.name, state.savedName];';

/** @type {readonly import('../table.mjs').Mutation[]} */
export const pausing = [
  {
    rule: 'a suspended template is not written',
    file: pauses,
    from: gate,
    to: 'if (suspension !== null && state.suspension !== null)',
    tests: ['reconcile/pause'],
  },
  {
    rule: 'force ends no suspension',
    file: pauses,
    from: gate,
    to: 'if (suspension !== null && state.suspension === null && !input.force)',
    tests: ['reconcile/pause'],
  },
  {
    rule: 'a template is suspended by its id',
    file: model,
    from: '(isOfTemplate || one.templateId === templateId)',
    to: 'isOfTemplate',
    tests: ['reconcile/pause'],
  },
  {
    rule: 'a template is suspended by its name',
    file: model,
    from: 'one.template === null || names.includes(one.template);',
    to: 'one.template === null;',
    tests: ['reconcile/pause'],
  },
  {
    rule: 'a template is suspended by its name at the service',
    file: pauses,
    from: names,
    to: 'const names = [desired.template, state.savedName];',
    tests: ['reconcile/pause'],
  },
  {
    rule: 'a template is suspended by the name that the state knows',
    file: pauses,
    from: names,
    to: 'const names = [desired.template, view.name];',
    tests: ['reconcile/pause'],
  },
  {
    rule: 'the state keeps the name by which a template is suspended',
    file: pauses,
    from: 'draft.setRow({ template })',
    to: 'draft.setRow({})',
    tests: ['reconcile/pause'],
  },
  {
    rule: 'a suspension ends when its time is over',
    file: model,
    from: 'until === null || now < until;',
    to: 'until === null || now < Infinity;',
    tests: ['state/sqlite'],
    isOfBuild: true,
  },
  {
    rule: 'outside of its window a template is not written',
    file: pauses,
    from: 'window === undefined || isOpen(window, input.now)',
    to: 'window === undefined || input.now > 0',
    tests: ['reconcile/pause'],
  },
];
