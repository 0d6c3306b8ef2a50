// npm start: the daemon on the embedded service with its example data.
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const main = path.join(root, 'dist/main.js');
const args = ['run', '--sandbox', '--reset', '--config', path.join(import.meta.dirname, 'demo.yaml')];

process.argv.splice(1, Infinity, main, ...args, ...process.argv.slice(2));
await import(main);
