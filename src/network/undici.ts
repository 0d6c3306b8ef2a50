import type * as Undici from 'undici';
// @ts-expect-error -- without types of its own
import requestOn from 'undici/lib/api/api-request.js';
// @ts-expect-error -- without types of its own
import client from 'undici/lib/dispatcher/client.js';

/*
 * The parts of undici that this program needs. Its public entry loads all of it (fetch, caches, WebSocket), which costs a plan
 * of the examples 16 ms and 6 MiB.
 */

// oxlint-disable typescript/no-unsafe-type-assertion -- these modules are what the package exports under these names
export const Client = client as typeof Undici.Client;
export const request = (
  one: Undici.Client,
  options: Undici.Dispatcher.RequestOptions,
): Promise<Undici.Dispatcher.ResponseData> => (requestOn as Request).call(one, options);

type Request = (
  this: Undici.Client,
  options: Undici.Dispatcher.RequestOptions,
) => Promise<Undici.Dispatcher.ResponseData>;
