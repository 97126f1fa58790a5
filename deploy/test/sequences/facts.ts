import { environment } from '../money/environment.ts'
import { agreedPrices, listedPriceOf, nameOf, type Market, type PlanName } from './market.ts'
import type { Agreement, Player } from './player.ts'

/** One stored purchase of a plan. */
export type HeldFact = {
  readonly reference: string
  readonly plan: PlanName
  readonly status: string
  readonly anchor: Date
  readonly start: Date
  readonly createdAt: Date
  readonly endedAt: Date | null
  /** Reference of the purchase that this one replaced. */
  readonly replaces: string | null
}

/** A price on a paid invoice whose money was neither refunded in full nor lost to a dispute. */
export type PaidFact = {
  readonly purchaseRef: string
  readonly kind: string
  readonly amountMinor: bigint
  readonly start: Date | null
  readonly end: Date | null
}

export type Facts = {
  readonly held: readonly HeldFact[]
  readonly paid: readonly PaidFact[]
  /** Prices on open invoices. A purchase goes on while their charge is retried. */
  readonly owed: readonly PaidFact[]
  /** Plans to which the provider moves purchases without a charge until their next period, by reference of the purchase. */
  readonly kept: ReadonlyMap<string, PlanName>
  /** Purchases that were active after the last run of the billing job. */
  readonly active: ReadonlySet<string>
  /** Agreements on prices, oldest first. */
  readonly agreements: readonly Agreement[]
}

/** Reads the purchases and payments, oldest first. */
export async function readFacts({
  world,
  market,
  customer,
  kept,
  active,
  agreements,
}: Player): Promise<Facts> {
  const sql = world.stores.postgres.database.in(environment)
  const { providerId } = market
  const customerRef = customer.reference
  const held = await sql<(Omit<HeldFact, 'plan'> & { plan_ref: string })[]>`
    select reference, plan_ref, status, anchor, start_date as start, created_at as "createdAt",
      ended_at as "endedAt", replaces
    from purchases where provider_id = ${providerId} and customer_ref = ${customerRef}
      and plan_ref is not null
    order by created_at, reference`
  const lines = await sql<(PaidFact & { status: string })[]>`
    select invoices.status, purchase_ref as "purchaseRef", kind, amount::bigint as "amountMinor",
      period_start as start, period_end as end
    from invoice_lines join invoices
      on invoices.provider_id = invoice_lines.provider_id and reference = invoice_ref
    where invoices.provider_id = ${providerId} and customer_ref = ${customerRef}
      and purchase_ref is not null and invoices.status in ('open', 'paid', 'partly_refunded')
      and not exists (
        select from payment_disputes join payment_intents
          on payment_intents.provider_id = payment_disputes.provider_id
          and payment_intents.reference = payment_disputes.intent_ref
        where payment_disputes.provider_id = ${providerId}
          and payment_disputes.status = 'lost'
          and payment_intents.invoice_ref = invoices.reference)
    order by invoices.created_at, invoices.reference, line`
  return {
    held: held.map((row) => named(market, row)),
    paid: lines.filter(({ status }) => status !== 'open'),
    owed: lines.filter(({ status }) => status === 'open'),
    kept,
    active,
    agreements,
  }
}

function named(
  market: Market,
  { plan_ref: planRef, ...row }: Omit<HeldFact, 'plan'> & { plan_ref: string },
): HeldFact {
  return { ...row, plan: nameOf(market, planRef) }
}

/** Returns the purchase that gave access until this one replaced it. */
export function replacedBy({ held }: Facts, { replaces }: HeldFact): HeldFact | undefined {
  return held.find(({ reference }) => reference === replaces)
}

/** Returns whether the provider has moved the customer to this purchase without a charge for the period in which it began. */
export function isKept(facts: Facts, { replaces, plan }: HeldFact): boolean {
  return replaces !== null && facts.kept.get(replaces) === plan
}

/** Returns the price of a period of the plan that begins at `start`, in cents. An agreement does not change a period that has begun. */
export function priceAt({ agreements }: Facts, plan: PlanName, start: Date): number {
  const agreed = agreements.findLast(({ at }) => at < start)
  return agreed?.plan === plan ? agreedPrices[agreed.plan] : listedPriceOf(plan)
}

/**
 * Returns the month of the purchase that contains the instant. Months are counted from the anchor, including its day at the end of
 * a month.
 */
export function monthAt(anchor: Date, at: Date): { readonly start: Date; readonly end: Date } {
  let months = 0
  while (monthsAfter(anchor, months + 1) <= at) months += 1
  while (monthsAfter(anchor, months) > at) months -= 1
  return { start: monthsAfter(anchor, months), end: monthsAfter(anchor, months + 1) }
}

function monthsAfter(anchor: Date, months: number): Date {
  const first = new Date(anchor)
  first.setUTCDate(1)
  first.setUTCMonth(first.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0))
  first.setUTCDate(Math.min(anchor.getUTCDate(), lastDay.getUTCDate()))
  return first
}
