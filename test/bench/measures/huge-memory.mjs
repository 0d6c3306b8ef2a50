import { peakOfPlan } from '../commands.mjs';

export const about = 'most resident memory of a cold plan of 1 template × 100,000 records';
export const target = 500;
export const unit = 'MiB';

export const measure = () => peakOfPlan({ templates: 1, records: 100_000 }, 3);
