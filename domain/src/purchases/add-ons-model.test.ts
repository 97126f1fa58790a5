import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boughtPlan, buyer, snapshotOfPlan, soldProduct } from '../../test/bought-plans.ts'
import type { AddOn } from '../catalog/add-on.ts'
import { periodAt } from '../periods/periods.ts'
import { attachedTo } from '../plans/add-ons.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { recurringLines } from '../pricing/charges.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { cycleOf } from './access.ts'
import { addOnsAhead, changeWithoutPlan } from './carry-add-ons.ts'
import { decideAddOnChange } from './decide-add-ons.ts'
import { decideDueRenewal } from './decide-renewal.ts'
import { decideChange } from './decide-switch.ts'
import { newScheduledPurchase, newSwitchedPurchase, switchPrice } from './new-purchase.ts'
import type { PlanSwitch } from './decide-switch.ts'
import type { Purchase } from './purchase.ts'
import { scheduledPurchase } from './schedule-plan.ts'

/*
 * Random sequences of changes of add-ons, changes of plan and renewals, against a model that knows only prices, units and quantities
 * over time: what is charged for a period is the price over its seconds, and its units are those of the price over its seconds.
 */

type Sold = {
  readonly price: number
  readonly units: number
  readonly plans: readonly string[]
  /** Charged whenever a customer who does not have the add-on gets it. */
  readonly fee?: number
}

const plans: Readonly<Record<string, { readonly price: number; readonly limit: number }>> = {
  small: { price: 3_000, limit: 3_000 },
  big: { price: 9_000, limit: 20_000 },
  flat: { price: 2_000, limit: 0 },
}

const addOns: Readonly<Record<string, Sold>> = {
  calls: { price: 1_200, units: 600, plans: ['small', 'big'], fee: 250 },
  gifts: { price: 0, units: 90, plans: ['small'] },
  support: { price: 5_000, units: 0, plans: ['small', 'big', 'flat'] },
  seats: { price: 700, units: 0, plans: ['flat', 'small'], fee: 90 },
}

const snapshots = new Map(
  Object.entries(plans).map(([name, { price, limit }]) => [
    name,
    snapshotOfPlan(name, price, limit === 0 ? {} : { limit }),
  ]),
)

function planNamed(name: string): PlanSnapshot {
  return snapshots.get(name)!
}

function catalogued(name: string): AddOn {
  const { price: priceMinor, units, plans: planRefs, fee: setupFeeMinor = 0 } = addOns[name]!
  const at = new Date('2026-01-01T00:00:00Z')
  return {
    ...{ reference: name, productRef: soldProduct.reference, name, description: null },
    ...{ priceMinor, setupFeeMinor, currency: 'USD', billingCycle: 'monthly' },
    ...{ billingCycleDays: null, quantityMax: null, planRefs },
    raises: units === 0 ? [] : [{ meter: 'requests', raises: 'limit', units }],
    ...{ firstAttachedAt: null, archivedAt: null, createdAt: at, updatedAt: at },
  }
}

type Quantities = Readonly<Record<string, number>>

function priceOf(plan: string, quantities: Quantities): number {
  return Object.entries(quantities).reduce(
    (sum, [name, quantity]) => sum + addOns[name]!.price * quantity,
    plans[plan]!.price,
  )
}

function unitsOf(plan: string, quantities: Quantities): number {
  return Object.entries(quantities).reduce(
    (sum, [name, quantity]) => sum + addOns[name]!.units * quantity,
    plans[plan]!.limit,
  )
}

/** Returns the fees of the add-ons that a customer gets. */
function feesOf(before: Quantities, after: Quantities): number {
  const gained = Object.keys(after).filter((name) => before[name] === undefined)
  return gained.reduce((sum, name) => sum + (addOns[name]!.fee ?? 0), 0)
}

function feeOf(lines: readonly InvoiceLine[]): number {
  return Number(totalOf(lines.filter(({ inputs }) => inputs.kind === 'setup_fee')))
}

/** Returns the quantities without those of 0 and those that the plan does not allow. */
function allowedOn(plan: string, quantities: Quantities): Quantities {
  return Object.fromEntries(
    Object.entries(quantities).filter(
      ([name, quantity]) => quantity > 0 && addOns[name]!.plans.includes(plan),
    ),
  )
}

