import path from 'node:path';

/** A file of the built program, which `npm test` makes first; of another build where BUILT_PROGRAM names its folder. */
export const built = (file: string): string => path.resolve(process.env['BUILT_PROGRAM'] ?? 'dist', file);
