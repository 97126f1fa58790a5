import { expect } from 'vitest'
import { environment } from '../money/environment.ts'
import { supportPrice } from '../money/support-add-on.ts'
import { monthAt, type Facts } from './facts.ts'
import type { Player, SupportChoice } from './player.ts'

/** A line of an invoice, which has its amount whatever becomes of the invoice. */
type Line = {
  readonly invoiceRef: string
  readonly purchaseRef: string
  readonly kind: 'recurring' | 'add_on' | 'proration'
  readonly isOfAddOns: boolean
  readonly amount: number
  readonly start: Date
}

/** Steps that leave the purchase of the customer and what was chosen for its renewal as they are. */
const harmless: readonly string[] = [
  ...['use', 'correct', 'backfill', 'top up', 'save card', 'add an item', 'issue an invoice'],
  ...['give a coupon', 'grant credits', 'move the grants', 'set the support', 'agree on a price'],
]

/**
 * Checks what was charged for the add-on. The model knows its price, the accepted quantities, and the seconds of a month:
 *
 * - a period is charged for a quantity that was accepted before it began, beside its price and once;
 * - a period of a purchase whose quantity was accepted last is charged for exactly this quantity;
 * - a change within a period is charged for the difference, by the second.
 */
export async function expectSupported(player: Player, facts: Facts): Promise<void> {
  const lines = await readLines(player)
  const periods = lines.filter(({ kind }) => kind === 'recurring')
  const addOns = lines.filter(({ kind }) => kind === 'add_on')
  for (const line of addOns) {
    const isOfPeriod = periods.some((each) => keyOf(each) === keyOf(line))
    expect(isOfPeriod, `${describe(line)} beside the price of its period`).toBe(true)
  }
  expect(new Set(addOns.map(keyOf)).size, 'one line per period').toBe(addOns.length)
  for (const period of periods) {
    const charged = addOns.find((each) => keyOf(each) === keyOf(period))?.amount ?? 0
    const quantities = quantitiesOf(player, period)
    const prices = quantities.map((each) => each * supportPrice)
    expect(prices, `${charged} with ${describe(period)}`).toContain(charged)
  }
  for (const choice of player.supportChoices) expectChanged(player, facts, lines, choice)
}

/** Returns the possible quantities in the period: one, unless other steps came between its choice and the period. */
function quantitiesOf({ supportChoices, steps }: Player, { purchaseRef, start }: Line): number[] {
  const before = supportChoices.filter(({ at }) => at < start)
  const last = before.at(-1)
  if (last === undefined) return [0]
  const isCertain =
    last.purchaseRef === purchaseRef &&
    !steps.some((step) => step.at >= last.at && step.at <= start && !harmless.includes(step.do))
  return isCertain ? [last.quantity] : [0, ...before.map(({ quantity }) => quantity)]
}

/** Checks the charge of a change within a period. A difference of nothing changes no purchase. */
function expectChanged(
  { supportChoices }: Player,
  { held }: Facts,
  lines: readonly Line[],
  { at, quantity, beforeRef, purchaseRef }: SupportChoice,
): void {
  if (beforeRef === purchaseRef) return
  const made = lines.filter((each) => each.isOfAddOns && each.purchaseRef === purchaseRef)
  const earlier = supportChoices.filter((each) => each.at < at).map((each) => each.quantity)
  const { anchor } = held.find(({ reference }) => reference === purchaseRef)!
  const costs = [0, ...earlier].map((before) => costOf(quantity - before, anchor, at))
  expect(made.length, `charges of ${purchaseRef}`).toBe(1)
  expect(costs, describe(made[0]!)).toContain(made[0]!.amount)
}

/** Returns the price of the quantity for the rest of the month that contains `at`, in cents. */
function costOf(quantity: number, anchor: Date, at: Date): number {
  const { start, end } = monthAt(anchor, at)
  const [left, all] = [end.getTime() - at.getTime(), end.getTime() - start.getTime()]
  return Math.sign(quantity) * Math.round((Math.abs(quantity) * supportPrice * left) / all)
}

function keyOf({ invoiceRef, purchaseRef, start }: Line): string {
  return `${invoiceRef} ${purchaseRef} ${start.toISOString()}`
}

function describe(line: Line): string {
  return JSON.stringify(line)
}

async function readLines({ world, market, customer }: Player): Promise<Line[]> {
  const sql = world.stores.postgres.database.in(environment)
  return sql<Line[]>`
    select invoice_ref as "invoiceRef", purchase_ref as "purchaseRef", kind,
      inputs ? 'ofAddOns' as "isOfAddOns", invoice_lines.amount::float, period_start as start
    from invoice_lines join invoices
      on invoices.provider_id = invoice_lines.provider_id and reference = invoice_ref
    where invoices.provider_id = ${market.providerId} and customer_ref = ${customer.reference}
      and kind in ('recurring', 'add_on', 'proration')
    order by invoice_ref, line`
}
