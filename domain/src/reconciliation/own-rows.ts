import type { Queryable } from '@tollgate/platform/database/database'
import type { OwnRow } from './compare-payments.ts'

/** Kinds of objects that both the processor and we store. */
export type SharedKind = 'payment_intent' | 'refund' | 'dispute' | 'payout'

type Row = {
  provider_id: string
  reference: string
  processor_id: string
  status: string
  amount: bigint
  currency: string
  updated_at: Date
}

/** Returns rows of all providers, keyed by the processor's id. */
export async function findOwnRows(
  sql: Queryable,
  kind: SharedKind,
  processorIds: readonly string[],
): Promise<Map<string, OwnRow>> {
  const rows = await sql<Row[]>`
    select * from (${ownRows(sql, kind)}) as own where processor_id = any(${[...processorIds]})`
  return new Map(rows.map((row) => [row.processor_id, fromRow(row)]))
}

/** Returns the rows created from `from` until before `to`. */
export async function listOwnRows(
  sql: Queryable,
  kind: SharedKind,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<OwnRow[]> {
  const rows = await sql<Row[]>`
    select * from (${ownRows(sql, kind)}) as own
    where processor_id is not null and created_at >= ${from} and created_at < ${to}`
  return rows.map(fromRow)
}

function ownRows(sql: Queryable, kind: SharedKind) {
  switch (kind) {
    case 'payment_intent':
      return sql`
        select provider_id, reference, processor_payment_id as processor_id, status,
          original_amount as amount, currency, created_at, updated_at from payment_intents`
    case 'refund':
      return sql`
        select provider_id, processor_refund_id as reference, processor_refund_id as processor_id,
          status, amount, currency, created_at, updated_at from payment_refunds`
    case 'dispute':
      return sql`
        select provider_id, processor_dispute_id as reference, processor_dispute_id as processor_id,
          status, amount, currency, created_at, updated_at from payment_disputes`
    case 'payout':
      return sql`
        select provider_id, processor_payout_id as reference, processor_payout_id as processor_id,
          status, amount, currency, created_at, updated_at from payouts`
  }
}

function fromRow(row: Row): OwnRow {
  return {
    providerId: row.provider_id,
    reference: row.reference,
    processorId: row.processor_id,
    status: row.status,
    amountMinor: BigInt(row.amount),
    currency: row.currency,
    updatedAt: row.updated_at,
  }
}
