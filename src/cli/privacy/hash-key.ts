import type { PipelineConfig } from '../../config/schema.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import type { Database } from '../../db/connect.ts';
import type { PreviousKey } from '../../intake/customers/rekey-customers.ts';
import type { RecoverCustomersOptions } from '../../privacy/recover-customers.ts';
import { formatCount, plural } from '../../render/text.ts';
import { defineCommand } from '../command.ts';
import { usageError } from '../usage-error.ts';

const retireCommand = defineCommand({
  name: 'retire',
  decides: { says: 'why', kept: 'in the audit' },
  description: 'give up the previous key, and delete the customers who are known only under it',
  /**
   * Retires the previous key. Customers that are known only under it are given up: the next export that
   * contains them submits them again.
   */
  async action({ output, open }, { reason }) {
    const { config, change } = await open();
    const previous = await change((db) => retire(db, { config, reason }));
    output.emit({ event: 'hash_key_retired', ...previous });
    output.print(
      `The previous key is retired. ${plural(previous.customers, 'customer')} and ${plural(previous.forgotten, 'forgotten customer')} are no longer known. If an export names one of them, that customer is submitted again. Remove previous_hash_key from the configuration.`,
    );
  },
});

const lostCommand = defineCommand({
  name: 'lost',
  decides: { says: 'what happened', kept: 'in the audit' },
  description:
    'continue with a new key after you lost the old one: customers in exports that were read count as submitted',
  async action({ output, open }, { reason }) {
    const { readersOf } = await import('./customer-readers.ts');
    const { auditIn } = await import('../terminal/read-operator.ts');
    const { recoverCustomers } = await import('../../privacy/recover-customers.ts');
    const { openSourceClients } = await import('../../store/source-clients.ts');
    const { config, change } = await open();
    const clients = openSourceClients();
    const audit: RecoverCustomersOptions['audit'] = (trx, record) => auditIn(trx)({ ...record, reason });
    const recovered = await change((db) =>
      recoverCustomers(db, { config, readers: readersOf(config), clients, audit }),
    ).finally(clients.close);
    const { restored, customers, files, filesGone, forgotten } = recovered;
    output.emit({ event: 'hash_key_replaced', ...recovered });
    output.print(
      `The new key is in force. ${plural(restored, 'customer')} from ${plural(files, 'file')} ${restored === 1 ? 'counts' : 'count'} as submitted; ${plural(customers, 'was', 'were')} known before. Files that were read before and are gone: ${formatCount(filesGone)}. Customers who were only in those files are submitted again when an export names them.`,
    );
    if (forgotten > 0)
      output.warn(
        `${plural(forgotten, 'customer')} had been forgotten, and it is no longer known who they were. Use your list of requests to forget them again before the next run.`,
      );
  },
});

/** `influencer-sync hash-key`: manages the replacement of the key with which customers are hashed. */
export const hashKeyCommand = defineCommand({
  name: 'hash-key',
  summary: 'show who is known only under the previous key',
  description: 'show how many customers are known only under the previous key',
  examples: [
    ['hash-key', 'which key is in force, and whether the previous one is still needed'],
    [
      "hash-key retire --reason 'the old shop is closed'",
      'delete the customers whom no export has named since',
    ],
  ],
  /** Prints whether the previous key is still needed. */
  async action({ output, open }) {
    const { readPreviousKey } = await import('../../intake/customers/rekey-customers.ts');
    const { read } = await open();
    const previous = await read(readPreviousKey);
    output.emit({ event: 'hash_key', ...previous });
    output.print(describe(previous));
  },
  commands: [retireCommand, lostCommand],
});

function describe(previous: PreviousKey): string {
  const { fingerprint, rotatedAt, customers, customersInAll, forgotten, orders } = previous;
  if (fingerprint === null) return 'One key is in force, and there is no previous one.';
  const left = `${formatCount(customers)} of ${plural(customersInAll, 'customer')}, and ${plural(forgotten, 'forgotten customer')}`;
  const since = rotatedAt === null ? '' : ` since ${formatMinute(rotatedAt)}`;
  const ofOrders =
    orders === 0
      ? ''
      : ` ${plural(orders, 'order')} ${orders === 1 ? 'has' : 'have'} a customer_key that was made with it. Without the previous key, a customer of such an order who orders again counts as another customer.`;
  return customers + forgotten === 0
    ? `No customer is known only under the previous key any more${since}.${ofOrders} Remove previous_hash_key from the configuration${orders === 0 ? '' : ' when you accept that'}.`
    : `Known only under the previous key${since}: ${left}.${ofOrders} Keep previous_hash_key. Customers move to the new key when an export names them.`;
}

async function retire(
  db: Database,
  { config, reason }: { config: PipelineConfig; reason: string },
): Promise<PreviousKey> {
  const { auditIn } = await import('../terminal/read-operator.ts');
  const { inTransaction } = await import('../../db/in-transaction.ts');
  const { readPreviousKey, retirePreviousKey } = await import('../../intake/customers/rekey-customers.ts');
  const { withLeases } = await import('../../ops/with-leases.ts');
  const { customerLeases } = await import('../../privacy/customer-jobs.ts');
  const draining = new AbortController().signal;
  const leases = { names: customerLeases(config), ttlMs: config.api.leaseSeconds * 1000, draining };
  return withLeases(db, leases, () =>
    inTransaction(db, async (trx) => {
      const previous = await readPreviousKey(trx);
      if (previous.fingerprint === null)
        throw usageError(
          'There is no previous key.',
          'npx influencer-sync hash-key says which keys are valid.',
        );
      await retirePreviousKey(trx);
      const { customers, forgotten } = previous;
      await auditIn(trx)({
        action: 'retire_hash_key',
        subjectKind: 'key',
        subject: previous.fingerprint,
        summary: `The previous key of customers is retired; ${plural(customers, 'customer')} and ${plural(forgotten, 'forgotten customer')} are no longer known.`,
        reason,
        before: { customers, forgotten },
      });
      return previous;
    }),
  );
}
