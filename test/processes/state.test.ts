import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { acquireLock } from '../../src/state/lock.ts';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, describing } from '../daemon/daemon.ts';
import { runProcess, startProcess, type Rights } from '../process.ts';
import { reportOf, run, start, workplace } from '../program.ts';
import { startHoldingService, startService, type Meddling, type Service } from '../service.ts';

vi.setConfig({ testTimeout: 60_000 });

const apply = ['apply', '--yes', '--format', 'json'];

/** A template, a file that describes it, and a state that everybody may look for. */
const place = async ({ service, meddle }: { service?: Service; meddle?: Meddling } = {}) => {
  const own = service ?? (await startService(meddle));
  const id = await addTemplate(own, 'web', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  chmodSync(cwd, 0o755);
  const state = path.join(cwd, 'state');
  /** With further records beside the one that is in sync. */
  const write = (...names: readonly string[]): Promise<void> => {
    const more = names.map((name) => `  - {type: A, name: ${name}, content: 192.0.2.2}\n`);
    return writeBelow(cwd, 'templates/web.yaml', describing('web', '192.0.2.1') + more.join(''));
  };
  await write();
  return {
    service: own,
    id,
    launch: { cwd, env: own.env as Record<string, string> },
    state,
    memory: path.join(state, 'memory.db'),
    write,
  };
};

/** Root may do anything: the program then runs as another user. */
const nobody: Rights = process.getuid?.() === 0 ? { uid: 65_534 } : {};
const uid = nobody.uid ?? process.getuid?.();
const isRootOnLinux = process.getuid?.() === 0 && process.platform === 'linux';

// In a container, the mounted files often belong to another user than the one it runs as.
it('names the user to whom a file is denied', async () => {
  const { launch } = await place();
  const denied = path.join(launch.cwd, 'denied');
  writeFileSync(denied, 'token: x\n', { mode: 0o000 });
  const { DNS_SYNC_USER_TOKEN: _, ...others } = launch.env;
  const env = { ...others, DNS_SYNC_USER_TOKEN_FILE: denied };
  const why = `no permission: EACCES for uid ${uid}`;
  for (const [args, used, said] of [
    [['plan'], { ...launch, env }, `cannot read ${denied} (${why})`],
    [['plan', '--config', denied], launch, `cannot read this file (${why})`],
    [['plan', '--out', denied], launch, `for uid ${uid}`],
  ] as const) {
    const { code, stderr } = await runProcess(args, used, nobody);
    expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringContaining(said) });
  }
  chmodSync(path.join(launch.cwd, 'templates'), 0o000);
  const { stdout } = await runProcess(['validate'], launch, nobody);
  expect(stdout).toContain(`templates cannot be read: permission denied for uid ${uid}`);
});

describe('one lock for a client', () => {
  const held = 'another pass for this client is running';

  it('keeps version 0.1 from writing while this one writes, and this one while that one does', async () => {
    const { service, held: arrived, release } = await startHoldingService();
    const { launch, state, write } = await place({ service });
    await write('www');
    const { DNS_SYNC_CLIENT_TOKEN: token = '' } = launch.env;
    const owner = createHash('sha256').update(`${service.url} ${token}`).digest('hex').slice(0, 32);
    const { signal } = new AbortController();
    const lockOf01 = () =>
      acquireLock({
        file: path.join(state, `lock-${owner}.db`),
        timeout: 0,
        signal,
        onWait: () => undefined,
      });
    const program = startProcess(apply, launch);
    await arrived;
    await expect(lockOf01()).rejects.toThrow(held);
    release();
    await program.ended;
    const lock = await lockOf01();
    await write('www', 'api');
    const refused = await run([...apply, '--lock-timeout', '50ms'], launch);
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining(held) });
    const daemon = start(['run', '--listen', 'off'], launch);
    const waiting = await daemon.event('pass.waiting');
    expect(String(waiting['reason'])).toContain(`process ${process.pid}`);
    await lock.release();
    expect(service.writes()).toHaveLength(1);
  });

  it('is waited for before a plan that was reviewed is compared', async () => {
    const { service, held: arrived, release } = await startHoldingService();
    const launch = { cwd: await workplace(), env: service.env };
    await run(['plan', 'voice', '--format', 'json', '--out', 'plan.json'], launch);
    const first = start(['apply', 'voice', '--yes'], launch);
    await arrived;
    const second = start(['apply', 'voice', '--plan', 'plan.json', '--yes'], launch);
    await second.says('waiting for another pass: process ');
    release();
    await first.ended;
    const { code, stderr } = await second.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('the plan is no longer the one in plan.json; nothing was written');
    expect(service.writes()).toHaveLength(1);
  });

  it('that is removed while a pass runs ends its writes, and it reports that and what it has written', async () => {
    const remove = ({ method }: { method: string }): null => {
      if (method === 'PUT')
        for (const name of readdirSync(state).filter((found) => /^lock-.*\.db$/.test(found)))
          rmSync(path.join(state, name));
      return null;
    };
    const { launch, state, write, service } = await place({ meddle: remove });
    await run(apply, launch);
    await write('www', 'api');
    const { code, stdout, stderr } = await run(apply, launch);
    expect({ code, writes: service.writes().length }).toEqual({ code: 1, writes: 1 });
    expect(reportOf(stdout).templates[0]).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('was removed'),
      differences: [{ outcome: 'applied' }, { outcome: 'skipped' }],
    });
    expect(stderr).toContain('was removed');
  });
});

