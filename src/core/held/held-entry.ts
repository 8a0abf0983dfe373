/** Why an entry of the ledger waits that was not sent: what `state_reason` means for a person. */
const HELD_ENTRIES: Readonly<Record<string, string>> = {
  credited_elsewhere: 'a list of orders that were credited elsewhere names it (ledger seeds)',
  evidence_of_another_poster: 'an event of the service says that another channel has credited it',
  no_longer_attributed: 'no influencer is credited for it any more; if a run credits one again, it is posted',
  backfill_cancelled: 'its backfill was cancelled; another backfill may plan it',
  changed_since_the_plan: 'it has changed since its backfill was planned; another backfill may plan it',
};

/** The reason of an entry's state in words; as it is stored, for example the words of the service, if it has none. */
export function sayStateReason(reason: string | null): string | null {
  return reason === null ? null : (HELD_ENTRIES[reason] ?? reason);
}
