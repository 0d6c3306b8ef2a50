// Loaded before the program: tells at the end how much memory it held at most, on fd 3.
import { writeSync } from 'node:fs';

process.on('exit', () => writeSync(3, JSON.stringify({ peakKiB: process.resourceUsage().maxRSS })));
