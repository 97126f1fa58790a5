import type { Queryable } from '@tollgate/platform/database/database'
import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { PaymentJobParts } from '../settlement/work-off-inbox.ts'
import { disputeKey } from '../money-ledger/postings.ts'
import type { Tally } from './finding.ts'
import { idsInMotion, inBatches, lookAgain } from './looks.ts'
import { isAsked, type Scope } from './scope.ts'

/** A movement of the processor's balance. Minor units, net of the fee. */
type Moved = {
  readonly providerId: string
  readonly dispute: Dispute
  readonly key: string
  readonly amountMinor: bigint
  readonly currency: string
}

/**
 * Compares the balance movements of disputes at the processor with their postings. A difference is repaired by applying the dispute
 * again, as after a webhook. Throws PaymentProcessorUnavailableError.
 */
export async function reconcileDisputes(
  parts: PaymentJobParts,
  scope: Scope,
  tally: Tally,
): Promise<void> {
  const processor = parts.processors.of(scope.environment)
  if (processor === undefined) return
  const sql = parts.everyone.in(scope.environment)
  const created = { createdFrom: scope.from, createdTo: new Date(scope.to.getTime() - 1_000) }
  for await (const disputes of inBatches(processor.list('dispute', created))) {
    scope.stopping?.throwIfAborted()
    const moved = await listMoved(sql, scope, disputes)
    const posted = await findPosted(sql, moved)
    for (const each of moved) tally.compared(each.providerId, 'posting')
    const suspects = moved.filter((each, at) => posted[at] !== each.amountMinor)
    if (suspects.length === 0) continue
    const moving = await idsInMotion(processor, parts.now(), scope.graceMs)
    for (const suspect of suspects.filter(({ dispute }) => !moving.has(dispute.id))) {
      const [seen] = await findPosted(sql, [suspect])
      await lookAgain(parts, scope, 'dispute', suspect.dispute.id)
      const [still] = await findPosted(sql, [suspect])
      tell(tally, suspect, seen, still === suspect.amountMinor)
    }
  }
}

/** Returns the movements of disputes whose payments are posted. Disputes of other payments are not posted. */
async function listMoved(
  sql: Queryable,
  scope: Scope,
  disputes: readonly Dispute[],
): Promise<Moved[]> {
  const owners = await findPostedPayments(
    sql,
    disputes.flatMap(({ paymentIntentId }) => paymentIntentId ?? []),
  )
  return disputes.flatMap((dispute) => {
    const providerId = owners.get(dispute.paymentIntentId ?? '')
    if (providerId === undefined || !isAsked(scope, providerId)) return []
    return dispute.movements.map((movement) => {
      const { netMinor: amountMinor, currency } = movement
      return { providerId, dispute, key: keyOf(dispute, movement), amountMinor, currency }
    })
  })
}

/** Returns the providers of the posted payments, keyed by the processor's id. */
async function findPostedPayments(
  sql: Queryable,
  processorPaymentIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ provider_id: string; processor_payment_id: string }[]>`
    select paid.provider_id, processor_payment_id from payment_intents as paid
    join ledger_transactions as posted on posted.provider_id = paid.provider_id
      and transaction_key = 'payment:' || paid.reference || ':succeeded'
    where processor_payment_id = any(${[...processorPaymentIds]})`
  return new Map(rows.map((row) => [row.processor_payment_id, row.provider_id]))
}

/** Returns the posted clearing amount of each movement; undefined if it is not posted. */
async function findPosted(
  sql: Queryable,
  moved: readonly Moved[],
): Promise<(bigint | undefined)[]> {
  if (moved.length === 0) return []
  const rows = await sql<{ number: bigint; amount: string }[]>`
    select number, entries.amount::text
    from unnest(
      ${moved.map(({ providerId }) => providerId)}::text[],
      ${moved.map(({ key }) => key)}::text[],
      ${moved.map(({ currency }) => currency)}::text[]
    ) with ordinality as moved (provider_id, transaction_key, currency, number)
    join ledger_transactions as posted using (provider_id, transaction_key)
    join ledger_entries as entries on entries.provider_id = posted.provider_id
      and transaction_ref = posted.reference and account = 'clearing' and unit = currency`
  const amounts = new Map(rows.map(({ number, amount }) => [Number(number), BigInt(amount)]))
  return moved.map((_, at) => amounts.get(at + 1))
}

function keyOf(dispute: Dispute, movement: Dispute['movements'][number]): string {
  return disputeKey(dispute.id, movement.amountMinor < 0n ? 'withdrawn' : 'reinstated', movement.id)
}

function tell(tally: Tally, moved: Moved, seen: bigint | undefined, isRepaired: boolean): void {
  const { providerId, dispute, amountMinor, currency } = moved
  tally.found({
    providerId,
    kind: 'posting',
    difference: seen === undefined ? 'missing_here' : 'differs',
    reference: dispute.id,
    ours: seen === undefined ? null : `clearing ${seen} ${currency}`,
    theirs: `clearing ${amountMinor} ${currency}`,
    since: dispute.createdAt,
    isRepaired,
  })
}
