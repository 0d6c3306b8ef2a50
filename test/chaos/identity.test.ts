import { describe, expect, it } from 'vitest';
import { noFault, type Fault } from './fault.ts';
import { address, openPlace } from './place.ts';
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
    const program = place.start(['apply', '--yes'], { env: { DNS_SYNC_SETTLE: '5s' }, process: {} });
    await arrived;
    const { code, writes, stdout } = await place.apply({ env: rotated, args: ['--lock-timeout', '200ms'] });
    expect({ code, writes }).toEqual({ code: 1, writes: 0 });
    expect(stdout).toContain('another pass for this client is running');
    program.signal('SIGKILL');
    await program.ended;
  });
});
