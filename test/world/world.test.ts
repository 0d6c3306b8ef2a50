import { readdirSync } from 'node:fs';
import { playTheme } from '../scenarios/theme.ts';

/**
 * What other people stumbled over, a scenario for each public report, named after it. The inputs are our own. A report of
 * a kind that another test holds is named there.
 */
for (const name of readdirSync(import.meta.dirname)) if (name.endsWith('.txt')) playTheme(`../world/${name}`);
