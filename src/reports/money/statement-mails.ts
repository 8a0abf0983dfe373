import { type Database, rowsOf } from '../../db/statement.ts';

export type StatementAbout = {
  readonly month: string;
  readonly dealId: string;
  /** Handle, folded, of the former creator of the deal whose corrections it has. Null: of the creator of the deal. */
  readonly formerCreator: string | null;
};

/** A mail with such a statement. To whom it went is not kept. */
export type StatementMail = StatementAbout & {
  readonly mailId: string;
  readonly state: 'waiting' | 'sending' | 'sent' | 'unclear' | 'failed';
  /** Why it is unclear or failed. */
  readonly failure: string | null;
  readonly language: string;
  readonly documentHash: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly settledBy: string | null;
};

/** What a statement is about, in words: `2026-10 for deal D1`, or `2026-10 for deal D1 and its former creator mia.test`. */
export function sayAbout({ month, dealId, formerCreator }: StatementAbout): string {
  return `${month} for deal ${dealId}${formerCreator === null ? '' : ` and its former creator ${formerCreator}`}`;
}

/** Lists mails with statements, newest first: those about one, of a month, or in a state. Null restricts nothing. */
export function listStatementMails(
  db: Database,
  {
    about = null,
    month = about?.month ?? null,
    state = null,
    limit,
  }: {
    about?: StatementAbout | null;
    month?: string | null;
    state?: StatementMail['state'] | null;
    limit: number;
  },
) {
  return rowsOf<StatementMail>(db)`
    select m.mail_id as "mailId", to_char(s.month, 'YYYY-MM') as month, m.deal_id as "dealId",
      m.former_creator as "formerCreator", m.state, m.failure, m.language,
      m.document_hash as "documentHash", m.requested_by as "requestedBy", m.requested_at as "requestedAt",
      m.settled_by as "settledBy"
    from ops.statement_mails m join ops.statements s using (statement_id)
    where (${month}::text is null or s.month = (${month}::text || '-01')::date)
      and (${about === null}
        or (m.deal_id = ${about?.dealId ?? null}::text
          and m.former_creator is not distinct from ${about?.formerCreator ?? null}::text))
      and (${state}::text is null or m.state = ${state})
    order by m.mail_id desc limit ${limit}`;
}
