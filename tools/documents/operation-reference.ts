import { wrap } from '../../src/core/text/wrap.ts';
import type { Operation } from '../../src/service/contract/operation.ts';
import { type OperationName, operationNames, operationOf } from '../../src/service/contract.ts';
import { exampleCommand } from '../../src/service/reference/examples.ts';
import {
  type Field,
  flattenFields,
  requestFieldsOf,
  responseFieldsOf,
} from '../../src/service/reference/operation-fields.ts';

const HEAD = `# The operations of the service

Written by \`npm run openapi\` from the contract in \`src/service/contract/\`; do not edit it.
[openapi.json](openapi.json) contains the same as an OpenAPI 3.1 document. To call the operations
from code, see [api.md](api.md). The examples run against the [sandbox](sandbox.md). Start it, and
write its address into a file:

<!-- until stopped -->
\`\`\`sh
npx influencer-sync sandbox --port 4010 --key local-key
\`\`\`

\`\`\`sh
mkdir try-operations && cd try-operations
printf 'INFLUENCER_API_URL=http://127.0.0.1:4010\\nINFLUENCER_API_KEY=local-key\\n' > sandbox.env
npx influencer-sync api account_hello --env-file sandbox.env
\`\`\`

Give a field as \`--name value\`, a list by giving it several times, and an object as JSON.
\`--body FILE\` (or \`--body -\`) sends JSON text unchanged. The command refuses a request that does not
fit the contract before it sends anything. Where the specification says "not shown", a table says
so, and unknown fields pass through in both directions. The command sends an operation that must not
be repeated to a live service only with \`--live\`.
`;

/** Generates the Markdown reference of all operations. `npm run openapi` writes it to docs/operations.md. */
export function operationReference(): string {
  const groups = [...new Set(operationNames.map((name) => operationOf(name).group))];
  const overview = operationNames.map((name) => {
    const { method, path, repeatable, credits } = operationOf(name);
    return `| [${name}](#${name}) | ${method} \`${path}\` | ${repeatable ? 'yes' : '**no**'} | ${credits ?? ''} |`;
  });
  return [
    HEAD,
    '| Operation | Request | Repeatable | Credits |\n|---|---|---|---|',
    ...overview,
    ...groups.map((group) => describeGroup(group)),
    '',
  ].join('\n');
}

function describeGroup(group: string): string {
  const names = operationNames.filter((name) => operationOf(name).group === group);
  const title = `${group[0]?.toUpperCase()}${group.slice(1)}`;
  return `\n## ${title}\n\n${names.map((name) => describe(name, operationOf(name))).join('\n')}`;
}

function describe(name: OperationName, operation: Operation): string {
  const { method, path, otherPaths, sendsKey, repeatable, credits, description } = operation;
  const { place, fields, rules } = requestFieldsOf(operation);
  const facts = [
    `\`${method} ${path}\`${otherPaths.map((other) => ` (also \`${other}\`)`).join('')}`,
    sendsKey ? 'sends the key' : 'needs no key',
    repeatable ? 'may be repeated' : '**must not be repeated**',
    ...(credits === null ? [] : [`costs ${credits}`]),
  ];
  const answer = responseFieldsOf(operation);
  const parts = [
    `### ${name}\n`,
    `${paragraph(description)}\n`,
    `${paragraph(`${facts.join('; ')}.`)}\n`,
    ...rules.map((rule) => `${paragraph(`Rule: ${rule}.`)}\n`),
    place === 'none' ? 'It has no fields.\n' : requestTable(place, fields),
    answer.length === 0 ? 'Answer: not shown.\n' : table('Answer', answer),
    // `bash` rather than `sh`, because test/service/reference-examples.long.test.ts runs all `bash` examples at
    // once, which is much faster than one by one.
    `\`\`\`bash\nnpx influencer-sync ${exampleCommand(name)} --env-file sandbox.env\n\`\`\`\n`,
  ];
  return parts.join('\n');
}

/** Wraps text at 100 characters, the line length of the documentation. */
function paragraph(text: string): string {
  return wrap(text, { width: 100, indent: '' });
}

function requestTable(place: 'query' | 'body', fields: readonly Field[]): string {
  const title = place === 'query' ? 'Query' : 'Body';
  return fields.length === 0 ? `${title}: not shown.\n` : table(title, fields);
}

function table(title: string, fields: readonly Field[]): string {
  const rows = flattenFields(fields).map(
    ({ name, type, isRequired, description }) =>
      `| \`${name}\` | ${cell(type)} | ${isRequired ? 'yes' : ''} | ${cell(description)} |`,
  );
  const always = title === 'Answer' ? 'Always' : 'Required';
  return `| ${title} | Type | ${always} | Notes |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
