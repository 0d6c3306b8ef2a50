import { inspect } from 'node:util';
import { onTestFinished } from 'vitest';
import { HostingError, type HostingErrorKind } from '../../src/hosting/errors.ts';
import { connectHosting, type HostingOptions, type HostingService } from '../../src/hosting/service.ts';

export const userToken = 'us3r+token/=&"x y';
export const clientToken = 'cl13nt-täken%<secret>';

/** All but the address. */
export const options: Omit<HostingOptions, 'baseUrl'> = {
  tokens: () => ({ userToken, clientToken }),
  proxy: null,
  ca: null,
  requestTimeout: 5_000,
  writeTimeout: 5_000,
  concurrency: 8,
  maxAnswerSize: 64 * 1_024 * 1_024,
};

/** A client of the service at `baseUrl` that is closed when the test ends. */
export const connected = (baseUrl: string, more: Partial<HostingOptions> = {}): HostingService => {
  const service = connectHosting({ baseUrl, ...options, ...more });
  onTestFinished(() => service.close());
  return service;
};

export const failureOf = async (call: Promise<unknown>): Promise<HostingError> => {
  const thrown = await call.then(
    (value) => new Error(`it did not fail: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (!(thrown instanceof HostingError)) throw thrown;
  return thrown;
};

/** What became of a call. */
export const outcomeOf = async (call: Promise<unknown>): Promise<'done' | HostingErrorKind> =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof HostingError ? error.kind : Promise.reject(error)),
  );

/** The tokens of which any part shows anywhere in a value. */
export const tokensIn = (value: unknown): string[] => {
  const everything = inspect(value, { depth: 10, showHidden: true, maxStringLength: Infinity });
  return ['us3r', 'cl13nt'].filter((part) => everything.includes(part));
};

export const read = (service: HostingService) => service.listDnsTemplates();

const record = { type: 'A', content: '203.0.113.10' };
export const write = (service: HostingService) => service.addDnsTemplateRecord(17, record);

/** A template as the service writes it. */
export const wireTemplate = {
  id: 17,
  name: 'standard-web',
  publicly_available: false,
  subdomains: 3,
  dns_template_records: [
    { id: 1, type: 'A', content: '203.0.113.10', name: null, priority: null, ttl: 3600 },
    { id: 2, type: 'MX', content: 'mx1.example.net', name: 'www', priority: 10, ttl: 300 },
  ],
};
