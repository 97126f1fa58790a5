import { expect } from 'vitest'
import { environment } from '../money/environment.ts'
import type { Facts } from './facts.ts'
import { plans, type PlanName } from './market.ts'
import type { Player } from './player.ts'

const dayMs = 86_400_000

/** Cents per unit of the plans that are billed afterwards. */
const centsPerUnit: Partial<Record<PlanName, number>> = { cheap: 1, dear: 2, committed: 1 }

/** Maximum free units per month, whatever plans are held in it. */
const freeUnitsMax = plans.cheap.freeUnits

/**
 * Checks that all usage except free units was billed, and no other. A correction credits at most what was paid or is owed, so a period
 * may stay billed for more than its usage only if nothing of its bills is kept.
 */
export async function expectUsageBilled(player: Player, { held }: Facts): Promise<void> {
  const { admitted } = player
  const used = admitted.filter(({ plan }) => centsPerUnit[plan] !== undefined)
  if (used.length === 0) return
  const usedUnits = sumUnits(used)
  let billedUnits = 0
  let keptUnits = 0
  for (const { purchaseRef, charged, givenUp, lines } of await readPeriods(player)) {
    const { plan } = held.find(({ reference }) => reference === purchaseRef)!
    const cents = centsPerUnit[plan]
    if (cents === undefined) continue
    billedUnits += charged / cents
    // Bills round the given-up part of each line up to a cent, which `givenUp` does not.
    if (charged > givenUp + lines) keptUnits += charged / cents
  }
  const times = used.map(({ at }) => at.getTime())
  const months = Math.floor((Math.max(...times) - Math.min(...times)) / (28 * dayMs)) + 2
  // Usage of a plan that was refunded counts in the plan that the refund restores.
  const allUnits = sumUnits(admitted.filter(({ plan }) => plan !== 'wallet'))
  expect(keptUnits, `${allUnits} used`).toBeLessThanOrEqual(allUnits)
  const freeUnits = usedUnits - billedUnits
  expect(freeUnits, `${usedUnits} used, ${billedUnits} billed`).toBeLessThanOrEqual(
    months * freeUnitsMax,
  )
}

function sumUnits(used: Player['admitted']): number {
  return used.reduce((sum, { units }) => sum + units, 0)
}

/** The bills of usage of one period, in cents. */
type BilledPeriod = {
  readonly purchaseRef: string
  readonly charged: number
  /** The part of `charged` that was credited, refunded, voided or written off. */
  readonly givenUp: number
  /** Number of usage lines. */
  readonly lines: number
}

type UsageLine = {
  readonly purchaseRef: string
  readonly period: Date
  readonly status: string
  readonly amount: number
  /** Credited by credit notes, after discounts. */
  readonly credited: number
  /** Price of the invoice, and its part that no discount paid. */
  readonly gross: number
  readonly net: number
  /** The part of the invoice that is neither paid nor credited. */
  readonly due: number
}

async function readPeriods({ world, market, customer }: Player): Promise<BilledPeriod[]> {
  const sql = world.stores.postgres.database.in(environment)
  const { providerId } = market
  const lines = await sql<UsageLine[]>`
    with notes as (
      select credit_note_lines.invoice_ref, invoice_line as line,
        sum(credit_note_lines.amount) as amount
      from credit_note_lines join credit_notes
        on credit_notes.provider_id = credit_note_lines.provider_id
        and credit_notes.reference = credit_note_ref
      where credit_note_lines.provider_id = ${providerId} and voided_at is null group by 1, 2
    ), totals as (
      select invoice_ref, coalesce(sum(amount) filter (where amount > 0), 0) as gross,
        coalesce(sum(amount) filter (where amount > 0 or kind = 'discount'), 0) as net
      from invoice_lines
      where provider_id = ${providerId} and kind <> 'carried_in' group by 1
    )
    select purchase_ref as "purchaseRef", period_start as period, status,
      invoice_lines.amount::float, coalesce(notes.amount, 0)::float as credited,
      totals.gross::float, totals.net::float,
      (total - carried - paid - invoices.credited)::float as due
    from invoice_lines
    join invoices on invoices.provider_id = invoice_lines.provider_id
      and reference = invoice_lines.invoice_ref
    join totals on totals.invoice_ref = reference
    left join notes on notes.invoice_ref = reference and notes.line = invoice_lines.line
    where invoices.provider_id = ${providerId} and customer_ref = ${customer.reference}
      and kind in ('usage', 'late_usage')`
  const periods = new Map<string, BilledPeriod>()
  for (const line of lines) {
    const key = `${line.purchaseRef} ${line.period.getTime()}`
    const { charged = 0, givenUp = 0, lines: before = 0 } = periods.get(key) ?? {}
    periods.set(key, {
      purchaseRef: line.purchaseRef,
      charged: charged + line.amount,
      givenUp: givenUp + givenUpOf(line),
      lines: before + 1,
    })
  }
  return [...periods.values()]
}

function givenUpOf({ status, amount, credited, gross, net, due }: UsageLine): number {
  if (amount <= 0) return 0
  if (status === 'void') return amount
  const noted = Math.min(amount, net > 0 ? (credited * gross) / net : credited)
  if (status !== 'uncollectible') return noted
  return Math.min(amount, noted + (amount - noted) * Math.min(1, due / net))
}
