import type { Options } from '../app/options.ts';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { suggestion } from '../lib/nearest.ts';
import { isReality, realities, type RealityName } from '../sandbox/realities.ts';
import { startSandbox } from '../sandbox/sandbox.ts';

/** An embedded hosting service, until a signal ends it. */
export const sandbox = async (options: Options, { cwd, signals, stdout, stderr }: Io): Promise<number> => {
  const { host, port } = readListen('--listen', options['listen']);
  const dns = options['dns'] === undefined ? null : readListen('--dns', options['dns']);
  const latency = Number(options['latency']);
  if (!Number.isInteger(latency) || latency < 0)
    throw new UserError('--latency: expected milliseconds, 0 or more');
  const stop = signals.untilStop();
  const service = await startSandbox({
    host,
    port,
    latency,
    reset: options['reset'] === true,
    realities: readRealities(options['reality']),
    ...(dns === null ? {} : { dns }),
    ...(typeof options['data'] === 'string' ? { dataFile: resolve(cwd, options['data']) } : {}),
    onRequest: ({ method, path, status }) => void stderr.write(`${status} ${method} ${path}\n`),
  });
  stdout.write(`hosting service at ${service.url} (accepts any tokens)\n`);
  if (service.dns !== null) stdout.write(`its subdomains over DNS at ${service.dns}\n`);
  stdout.write(`changes by hand at ${service.controlUrl}\n`);
  await stop;
  await service.close();
  return 0;
};

const readRealities = (given: Options[string]): readonly RealityName[] =>
  (Array.isArray(given) ? given : []).map((name) => {
    if (isReality(name)) return name;
    throw new UserError(
      `--reality: there is no ${name}${suggestion(name, Object.keys(realities))}: see sandbox --help`,
    );
  });

const readListen = (flag: string, given: Options[string]): { host: string; port: number } => {
  const text = String(given);
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UserError(`${flag}: expected HOST:PORT, such as 127.0.0.1:8080`);
  return { host: match[1] ?? match[2] ?? '', port };
};
