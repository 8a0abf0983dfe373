import { expect, it } from 'vitest';
import { findLooseCommands } from './support/read-commands.ts';
import { describeDocument } from './support/run-documents.ts';

describeDocument('README.md');

it('the README and CONTRIBUTING show commands in sh blocks only, so that each of them is run here', () => {
  expect(['README.md', 'docs/CONTRIBUTING.md'].flatMap(findLooseCommands)).toEqual([]);
});
