import { open } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';

it('a disk that is full within a line, and still is with the next ones: each line counts once', async () => {
  const file = await open('/dev/null', 'w');
  onTestFinished(() => file.close());
  let [room, out] = [12, ''];
  const writeSync = (_: number, line: NodeJS.ArrayBufferView | string): number => {
    if (room === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const all =
      typeof line === 'string'
        ? Buffer.from(line)
        : Buffer.from(line.buffer, line.byteOffset, line.byteLength);
    const written = all.subarray(0, room);
    room -= written.length;
    out += written.toString();
    return written.length;
  };
  // Other tests of the same process have loaded the module with the real one.
  vi.doMock('node:fs', async (original) => ({ ...(await original<object>()), writeSync }));
  vi.resetModules();
  onTestFinished(() => {
    vi.doUnmock('node:fs');
    vi.resetModules();
  });
  const { lineWriter } = await import('../../src/log/lines.ts');
  const write = lineWriter({ fd: file.fd, write: () => true }, (lines) => `dropped ${lines}\n`);
  for (const line of ['line 1\n', 'line 2\n', 'line 3\n', 'line 4\n']) write(line);
  room = 100;
  write('line 5\n');
  expect(out).toBe('line 1\nline \nline 5\ndropped 3\n');
});
