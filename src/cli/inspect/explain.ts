import { existsSync } from 'node:fs';
import type { PipelineConfig } from '../../config/schema.ts';
import { configurationError, type KnownError } from '../../core/known-error.ts';
import { maskAddresses, mayHaveAddress } from '../../core/text/mask-addresses.ts';
import { shellWord } from '../../core/text/printable.ts';
import type { Database } from '../../db/connect.ts';
import type { TracedRow } from '../../privacy/trace-customer.ts';
import type { Subject } from '../../reports/lives/find-subjects.ts';
import { defineCommand, type Means } from '../command.ts';

const orderCommand = defineCommand({
  name: 'order',
  description: 'show the history of an order',
  takes: [
    ['<id>', 'order id, or its name such as #1001 (in quotes)'],
    ['--source <name>', 'if several sources have the same id'],
  ],
  examples: [
    ['explain order 5551234567890', 'by id'],
    ["explain order '#1001'", 'by name'],
  ],
  async action({ output, open }, { id, source }) {
    const { explainOrder } = await import('../../reports/lives/explain-order.ts');
    const { describeOrderLife } = await import('../../reports/lives/lives.ts');
    const { read } = await open();
    const lives = await read((db) =>
      explainOrder(db, source === undefined ? { order: id } : { order: id, source }),
    );
    if (lives.length === 0)
      throw configurationError({
        code: 'order_not_found',
        message: `No file has an order ${quoted(id)}.`,
        help: 'The row may have been rejected (npx influencer-sync rejected), or its file may be held (npx influencer-sync status) or missing. Ids are case-sensitive.',
      });
    for (const life of lives) output.emit({ event: 'order', ...life });
    output.show(lives.flatMap(describeOrderLife));
  },
});

const customerCommand = defineCommand({
  name: 'customer',
  description: 'show whether a customer was submitted, why, and the result',
  takes: [
    [
      '[address]',
      'e-mail address; it is hashed on this machine. If you omit it, the command asks for it or reads it from standard input, so that your shell history does not contain it, and then also shows which rows of which files said what about consent',
    ],
  ],
  examples: [
    ['explain customer', 'asks for the address, so that your shell history does not contain it'],
    ['explain customer < address.txt', 'by the address in a file'],
    ['explain customer jane@example.com', 'by the address'],
  ],
  action: (means, { address }) => explainOneCustomer(means, address),
});

export const explainCommand = defineCommand({
  name: 'explain',
  summary: 'explain what an id names: order, code, deal, file, run, …',
  description: 'explain what has an id: an order, entry, creator, deal, code, file or run; or a customer',
  takes: [
    ['[id]', 'an id, code, handle or file name; or a kind of thing, such as entry, deal or clicks'],
    ['[text]', 'which one of this kind'],
  ],
  examples: [
    ['explain 5551234567890', 'whatever has this id'],
    ['explain MIA10', 'who owns a code, and when it is used'],
    ['explain exports/orders-2026-10.csv', 'whether a file was read, and what became of its rows'],
    ['explain entry 17', 'an entry, if other things have this number, too'],
  ],
  /** Explains what has an id, whatever it is: `explain 5601`, `explain MIA10`; or only as one kind: `explain entry 17`. */
  async action(means, { id: what, text }) {
    const { didOf, jobKinds } = await import('../../../jobs/index.ts');
    const { findSubjects, SUBJECT_KINDS } = await import('../../reports/lives/find-subjects.ts');
    const { readSubject } = await import('../../reports/lives/subjects.ts');
    const { describeExplained } = await import('../../reports/lives/lives.ts');
    const records = jobKinds.flatMap(({ explain }) => explain ?? []);
    const words: readonly string[] = [...SUBJECT_KINDS, ...records.map((one) => one.what)];
    if (what === undefined || (text === undefined ? words.includes(what) : !words.includes(what)))
      throw notExplained(what, words, records);
    const given = text ?? what;
    const { resolve } = await import('node:path');
    const { pathToFileURL } = await import('node:url');
    const path = given.includes('/') && existsSync(given) ? resolve(given) : null;
    const id = path === null ? given : pathToFileURL(path).href;
    if (mayHaveAddress(id) && !id.startsWith('@')) return explainOneCustomer(means, id);
    const isWanted = (kind: string): boolean => text === undefined || kind === what;
    const { output, open } = means;
    const { config, read } = await open();
    const { subjects, lives, others } = await read(async (db) => {
      const found = await findSubjects(db, id, { kinds: SUBJECT_KINDS.filter(isWanted) });
      return {
        subjects: found,
        lives: found.length > SHOWN ? [] : await Promise.all(found.map((one) => readSubject(db, one, didOf))),
        others: await Promise.all(
          records
            .filter((one) => isWanted(one.what))
            .map(async (one) => ({ kind: one.what, found: await one.find(db, id) })),
        ),
      };
    });
    const alike = others.filter(({ found }) => found.length > 0);
    if (subjects.length + alike.length === 0) {
      const configured = text === undefined ? ofConfiguration(id, config) : null;
      if (configured !== null) {
        output.emit({ event: configured.kind, name: id });
        output.print(`${configured.what}\n${configured.command}`);
        return;
      }
      throw path === null
        ? nothingKnown(text === undefined ? null : what, id)
        : await notRead({ path, uri: id }, config);
    }
    if (subjects.length > SHOWN) throw severalFound(id, subjects);
    for (const [index, { data }] of lives.entries())
      for (const one of data) output.emit({ event: subjects[index]?.kind, ...one });
    for (const { kind, found } of alike) for (const one of found) output.emit({ event: kind, ...one });
    output.show([
      ...lives.flatMap(({ blocks }) => blocks),
      ...alike.flatMap(({ found }) => found.flatMap(describeExplained)),
    ]);
  },
  commands: [orderCommand, customerCommand],
});

