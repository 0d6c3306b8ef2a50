import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noFault, type Fault } from './fault.ts';
import { address, openPlace, type Place } from './place.ts';
import type { SeenRequest } from './wire.ts';

const actual = [address(null, '203.0.113.1'), address('api', '203.0.113.1')];
const desired = [...actual, address('www', '203.0.113.2')];
const rotated = { DNS_SYNC_CLIENT_TOKEN: 'another-token-of-client' };
const notice = 'this client token is new';

const isAdd = ({ operation }: SeenRequest): boolean => operation === 'add';

/** While true, adds are lost and get no answer. */
const losingAdds = (): { readonly faultOf: (request: SeenRequest) => Fault; isLosing: boolean } => {
  const service = {
    isLosing: true,
    faultOf: (request: SeenRequest): Fault =>
      service.isLosing && isAdd(request) ? { commit: 'never', answer: 'drop' } : noFault,
  };
  return service;
};

/** The program is killed while its first add is in flight. */
const killAtAdd = async (place: Place, arrived: Promise<void>): Promise<void> => {
  const program = place.start(['apply', '--yes']);
  await arrived;
  program.kill('SIGKILL');
  await program.ended;
};

const untilAdd = () => {
  let resolve: () => void;
  const arrived = new Promise<void>((done) => (resolve = done));
  return {
    arrived,
    onStage: (stage: string, request: SeenRequest): void => {
      if (stage === 'stored' && isAdd(request)) resolve();
    },
  };
};

describe('a rotated client token', { timeout: 60_000 }, () => {
  it('causes no second add while one is in flight, before or after', async () => {
    const { arrived, onStage } = untilAdd();
    const place = await openPlace(actual, { onStage, faultOf: losingAdds().faultOf });
    await place.write(actual);
    await place.apply();
    await place.write(desired);
    await killAtAdd(place, arrived);
    expect(place.service.witness.writes).toHaveLength(1);

    const env = { DNS_SYNC_UNKNOWN_PAUSE: '10m' };
    for (const tokens of [rotated, rotated, {}]) {
      const { writes, report } = await place.apply({ env: { ...env, ...tokens } });
      expect(writes).toBe(0);
      expect(report.templates[0]?.differences).toMatchObject([
        { action: 'add', outcome: 'skipped', skippedBy: 'held', desired: { name: 'www' } },
      ]);
    }
  });

  it('is reported once as that of a known client, and plans as it writes', async () => {
    const place = await openPlace(actual);
    await place.write(actual);
    await place.apply();
    const plan = await place.run(['plan'], { env: rotated });
    expect(plan.stderr).toContain(notice);
    const first = await place.apply({ env: rotated });
    expect(first.stderr).toContain(`${notice}, and shows the templates of a known client (default)`);
    expect(first.stderr).not.toContain('no saved state for this client');
    expect((await place.apply({ env: rotated })).stderr).toBe('');
  });

  it('never writes at the same time as the previous token', async () => {
    const { arrived, onStage } = untilAdd();
    const place = await openPlace(actual, { onStage, faultOf: losingAdds().faultOf });
    await place.write(actual);
    await place.apply();
    await place.write(desired);
    // It holds its lock while it waits for the record to appear.
    const program = place.start(['apply', '--yes'], { env: { DNS_SYNC_SETTLE: '5s' } });
    await arrived;
    const { code, writes, stdout } = await place.apply({ env: rotated, args: ['--lock-timeout', '200ms'] });
    expect({ code, writes }).toEqual({ code: 1, writes: 0 });
    expect(stdout).toContain('another pass for this client is running');
    program.kill('SIGKILL');
    await program.ended;
  });

  it('adds nothing again at a service that stores other names', async () => {
    const store = (request: SeenRequest): Record<string, string> =>
      isAdd(request) ? { name: 'www.##DOMAIN##' } : {};
    const place = await openPlace(actual, { quirk: { store } });
    await place.write(desired);
    expect(await place.apply()).toMatchObject({ writes: 1 });
    const { writes, report } = await place.apply({ env: rotated });
    expect(writes).toBe(0);
    expect(report.templates[0]?.differences).toMatchObject([{ action: 'blocked', reason: 'not-converging' }]);
  });

  it('parks the records of the file, and no others', async () => {
    const foreign = address('other', '203.0.113.9');
    const place = await openPlace([...actual, foreign]);
    await place.write(desired);
    expect(await place.apply()).toMatchObject({ writes: 1 });
    await place.write(actual, { surplus: 'park' });
    expect(await place.apply({ env: rotated })).toMatchObject({ writes: 1 });
    const names = (await place.records()).map(({ name }) => name);
    expect(names).toEqual([null, 'api', 'other', expect.stringMatching(/^_parked-/)]);
  });

  it('has the history of the client, which keeps its previous token', async () => {
    const place = await openPlace(actual);
    await place.write(desired);
    await place.apply();
    await place.apply({ env: rotated });
    const histories = await Promise.all([place.run(['history']), place.run(['history'], { env: rotated })]);
    expect(histories.map(({ stdout }) => stdout)).toEqual(
      [1, 2].map(() => expect.stringContaining('web: add')),
    );
  });
});

it('recognises its base URL in another spelling', { timeout: 60_000 }, async () => {
  const place = await openPlace(actual);
  await place.write(desired);
  await place.apply();
  const spelled = place.service.url.replace('http:', 'HTTP:').replace('127.0.0.1', '127.1');
  const { writes, stderr } = await place.apply({ env: { DNS_SYNC_BASE_URL: `${spelled}/` } });
  expect({ writes, stderr }).toEqual({ writes: 0, stderr: '' });
});

it('adds nothing beside a similar record after its state is lost', { timeout: 60_000 }, async () => {
  const store = (request: SeenRequest): Record<string, string> =>
    isAdd(request) ? { name: 'www.##DOMAIN##' } : {};
  const place = await openPlace(actual, { quirk: { store } });
  await place.write(desired);
  expect(await place.apply()).toMatchObject({ writes: 1 });
  rmSync(place.stateDir, { recursive: true });
  for (const env of [{}, rotated]) {
    const { writes, report } = await place.apply({ env });
    expect(writes).toBe(0);
    expect(report.templates[0]?.differences).toMatchObject([
      {
        action: 'blocked',
        reason: 'not-converging',
        message: expect.stringMatching(/accept.*adopt.*--retry/),
      },
      { action: 'surplus', current: { name: 'www.##DOMAIN##' } },
    ]);
  }
  const planned = await place.run(['plan', '--format', 'json']);
  expect(JSON.parse(planned.stdout)).toMatchObject({ summary: { add: 0, blocked: 1 } });
  expect(await place.apply({ args: ['--retry', 'web'] })).toMatchObject({ writes: 1 });
});
