import { withDaemon } from '../daemon.mjs';
import { withWorld } from '../world.mjs';

export const about = 'most calls of a pass beyond 1 + k differing records + s subdomains';
export const target = 0;
export const unit = 'calls';

/** Differing records and subdomains. */
const cases = [
  [0, 0],
  [1, 0],
  [0, 3],
  [7, 2],
  [25, 10],
];

export const measure = async () => {
  const found = [];
  for (const [differing, subdomains] of cases) {
    const calls = await callsOf(differing, subdomains);
    found.push({ differing, subdomains, calls, beyond: calls - (1 + differing + subdomains) });
  }
  return { value: Math.max(...found.map(({ beyond }) => beyond)), cases: found };
};

const callsOf = (differing, subdomains) => {
  const names = Array.from({ length: subdomains }, (_, index) => `sub-${index}.example.net`);
  const world = { templates: 5, records: 100, more: `subdomains: [${names.join(', ')}]\n` };
  return withWorld(world, ({ cwd, env, service, wanted, write }) =>
    withDaemon([], { cwd, env }, async ({ passed, request }) => {
      await passed('startup');
      const before = await service.calls();
      const trigger = differing > 0 ? 'file-change' : 'request';
      const ended = passed(trigger);
      if (differing > 0) await write(0, edited(wanted, differing));
      else await request();
      await ended;
      return (await service.calls()) - before;
    }),
  );
};

const edited = (wanted, count) => {
  let left = count;
  return wanted.map((record) => {
    if (record.type !== 'A' || left === 0) return record;
    left -= 1;
    return { ...record, content: '198.51.100.1' };
  });
};
