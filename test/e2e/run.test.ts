import { describe, expect, it, vi } from 'vitest';
import { inSeconds } from './daemon.ts';
import { linesOf, start, workplace, type LogLine } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const never = '0 0 1 1 *';
const quiet = ['run', '--listen', 'off', '--schedule', never];

describe('the log of run', () => {
  it('is JSON lines with a fixed message for each event', async () => {
    const service = await startService();
    const env = { ...service.env, DNS_SYNC_SURPLUS: 'park', DNS_SYNC_ADOPT: 'true' };
    const program = start(quiet, { cwd: await workplace(), env });
    const finished = await program.event('pass.finished');
    program.signal('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0, stderr: '' });

    const lines = linesOf(program);
    for (const line of lines) {
      expect(line).toMatchObject({ level: expect.stringMatching(/^[a-z]+$/), msg: expect.any(String) });
      expect(line['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    expect(Object.fromEntries(lines.map(({ event, msg }) => [event, msg]))).toEqual({
      'daemon.started': 'daemon started',
      notice: 'notice',
      'pass.started': 'pass started',
      'change.applied': 'change applied',
      'drift.report': 'drift report',
      'pass.finished': 'pass finished',
      'daemon.stopping': 'shutting down; waiting for running writes',
      'daemon.stopped': 'daemon stopped',
    });

    const pass = { client: 'default', run: finished['run'] };
    const byEvent = (name: string): LogLine[] => lines.filter(({ event }) => event === name);
    expect(byEvent('pass.started')).toMatchObject([{ ...pass, trigger: 'startup' }]);
    expect(finished).toMatchObject({
      ...pass,
      trigger: 'startup',
      status: 'in-sync',
      durationMs: expect.any(Number),
      summary: { templates: 5, inSync: 31, applied: 9, surplus: 0, blocked: 0 },
    });
    expect(byEvent('change.applied')).toHaveLength(9);
    expect(byEvent('change.applied').find(({ recordId }) => recordId === 171)).toMatchObject({
      ...pass,
      template: 'standard-web',
      templateId: 17,
      action: 'update',
      before: { type: 'A', name: 'www', content: '203.0.113.9', priority: null, ttl: 3600 },
      after: { type: 'A', name: 'www', content: '203.0.113.10', priority: null, ttl: 3600 },
    });
    expect(byEvent('drift.report').map(({ template }) => template)).toEqual([
      'mail-only',
      'office-reverse',
      'standard-web',
      'voice',
    ]);
    expect(byEvent('drift.report').at(-1)).toMatchObject({
      ...pass,
      trigger: 'startup',
      template: 'voice',
      id: 31,
      file: 'templates/voice.yaml',
      status: 'in-sync',
      inSync: 4,
      differences: [{ action: 'update', recordId: 313, outcome: 'applied' }],
    });
    expect(lines.at(-1)).toMatchObject({ event: 'daemon.stopped', signal: 'SIGTERM' });
  });
});

describe('the triggers of a pass', () => {
  it('include the schedule, which corrects drift', async () => {
    const service = await startService();
    const args = ['run', '--listen', 'off', '--schedule', inSeconds(2)];
    const program = start(args, { cwd: await workplace(), env: service.env });
    await program.event('pass.finished', ({ trigger }) => trigger === 'startup');
    await service.change('edit-record', { record_id: 310, content: '198.51.100.66' });
    const change = await program.event('change.applied');
    expect(change).toMatchObject({ template: 'voice', recordId: 310, action: 'update' });
    expect(await program.event('drift.report', ({ template }) => template === 'voice')).toMatchObject({
      trigger: 'schedule',
      differences: [{ recordId: 310, cause: 'drifted', outcome: 'applied' }],
    });
    expect((await service.records(31)).find(({ id }) => id === 310)?.content).toBe('198.51.100.20');
  });

  it('include the return of a service that was unreachable at first', async () => {
    let isThere = false;
    const service = await startService(() => (isThere ? null : (response) => response.writeHead(503).end()));
    const program = start(quiet, { cwd: await workplace(), env: service.env });
    expect(await program.event('pass.finished')).toMatchObject({ level: 'error', status: 'failed' });
    isThere = true;
    expect(await program.event('pass.finished', ({ status }) => status === 'drifted')).toMatchObject({
      summary: { applied: 6 },
    });
  });
});