const step = fc.record({
  /** Part of the 90 days. */
  at: fc.integer({ min: 0, max: 90 * 86_400 - 1 }),
  what: fc.oneof(
    fc.record({
      kind: fc.constant('set' as const),
      addOn: fc.constantFrom(...Object.keys(addOns)),
      quantity: fc.integer({ min: 0, max: 4 }),
      when: fc.constantFrom('now' as const, 'renewal' as const),
    }),
    fc.record({ kind: fc.constant('plan' as const), plan: fc.constantFrom(...Object.keys(plans)) }),
  ),
})

const start = new Date('2026-06-01T00:00:00Z')

class Player {
  held: Purchase = boughtPlan(planNamed('small'), start)
  plan = 'small'
  running: Quantities = {}
  ahead: Quantities = {}
  planAhead: string | undefined
  private periodStart = start
  private since = start
  private charged = 3_000n
  private changes = 0
  /** Units for the half cents by which changes were rounded: units are granted for the rounded price. */
  private unitsOfRounding = 0
  /** Price and units, times seconds, until `since`. */
  private priceSeconds = 0
  private unitSeconds = 0

  private get end(): Date {
    return periodAt(cycleOf(this.held)!, this.periodStart).end
  }

  /** Renews up to the time, and checks each period when it ends. */
  advance(to: Date): void {
    while (this.end <= to) this.renew(this.end)
  }

  private passTo(at: Date): void {
    const seconds = (at.getTime() - this.since.getTime()) / 1000
    this.priceSeconds += priceOf(this.plan, this.running) * seconds
    this.unitSeconds += unitsOf(this.plan, this.running) * seconds
    this.since = at
  }

  private renew(at: Date): void {
    this.passTo(at)
    this.expectPeriod((at.getTime() - this.periodStart.getTime()) / 1000)
    const due = decideDueRenewal(this.held, at)
    const period = periodAt(cycleOf(this.held)!, at)
    if (due.kind === 'change') {
      const given = { customer: buyer, product: soldProduct, plan: due.plan, now: at }
      const started = newScheduledPurchase(
        given,
        this.held,
        period,
        switchPrice(due.plan, 'USD', '1'),
      )
      expect(decideDueRenewal(started, at)).toMatchObject({ kind: 'charge' })
      this.held = { ...started, nextBillingDate: period.end }
    } else {
      expect(due.kind).toBe('charge')
      this.held = { ...this.held, nextBillingDate: period.end }
    }
    const had = this.running
    this.plan = this.planAhead ?? this.plan
    this.running = allowedOn(this.plan, this.ahead)
    this.ahead = this.running
    this.planAhead = undefined
    this.periodStart = at
    const isFirstCharge = due.kind === 'change'
    const lines = recurringLines(this.held.planSnapshot!, 'USD', period, isFirstCharge)
    expect(feeOf(lines)).toBe(feesOf(had, this.running))
    this.charged = totalOf(lines) - BigInt(feeOf(lines))
    expect(this.charged).toBe(BigInt(priceOf(this.plan, this.running)))
    ;[this.priceSeconds, this.unitSeconds] = [0, 0]
    ;[this.changes, this.unitsOfRounding] = [0, 0]
    this.expectState()
  }

  /** Each change is rounded by at most half a cent, and gives at most one unit less. */
  private expectPeriod(seconds: number): void {
    const off = Math.abs(Number(this.charged) - this.priceSeconds / seconds)
    expect(off).toBeLessThanOrEqual(this.changes / 2 + 1e-6)
    const { firstIncludedMicros: first, startDate, planSnapshot } = this.held
    const isFirst = startDate > this.periodStart && first !== null
    const units = isFirst ? Number(first) / 1e6 : (planSnapshot!.terms.limit ?? 0)
    if (this.plan === 'flat') return
    const fair = this.unitSeconds / seconds
    // No unit is served that is not paid, and a change forfeits at most the rounding of its price and of its units.
    expect(units).toBeLessThanOrEqual(fair + this.unitsOfRounding + 1e-6)
    expect(units).toBeGreaterThanOrEqual(fair - this.unitsOfRounding - this.changes - 1e-6)
  }

  private expectState(): void {
    expect(quantitiesOf(attachedTo(this.held.planSnapshot))).toEqual(this.running)
    const ahead = addOnsAhead(this.held)
    if (this.planAhead === undefined) expect(quantitiesOf(ahead!)).toEqual(this.ahead)
  }

