import type { Operation } from '../api/contract/operation.ts';
import { type OperationName, operationNames, operationOf } from '../api/contract.ts';
import { exampleCommand } from '../api/reference/example-command.ts';
import { requestFieldsOf } from '../api/reference/operation-fields.ts';
import { wrap } from '../model/text/wrap.ts';
import type { Terminal } from './terminal.ts';
import { cut } from './text.ts';

/** All operations by group, each with one line. */
export function renderOperations(terminal: Terminal): string {
  const groups = [...new Set(operationNames.map((name) => operationOf(name).group))];
  const width = Math.max(...operationNames.map((name) => name.length));
  const lines = groups.flatMap((group) => [
    '',
    terminal.style('bold', group),
    ...operationNames
      .filter((name) => operationOf(name).group === group)
      .map((name) => {
        const { description, repeatable } = operationOf(name);
        const mark = repeatable ? ' ' : '!';
        const room = terminal.columns - width - 6;
        return `  ${mark} ${name.padEnd(width)}  ${cut(firstSentence(description), room)}`;
      }),
  ]);
  return [
    ...usageOf('<operation>'),
    ...lines,
    '',
    '! must not be repeated: called on a live service only with --live',
    'To see the fields of an operation:  npx influencer-sync api <operation> --help',
  ].join('\n');
}

/** Help of one operation, drawn from the contract. */
export function renderOperationHelp(name: OperationName, terminal: Terminal): string {
  const operation = operationOf(name);
  const { columns: width } = terminal;
  const lines = [
    ...usageOf(name),
    '',
    wrap(operation.description, { width, indent: '' }),
    ...factsOf(operation).map((fact) => wrap(fact, { width, indent: '' })),
    ...fieldLines(operation, width),
    '',
    'Options:',
    ...OPTIONS,
    '',
    'Example:',
    `  npx influencer-sync ${exampleCommand(name)}`,
  ];
  return lines.join('\n');
}

function usageOf(operation: string): readonly string[] {
  return [
    `Usage: influencer-sync api ${operation}`,
    '         [--field value …] [--body FILE|-] [--live] [--json]',
  ];
}

function factsOf({ method, path, sendsKey, repeatable, credits }: Operation): readonly string[] {
  return [
    '',
    `${method} ${path}${sendsKey ? '' : ', without a key'}`,
    ...(repeatable ? [] : ['Must not be repeated: a lost answer does not tell whether it was processed.']),
    ...(credits === null ? [] : [`Costs ${credits}.`]),
  ];
}

function fieldLines(operation: Operation, width: number): readonly string[] {
  const { fields, rules } = requestFieldsOf(operation);
  if (fields.length === 0) return [];
  const label = (name: string): string => `  --${name}`;
  const column = Math.min(28, Math.max(...fields.map(({ name }) => label(name).length)) + 2);
  return [
    '',
    'Fields:',
    ...fields.map(({ name, type, isRequired, description }) => {
      const text = `${isRequired ? 'required; ' : ''}${type}${description === '' ? '' : `. ${description}`}`;
      const indent = ' '.repeat(column);
      return wrap(text, { width, indent, firstIndent: label(name).padEnd(column) });
    }),
    ...rules.map((rule) => wrap(`Rule: ${rule}.`, { width, indent: '  ' })),
  ];
}

const OPTIONS = [
  '  --<field> <value>   repeat it for a list; numbers are sent as typed',
  '  --body <file>       JSON to send unchanged (- reads standard input)',
  '  --live              call an operation that must not be repeated on a live service',
  '  -c, --config <path> configuration with the service (else the environment)',
  '  --env-file <path>   read variables from a file such as .env',
  '  --json              one JSON object on standard output',
];

function firstSentence(description: string): string {
  return description.split(/\.(?: |$)/)[0] ?? description;
}
