import type { Payout, Settlement } from '@tollgate/platform/payments/payment-objects'
import {
  fromProcessorAmount,
  restOfProcessorAmount,
  toProcessorAmount,
} from '@tollgate/platform/payments/processor-amounts'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readProcessorBalance } from '../src/money-ledger/processor-balance.ts'
import { postMoney } from '../src/money-ledger/post-money.ts'
import { disputeWithdrawn, paymentSettled, paymentSucceeded } from '../src/money-ledger/postings.ts'
import { applyPayout } from '../src/settlement/apply-payout.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import type { UnitOfWork } from '../src/unit-of-work/unit-of-work.ts'
import { createPurchases, inWork } from './billed-customers.ts'

/* Fees and payouts in currencies with processor units below a minor unit: 1/10 for dinars, 1/100 for shillings. */

let testDatabase: TestDatabase
let sequence = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
})
afterAll(() => testDatabase.stop())

/** Returns the settlement as it is read from the processor. */
function settlementOf(currency: string, amount: bigint, fee: bigint): Settlement {
  const amountMinor = fromProcessorAmount(amount, currency)
  const netMinor = fromProcessorAmount(amount - fee, currency)
  const restUnits = restOfProcessorAmount(amount - fee, currency)
  return { amountMinor, feeMinor: amountMinor - netMinor, netMinor, restUnits, currency }
}

function payoutOf(currency: string, amount: bigint): Payout {
  return {
    kind: 'payout',
    id: `po_${(sequence += 1)}`,
    status: 'paid',
    amountMinor: fromProcessorAmount(amount, currency),
    restUnits: restOfProcessorAmount(amount, currency),
    currency,
    arrivalDate: new Date(),
    failureCode: undefined,
    failureMessage: undefined,
    createdAt: new Date(),
  }
}

/** The money of one provider, and the balance in processor units. */
class Clearing {
  units = 0n
  readonly currency: string
  readonly #providerId = `prv_finer_${(sequence += 1)}`
  #customerRef = ''
  readonly #payouts: { readonly payout: Payout; readonly amount: bigint }[] = []

  constructor(currency: string) {
    this.currency = currency
  }

  async open(): Promise<void> {
    const [customer] = await createPurchases(testDatabase.database, this.#providerId, 1)
    this.#customerRef = customer!.customerRef
  }

  /** Records a payment that is settled in the currency or converted into it. */
  pay(amount: bigint, fee: bigint, isForeign: boolean): Promise<void> {
    const { currency } = this
    const settlement = settlementOf(currency, amount, fee)
    const charged = isForeign
      ? { currency: 'EUR', amountMinor: 100n }
      : { currency, amountMinor: settlement.amountMinor }
    this.units += amount - fee
    return this.#commit(async (work) => {
      const payment = { customerRef: this.#customerRef, chargeRef: `ch_${(sequence += 1)}` }
      await postMoney(work, paymentSucceeded({ ...payment, ...charged, pays: 'refunds' }))
      const settled = { currency, amountMinor: settlement.amountMinor }
      const { feeMinor, restUnits } = settlement
      await postMoney(work, paymentSettled({ ...payment, charged, settled, feeMinor, restUnits }))
    })
  }

  dispute(amount: bigint, fee: bigint): Promise<void> {
    this.units -= amount + fee
    const { amountMinor, ...withdrawn } = settlementOf(this.currency, -amount, fee)
    const named = { disputeRef: `dp_${(sequence += 1)}`, step: 'txn_1' }
    const dispute = { ...withdrawn, ...named, customerRef: this.#customerRef }
    return this.#commit(async (work) => {
      await postMoney(work, disputeWithdrawn({ ...dispute, amountMinor: -amountMinor }))
    })
  }

  async payOut(amount: bigint): Promise<void> {
    const payout = payoutOf(this.currency, amount)
    this.#payouts.push({ payout, amount })
    this.units -= amount
    await this.#commit((work) => applyPayout(work, payout))
    await this.#commit((work) => applyPayout(work, payout))
  }

  async failPayout(): Promise<void> {
    const last = this.#payouts.pop()
    if (last === undefined) return
    this.units += last.amount
    await this.#commit((work) => applyPayout(work, { ...last.payout, status: 'failed' }))
  }

  async posted() {
    const sql = testDatabase.database.in('sandbox')
    return readProcessorBalance(sql, this.#providerId, this.currency)
  }

  async #commit(body: (work: UnitOfWork) => Promise<void>): Promise<void> {
    await inWork(testDatabase.database, this.#providerId, body)
  }
}

