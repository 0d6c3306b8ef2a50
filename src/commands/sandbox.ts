import type { Options } from '../app/options.ts';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import type { Run } from './table.ts';

/** An embedded hosting service, until a signal ends it. */
export const sandbox: Run = async (_, options, { cwd, signals, stdout, stderr }) => {
  const { host, port } = readListen(options['listen'] ?? '127.0.0.1:8080');
  const latency = Number(options['latency'] ?? 0);
  if (!Number.isInteger(latency) || latency < 0)
    throw new UserError('--latency: expected milliseconds, 0 or more');
  const stop = signals.untilStop();
  const service = await startSandbox({
    host,
    port,
    latency,
    reset: options['reset'] === true,
    ...(typeof options['data'] === 'string' ? { dataFile: resolve(cwd, options['data']) } : {}),
    onRequest: (method, path, status) => void stderr.write(`${status} ${method} ${path}\n`),
  });
  stdout.write(`hosting service at ${service.url} (accepts any tokens)\n`);
  stdout.write(`changes by hand at ${service.controlUrl}\n`);
  await stop;
  await service.close();
  return 0;
};

const readListen = (given: Options[string]): { host: string; port: number } => {
  const text = String(given);
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UserError(`--listen: expected HOST:PORT, such as 127.0.0.1:8080`);
  return { host: match[1] ?? match[2] ?? '', port };
};
