#!/usr/bin/env node
import { loadProgram } from './load-program.ts';
import { readVersion } from './version.ts';

const [word, ...others] = process.argv.slice(2);
// Needs no program.
if (word === '--version' && others.length === 0)
  process.stdout.on('error', () => undefined).write(`${readVersion()}\n`);
else void loadProgram().runProcess();
