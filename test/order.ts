import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of `test/state` come first: they run the garbage collector a hundred times, which takes long in a worker that has
 * loaded much.
 */
export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isFirst = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/state/');
    const sorted = await super.sort(files);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}