async function explainOneCustomer({ output, open }: Means, given: string | undefined): Promise<void> {
  const { askAddress } = await import('../terminal/ask-person.ts');
  const { customerBrands, requireAddress } = await import('../../privacy/customer-jobs.ts');
  const { requireCustomerKeys } = await import('../../config/require-settings.ts');
  const { requireBoundKey } = await import('../../intake/customers/bind-customer-key.ts');
  const { fingerprintsOf, hashesUnder } = await import('../../privacy/customer-keys.ts');
  const { explainCustomer } = await import('../../reports/lives/explain-customer.ts');
  const { describeConsentTrace, describeCustomerLife } = await import('../../reports/lives/lives.ts');
  const { config, read } = await open();
  const typed = given ?? (await askAddress('explain customer'));
  const keys = requireCustomerKeys(config);
  const hashes = hashesUnder(keys, { brandIds: customerBrands(config), address: requireAddress(typed) });
  // Rows are shown only if the address is not in the history of the shell and the list of processes.
  const { lives, rows } = await read(async (db) => {
    await requireBoundKey(db, fingerprintsOf(keys));
    return {
      lives: await explainCustomer(db, hashes),
      rows: given === undefined ? await traceRows(db, config, typed) : [],
    };
  });
  if (lives.length === 0 && rows.every(({ line }) => line === null))
    throw configurationError({
      code: 'customer_not_found',
      message: 'No file names this customer with a yes or a no.',
      help: 'The consent may be unknown: write the address to standard input to see which rows say what. The row may have been rejected (npx influencer-sync rejected), or its file may be held (npx influencer-sync status) or missing.',
    });
  for (const life of lives) output.emit({ event: 'customer', ...life });
  for (const row of rows) output.emit({ event: 'customer_row', ...row });
  output.show([
    ...lives.flatMap(describeCustomerLife),
    ...(given === undefined ? describeConsentTrace(rows, lives.length > 0) : []),
  ]);
}

async function traceRows(db: Database, config: PipelineConfig, typed: string): Promise<readonly TracedRow[]> {
  const { readersOf } = await import('../privacy/customer-readers.ts');
  const { traceCustomer } = await import('../../privacy/trace-customer.ts');
  const { openSourceClients } = await import('../../store/source-clients.ts');
  const clients = openSourceClients();
  const reading = { config, readers: readersOf(config), clients, typed };
  return Array.fromAsync(traceCustomer(db, reading)).finally(clients.close);
}

/** Most things with one id that are shown at once. */
const SHOWN = 4;

