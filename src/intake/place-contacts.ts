import type { StatedContact } from '../model/contact.ts';
import type { PlacedContact } from './placed-contact.ts';

/** Puts customers into batches, before it is known who of them will be sent: those who won't leave their places empty. */
export type ContactPlacer = {
  /** How many batches so many more customers begin. */
  toBegin(customers: number): number;
  /** Customers, each with its batch: the open one until it is full, then those that begin with these. */
  place(contacts: readonly StatedContact[], batchIds: readonly string[]): readonly PlacedContact[];
};

export function createContactPlacer(batchSize: number): ContactPlacer {
  let open = '';
  let room = 0;

  function begin(batchId: string | undefined): void {
    if (batchId === undefined) throw new Error('fewer batches were begun than it takes');
    open = batchId;
    room = batchSize;
  }

  return {
    toBegin: (customers) => Math.max(0, Math.ceil((customers - room) / batchSize)),
    place(contacts, batchIds) {
      const next = batchIds[Symbol.iterator]();
      return contacts.map((contact) => {
        if (room === 0) begin(next.next().value);
        room -= 1;
        return { contact, batchId: open };
      });
    },
  };
}
