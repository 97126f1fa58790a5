import type { Queryable } from '@tollgate/platform/database/database'
import type { PageRange } from '../postgres/select-page.ts'
import { moneyKinds, type CreditKind, type LedgerTransaction } from '../money-ledger/ledger.ts'

export type WalletMovement = Pick<LedgerTransaction, 'reference' | 'reason' | 'createdAt'> & {
  readonly kind: CreditKind
  /** Amount in 10^-6 credits: positive if added to the wallet, negative if removed. */
  readonly amountMicros: bigint
}

type MovementRow = {
  reference: string
  kind: CreditKind
  reason: string | null
  created_at: Date
  amount: string
}

/** Returns what was posted to a customer's wallet, newest first. `customerRef` is the customer's own reference. */
export async function listMovements(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  { limit, offset }: PageRange,
): Promise<{ movements: WalletMovement[]; total: number }> {
  const ofCredits = sql`kind not in ${sql(moneyKinds)}`
  const rows = await sql<MovementRow[]>`
    select page.reference, kind, reason, created_at, coalesce((
      select sum(amount) from ledger_entries
      where ledger_entries.provider_id = ${providerId} and transaction_ref = page.reference
        and account = 'wallet' and unit = 'credits'
    ), 0) as amount
    from (
      select reference, kind, reason, created_at from ledger_transactions
      where provider_id = ${providerId} and customer_ref = ${customerRef} and ${ofCredits}
      order by created_at desc, reference desc limit ${limit} offset ${offset}
    ) as page
    order by created_at desc, reference desc`
  const [counted] = await sql<{ total: number }[]>`
    select count(*)::int as total from ledger_transactions
    where provider_id = ${providerId} and customer_ref = ${customerRef} and ${ofCredits}`
  const movements = rows.map(({ created_at: createdAt, amount, ...row }) => ({
    ...row,
    createdAt,
    amountMicros: BigInt(amount),
  }))
  return { movements, total: counted?.total ?? 0 }
}