describe('a state directory that cannot be used', () => {
  it('because it is unreadable does not count as empty', async () => {
    const { launch, state } = await place();
    await run(apply, launch);
    chmodSync(state, 0o000);
    const { stderr } = await runProcess(['plan'], launch, nobody);
    chmodSync(state, 0o700);
    expect(stderr).toMatch(/planned without saved state: .*permission denied.* for uid \d+/);
  });

  it('because it is read-only stops writes, and plans still work', async () => {
    const { service, launch, state, write } = await place();
    await write('www');
    mkdirSync(state);
    chmodSync(state, 0o555);
    const applied = await runProcess(apply, launch, nobody);
    const why = `the state directory cannot be used, and nothing is written to the service without it: ${state}`;
    expect(applied).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(why) });
    expect(applied.stderr).toContain(`set --state-dir to a directory that uid ${uid} can write`);
    const planned = await runProcess(['plan'], launch, nobody);
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to add') });
    expect(service.writes()).toEqual([]);
  });

  it('that has a state is not to be left for another one, which would send again what was sent', async () => {
    const { launch, state } = await place();
    await run(apply, launch);
    for (const mode of [0o555, 0o000]) {
      chmodSync(state, mode);
      const { stderr } = await runProcess(apply, launch, nobody);
      chmodSync(state, 0o700);
      expect(stderr).toMatch(/let uid \d+ write there; another --state-dir knows nothing of what was sent/);
    }
  });

  it.runIf(isRootOnLinux)(
    'because a file of it is that of another user stops writes, and the file is named',
    async () => {
      const { service, launch, state, memory, write } = await place();
      await runProcess(apply, launch);
      for (const name of readdirSync(state)) if (name !== 'memory.db') rmSync(path.join(state, name));
      chownSync(state, 65_534, 65_534);
      await write('www');
      expect(await runProcess(apply, launch, nobody)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`the state in ${memory} cannot be used`),
      });
      expect(service.writes()).toEqual([]);
    },
  );
});

it.runIf(isRootOnLinux)(
  'a state file whose mode only another user may change is used, with a warning',
  async () => {
    const { service, launch, state, memory, write } = await place();
    await runProcess(apply, launch);
    // As `fsGroup` leaves a volume.
    for (const file of ['', ...readdirSync(state)].map((name) => path.join(state, name))) {
      chownSync(file, 0, 65_534);
      chmodSync(file, file === path.join(state, '') ? 0o2770 : 0o660);
    }
    await write('www');
    const warning = `${memory} has the mode 660, and cannot be closed to other users: EPERM`;
    expect(await runProcess(apply, launch, nobody)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(warning),
    });
    expect(service.writes()).toHaveLength(1);
    const daemon = startProcess(['run', '--listen', 'off'], launch, nobody);
    const warned = daemon.line(({ notice }) => String(notice).includes('cannot be closed to other users'));
    expect(await warned).toMatchObject({ level: 'warn' });
    daemon.signal('SIGTERM');
    await daemon.ended;
  },
);

describe('a disk that is full', () => {
  it('sends nothing while the intent cannot be saved, and sends it when there is space again', async () => {
    const { service, launch, memory, write } = await place();
    await run(apply, launch);
    await write('www');
    const full = await runProcess(apply, launch, { fileLimit: 4_096 });
    expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining(memory) });
    expect(full.stderr).not.toContain('defect');
    expect(service.writes()).toEqual([]);
    expect(await run(apply, launch)).toMatchObject({ code: 0 });
    expect(service.writes()).toHaveLength(1);
  });

  // The rest would count as dropped, and be parked.
  it('leaves no file with only some of the records when `import` meets it', async () => {
    const cwd = await workplace({ withExamples: false });
    const lines = Array.from({ length: 50 }, (_, index) => `host${index} 3600 IN A 192.0.2.${index}\n`);
    writeFileSync(path.join(cwd, 'large.zone'), lines.join(''));
    const args = ['import', 'large', '--zone', 'large.zone', '--origin', 'example.net'];
    const full = await runProcess(args, { cwd }, { fileLimit: 1_024 });
    expect(full).toMatchObject({ code: 1, stdout: expect.stringContaining('0 written') });
    expect(readdirSync(path.join(cwd, 'templates'))).toEqual([]);
    expect((await runProcess(args, { cwd })).stdout).toContain('1 written');
  });

  it.runIf(isRootOnLinux)(
    'between a write and its answer ends the writes, and reports are correct',
    async () => {
      let isFilling = false;
      const fill = ({ method }: { method: string }): null => {
        if (isFilling && method === 'PUT') {
          const { bavail, bsize } = statfsSync(state);
          writeFileSync(filler, Buffer.alloc(bavail * bsize));
          isFilling = false;
        }
        return null;
      };
      const { service, launch, state, write } = await place({ meddle: fill });
      const filler = path.join(state, 'filler');
      mkdirSync(state);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', state]);
      onTestFinished(() => void execFileSync('umount', ['-l', state]));
      await run(apply, launch);
      await write('www', 'api');
      isFilling = true;
      const full = await run(apply, launch);
      expect({ code: full.code, writes: service.writes().length }).toEqual({ code: 1, writes: 1 });
      const message = /memory\.db cannot be used.*disk.* full.*free some space/;
      expect(reportOf(full.stdout).templates[0]).toMatchObject({
        status: 'failed',
        message: expect.stringMatching(message),
        differences: [{ outcome: 'applied' }, { outcome: 'skipped' }],
      });
      expect(full.stderr).toMatch(message);
      expect(full.stdout + full.stderr).not.toContain('transaction');

      rmSync(filler);
      expect(await run(apply, launch)).toMatchObject({ code: 0 });
      expect(service.writes()).toHaveLength(2);
      const { stdout } = await run(['history'], launch);
      expect(stdout.match(/applied/g)).toHaveLength(2);
    },
  );
});
