import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import { createReleaseCredits } from '@tollgate/domain/wallet/hold-credits'
import { readWallet } from '@tollgate/domain/wallet/read-wallet'
import { expect } from 'vitest'
import {
  readBalance,
  readProcessor,
  type ProcessorState,
} from '../../../stripe-simulator/test/at-processor.ts'
import type { StoryContext } from './story-context.ts'
import { environment } from './environment.ts'
import { booksOf, type Books } from './books.ts'
import { walletLimits } from './crashing-service.ts'
import { readReturned } from './verify-balances.ts'
import { verifyInvoices } from './verify-invoices.ts'
import { verifyGrants } from './verify-grants.ts'
import { verifyEvents } from './verify-events.ts'
import { verifyUsage } from './verify-usage.ts'

type PaymentRow = {
  readonly reference: string
  readonly purpose: string
  readonly status: string
  readonly original_amount: bigint
  readonly credits: bigint | null
  readonly processor_payment_id: string | null
  readonly payment_method_id: string | null
  readonly purchase_ref: string | null
  readonly refund_wanted: boolean
  readonly declined_charges: string[]
  readonly failure_reason: string | null
  readonly created_at: Date
  readonly tax: { readonly isInclusive: boolean; readonly taxMinor: string } | null
}

type Events = readonly { readonly type: string; readonly id: string }[]

export async function verifyWorld(context: StoryContext): Promise<void> {
  await verifyBooks(booksOf(context))
  expect(context.world.errors).toEqual([])
}

/** Performs the same checks, and checks that all usage was billed or debited from the wallet. */
export async function verifyWorldAndUsage(context: StoryContext): Promise<void> {
  const books = booksOf(context)
  await verifyWorld(context)
  await verifyUsage(books, context)
  await verifyHotWallets(books, context)
}

/** Compares our records with those of the processor, and checks that each thing happened once. */
export async function verifyBooks(books: Books): Promise<void> {
  const { payments, events } = await verifyMoney(books)
  await verifyPurchases(books, payments, events)
}

type Read = { readonly payments: readonly PaymentRow[]; readonly events: Events }

/** Compares payments, refunds, invoices, credits and the ledger with the processor. Returns the records that it read. */
export async function verifyMoney(books: Books): Promise<Read> {
  const { sql, providerId, processorUrl } = books
  const processor = await readProcessor(processorUrl)
  const payments = await sql<PaymentRow[]>`
    select * from payment_intents where provider_id = ${providerId} order by created_at, reference`
  const events = await sql<{ type: string; id: string }[]>`
    select type, object ->> 'id' as id from outbox
    where provider_id = ${providerId} order by sequence`
  for (const payment of payments) verifyPayment(payment, processor, events)
  await verifyEvents(books)
  verifyCharges(payments, processor)
  await verifyCredits(books, payments)
  await verifyGrants(books)
  await verifyRefunds(books, processor, events)
  await verifyRecharge(books, payments)
  await verifyInvoices(books, processor)
  await verifyTakeBacks(books, payments, processor)
  await verifyClearing(books)
  return { payments, events }
}

function count(events: Events, type: string, id: string): number {
  return events.filter((event) => event.type === type && event.id === id).length
}

function verifyPayment(payment: PaymentRow, processor: ProcessorState, events: Events): void {
  const { reference, status, processor_payment_id: id } = payment
  const made = processor.payment_intents.filter(
    ({ metadata }) => metadata['tollgate_payment'] === reference,
  )
  expect(made.length, `${reference} was made once`).toBe(id === null ? 0 : 1)
  const [atProcessor] = made
  if (atProcessor !== undefined) {
    expect(atProcessor.id).toBe(id)
    expect(atProcessor.status, reference).toBe(status === 'failed' ? 'canceled' : status)
  }
  const isPaid = status === 'succeeded'
  const charges = processor.charges.filter(
    (charge) => charge.payment_intent === id && charge.status === 'succeeded',
  )
  const isCharged = isPaid && payment.original_amount > 0n
  expect(charges.map(({ amount }) => amount)).toEqual(
    isCharged ? [Number(payment.original_amount)] : [],
  )
  expect(count(events, 'payment.succeeded', reference)).toBe(isPaid ? 1 : 0)
  expect(count(events, 'payment.canceled', reference)).toBe(status === 'canceled' ? 1 : 0)
  const isRefused = id === null && !isPaid
  const { declined_charges: declines } = payment
  expect(new Set(declines).size).toBe(declines.length)
  expect(count(events, 'payment.failed', reference)).toBe(declines.length + (isRefused ? 1 : 0))
  const failed = processor.charges.filter(
    (charge) => charge.payment_intent === id && charge.status === 'failed',
  )
  const declinedCharges = declines.filter((decline) => decline.startsWith('ch_'))
  expect(failed.map((charge) => charge.id)).toEqual(expect.arrayContaining(declinedCharges))
  verifyRefundWanted(payment, processor)
}

