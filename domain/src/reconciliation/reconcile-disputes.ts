import type { Queryable } from '@tollgate/platform/database/database'
import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { PaymentJobParts } from '../settlement/process-inbox.ts'
import { disputeKey } from '../money-ledger/postings.ts'
import type { Tally } from './finding.ts'
import { idsChangedRecently, inBatches, reapplyObject } from './processor-objects.ts'
import { isInScope, type Scope } from './scope.ts'

/** A movement of the processor's balance. Minor units, net of the fee. */
type DisputeMovement = {
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
    const movements = await listDisputeMovements(sql, scope, disputes)
    const posted = await findPostedAmounts(sql, movements)
    for (const each of movements) tally.compared(each.providerId, 'posting')
    const suspects = movements.filter((each, at) => posted[at] !== each.amountMinor)
    if (suspects.length === 0) continue
    const changing = await idsChangedRecently(processor, parts.now(), scope.graceMs)
    for (const suspect of suspects.filter(({ dispute }) => !changing.has(dispute.id))) {
      const [before] = await findPostedAmounts(sql, [suspect])
      await reapplyObject(parts, scope, 'dispute', suspect.dispute.id)
      const [after] = await findPostedAmounts(sql, [suspect])
      reportMovement(tally, suspect, before, after === suspect.amountMinor)
    }
  }
}

/** Returns the movements of disputes whose payments are posted. Disputes of other payments are not posted. */
async function listDisputeMovements(
  sql: Queryable,
  scope: Scope,
  disputes: readonly Dispute[],
): Promise<DisputeMovement[]> {
  const owners = await findPostedPayments(
    sql,
    disputes.flatMap(({ paymentIntentId }) => paymentIntentId ?? []),
  )
  return disputes.flatMap((dispute) => {
    const providerId = owners.get(dispute.paymentIntentId ?? '')
    if (providerId === undefined || !isInScope(scope, providerId)) return []
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
async function findPostedAmounts(
  sql: Queryable,
  movements: readonly DisputeMovement[],
): Promise<(bigint | undefined)[]> {
  if (movements.length === 0) return []
  const rows = await sql<{ number: bigint; amount: string }[]>`
    select number, entries.amount::text
    from unnest(
      ${movements.map(({ providerId }) => providerId)}::text[],
      ${movements.map(({ key }) => key)}::text[],
      ${movements.map(({ currency }) => currency)}::text[]
    ) with ordinality as movements (provider_id, transaction_key, currency, number)
    join ledger_transactions as posted using (provider_id, transaction_key)
    join ledger_entries as entries on entries.provider_id = posted.provider_id
      and transaction_ref = posted.reference and account = 'clearing' and unit = currency`
  const amounts = new Map(rows.map(({ number, amount }) => [Number(number), BigInt(amount)]))
  return movements.map((_, at) => amounts.get(at + 1))
}

function keyOf(dispute: Dispute, movement: Dispute['movements'][number]): string {
  return disputeKey(dispute.id, movement.amountMinor < 0n ? 'withdrawn' : 'reinstated', movement.id)
}

function reportMovement(
  tally: Tally,
  movement: DisputeMovement,
  posted: bigint | undefined,
  isRepaired: boolean,
): void {
  const { providerId, dispute, amountMinor, currency } = movement
  tally.found({
    providerId,
    kind: 'posting',
    difference: posted === undefined ? 'missing_here' : 'differs',
    reference: dispute.id,
    ours: posted === undefined ? null : `clearing ${posted} ${currency}`,
    theirs: `clearing ${amountMinor} ${currency}`,
    since: dispute.createdAt,
    isRepaired,
  })
}