const step = fc.oneof(
  fc.record({
    does: fc.constant('pay' as const),
    amount: fc.bigInt({ min: 500n, max: 40_000n }),
    fee: fc.bigInt({ min: 11n, max: 499n }),
    isForeign: fc.boolean(),
  }),
  fc.record({
    does: fc.constant('dispute' as const),
    amount: fc.bigInt({ min: 500n, max: 4_000n }),
    fee: fc.bigInt({ min: 11n, max: 499n }),
  }),
  fc.record({ does: fc.constant('pay out' as const), percent: fc.bigInt({ min: 1n, max: 100n }) }),
  fc.record({ does: fc.constant('fail payout' as const) }),
)

test(
  'clearing is 0 after all money is paid out, whatever the fees',
  { timeout: 600_000 },
  async () => {
    const currencies = fc.constantFrom('KWD', 'UGX', 'USD')
    await fc.assert(
      fc.asyncProperty(currencies, fc.array(step, { maxLength: 25 }), async (currency, steps) => {
        const clearing = new Clearing(currency)
        await clearing.open()
        const unitsPerMinor = toProcessorAmount(1n, currency)
        for (const each of steps) {
          // Customers are charged whole minor units.
          if (each.does === 'pay') {
            const amount = each.isForeign ? each.amount : each.amount * unitsPerMinor
            // The fee is at least one minor unit.
            await clearing.pay(amount, each.fee + unitsPerMinor, each.isForeign)
          }
          if (each.does === 'dispute') await clearing.dispute(each.amount, each.fee)
          const part = each.does === 'pay out' ? (clearing.units * each.percent) / 100n : 0n
          if (part > 0n) await clearing.payOut(part)
          if (each.does === 'fail payout') await clearing.failPayout()
          const { clearingMinor, restUnits } = await clearing.posted()
          expect(clearingMinor * unitsPerMinor + restUnits).toBe(clearing.units)
          if (part > 0n) expect(clearingMinor).toBe(fromProcessorAmount(clearing.units, currency))
        }
        if (clearing.units <= 0n) return
        await clearing.payOut(clearing.units)
        expect((await clearing.posted()).clearingMinor).toBe(0n)
      }),
      { ...randomRuns(25), interruptAfterTimeLimit: 60_000 },
    )
  },
)

test('a payout of less than a minor unit is subtracted from the rest', async () => {
  const clearing = new Clearing('KWD')
  await clearing.open()
  await clearing.pay(500n, 21n, true)
  await clearing.payOut(4n)
  expect(await clearing.posted()).toEqual({ clearingMinor: 48n, restUnits: -5n })
  await clearing.failPayout()
  expect(await clearing.posted()).toEqual({ clearingMinor: 48n, restUnits: -1n })
})

test(
  'fractions of a minor unit in 100 fees are cleared by the payout',
  { timeout: 120_000 },
  async () => {
    const clearing = new Clearing('KWD')
    await clearing.open()
    for (let payments = 0; payments < 100; payments += 1) await clearing.pay(10_000n, 294n, false)
    const { clearingMinor } = await clearing.posted()
    expect(clearingMinor * 10n).not.toBe(clearing.units)
    await clearing.payOut(clearing.units)
    expect(await clearing.posted()).toEqual({ clearingMinor: 0n, restUnits: 0n })
  },
)
