import type { Purchase } from '@tollgate/domain/purchases/repository'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase } from '@tollgate/domain/purchases/repository'
import type { Charge } from '@tollgate/schemas/http/charges'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { oracleChargePrice, type OracleCharge } from '../../../domain/test/charge-oracle.ts'
import { ThresholdShop, usageOf } from './threshold-shop.ts'

/*
 * Random histories of usage of any lateness, bills within periods, declined cards, ends of periods and of the purchase. The model is a
 * list of records. Every period costs what the oracle says, nothing is billed while something is owed, and nothing that reached the
 * amount is left unbilled otherwise.
 */

const runs = Number(process.env['TOLLGATE_TEST_THRESHOLDS'] ?? 4)
const atMinor = 150n
const dayMs = 86_400_000
const begin = '2026-03-01T10:00:00Z'
const beginMs = Date.parse(begin)
/** The calendar months in which the histories are, and one more. */
const startsMs = [3, 4, 5, 6, 7].map((month) => Date.parse(`2026-0${month}-01T10:00:00Z`))

const shop = await ThresholdShop.start()
/** Bills within periods, of all histories. */
let billsWithin = 0
afterAll(() => shop.stop())

const cents = fc.integer({ min: 1, max: 4_000 }).map((parts) => (parts / 1_000).toFixed(3))
const tokenCharges: fc.Arbitrary<OracleCharge> = fc.oneof(
  fc.record({
    model: fc.constant('package' as const),
    price: fc.integer({ min: 50, max: 300 }).map(String),
    unitsPerPackage: fc.integer({ min: 40, max: 130 }).map(String),
  }),
  fc.tuple(cents, cents, fc.integer({ min: 100, max: 500 })).map(([one, other, end]) => ({
    ...{ model: 'graduated' as const, included: '50' },
    tiers: [
      { upTo: String(end), price: one, flatPrice: '12.5' },
      { upTo: null, price: other },
    ],
  })),
  cents.map((price) => ({ model: 'per_unit' as const, price, included: '30', cap: '1200' })),
)

type Step =
  | {
      readonly kind: 'use'
      readonly meter: Meter
      readonly units: number
      readonly lateDays: number
    }
  | { readonly kind: 'bill'; readonly card: 'pays' | 'declines' }
  | { readonly kind: 'retry' }

type Meter = 'tokens' | 'requests'

const steps: fc.Arbitrary<(readonly [waitMs: number, step: Step])[]> = fc.array(
  fc.tuple(
    fc.oneof(fc.integer({ min: 1_000, max: dayMs }), fc.nat(12 * dayMs)),
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('use' as const),
          meter: fc.constantFrom<Meter>('tokens', 'requests'),
          units: fc.integer({ min: 1, max: 60_000 }).map((parts) => parts / 100),
          lateDays: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 25 })),
        }),
      },
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('bill' as const),
          card: fc.constantFrom<'pays' | 'declines'>('pays', 'pays', 'pays', 'declines'),
        }),
      },
      { weight: 1, arbitrary: fc.constant<Step>({ kind: 'retry' }) },
    ),
  ),
  { minLength: 8, maxLength: 18 },
)

const requestPrice = '0.5'

function chargesOf({ tiers, unitsPerPackage, included, cap, ...tokens }: OracleCharge): Charge[] {
  return [
    {
      ...{ key: 'tokens', meter: 'tokens', per: 'period', ...tokens },
      ...(included === undefined ? {} : { included: Number(included) }),
      ...(cap === undefined ? {} : { cap: Number(cap) }),
      ...(unitsPerPackage === undefined ? {} : { unitsPerPackage: Number(unitsPerPackage) }),
      ...(tiers === undefined
        ? {}
        : { tiers: tiers.map((tier) => ({ ...tier, upTo: tier.upTo && Number(tier.upTo) })) }),
    } as Charge,
    { key: 'requests', meter: 'requests', model: 'per_unit', price: requestPrice, per: 'period' },
  ]
}

type UsedUnits = { readonly meter: Meter; readonly hundredths: number; readonly atMs: number }

class History {
  readonly #charge: OracleCharge
  readonly #purchase: Purchase
  readonly #used: UsedUnits[] = []
  #nowMs = beginMs

  constructor(charge: OracleCharge, purchase: Purchase) {
    this.#charge = charge
    this.#purchase = purchase
  }