/** Checks that money for which nothing was delivered is refunded. A disputed payment cannot be refunded in addition. */
function verifyRefundWanted(payment: PaymentRow, processor: ProcessorState): void {
  const { processor_payment_id: id, status, failure_reason: reason } = payment
  if (status !== 'succeeded' || reason === null) return
  const charge = processor.charges.find(
    (each) => each.payment_intent === id && each.status === 'succeeded',
  )!
  const refunds = processor.refunds.filter((refund) => refund.payment_intent === id)
  const isTried = refunds.reduce((sum, { amount }) => sum + amount, 0) >= charge.amount
  expect(isTried || charge.disputed, `${payment.reference} is paid back`).toBe(true)
}

/** Checks that every charge at the processor belongs to a known payment. */
function verifyCharges(payments: readonly PaymentRow[], { charges }: ProcessorState): void {
  const theirs = charges
    .filter(({ status }) => status === 'succeeded')
    .map((charge) => charge.payment_intent)
  // The processor does not know a payment that the customer's balance pays as a whole.
  const ours = payments
    .filter(({ status, original_amount: amount }) => status === 'succeeded' && amount > 0n)
    .map((payment) => payment.processor_payment_id)
  expect([...ours].sort()).toEqual([...theirs].sort())
}

/** Checks that purchased credits are in the ledger once, and that the ledger balances. */
async function verifyCredits(
  { sql, providerId }: Books,
  payments: readonly PaymentRow[],
): Promise<void> {
  const topUps = await sql<{ key: string; micros: string }[]>`
    select transaction_key as key, amount::text as micros
    from ledger_transactions join ledger_entries
      on ledger_entries.provider_id = ledger_transactions.provider_id
      and transaction_ref = reference
    where ledger_transactions.provider_id = ${providerId} and kind = 'top_up'
      and account = 'wallet'`
  const bought = payments.filter(
    ({ status, credits, failure_reason: reason }) =>
      status === 'succeeded' && credits !== null && reason === null,
  )
  expect(topUps.map(({ key, micros }) => `${key} ${micros}`).sort()).toEqual(
    bought.map(({ reference, credits }) => `top-up:${reference} ${credits}000000`).sort(),
  )
  expect(await listUnbalancedWallets(sql, 10)).toEqual([])
  const unbalanced = await sql`
    select transaction_ref, unit, sum(amount)::text from ledger_entries
    where provider_id = ${providerId} group by transaction_ref, unit having sum(amount) <> 0`
  expect([...unbalanced]).toEqual([])
  expect([...(await sql`select * from publications`)]).toEqual([])
}

type PurchaseRow = {
  readonly reference: string
  readonly status: string
  readonly origin: string
  readonly customer_ref: string
  readonly plan_ref: string | null
  /** Null if the purchase has no price in advance. */
  readonly original_amount: bigint | null
}

/** Checks that each payment of a purchase has exactly one, with one event, and that at most one purchase is held. */
async function verifyPurchases(
  books: Books,
  payments: readonly PaymentRow[],
  events: Events,
): Promise<void> {
  const { sql, providerId } = books
  const purchases = await sql<PurchaseRow[]>`
    select reference, status, origin, customer_ref, plan_ref, original_amount from purchases
    where provider_id = ${providerId}`
  const bought = new Set(
    payments
      .filter(({ purpose }) => purpose !== 'usage_billing')
      .flatMap(({ purchase_ref: reference }) => reference ?? []),
  )
  // The other purchases needed no payment: they have no price in advance, or are changes to a cheaper plan.
  const sold = purchases.filter(({ reference, origin }) => {
    const isFree = origin === 'manual' || count(events, 'purchase.plan_changed', reference) > 0
    return bought.has(reference) || !isFree
  })
  expect(sold.map(({ reference }) => reference).sort()).toEqual([...bought].sort())
  const ofPlans = purchases.filter(({ plan_ref: plan }) => plan !== null)
  for (const purchase of ofPlans) await verifyBegun(books, purchase, bought, events)
  const holders = ofPlans
    .filter(({ status }) => status === 'active')
    .map(({ customer_ref: holder }) => holder)
  expect(new Set(holders).size).toBe(holders.length)
}

