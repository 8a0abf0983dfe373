import { wrap } from '../../core/text/wrap.ts';
import type { Terminal } from '../../render/terminal.ts';
import { cut } from '../../render/text.ts';
import type { Operation } from '../../service/contract/operation.ts';
import { type OperationName, operationNames, operationOf } from '../../service/contract.ts';
import { exampleCommand } from '../../service/reference/examples.ts';
import { type Field, requestFieldsOf } from '../../service/reference/operation-fields.ts';

/** Renders a list of all operations by group, one line each. */
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

/** Renders the help of one operation from the contract. */
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
    '         [--field value …] [--body FILE|-] [--dry-run] [--live] [--json]',
  ];
}

function factsOf({ method, path, sendsKey, repeatable, credits }: Operation): readonly string[] {
  return [
    '',
    `${method} ${path}${sendsKey ? '' : ', without a key'}`,
    ...(repeatable
      ? []
      : ['Must not be repeated: if the answer is lost, nobody knows whether it was processed.']),
    ...(credits === null ? [] : [`Costs ${credits}.`]),
  ];
}

function fieldLines(operation: Operation, width: number): readonly string[] {
  const { fields, rules } = requestFieldsOf(operation);
  if (fields.length === 0) return [];
  const label = (name: string): string => `  --${name}`;
  const names = fields.flatMap(({ name, members }) => [name, ...members.map((member) => member.name)]);
  const column = Math.min(28, Math.max(...names.map((name) => label(name).length)) + 2);
  const line = (title: string, text: string): string =>
    wrap(text, { width, indent: ' '.repeat(column), firstIndent: `${title}  `.padEnd(column) });
  return [
    '',
    'Fields:',
    ...fields.flatMap((field) => [
      line(label(field.name), `${field.isRequired ? 'required; ' : ''}${describeField(field)}`),
      ...field.members.map((member) =>
        line(
          `    ${member.name}`,
          `${member.isRequired ? 'required; ' : ''}${describeField(member, inBraces(member.members))}`,
        ),
      ),
    ]),
    ...rules.map((rule) => wrap(`Rule: ${rule}.`, { width, indent: '  ' })),
  ];
}

function describeField({ type, description }: Field, members = ''): string {
  return `${type}${members}${description === '' ? '' : `. ${description}`}`;
}

/** Nested members in one line: ` {left_number?: text, right_number?: text}`. */
function inBraces(members: readonly Field[]): string {
  if (members.length === 0) return '';
  const described = members.map(
    ({ name, type, isRequired, members: deeper }) =>
      `${name}${isRequired ? '' : '?'}: ${type}${inBraces(deeper)}`,
  );
  return ` {${described.join(', ')}}`;
}

const OPTIONS = [
  '  --<field> <value>   repeat it for a list; numbers are sent as typed',
  '  --body <file>       JSON to send unchanged (- reads standard input)',
  '  --dry-run           check the request and show it; nothing is sent',
  '  --live              call an operation that must not be repeated on a live service',
  '  -c, --config <path> configuration with the service (else the environment)',
  '  --env-file <path>   read variables from a file such as .env',
  '  --json              one JSON object on standard output, no table',
];

function firstSentence(description: string): string {
  return description.split(/\.(?: |$)/)[0] ?? description;
}
