import { setFlagsFromString } from 'node:v8';

/*
 * What a process that is there for this program alone sets V8 to; a guest in another process leaves it alone. Each of
 * these makes V8 compile anew what it loads afterwards, also modules of Node.js (20 of 200 ms of a plan): set them when
 * everything is loaded.
 */

/**
 * Keeps V8's space for new objects at the few MiB that it has when the program is loaded. What a pass reads lives as
 * long as the pass, so V8 would make that space 16 times as large, and copy the same objects: a plan of 10,000
 * records takes 20 MiB more then, on Node.js 24 45, and no less time.
 */
export const keepYoungGenerationSmall = (): void => setFlagsFromString('--semi-space-growth-factor=1');

/**
 * Lets the heap grow by half between two collections, where V8 would let it triple: a plan of 100,000 records takes 160
 * rather than 210 MiB, and a daemon with as many keeps 210 to 270 rather than 350, for a tenth of the first pass. A
 * command with less to read (`largeFiles`) rather takes the memory.
 */
export const keepHeapSmall = (): void => setFlagsFromString('--heap-growing-percent=50');

/** Octets of template files with which a command keeps its heap small: some 60,000 records. */
export const largeFiles = 4 * 1024 * 1024;

/**
 * For undici, whose parser is WebAssembly. V8 would compile that a second time, for speed that no listing needs: a
 * command would take 80 ms and 35 MiB more, most of it at its end.
 */
export const loadWasmOnce = (): void => setFlagsFromString('--liftoff-only');
