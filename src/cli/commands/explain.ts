import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from './command.ts';

type Options = ConfigOptions & { readonly source?: string };

export const explainCommand: CommandDefinition = {
  name: 'explain',
  define(command, act) {
    command.description('why something is as it is');
    const order = addConfigOptions(
      command
        .command('order')
        .argument('<id>', 'order id, or its name such as #1001 (in quotes)')
        .description('the whole life of an order'),
    ).option('--source <name>', 'where the same id stands in several sources');
    addExamples(order, [
      ['explain order 5551234567890', 'by id'],
      ["explain order '#1001'", 'by name'],
    ]);
    order.action(
      act(async (output, id: string, options: Options) => {
        const { openConfig, withDatabase } = await import('../open/open-config.ts');
        const { explainOrder } = await import('../../report/explain-order.ts');
        const { renderOrderLife } = await import('../../present/order-life.ts');
        const { source } = options;
        const lives = await withDatabase(openConfig(options), (db) =>
          explainOrder(db, source === undefined ? { order: id } : { order: id, source }),
        );
        if (lives.length === 0) throw notFound(id);
        for (const life of lives) output.emit({ event: 'order', ...life });
        output.print(lives.map((life) => renderOrderLife(life, output.screen)).join('\n\n'));
        return EXIT.ok;
      }),
    );

    const customer = addConfigOptions(
      command
        .command('customer')
        .argument(
          '[address]',
          'e-mail address; it is hashed here and goes nowhere. Left out: asked for, or read from standard input, so that no shell keeps it',
        )
        .description('whether a customer was submitted, and what was found'),
    );
    addExamples(customer, [
      ['explain customer', 'asks for the address, which then is in no history'],
      ['explain customer < address.txt', 'by the address in a file'],
      ['explain customer jane@example.com', 'by the address; nothing else names a customer'],
    ]);
    customer.action(
      act(async (output, given: string | undefined, options: ConfigOptions) => {
        const { askAddress } = await import('../terminal/ask-address.ts');
        const { openConfig, withDatabase } = await import('../open/open-config.ts');
        const { hashesOf } = await import('../actions/hash-address.ts');
        const { explainCustomer } = await import('../../report/explain-customer.ts');
        const { renderCustomerLife } = await import('../../present/customer-life.ts');
        const config = openConfig(options);
        const hashes = hashesOf(config, given ?? (await askAddress()));
        const lives = await withDatabase(config, (db) => explainCustomer(db, hashes));
        if (lives.length === 0) throw customerNotFound();
        for (const life of lives) output.emit({ event: 'customer', ...life });
        output.print(lives.map((life) => renderCustomerLife(life, output.screen)).join('\n\n'));
        return EXIT.ok;
      }),
    );
  },
};

function customerNotFound(): KnownError {
  return new KnownError({
    code: 'customer_not_found',
    message: 'No file that was read names this customer, or only without consent.',
    help: 'Its row may have been rejected (npx influencer-sync rejected), its file may be held (npx influencer-sync status), or not be there yet.',
    exitCode: EXIT.configuration,
  });
}

function notFound(id: string): KnownError {
  return new KnownError({
    code: 'order_not_found',
    message: `No file that was read has an order ${JSON.stringify(id)}.`,
    help: 'Its row may have been rejected (npx influencer-sync rejected), its file may be held (npx influencer-sync status), or not be there yet. Ids are case-sensitive.',
    exitCode: EXIT.configuration,
  });
}