/** Checks that the purchase was activated by its payment, and each period by the payment of that period. */
async function verifyBegun(
  { sql, providerId }: Books,
  { reference, status, original_amount: price }: PurchaseRow,
  bought: ReadonlySet<string>,
  events: Events,
): Promise<void> {
  expect(count(events, 'purchase.created', reference)).toBe(1)
  expect(count(events, 'purchase.refunded', reference)).toBe(status === 'refunded' ? 1 : 0)
  if (price === null) return
  const [paid] = await sql<{ periods: number; others: number }[]>`
    select count(period_start)::int as periods,
      (count(*) filter (where period_start is null and paid > 0))::int as others
    from invoices
    left join billed_periods on billed_periods.provider_id = invoices.provider_id
      and invoice_ref = invoices.reference and part = 'recurring'
    where invoices.provider_id = ${providerId} and invoices.purchase_ref = ${reference}
      and invoices.status in ('paid', 'partly_refunded', 'refunded')
      -- The first payment of a purchase starts the periods that it paid for.
      and not exists (select from payment_intents as first
        where first.invoice_ref = invoices.reference and purpose <> 'usage_billing')`
  const activated = count(events, 'purchase.activated', reference)
  const begun = count(events, 'purchase.renewed', reference) + activated
  const asPaid = paid!.periods + (bought.has(reference) ? 1 : 0)
  // A payment for usage begins no period, but it resumes a purchase that was suspended because of it.
  const resumedMax = Math.min(paid!.others, count(events, 'purchase.suspended', reference))
  // A purchase that is active again because a change was refunded is reported as a plan change.
  const restoredMax = count(events, 'purchase.plan_changed', reference)
  expect(begun, `${reference} is begun`).toBeGreaterThanOrEqual(asPaid)
  expect(begun, `${reference} is begun`).toBeLessThanOrEqual(asPaid + resumedMax + restoredMax)
}

async function verifyRefunds(
  { sql, providerId }: Books,
  { refunds, disputes }: ProcessorState,
  events: Events,
): Promise<void> {
  const kept = await sql<{ id: string; status: string }[]>`
    select processor_refund_id as id, status from payment_refunds where provider_id = ${providerId}`
  const order = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
  expect(kept.map(({ id, status }) => ({ id, status })).sort(order)).toEqual(
    refunds.map(({ id, status }) => ({ id, status })).sort(order),
  )
  for (const { id, status } of refunds) {
    expect(count(events, 'payment.refund_failed', id)).toBe(status === 'failed' ? 1 : 0)
    const succeeded = count(events, 'payment.refunded', id)
    if (status === 'succeeded') expect(succeeded).toBe(1)
    else expect(succeeded).toBeLessThanOrEqual(1)
    expect(count(events, 'payment.refund_pending', id)).toBeLessThanOrEqual(1)
  }
  const disputed = await sql<{ id: string; status: string }[]>`
    select processor_dispute_id as id, status from payment_disputes
    where provider_id = ${providerId}`
  expect(disputed.map(({ id, status }) => ({ id, status })).sort(order)).toEqual(
    disputes.map(({ id, status }) => ({ id, status })).sort(order),
  )
  for (const { id, status } of disputes) {
    expect(count(events, 'payment.disputed', id)).toBe(1)
    const isClosed = status === 'won' || status === 'lost'
    expect(count(events, 'payment.dispute_closed', id)).toBe(isClosed ? 1 : 0)
  }
}

/** Checks that the monthly total of automatic top-ups equals the charges of that month and does not exceed its cap. */
async function verifyRecharge(
  { sql, providerId }: Books,
  payments: readonly PaymentRow[],
): Promise<void> {
  const [recharge] = await sql<
    { spent: bigint; cap: bigint; period: string | null; failures: number; status: string }[]
  >`
    select monthly_spend_minor as spent, monthly_spend_max_minor as cap,
      monthly_spend_period as period, failure_count as failures, status
    from auto_recharges where provider_id = ${providerId}`
  if (recharge === undefined) return
  const charged = payments.filter(
    (payment) =>
      payment.purpose === 'credit_topup' &&
      payment.payment_method_id !== null &&
      payment.status === 'succeeded' &&
      payment.created_at.toISOString().startsWith(recharge.period ?? 'never'),
  )
  const spent = charged.reduce((sum, { original_amount: amount }) => sum + amount, 0n)
  expect(recharge.spent).toBe(spent)
  expect(spent).toBeLessThanOrEqual(recharge.cap)
  expect(recharge.failures).toBeLessThanOrEqual(3)
}

