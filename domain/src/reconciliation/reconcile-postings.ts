import type { Queryable } from '@tollgate/platform/database/database'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import type { ComparedKind, Tally } from './finding.ts'
import {
  boughtCredits,
  creditsOfNoPayment,
  heldCredits,
  paymentPostings,
  payoutPostings,
  refundPostings,
} from './posted-sides.ts'
import type { Scope } from './scope.ts'

type Row = {
  provider_id: string
  subject: string
  at: Date
  account: string
  unit: string
  expected: string | null
  posted: string | null
}

/**
 * Compares payments, refunds and payouts with their postings at the processor and at the bank, purchased credits with the credits
 * added, and held credit of balances with the payments that hold it. Both sides are written in one transaction, so no difference can be
 * a change in progress.
 */
export async function reconcilePostings(
  sql: Queryable,
  scope: Scope,
  findingsMax: number,
  tally: Tally,
): Promise<void> {
  const sides = [
    { kind: 'posting', rows: paymentPostings(sql, scope) },
    { kind: 'posting', rows: refundPostings(sql, scope) },
    { kind: 'posting', rows: payoutPostings(sql, scope) },
    { kind: 'posting', rows: heldCredits(sql, scope) },
    { kind: 'top_up', rows: boughtCredits(sql, scope) },
    { kind: 'top_up', rows: creditsOfNoPayment(sql, scope) },
  ] as const
  for (const { kind, rows } of sides) {
    scope.stopping?.throwIfAborted()
    const counts = await sql<{ provider_id: string; count: number }[]>`
      select provider_id, count(distinct subject) filter (where expected is not null)::int as count
      from (${rows}) as side group by provider_id`
    for (const { provider_id, count } of counts) tally.compared(provider_id, kind, count)
    const differing = await sql<Row[]>`
      select provider_id, subject, at, account, unit, expected::text, posted::text
      from (${rows}) as side where expected is distinct from posted
      order by at, subject limit ${findingsMax}`
    for (const row of differing) reportPosting(tally, kind, row)
  }
}

function reportPosting(tally: Tally, kind: ComparedKind, row: Row): void {
  const { expected, posted } = row
  tally.found({
    providerId: row.provider_id,
    kind,
    difference: expected === null ? 'missing_here' : posted === null ? 'missing_there' : 'differs',
    reference: row.subject,
    ours: expected === null ? null : postingText(row, expected),
    theirs: posted === null ? null : postingText(row, posted),
    since: row.at,
    isRepaired: false,
  })
}

function postingText({ account, unit }: Row, amount: string): string {
  return unit === 'credits'
    ? `${decimalFromMicros(BigInt(amount))} credits`
    : `${account} ${amount} ${unit}`
}
