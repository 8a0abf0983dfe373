/**
 * `sql/migrations/0095_baseline.sql` creates all tables of version 0.3.0. It is recorded under the names of the
 * migrations that it replaces: a database that was upgraded has these names, and a process of version 0.2.1 looks for
 * them, so it works beside this version, whichever of the two created the database.
 */
export const BASELINE = '0095_baseline';

/** The last version that has the replaced migrations. An older database is migrated with it first. */
export const LAST_BEFORE = '0.2.1';

/** The replaced migrations, by the version that brought them. */
const BY_VERSION: Readonly<Record<string, string>> = {
  '0.1.0': `
    0001_orders 0002_webhooks 0003_customers 0004_mirror 0005_slots 0006_backfill 0007_links 0008_reporting
    0009_customers_written_once 0010_collaborations_staged 0011_customer_counts 0012_unsubscribed
  `,
  '0.2.0': `
    0013_locks 0014_consent 0015_statements 0016_files_released 0017_order_id_column 0018_continuity
    0019_places 0020_restored_in_place 0021_changes 0022_clicks 0023_comments 0024_outreach 0025_creators
    0026_changes_without_key
  `,
  '0.2.1': `
    0027_customers 0028_dispositions 0029_audit 0030_code_assignments 0031_run_service 0032_run_requests
    0033_run_activity 0034_bulk 0035_notices 0036_checks 0037_statements 0038_unowned_codes
    0039_forgotten_customers 0040_redacted_events 0041_refused_entries 0042_units_of_work 0043_lists_in_parts
    0044_customer_keys 0045_reconciliation 0046_returns 0047_bulk_subjects 0048_return_fees 0049_rotated_key
    0050_run_trace 0051_code_use 0052_order_claims 0053_exchange_rates 0054_order_key_no 0055_order_lines
    0056_listings 0057_written_off 0058_accepted_sums 0059_deal_totals 0060_announced_files 0061_open_entries
    0062_smaller_samples 0063_held_orders 0064_fetch_deals_units 0065_backfill_units 0066_doubts_in_totals
    0067_submit_batches_units 0068_order_earnings 0069_conflicts 0070_note_earnings_together
    0071_statement_deals 0072_clicks_of_removed_sources 0073_draining_workers 0074_refresh_partitions
    0075_recent_attempts 0076_order_rulings 0077_order_keys 0078_file_ages 0079_order_doubts 0080_earnings
    0082_consent 0083_row_ages 0086_renamed_jobs 0088_conflicting_rows 0090_says_more 0091_recorded_decisions
    0092_other_ids 0093_double_credits 0094_order_notes_and_names 0095_raise_claim_numbers
  `,
};

const versions = Object.entries(BY_VERSION).map(([version, names]) => ({
  version,
  names: names.trim().split(/\s+/),
}));

/** Names of the migrations that the baseline replaces, in order. */
export const REPLACED: readonly string[] = versions.flatMap(({ names }) => names);

/**
 * The version whose tables a database has, in words.
 *
 * @param last the last migration that was applied to it, one of `REPLACED`.
 */
export function versionOf(last: string): string {
  const index = versions.findIndex(({ names }) => names.includes(last));
  const [at, before] = [versions[index], versions[index - 1]];
  if (at?.names.at(-1) === last) return `version ${at.version}`;
  return before === undefined
    ? `a build before version ${at?.version}`
    : `a build after version ${before.version}`;
}
