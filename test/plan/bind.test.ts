import { expect, test } from 'vitest';
import { bindTemplates } from '../../src/plan/bind.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';

const at = (id: number, name: string, more: Partial<ActualTemplate> = {}): ActualTemplate => ({
  ...actualTemplate([]),
  id,
  name,
  ...more,
});

const file = (template: string, id: number | null = null, line = 1) =>
  desiredTemplate([], { template, id, source: { file: 'web.yaml', line, column: 1 } });

const isPublic = { publiclyAvailable: true, subdomains: null } as const;

test.each<[string, readonly ReturnType<typeof file>[], readonly ActualTemplate[], readonly string[]]>([
  ['its name', [file('web')], [at(1, 'web'), at(2, 'mail')], ['1']],
  ['its id and name', [file('web', 2)], [at(1, 'web'), at(2, 'web')], ['2']],
  ['the id of another one', [file('web', 2)], [at(1, 'web'), at(2, 'mail')], ['failed']],
  [
    'the name that import gives where the own one cannot be written',
    [file('template-2', 2)],
    [at(2, '')],
    ['2'],
  ],
  ['a name in another case', [file('Web')], [at(1, 'web')], ['failed']],
  ['a name that several have', [file('web')], [at(1, 'web'), at(2, 'web')], ['failed']],
  ['a name that a public one has too', [file('web')], [at(1, 'web', isPublic), at(2, 'web')], ['2']],
  ['a name that only a public one has', [file('web')], [at(1, 'web', isPublic)], ['failed']],
  ['the id of a public one', [file('web', 1)], [at(1, 'web', isPublic)], ['failed']],
  ['an id that is not there', [file('web', 3)], [at(1, 'web')], ['failed']],
  ['its name, and its id elsewhere', [file('web'), file('mail', 1, 9)], [at(1, 'web')], ['held', 'held']],
])('a template is bound by %s', (_, files, actual, expected) => {
  const bound = bindTemplates(files, [], actual);
  expect(bound.map((one) => ('actual' in one ? `${one.actual.id}` : one.status))).toEqual(expected);
});

test.each([
  ['its name', { template: 'web', id: null }],
  ['its id', { template: null, id: 1 }],
])('a description with an error holds the template that it names by %s', (_, { template, id }) => {
  const [one] = bindTemplates([file('web')], [{ template, id, file: 'broken.yaml' }], [at(1, 'web')]);
  expect(one).toMatchObject({ status: 'held' });
});

test.each<[string, readonly ActualTemplate[], string]>([
  ['another name', [at(1, 'mail')], "no template of this client is called 'web': create it at the service"],
  ['no template at all', [], 'the service lists no templates at all'],
  ['a public one', [at(1, 'web', isPublic)], "'web' is a public template"],
  [
    'one of which it does not say whose it is',
    [at(1, 'web', { ...isPublic, isOwnerStated: false })],
    'the service does not say that it is yours',
  ],
])('a template that cannot be bound says what the service lists: %s', (_, actual, words) => {
  expect(bindTemplates([file('web')], [], actual)).toMatchObject([
    { reason: expect.stringContaining(words) },
  ]);
});