/** What the configuration calls so, and the command that shows what became of it; null if nothing is called so. */
function ofConfiguration(id: string, { sources, jobs }: PipelineConfig) {
  const word = shellWord(id);
  if (sources[id] !== undefined)
    return {
      kind: 'source',
      what: `${id} is a source. Its files:`,
      command: `  npx influencer-sync files --source ${word}`,
    };
  if (jobs[id] !== undefined)
    return {
      kind: 'job',
      what: `${id} is a job. Its runs:`,
      command: `  npx influencer-sync runs --job ${word}`,
    };
  const ofBrand = Object.values(jobs).filter((job) => 'brandId' in job && job.brandId === id);
  if (ofBrand.length === 0) return null;
  return {
    kind: 'brand',
    what: `${id} is the brand of ${ofBrand.map(({ name }) => name).join(', ')}. What its influencers earned:`,
    command: `  npx influencer-sync statement --brand ${word}`,
  };
}

/** The error for a file that is there and that no run has read. */
async function notRead(
  { path, uri }: { path: string; uri: string },
  config: PipelineConfig,
): Promise<KnownError> {
  const { sources, jobs } = config;
  const { shortPath } = await import('../../config/locate.ts');
  const { coversFile } = await import('../../store/list-files.ts');
  const covered = await Promise.all(Object.values(sources).map((source) => coversFile(source, uri)));
  const source = Object.keys(sources).find((_, at) => covered[at]);
  const job = Object.values(jobs).find((one) => source !== undefined && one.sources.includes(source));
  return configurationError({
    code: 'file_not_read',
    message: `No run has read ${shortPath(path)}.`,
    help:
      source === undefined
        ? await whoCouldRead(uri, config)
        : `The source ${source} covers it.${job === undefined ? ' No job reads that source.' : ` The next run reads it:  npx influencer-sync run ${job.name}`}`,
  });
}

/** Says which sources could read a file whose name the uri of none matches. */
async function whoCouldRead(uri: string, config: PipelineConfig): Promise<string> {
  const { dirname, relative } = await import('node:path');
  const { jobKinds } = await import('../../../jobs/index.ts');
  const { findReaders } = await import('../../runs/unread-files.ts');
  const { openSourceClients } = await import('../../store/source-clients.ts');
  const sourceClients = openSourceClients();
  const readers = await findReaders(uri, jobKinds, { config, sourceClients, db: null }).finally(
    sourceClients.close,
  );
  const fixes = readers.map(({ source, uri: pattern }) =>
    pattern === null
      ? `The source ${source} could read it: write a uri that matches it.`
      : `The source ${source} could read it with this uri:  './${relative(dirname(config.path), pattern)}'`,
  );
  return [
    'No source reads it: the uri of none matches its name.',
    ...fixes,
    ...(fixes.length > 0
      ? []
      : ['Its columns are not those of a source, so see what it is:  npx influencer-sync init <file>']),
  ].join('\n');
}

/** What a person typed, which may contain an address. */
function quoted(text: string): string {
  return JSON.stringify(maskAddresses(text));
}

function severalFound(id: string, subjects: readonly Subject[]): KnownError {
  const commands = subjects.map(({ kind, id: own, source, name }) => {
    const which = kind === 'file' ? name : own;
    return `npx influencer-sync explain ${kind} ${shellWord(which)}${source === null ? '' : ` --source ${shellWord(source)}`}`;
  });
  return configurationError({
    code: 'id_ambiguous',
    message: `${subjects.length} things have the id ${quoted(id)}. Say which one:`,
    help: commands.join('\n'),
  });
}

function notExplained(
  what: string | undefined,
  words: readonly string[],
  records: readonly { readonly what: string; readonly argument: string }[],
): KnownError {
  const known = [
    '<id, name, code, handle or file>',
    'order <id>',
    'customer',
    ...records.map(({ what: name, argument }) => `${name} <${argument}>`),
  ];
  return configurationError({
    code: 'usage',
    message:
      what === undefined
        ? 'Say what to explain.'
        : words.includes(what)
          ? `Say which ${what} to explain.`
          : `${quoted(what)} cannot be explained. These can:`,
    help: known.map((form) => `npx influencer-sync explain ${form}`).join('\n'),
  });
}

function nothingKnown(what: string | null, text: string): KnownError {
  return configurationError({
    code: `${what ?? 'id'}_not_found`,
    message:
      what === null
        ? `Nothing that was read, sent or mirrored has the id ${quoted(text)}.`
        : `No file that was read names ${quoted(text)}, and nothing was sent for it.`,
    help: `Its row may have been rejected (npx influencer-sync rejected), or its file may be held (npx influencer-sync status) or missing. Ids are case-sensitive.${/^[a-z0-9]+(_[a-z0-9]+)+$/.test(text) ? `\nIf it is the code of an error:  npx influencer-sync help ${text}` : ''}`,
  });
}
