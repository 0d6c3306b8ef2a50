import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { withUncommitted } from '../../src/app/with-commits.ts';
import { createUncommitted } from '../../src/git/uncommitted.ts';
import { createTemplateLoader } from '../../src/source/load.ts';
import { git, newCheckout } from '../git/checkout.ts';
import { pass, template } from '../report/every-kind.ts';
import { options } from '../desired/load-files.ts';

test('a template is uncommitted if one of its fragments is, however deep', async () => {
  const checkout = newCheckout();
  const folder = path.join(checkout, 'templates');
  const files = {
    'web.yaml': 'template: web\ninclude: [_mail.yaml]\nrecords: []\n',
    'other.yaml': 'template: other\nrecords: []\n',
    '_mail.yaml': 'include: [_vars.yaml]\n',
    '_vars.yaml': 'vars: {mail: mx.example.net}\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  git(checkout, 'add', '.');
  git(checkout, 'commit', '--quiet', '-m', 'two');
  const revision = git(checkout, 'rev-parse', 'HEAD');
  const loader = createTemplateLoader();
  const uncommitted = createUncommitted();
  const found = async (): Promise<string[]> => {
    const state = await loader.load({ ...options, paths: [folder] });
    const templates = ['web', 'other'].map((name) =>
      template({ template: name, file: path.join(folder, `${name}.yaml`), revision }),
    );
    return withUncommitted(pass({ templates }), state, uncommitted()).templates.flatMap((one) =>
      one.uncommitted ? one.template : [],
    );
  };
  expect(await found()).toEqual([]);
  appendFileSync(path.join(folder, '_vars.yaml'), '# edited\n');
  expect(await found()).toEqual(['web']);
});
