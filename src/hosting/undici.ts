import { setFlagsFromString } from 'node:v8';
import type * as Undici from 'undici';
// @ts-expect-error -- without types of its own
import connector from 'undici/lib/core/connect.js';
// @ts-expect-error -- without types of its own
import client from 'undici/lib/dispatcher/client.js';
// @ts-expect-error -- without types of its own
import pool from 'undici/lib/dispatcher/pool.js';

/*
 * The parts of undici that this program needs. Loading all of it (fetch, caches, WebSocket) takes three times as
 * long as starting Node.js.
 */

// Its parser is WebAssembly. V8 would compile that a second time, for speed that no listing needs, and a command
// would wait a tenth of a second at its end for the result.
setFlagsFromString('--liftoff-only');

// oxlint-disable typescript/no-unsafe-type-assertion -- these modules are what the package exports under these names
export const Client = client as typeof Undici.Client;
export const Pool = pool as typeof Undici.Pool;
export const buildConnector = connector as typeof Undici.buildConnector;
