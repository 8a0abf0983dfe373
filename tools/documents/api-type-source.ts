import { wrap } from '../../src/core/text/wrap.ts';
import { GROUPS, type Operation } from '../../src/service/contract/operation.ts';
import { type OperationName, operationNames, operationOf } from '../../src/service/contract.ts';
import { camelCase } from '../../src/service/create-api.ts';

/** The formatter's line width. */
const WIDTH = 110;

const HEAD = `// Written by \`npm run build\` from the contract of the service.
import type { Call } from '../call.ts';

/** Every operation of the service, grouped as its specification groups them. */
export type Operations = {
`;

/**
 * Generates the type `Operations` of the package (`api-type.d.ts`): that of src/service/reference/api-type.ts, with what
 * the contract says about each operation, which a derived type could not carry.
 */
export function apiTypeSource(): string {
  const groups = [...new Set(operationNames.map((name) => operationOf(name).group))];
  const members = groups.map((group) => {
    const names = operationNames.filter((name) => operationOf(name).group === group);
    const calls = names.map((name) => describe(name, operationOf(name))).join('');
    return `${comment([GROUPS[group]], '  ')}  readonly ${camelCase(group)}: {\n${calls}  };\n`;
  });
  return `${HEAD}${members.join('')}};\n`;
}

function describe(
  name: OperationName,
  { method, path, description, repeatable, credits }: Operation,
): string {
  const facts = [
    `${method} ${path}.`,
    repeatable ? 'May be repeated.' : 'Must not be repeated.',
    ...(credits === null ? [] : [`Costs ${credits}.`]),
  ].join(' ');
  const lines = comment([description, '', facts, '', '@throws ApiError'], '    ');
  return `${lines}    readonly ${camelCase(name)}: Call<'${name}'>;\n`;
}

function comment(paragraphs: readonly string[], indent: string): string {
  const [only, ...more] = paragraphs;
  if (only !== undefined && more.length === 0) return `${indent}/** ${only} */\n`;
  const width = WIDTH - indent.length - 3;
  const lines = paragraphs.flatMap((paragraph) => wrap(paragraph, { width, indent: '' }).split('\n'));
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`;
}
