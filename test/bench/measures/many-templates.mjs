import { besideParsing } from '../commands.mjs';
import { withWorld } from '../world.mjs';

export const about = 'cold plan of 1,000 templates × 100 records against bare node, yaml and JSON.parse';
export const target = 0.5;
export const unit = '×';

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, ({ cwd, folder, env, service }) =>
    besideParsing(['plan'], { cwd, folder, env, url: service.url }, 5),
  );
