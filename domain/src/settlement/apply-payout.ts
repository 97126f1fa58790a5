import type { Payout } from '@tollgate/platform/payments/payment-objects'
import {
  fromProcessorAmount,
  toProcessorAmount,
} from '@tollgate/platform/payments/processor-amounts'
import type { Queryable } from '@tollgate/platform/database/database'
import { findAtProcessor } from '../money-ledger/at-processor.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import { payoutFailed, payoutPaid } from '../money-ledger/postings.ts'
import { unixSeconds } from '../outbox/unix-seconds.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'

type PayoutStatus = Payout['status']

/** One that was paid can still fail, days later; never back. */
const rank: Readonly<Record<PayoutStatus, number>> = {
  pending: 0,
  in_transit: 1,
  paid: 2,
  failed: 3,
  canceled: 3,
}

/** Makes of a payout what the processor says of it. */
export async function applyPayout(work: UnitOfWork, payout: Payout): Promise<void> {
  const { sql, providerId } = work
  const known = await lockPayout(sql, providerId, payout)
  if (known !== undefined && rank[payout.status] <= rank[known]) return
  await savePayout(work, payout)
  await postPayout(work, payout, known)
  const { status } = payout
  if (status !== 'paid' && status !== 'failed') return
  await recordEvent(work, `payout.${status}`, {
    id: payout.id,
    amount: Number(payout.amountMinor),
    currency: payout.currency.toLowerCase(),
    status,
    processor_payout: payout.id,
    arrival_date: unixSeconds(payout.arrivalDate),
    created: unixSeconds(payout.createdAt),
  })
}

/** One that fails before it was seen to be paid has left nothing behind. */
async function postPayout(
  work: UnitOfWork,
  { id: payoutRef, status, currency, amountMinor, restUnits: beside }: Payout,
  known: PayoutStatus | undefined,
): Promise<void> {
  const units = toProcessorAmount(amountMinor, currency) + beside
  const money = { payoutRef, currency, amountMinor }
  if (status === 'paid') {
    const moved = await moveAtProcessor(work, currency, -units)
    const cleared = { clearedMinor: -moved.amountMinor, restUnits: moved.restUnits }
    await postMoney(work, payoutPaid({ ...money, ...cleared }))
  }
  if (known === 'paid') {
    const moved = await moveAtProcessor(work, currency, units)
    const cleared = { clearedMinor: moved.amountMinor, restUnits: moved.restUnits }
    await postMoney(work, payoutFailed({ ...money, ...cleared }))
  }
}

/**
 * What such a movement of the processor is by our count: as much as brings clearing to what is there then, to the nearest
 * minor unit. So what fees have moved that are finer than we count adds up to no more than half a one.
 */
async function moveAtProcessor(
  { sql, providerId }: UnitOfWork,
  currency: string,
  units: bigint,
): Promise<{ readonly amountMinor: bigint; readonly restUnits: bigint }> {
  const unitsPerMinor = toProcessorAmount(1n, currency)
  if (unitsPerMinor === 1n) return { amountMinor: units, restUnits: 0n }
  const { clearingMinor, restUnits } = await findAtProcessor(sql, providerId, currency)
  const there = clearingMinor * unitsPerMinor + restUnits
  const amountMinor = fromProcessorAmount(there + units, currency) - clearingMinor
  return { amountMinor, restUnits: units - amountMinor * unitsPerMinor }
}

async function lockPayout(
  sql: Queryable,
  providerId: string,
  { id }: Payout,
): Promise<PayoutStatus | undefined> {
  const [row] = await sql<{ status: PayoutStatus }[]>`
    select status from payouts
    where provider_id = ${providerId} and processor_payout_id = ${id} for update`
  return row?.status
}

/** Two who see it first at the same moment break the key: the second one looks again. */
async function savePayout({ sql, providerId, now }: UnitOfWork, payout: Payout): Promise<void> {
  const changed = { status: payout.status, arrival_date: payout.arrivalDate, updated_at: now }
  const key = { provider_id: providerId, processor_payout_id: payout.id }
  const updated = await sql`
    update payouts set ${sql(changed)}
    where provider_id = ${providerId} and processor_payout_id = ${payout.id}`
  if (updated.count > 0) return
  const amount = payout.amountMinor.toString()
  const row = { amount, currency: payout.currency, created_at: payout.createdAt }
  await sql`insert into payouts ${sql({ ...changed, ...key, ...row })}`
}
