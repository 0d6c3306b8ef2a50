import type * as Library from './index.ts';
import { loadProgram } from './load-program.ts';

/* What `import 'dns-template-sync'` loads: nothing of the program before it is used. */

let program: typeof Library | null = null;
const loaded = (): typeof Library => (program ??= loadProgram());

export const connect: typeof Library.connect = (settings, options) => loaded().connect(settings, options);

export const render: typeof Library.render = (report, format) => loaded().render(report, format);
