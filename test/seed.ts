import * as fc from 'fast-check';

/**
 * `npm test` tries the same examples of each property every time, so that a change is told by what it breaks;
 * `npx vitest run` tries others, and so does PROPERTY_SEED.
 */
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 20_261_121) });
