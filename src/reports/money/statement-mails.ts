import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';

/** A mail with the statement of a deal. To whom it went is not kept. */
export type StatementMail = {
  readonly mailId: string;
  readonly month: string;
  readonly dealId: string;
  readonly state: 'waiting' | 'sending' | 'sent' | 'unclear' | 'failed';
  /** Why it is unclear or failed. */
  readonly failure: string | null;
  readonly language: string;
  readonly documentHash: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly settledBy: string | null;
};

/** Lists mails with statements, newest first. Null restricts nothing. */
export async function listStatementMails(
  db: Database,
  {
    month = null,
    dealId = null,
    state = null,
    limit,
  }: { month?: string | null; dealId?: string | null; state?: StatementMail['state'] | null; limit: number },
): Promise<readonly StatementMail[]> {
  return rowsOf<StatementMail>(db)`
    select m.mail_id as "mailId", to_char(s.month, 'YYYY-MM') as month, m.deal_id as "dealId", m.state,
      m.failure, m.language,
      m.document_hash as "documentHash", m.requested_by as "requestedBy", m.requested_at as "requestedAt",
      m.settled_by as "settledBy"
    from ops.statement_mails m join ops.statements s using (statement_id)
    where (${month}::text is null or s.month = (${month}::text || '-01')::date)
      and (${dealId}::text is null or m.deal_id = ${dealId})
      and (${state}::text is null or m.state = ${state})
    order by m.mail_id desc limit ${limit}`;
}
