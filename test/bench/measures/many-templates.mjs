import { besideParsing } from '../commands.mjs';
import { withWorld } from '../world.mjs';

export const about = 'cold plan of 1,000 templates × 100 records against bare node, yaml and JSON.parse';
export const target = 0.9;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'two threads on two processors, which slow each other down by a fifth: each warms up its own copy of the parser, ' +
  'and checks cost a quarter of the parse; some 100 ms until the program can begin, and three times that for files, ' +
  'listing and plan, are for one of them alone';

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, ({ cwd, folder, env, service }) =>
    besideParsing(['plan'], { cwd, folder, env, url: service.url }, 5),
  );