  private switchTo(change: PlanSwitch, next: string, running: Quantities, at: Date): void {
    const { plan, lines } = change
    this.passTo(at)
    expect(feeOf(lines)).toBe(feesOf(this.running, running))
    this.charged += totalOf(lines) - BigInt(feeOf(lines))
    this.changes += 1
    const more = priceOf(next, running) - priceOf(this.plan, this.running)
    const moreUnits = unitsOf(next, running) - unitsOf(this.plan, this.running)
    if (more > 0) this.unitsOfRounding += Math.abs(moreUnits / more / 2)
    // After a plan without a limit, units count from the change on.
    if (this.plan === 'flat' && next !== 'flat') this.unitSeconds = 0
    this.plan = next
    this.running = running
    const given = { customer: buyer, product: soldProduct, now: at }
    const made = newSwitchedPurchase(given, change, switchPrice(plan, 'USD', '1'))
    this.held = { ...made, status: 'active' }
  }

  set(addOn: string, quantity: number, when: 'now' | 'renewal', at: Date): void {
    const input = { held: this.held, hasDebts: false, periodDiscounts: [], now: at }
    const decision = decideAddOnChange(input, { addOn: catalogued(addOn), quantity, when })
    const wanted = (quantities: Quantities) =>
      allowedOn(this.plan, { ...quantities, [addOn]: quantity })
    switch (decision.kind) {
      case 'unchanged':
        break
      case 'now': {
        const { change, ahead } = decision
        const unscheduled = { ...change, from: scheduledPurchase(this.held, null) }
        this.switchTo(unscheduled, this.plan, wanted(this.running), at)
        const { end } = change.period
        if (ahead !== null)
          this.held = scheduledPurchase(this.held, { plan: ahead, at: end, termsAt: undefined })
        this.ahead = wanted(this.ahead)
        break
      }
      case 'renewal':
        this.held = scheduledPurchase(this.held, decision.change)
        this.ahead = wanted(this.ahead)
        break
      case 'refused':
        this.expectRefused(decision.obstacle, addOn, quantity, when)
        return
      case 'in-trial':
        throw new Error('there is no trial')
    }
    this.expectState()
  }

  private expectRefused(obstacle: string, addOn: string, quantity: number, when: string): void {
    const before = this.running[addOn] ?? 0
    switch (obstacle) {
      case 'other_plan':
        expect(addOns[addOn]!.plans).not.toContain(this.plan)
        return
      case 'not_attached':
        expect([quantity, before, this.ahead[addOn] ?? 0]).toEqual([0, 0, 0])
        return
      case 'change_pending':
        expect(this.planAhead).toBeDefined()
        return
      case 'only_at_renewal':
        expect([when, addOns[addOn]!.units > 0]).toEqual(['now', true])
        return
      default:
        throw new Error(`refused: ${obstacle}`)
    }
  }

  private withdrawPlan(): void {
    if (this.planAhead === undefined) return
    this.held = scheduledPurchase(this.held, changeWithoutPlan(this.held))
    this.planAhead = undefined
    this.expectState()
  }

  changePlan(name: string, at: Date): void {
    if (name === this.plan) return this.withdrawPlan()
    const decision = decideChange({
      ...{ held: this.held, plan: planNamed(name), isFirstCharge: false, currency: undefined, at },
    })
    if (decision.kind === 'at-renewal') {
      this.held = scheduledPurchase(this.held, { ...decision.change, termsAt: undefined })
      this.planAhead = name
      // What the chosen plan does not allow stays as it is until then, for the case that another plan is chosen.
      const isAllowed = (addOn: string) => addOns[addOn]!.plans.includes(name)
      const kept = Object.entries(this.running).filter(([addOn]) => !isAllowed(addOn))
      this.ahead = { ...Object.fromEntries(kept), ...allowedOn(name, this.ahead) }
    } else if (decision.kind === 'now') {
      this.switchTo(decision.change, name, allowedOn(name, this.running), at)
      this.planAhead = undefined
      this.ahead = allowedOn(name, this.ahead)
    } else {
      throw new Error(decision.kind)
    }
    this.expectState()
  }
}

function quantitiesOf(attached: readonly { reference: string; quantity: number }[]): Quantities {
  return Object.fromEntries(attached.map(({ reference, quantity }) => [reference, quantity]))
}

test('charges the price of plan and add-ons by the second, and includes no unit that is not paid', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
      const player = new Player()
      const ordered = steps.toSorted((one, other) => one.at - other.at)
      for (const { at: second, what } of ordered) {
        const at = new Date(start.getTime() + second * 1000)
        player.advance(at)
        if (what.kind === 'set') player.set(what.addOn, what.quantity, what.when, at)
        else player.changePlan(what.plan, at)
      }
      player.advance(new Date('2026-09-01T00:00:00Z'))
    }),
    { numRuns: 2_000 },
  )
})
