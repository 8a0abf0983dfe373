import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import type { Database } from '../../db/connect.ts';
import type { TracedRow } from '../../privacy/trace-customer.ts';
import type { CommandDefinition, ConfigOptions } from '../command.ts';
import { openCommand } from '../open/open-command.ts';
import type { Output } from '../terminal/output.ts';

export const explainCommand: CommandDefinition = {
  name: 'explain',
  description: 'explain the state of an order or a customer',
  takes: (command) =>
    command
      .argument('[what]', 'order, customer, or the records of another kind of job, for example clicks')
      .argument('[text]', 'which one'),
  action: explainByKind,
  commands: [
    {
      name: 'order',
      description: 'show the history of an order',
      takes: (command) =>
        command
          .argument('<id>', 'order id, or its name such as #1001 (in quotes)')
          .option('--source <name>', 'if several sources have the same id'),
      examples: [
        ['explain order 5551234567890', 'by id'],
        ["explain order '#1001'", 'by name'],
      ],
      action: explainOneOrder,
    },
    {
      name: 'customer',
      description: 'show whether a customer was submitted, why, and the result',
      takes: (command) =>
        command.argument(
          '[address]',
          'e-mail address; it is hashed on this machine. If you omit it, the command asks for it or reads it from standard input, so that your shell history does not contain it, and then also shows which rows of which files said what about consent',
        ),
      examples: [
        ['explain customer', 'asks for the address, so that your shell history does not contain it'],
        ['explain customer < address.txt', 'by the address in a file'],
        ['explain customer jane@example.com', 'by the address'],
      ],
      action: explainOneCustomer,
    },
  ],
};

async function explainOneOrder(
  output: Output,
  id: string,
  options: ConfigOptions & { readonly source?: string },
): Promise<ExitCode> {
  const { explainOrder } = await import('../../reports/lives/explain-order.ts');
  const { describeOrderLife } = await import('../../reports/lives/lives.ts');
  const { source } = options;
  const { read } = await openCommand(output, options);
  const lives = await read((db) =>
    explainOrder(db, source === undefined ? { order: id } : { order: id, source }),
  );
  if (lives.length === 0)
    throw new KnownError({
      code: 'order_not_found',
      message: `No file has an order ${JSON.stringify(id)}.`,
      help: 'The row may have been rejected (npx influencer-sync rejected), or its file may be held (npx influencer-sync status) or missing. Ids are case-sensitive.',
      exitCode: EXIT.configuration,
    });
  for (const life of lives) output.emit({ event: 'order', ...life });
  output.show(lives.flatMap(describeOrderLife));
  return EXIT.ok;
}

async function explainOneCustomer(
  output: Output,
  given: string | undefined,
  options: ConfigOptions,
): Promise<ExitCode> {
  const { askAddress } = await import('../terminal/ask-person.ts');
  const { hashesOf } = await import('../privacy/hash-address.ts');
  const { explainCustomer } = await import('../../reports/lives/explain-customer.ts');
  const { describeConsentTrace, describeCustomerLife } = await import('../../reports/lives/lives.ts');
  const { config, read } = await openCommand(output, options);
  const typed = given ?? (await askAddress('explain customer'));
  const hashes = hashesOf(config, typed);
  // Rows are shown only if the address is not in the history of the shell and the list of processes.
  const { lives, rows } = await read(async (db) => ({
    lives: await explainCustomer(db, hashes),
    rows: given === undefined ? await traceRows(db, config, typed) : [],
  }));
  if (lives.length === 0 && rows.every(({ line }) => line === null))
    throw new KnownError({
      code: 'customer_not_found',
      message: 'No file names this customer with a yes or a no.',
      help: 'The consent may be unknown: write the address to standard input to see which rows say what. The row may have been rejected (npx influencer-sync rejected), or its file may be held (npx influencer-sync status) or missing.',
      exitCode: EXIT.configuration,
    });
  for (const life of lives) output.emit({ event: 'customer', ...life });
  for (const row of rows) output.emit({ event: 'customer_row', ...row });
  output.show([
    ...lives.flatMap(describeCustomerLife),
    ...(given === undefined ? describeConsentTrace(rows, lives.length > 0) : []),
  ]);
  return EXIT.ok;
}

/** Reads which rows of which files name the person. */
async function traceRows(db: Database, config: PipelineConfig, typed: string): Promise<readonly TracedRow[]> {
  const { readersOf } = await import('../privacy/customer-readers.ts');
  const { traceCustomer } = await import('../../privacy/trace-customer.ts');
  const { openSourceClients } = await import('../../store/source-clients.ts');
  const clients = openSourceClients();
  const reading = { config, readers: readersOf(config), clients, typed };
  return Array.fromAsync(traceCustomer(db, reading)).finally(clients.close);
}

/** Explains records of the other kinds of jobs: `explain clicks MIA10`. */
async function explainByKind(
  output: Output,
  what: string | undefined,
  text: string | undefined,
  options: ConfigOptions,
): Promise<ExitCode> {
  const { jobKinds } = await import('../../../jobs/index.ts');
  const { describeExplained } = await import('../../reports/lives/lives.ts');
  const explained = jobKinds.flatMap(({ explain }) => explain ?? []);
  const chosen = explained.find((one) => one.what === what);
  if (chosen === undefined || text === undefined) throw notExplained(what, explained);
  const { read } = await openCommand(output, options);
  const found = await read((db) => chosen.find(db, text));
  if (found.length === 0) throw nothingKnown(chosen.what, text);
  for (const one of found) output.emit({ event: chosen.what, ...one });
  output.show(found.flatMap(describeExplained));
  return EXIT.ok;
}

function notExplained(
  what: string | undefined,
  explained: readonly { readonly what: string; readonly argument: string }[],
): KnownError {
  const known = [
    'order <id>',
    'customer',
    ...explained.map(({ what: name, argument }) => `${name} <${argument}>`),
  ];
  const isKnown = explained.some((one) => one.what === what);
  return new KnownError({
    code: 'usage',
    message:
      what === undefined
        ? 'Say what to explain.'
        : isKnown
          ? `Say which ${what} to explain.`
          : `${JSON.stringify(what)} cannot be explained. These can:`,
    help: known.map((form) => `npx influencer-sync explain ${form}`).join('\n'),
    exitCode: EXIT.configuration,
  });
}

function nothingKnown(what: string, text: string): KnownError {
  return new KnownError({
    code: `${what}_not_found`,
    message: `No file that was read names ${JSON.stringify(text)}, and nothing was sent for it.`,
    help: 'The row may have been rejected (npx influencer-sync rejected), or its file may be held (npx influencer-sync status) or missing.',
    exitCode: EXIT.configuration,
  });
}