/** Checks that credits are taken back in proportion to the money that was returned, each claim once. */
async function verifyTakeBacks(
  books: Books,
  payments: readonly PaymentRow[],
  { refunds, disputes }: ProcessorState,
): Promise<void> {
  const { sql, providerId } = books
  const { toBalance, fromBalance } = await readReturned(books)
  const claims = await sql<
    {
      intent_ref: string
      credits: bigint
      undone: boolean
      taken: string | null
      back: boolean
      moved: string
    }[]
  >`
    select intent_ref, credits, is_undone as undone, taken_micros as taken,
      given_back_at is not null as back,
      (select coalesce(sum(-entry.amount), 0) from ledger_transactions as moved
        join ledger_entries as entry on entry.provider_id = moved.provider_id
          and entry.transaction_ref = moved.reference and account = 'wallet' and unit = 'credits'
        where moved.provider_id = claim.provider_id and (moved.transaction_key in
          ('take-back:' || claim.reference, 'give-back:' || claim.reference)
          or moved.transaction_key like 'take-back-again:%:' || claim.reference))::text as moved
    from credit_take_backs as claim where provider_id = ${providerId}`
  for (const { taken, back, moved } of claims) expect(moved).toBe(back ? '0' : (taken ?? '0'))
  for (const { reference, processor_payment_id: id, ...payment } of payments) {
    if (payment.credits === null || payment.purchase_ref === null) continue
    const refunded = refunds
      .filter((refund) => refund.payment_intent === id && refund.status === 'succeeded')
      .reduce(
        (sum, refund) => sum + BigInt(refund.amount) - (fromBalance.get(refund.id) ?? 0n),
        toBalance.get(reference) ?? 0n,
      )
    // A dispute withdraws only what was not refunded before it. A refund that fails later does not change its amount.
    const withdrawn = disputes
      .filter((dispute) => dispute.payment_intent === id && dispute.status !== 'won')
      .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
    const paid = payment.original_amount
    const back = refunded + withdrawn > paid ? paid : refunded + withdrawn
    const claimed = claims
      .filter((claim) => claim.intent_ref === reference && !claim.undone)
      .reduce((sum, { credits }) => sum + credits, 0n)
    expect(claimed, `credits of ${reference}`).toBe((payment.credits * back) / paid)
  }
}

/** Checks that the wallets in hot state have the same balances as the ledger. */
async function verifyHotWallets(
  { sql, providerId }: Books,
  { world }: StoryContext,
): Promise<void> {
  const { usageLog: log, hotState } = world.stores
  const wallets = await sql<{ customer_ref: string; balance: string }[]>`
    select customer_ref, balance_micros as balance from wallets
    join customers on customers.provider_id = wallets.provider_id and reference = customer_ref
    where wallets.provider_id = ${providerId} and customers.status = 'active'`
  const release = createReleaseCredits({ log, hotState })
  for (const { customer_ref: customerRef, balance } of wallets) {
    const name = { environment, providerId, customerRef } as const
    // If a process dies while it deletes a customer, the credits are held for a day on the clock of the hot state.
    await release(name, `forfeiture:${customerRef}`)
    const { grantedMicros, spentMicros } = await readWallet(
      { log, hotState },
      name,
      walletLimits.waitMs,
    )
    expect(grantedMicros - spentMicros, `${customerRef} has`).toBe(BigInt(balance))
  }
}

/** Checks that the ledger contains exactly the money that the processor has for the provider. */
async function verifyClearing({ sql, providerId, processorUrl }: Books): Promise<void> {
  const [clearing] = await sql<{ total: string }[]>`
    select coalesce(sum(amount), 0)::text as total from ledger_entries
    where provider_id = ${providerId} and account = 'clearing' and unit = 'USD'`
  expect(Number(clearing!.total)).toBe(await readBalance(processorUrl))
}
