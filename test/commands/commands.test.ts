import { readdirSync } from 'node:fs';
import { playTheme } from '../scenarios/theme.ts';

/** What each command prints, a file for each; as scenarios are written. */
for (const name of readdirSync(import.meta.dirname))
  if (name.endsWith('.txt')) playTheme(`../commands/${name}`);
