export { connect, render } from './index.ts';

/** What is built is one program, which is both the commands and the library. */
export const main = async (): Promise<void> => (await import('./main.ts')).main();
