import { expect, it } from 'vitest';
import { start, workplace } from '../program.ts';
import { get } from '../sandbox/requests.ts';

it('the sandbox prints its address, answers, logs its answers, and ends with 0', async () => {
  const cwd = await workplace({ withExamples: false });
  const program = start(['sandbox', '--listen', '127.0.0.1:0'], { cwd });
  await program.says('changes by hand at ');
  const [, url = ''] = /hosting service at (\S+)/.exec(program.output()) ?? [];
  expect((await get(`${url}/accounts`)).json).toHaveLength(2);
  await program.says('200 GET /api/v1/accounts');
  program.signal('SIGTERM');
  const { code, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '200 GET /api/v1/accounts\n' });
});
