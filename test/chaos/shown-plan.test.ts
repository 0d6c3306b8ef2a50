import { describe, expect, it } from 'vitest';
import { startOnTerminal } from '../e2e/program.ts';
import { noFault, type Fault } from './fault.ts';
import { address, openPlace, type Place } from './place.ts';
import type { SeenRequest } from './wire.ts';

const apex = address(null, '203.0.113.1', 3600);
const [refused, lost, good] = ['refused', 'lost', 'good'].map((name) => address(name, '203.0.113.2', 3600));

/** The service refuses one name, and loses adds under another. */
const faultOf = ({ operation, parameters: { name } }: SeenRequest): Fault => {
  if (operation !== 'add' || name === 'good') return noFault;
  return name === 'lost' ? { commit: 'never', answer: 'drop' } : { commit: 'never', answer: 422 };
};

const openWith = async (...names: readonly (typeof apex | undefined)[]): Promise<Place> => {
  const place = await openPlace([apex], { faultOf });
  await place.write([apex]);
  await place.apply();
  await place.write([apex, ...names.map((name) => name!)]);
  await place.apply();
  return place;
};

/** Like a person: reads the plan, and answers yes. */
const applyOnTerminal = async (place: Place, ...args: readonly string[]) => {
  const env = {
    DNS_SYNC_BASE_URL: place.service.url,
    DNS_SYNC_USER_TOKEN: 'at-the-terminal',
    DNS_SYNC_CLIENT_TOKEN: 'token-of-client',
    DNS_SYNC_UNKNOWN_PAUSE: '1h',
  };
  const before = place.service.witness.writes.length;
  const program = startOnTerminal(['apply', ...args], { cwd: place.folder, env });
  await program.says('Write this to the service? [y/N]');
  program.type('y\n');
  const { code, stdout } = await program.ended;
  return {
    code,
    stdout,
    writes: place.service.witness.writes.slice(before).map(({ request }) => request.parameters['name']),
  };
};

describe('apply writes the plan that it showed', { timeout: 60_000 }, () => {
  it('after a refused record: the rest, and that record once more', async () => {
    const place = await openWith(refused);
    await place.write([apex, refused!, good!]);
    const { code, stdout, writes } = await applyOnTerminal(place);
    expect({ code, writes }).toEqual({ code: 1, writes: ['good', 'refused'] });
    expect(stdout).not.toContain('no longer');
    expect(stdout).toContain('1 applied');
  });

  it('with --plan after a refused record', async () => {
    const place = await openWith(refused);
    await place.write([apex, refused!, good!]);
    expect(await place.run(['plan', '--format', 'json', '--out', 'plan.json'])).toMatchObject({ code: 0 });
    expect(await place.apply({ args: ['--plan', 'plan.json'] })).toMatchObject({ code: 1, writes: 2 });
  });

  it('with --retry of an abandoned add', async () => {
    const place = await openWith(lost);
    await place.apply();
    await place.write([apex, lost!, good!]);
    const { code, writes } = await applyOnTerminal(place, '--retry', 'web');
    expect({ code, writes }).toEqual({ code: 1, writes: ['good', 'lost'] });
  });

  it('after the program was killed with an add in flight', async () => {
    const place = await openPlace([apex], {
      faultOf: (request) => {
        if (request.operation === 'add') kill();
        return faultOf(request);
      },
    });
    let kill = (): void => undefined;
    await place.write([apex]);
    await place.apply();
    await place.write([apex, lost!]);
    const daemon = place.start(['run', '--listen', 'off']);
    kill = () => daemon.kill('SIGKILL');
    await daemon.ended;
    kill = () => undefined;
    await place.write([apex, lost!, good!]);
    // Both wait while the first one may still come.
    const { code, writes, report } = await place.apply();
    expect({ code, writes }).toEqual({ code: 1, writes: 0 });
    expect(report.templates[0]?.differences).toMatchObject([
      { action: 'add', skippedBy: 'held' },
      { action: 'add', skippedBy: 'held' },
    ]);
  });
});