  get now(): string {
    return new Date(this.#nowMs).toISOString()
  }

  async wait(ms: number): Promise<void> {
    const before = periodAt(this.#nowMs)
    this.#nowMs += ms
    // A runner bills an ended period before it bills anything in the next one.
    if (periodAt(this.#nowMs) !== before) {
      this.#nowMs += 3_600_000
      await shop.billPeriods(this.now)
    }
  }

  async use({ meter, units, lateDays }: Extract<Step, { kind: 'use' }>): Promise<void> {
    const atMs = Math.max(beginMs, this.#nowMs - lateDays * dayMs)
    shop.runner.clock.set(this.now)
    const { customerRef } = this.#purchase
    await shop.alerts.use(customerRef, units, {
      meterName: meter,
      at: new Date(atMs).toISOString(),
    })
    this.#used.push({ meter, hundredths: Math.round(units * 100), atMs })
  }

  async bill(card: 'pays' | 'declines'): Promise<void> {
    const owed = await this.#hasOpenInvoice()
    const before = (await shop.invoicesOf(this.#purchase)).length
    await shop.measureAndBill(this.now, card === 'pays' ? shop.paying : shop.withDecliningCard)
    const made = (await shop.invoicesOf(this.#purchase)).slice(before)
    const at = periodAt(this.#nowMs)
    expect(made.length).toBeLessThanOrEqual(owed ? 0 : 1)
    billsWithin += made.length
    for (const { lines } of made) {
      const own = usageOf(lines).filter(({ period }) => period!.start.getTime() === startsMs[at])
      const ownMinor = own.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
      expect(ownMinor).toBeGreaterThanOrEqual(atMinor)
    }
    const unbilledMinor = this.#costOf(at) - (await this.#billedIn(at))
    if (!owed) expect(unbilledMinor < atMinor).toBe(true)
    if (made.length > 0) expect(unbilledMinor).toBe(0n)
  }

  async retry(): Promise<void> {
    await shop.runner.runJob('payment-retries', this.now, shop.paying)
  }

  async end(): Promise<void> {
    await this.wait(1_000)
    await shop.runner.within(shop.shop, async (work) => {
      const locked = await lockPurchase(work.sql, work.providerId, this.#purchase.reference)
      await endNow(work, locked!, 'expired')
    })
    this.#nowMs += 3_600_000
    await shop.billPeriods(this.now)
    this.#nowMs += 31 * dayMs
    await shop.billPeriods(this.now)
    // A crossing waits as long as something is owed.
    await this.retry()
    await shop.billThresholds(this.now)
  }

  async expectBilled(): Promise<void> {
    for (const at of startsMs.slice(0, -1).keys()) {
      expect([at, await this.#billedIn(at)]).toEqual([at, this.#costOf(at)])
    }
    expect(await shop.reconcile(this.now)).toMatchObject({ findings: [] })
    expect(await shop.crossings()).toBe(0)
  }

  #costOf(at: number): bigint {
    const priceOf = (charge: OracleCharge, meter: Meter): bigint => {
      const hundredths = this.#used
        .filter((used) => used.meter === meter && periodAt(used.atMs) === at)
        .reduce((sum, used) => sum + used.hundredths, 0)
      const used = `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, '0')}`
      return oracleChargePrice(charge, { used, carriedOver: '0', before: '0' }).nearest()
    }
    const requests = { model: 'per_unit', price: requestPrice } as const
    return priceOf(this.#charge, 'tokens') + priceOf(requests, 'requests')
  }

  /** Drafts have lines that cost nothing. */
  async #billedIn(at: number): Promise<bigint> {
    const invoices = await shop.invoicesOf(this.#purchase)
    return invoices
      .flatMap(({ lines }) => usageOf(lines))
      .filter(({ period }) => period!.start.getTime() === startsMs[at])
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  }

  async #hasOpenInvoice(): Promise<boolean> {
    const invoices = await shop.invoicesOf(this.#purchase)
    return invoices.some(({ status }) => status === 'open')
  }
}

function periodAt(atMs: number): number {
  return startsMs.findLastIndex((startMs) => startMs <= atMs)
}

test(`${runs} random histories cost what the periods cost`, { timeout: 0 }, async () => {
  const property = fc.asyncProperty(tokenCharges, steps, async (charge, given) => {
    await shop.open(begin)
    const purchase = await shop.alerts.buy({
      ...{ type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' },
      ...{ charges: chargesOf(charge), billAtUnbilledMinor: Number(atMinor) },
    })
    const history = new History(charge, purchase)
    for (const [waitMs, step] of given) {
      // The histories end within the listed months.
      if (Date.parse(history.now) > startsMs[3]!) break
      await history.wait(waitMs)
      if (step.kind === 'use') await history.use(step)
      if (step.kind === 'bill') await history.bill(step.card)
      if (step.kind === 'retry') await history.retry()
    }
    await history.end()
    await history.expectBilled()
  })
  await fc.assert(property, { numRuns: runs })
  expect(billsWithin).toBeGreaterThan(0)
})
