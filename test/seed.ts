import * as fc from 'fast-check';

/**
 * `npm test` tries the same examples of each property every time, so that a failure comes from a change; `.ci/run` tries
 * others with a PROPERTY_SEED that it prints.
 */
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 20_261_121) });
