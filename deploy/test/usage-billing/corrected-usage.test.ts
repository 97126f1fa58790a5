import { setTimeout as sleep } from 'node:timers/promises'
import { previewCorrections } from '@tollgate/control-plane/usage-corrections/preview-correction'
import { waitUntilApplied } from '@tollgate/control-plane/usage-corrections/wait-until-applied'
import { deleteCustomer } from '@tollgate/domain/deletion/delete-customer'
import { createCoupon } from '@tollgate/domain/coupons/manage-coupons'
import { addDiscount } from '@tollgate/domain/invoice-decisions/add-discount'
import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import { noteCorrectedPeriods } from '@tollgate/domain/invoices/corrected-periods'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { NewCorrection } from '@tollgate/domain/usage-corrections/correction'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import { expect, test } from 'vitest'
import { oracleMatrixPrice } from '../../../domain/test/charge-oracle.ts'
import { applyCorrections, correctionPartsOf } from './apply-corrections.ts'
import { correctionOf } from './correction-of.ts'
import { images, tokens } from './studio-charges.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/* Bills after corrections of usage: prices by dimension, periods long ago, and customers who owe nothing for a period. */

const usageShop = new UsageShop()

async function correct(wanted: NewCorrection): Promise<void> {
  const { runner, shop } = usageShop
  await runner.within(shop, (work) => requestCorrection(work, wanted))
  await applyCorrections(runner, shop.providerId)
}

async function dryRun(wanted: NewCorrection): Promise<(readonly [string, number])[]> {
  const { runner, shop } = usageShop
  const scope = {
    environment: 'sandbox',
    providerId: shop.providerId,
    now: new Date(runner.clock.now()),
  } as const
  const outcome = await previewCorrections(correctionPartsOf(runner), scope, [wanted])
  if (outcome.kind !== 'previews') throw new Error(outcome.kind)
  return outcome.previews[0]!.periods.map(({ state, amountMinor }) => [state, amountMinor] as const)
}

const amounts = (lines: readonly InvoiceLine[]) =>
  lines.map(({ inputs, period, amountMinor }) => [
    inputs.kind,
    period?.start.toISOString().slice(0, 10),
    amountMinor,
  ])

async function noted(): Promise<number> {
  const [row] = await usageShop.runner.database.in('sandbox')<[{ total: number }]>`
    select count(*)::int as total from corrected_periods where provider_id = ${usageShop.shop.providerId}`
  return row.total
}

test('credits a matrix by the row of the corrected records', async () => {
  await usageShop.addMeters({ tokens: [], images: ['model', 'size', 'region'] })
  const plan = await usageShop.runner.addPlan(usageShop.shop, {
    type: 'usage-based',
    billingModel: 'post-paid',
    billingCycle: 'monthly',
    charges: [tokens, images],
  })
  const purchase = await usageShop.runner.buy(usageShop.shop, plan)
  const { customerRef } = purchase
  const image = { customerRef, meterName: 'images', at: '2026-02-12T00:00:00Z' }
  await usageShop.stack.storeMoved(usageShop.shop, [
    { ...image, units: 11, dimensions: { model: 'large', region: 'eu' } },
    { ...image, units: 2.25, dimensions: { model: 'large', region: 'us' } },
    { ...image, units: 3, dimensions: { model: 'small', region: 'eu' } },
  ])
  await usageShop.bill('2026-02-28T13:00:00Z')
  const whole = oracleMatrixPrice([
    { units: '11', price: '8.4' },
    { units: '3', price: '3.05' },
    { units: '2.25', price: '5' },
  ]).nearest()
  const rest = oracleMatrixPrice([{ units: '3', price: '3.05' }]).nearest()

  const large = correctionOf(purchase, { meterName: 'images', dimensions: { model: ['large'] } })
  expect(await dryRun(large)).toEqual([['billed', Number(rest - whole)]])
  // A property of the same name is another condition, which no record meets.
  const filter = { dimensions: { model: ['large'] }, properties: { model: ['large'] } }
  expect(await dryRun(correctionOf(purchase, filter))).toEqual([])
  await correct(large)
  expect(await dryRun(large)).toEqual([])
  await usageShop.bill('2026-03-31T13:00:00Z')
  const [first, ...others] = await usageShop.invoicesOf(purchase)
  expect(first!.totalMinor).toBe(whole)
  const drafts = await usageShop.stack.draftsOf(usageShop.shop, purchase.reference)
  const later = [...others, ...drafts]
  expect(
    later.flatMap(({ lines }) => amounts(lines)).filter(([, , minor]) => minor !== 0n),
  ).toEqual([['late_usage', '2026-01-31', rest - whole]])
  for (const invoice of [first!, ...others]) expect(recomputeInvoice(invoice)).toEqual([])
})

test('credits a period of long ago once, and then leaves it alone', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
  for (const month of ['02-28', '03-31', '04-30', '05-31', '06-30']) {
    await usageShop.use(purchase, 500, `2026-${month}T11:00:00Z`)
    await usageShop.bill(`2026-${month}T13:00:00Z`)
  }
  await correct(correctionOf(purchase, { toMs: Date.parse('2026-02-11T00:00:00Z') }))
  expect(await noted()).toBe(1)
  await usageShop.use(purchase, 500, '2026-07-15T00:00:00Z')
  await usageShop.bill('2026-07-31T13:00:00Z')
  expect(await noted()).toBe(0)
  await usageShop.use(purchase, 500, '2026-08-15T00:00:00Z')
  await usageShop.bill('2026-08-31T13:00:00Z')
  const [july, august] = (await usageShop.invoicesOf(purchase)).slice(-2)
  expect(amounts(july!.lines)).toEqual([
    ['late_usage', '2026-01-31', -300n],
    ['usage', '2026-06-30', 500n],
  ])
  expect(amounts(august!.lines)).toEqual([['usage', '2026-07-31', 500n]])
})

test('returns nothing for a period that the customer does not pay', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z', usageShop.withDecliningCard)
  const [bill] = await usageShop.invoicesOf(purchase)
  await usageShop.runner.within(usageShop.shop, async (work) => {
    const change = { kind: 'voided' } as const
    const request = { invoiceRef: bill!.reference, reason: 'decided', change }
    expect(await decideOnInvoice(work, request)).toMatchObject({ kind: 'decided' })
  })
  await correct(correctionOf(purchase, {}))
  await usageShop.use(purchase, 40, '2026-03-15T00:00:00Z')
  await usageShop.bill('2026-03-31T13:00:00Z')
  const [, next] = await usageShop.invoicesOf(purchase)
  expect(amounts(next!.lines)).toEqual([
    ['late_usage', '2026-01-31', 0n],
    ['usage', '2026-02-28', 40n],
  ])
  expect(recomputeInvoice(next!)).toEqual([])
})

test('keeps a period noted that is corrected again while a bill is made', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  await usageShop.use(purchase, 200, '2026-02-11T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  await correct(correctionOf(purchase, { toMs: Date.parse('2026-02-11T00:00:00Z') }))
  await usageShop.use(purchase, 500, '2026-03-15T00:00:00Z')
  let isCorrected = false
  await usageShop.bill('2026-03-31T13:00:00Z', async (charge) => {
    // The bill is committed by now, so this correction is for the next one.
    if (!isCorrected)
      await correct(correctionOf(purchase, { toMs: Date.parse('2026-02-12T00:00:00Z') }))
    isCorrected = true
    return usageShop.paying(charge)
  })
  expect(await noted()).toBe(1)
  await usageShop.use(purchase, 500, '2026-04-15T00:00:00Z')
  await usageShop.bill('2026-04-30T13:00:00Z')
  const [, second, third] = await usageShop.invoicesOf(purchase)
  expect(amounts(second!.lines)[0]).toEqual(['late_usage', '2026-01-31', -100n])
  expect(amounts(third!.lines)[0]).toEqual(['late_usage', '2026-01-31', -200n])
})

test('corrects records of as many units as a record can have', async () => {
  const purchase = await usageShop.buy({ ...postPaid, creditsPerUnit: 0, freeUnits: 0 })
  await usageShop.use(purchase, 9_000_000_000, '2026-02-10T00:00:00Z')
  const wanted = correctionOf(purchase, {})
  await correct(wanted)
  expect(await dryRun(wanted)).toEqual([])
})

test('takes each record away once if a forgotten idempotency key was used again', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  const { customerRef } = purchase
  await usageShop.use(purchase, 1_000, '2026-02-09T00:00:00Z')
  const named = { id: 'usage_again', customerRef, meterName: 'requests', dimensions: {} }
  await usageShop.stack.storeMoved(usageShop.shop, [
    { ...named, units: 100, at: '2026-02-10T00:00:00Z' },
    { ...named, units: 30, at: '2026-03-20T00:00:00Z' },
  ])
  await usageShop.bill('2026-02-28T13:00:00Z')
  await usageShop.use(purchase, 500, '2026-03-21T00:00:00Z')
  const fromMs = Date.parse('2026-02-10T00:00:00Z')
  const wanted = correctionOf(purchase, { fromMs, toMs: Date.parse('2026-03-21T00:00:00Z') })
  await correct(wanted)
  expect(await dryRun(wanted)).toEqual([])
  await usageShop.bill('2026-03-31T13:00:00Z')
  const [, march] = await usageShop.invoicesOf(purchase)
  expect(amounts(march!.lines)).toEqual([
    ['late_usage', '2026-01-31', -100n],
    ['usage', '2026-02-28', 500n],
  ])
})

test('prices a dry run with the minimum of the plan', async () => {
  const minimum = { price: 0, minimumCommitment: 2_000, freeUnits: 0, limit: 0 }
  const purchase = await usageShop.buy({ ...postPaid, ...minimum })
  await usageShop.use(purchase, 3_000, '2026-02-10T00:00:00Z')
  const wanted = correctionOf(purchase, {})
  expect(await dryRun(wanted)).toEqual([['open', -1_000]])
  await usageShop.bill('2026-02-28T13:00:00Z')
  expect(await dryRun(wanted)).toEqual([['billed', -1_000]])
  await correct(wanted)
  await usageShop.use(purchase, 2_500, '2026-03-15T00:00:00Z')
  await usageShop.bill('2026-03-31T13:00:00Z')
  const [, march] = await usageShop.invoicesOf(purchase)
  expect(amounts(march!.lines)).toEqual([
    ['late_usage', '2026-01-31', -3_000n],
    ['usage', '2026-02-28', 2_500n],
    ['minimum', '2026-01-31', 2_000n],
  ])
})

const half = { percentOff: '50', amountOffMinor: null, currency: null }
const tenDollars = { percentOff: null, amountOffMinor: 1_000n, currency: 'USD' }

test.each([
  // The minimum of February costs half, and the usage of March is discounted if the coupon has an invoice left.
  ['half', 1, half, 1_000n + 2_500n],
  ['half', 2, half, 1_000n + 1_250n],
  // Of the credited 10.00 above the minimum, a third had been discounted. March has a discount of its own.
  ['10.00', 1, tenDollars, 2_000n - 667n + 2_500n],
  ['10.00', 2, tenDollars, 2_000n - 667n + 1_500n],
])(
  'charges the minimum in place of credited usage at the discount of its period: %s off %d invoices',
  async (_, durationInvoices, off, totalMinor) => {
    const minimum = { price: 0, minimumCommitment: 2_000, freeUnits: 0, limit: 0 }
    const purchase = await usageShop.buy({ ...postPaid, ...minimum })
    await discount(purchase, off, durationInvoices)
    await usageShop.use(purchase, 3_000, '2026-02-10T00:00:00Z')
    await usageShop.bill('2026-02-28T13:00:00Z')
    await correct(correctionOf(purchase, {}))
    await usageShop.use(purchase, 2_500, '2026-03-15T00:00:00Z')
    await usageShop.bill('2026-03-31T13:00:00Z')
    const invoices = await usageShop.invoicesOf(purchase)
    for (const invoice of invoices) expect(recomputeInvoice(invoice)).toEqual([])
    const [february, march] = invoices.map((each) => each.totalMinor)
    expect(february! + march!).toBe(totalMinor)
  },
)

test('a correction of usage beside a minimum that was charged again credits what was paid of it', async () => {
  const minimum = { price: 0, minimumCommitment: 2_000, freeUnits: 0, limit: 0 }
  const purchase = await usageShop.buy({ ...postPaid, ...minimum })
  await discount(purchase, tenDollars, 2)
  await usageShop.use(purchase, 3_000, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  await correct(correctionOf(purchase, {}))
  await usageShop.use(purchase, 2_500, '2026-03-15T00:00:00Z')
  await usageShop.bill('2026-03-31T13:00:00Z')
  await correct(correctionOf(purchase, {}))
  await usageShop.use(purchase, 5_000, '2026-04-15T00:00:00Z')
  await usageShop.bill('2026-04-30T13:00:00Z')
  const april = (await usageShop.invoicesOf(purchase)).at(-1)
  expect(amounts(april!.lines)).toEqual([
    ['late_usage', '2026-02-28', -2_500n],
    ['usage', '2026-03-31', 5_000n],
    ['minimum', '2026-02-28', 2_000n],
    // March had 10.00 off 25.00, of which 5.00 are credited.
    ['discount', '2026-02-28', 200n],
  ])
})

async function discount(
  { customerRef }: Pick<Purchase, 'customerRef'>,
  off: typeof half | typeof tenDollars,
  durationInvoices: number,
): Promise<void> {
  await usageShop.runner.within(usageShop.shop, async (work) => {
    const coupon = await createCoupon(work, {
      ...{ code: null, name: 'Launch', ...off },
      ...{ duration: 'repeating', durationInvoices, productRefs: [], planRefs: [] },
      ...{ redemptionsMax: null, redemptionsPerCustomerMax: null, redeemBy: null },
    })
    await addDiscount(work, { couponRef: coupon!.reference, customerRef, purchaseRef: null })
  })
}

test('credits usage without a discount in full, after discounted usage was credited', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  const { customerRef, productRef } = purchase
  const { runner, shop } = usageShop
  await discount(purchase, half, 1)
  const useInMonth = async (month: string): Promise<void> => {
    await usageShop.use(purchase, 1_000, `2026-${month}T00:00:00Z`)
    await usageShop.bill(`2026-${month}T13:00:00Z`)
  }
  const february = correctionOf(purchase, { toMs: Date.parse('2026-02-20T00:00:00Z') })
  await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  await correct(february)
  await useInMonth('03-31')
  const timestamp = Date.parse('2026-02-11T00:00:00Z')
  await runner.within(shop, ({ sql, providerId, now }) =>
    noteCorrectedPeriods(sql, providerId, [{ customerRef, productRef, timestamp }], now),
  )
  await usageShop.useLate(purchase, 200, '2026-02-11T00:00:00Z')
  await useInMonth('04-30')
  await correct(february)
  await useInMonth('05-31')
  const invoices = await usageShop.invoicesOf(purchase)
  const ofFebruary = invoices.map(({ lines }) =>
    amounts(lines)
      .filter(([kind, start]) => kind === 'discount' || start === '2026-01-31')
      .map(([, , minor]) => minor),
  )
  expect(ofFebruary).toEqual([[300n, -150n], [-300n, 150n], [200n], [-200n]])
})

test('reads at most as many records for all dry runs of a request as for one', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  for (const day of ['10', '11', '12']) {
    await usageShop.use(purchase, 1, `2026-02-${day}T00:00:00Z`)
  }
  const { runner, shop } = usageShop
  const now = new Date(runner.clock.now())
  const scope = { environment: 'sandbox', providerId: shop.providerId, now } as const
  const given = correctionPartsOf(runner)
  const limits = { ...given.correctionLimits, previewRecordsMax: 5 }
  const wanted = correctionOf(purchase, {})
  const kindOf = async (corrections: number): Promise<string> => {
    const all = Array.from({ length: corrections }, () => wanted)
    return (await previewCorrections({ ...given, correctionLimits: limits }, scope, all)).kind
  }
  expect(await kindOf(1)).toBe('previews')
  expect(await kindOf(2)).toBe('too-many')
})

test('keeps no note of the periods of a deleted customer', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  await correct(correctionOf(purchase, { toMs: Date.parse('2026-02-11T00:00:00Z') }))
  expect(await noted()).toBe(1)
  const { runner, shop } = usageShop
  const { customerRef, productRef } = purchase
  await runner.within(shop, (work) => deleteCustomer(work, customerRef))
  expect(await noted()).toBe(0)
  const timestamp = Date.parse('2026-02-10T00:00:00Z')
  await runner.within(shop, ({ sql, providerId, now }) =>
    noteCorrectedPeriods(sql, providerId, [{ customerRef, productRef, timestamp }], now),
  )
  expect(await noted()).toBe(0)
})

test('stores no correction while an earlier one is not committed', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  const { runner, shop } = usageShop
  const request = (reason: string): Promise<unknown> =>
    runner.within(shop, (work) =>
      requestCorrection(work, { ...correctionOf(purchase, {}), reason }),
    )
  const ended: string[] = []
  let second: Promise<unknown> | undefined
  await runner.within(shop, async (work) => {
    await requestCorrection(work, { ...correctionOf(purchase, {}), reason: 'first' })
    second ??= request('second').then(() => ended.push('second'))
    await Promise.race([second, sleep(500)])
    ended.push('first')
  })
  await second
  expect(ended).toEqual(['first', 'second'])
})

test('leaves a stored correction to the job if it fails during its request', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  const wanted = correctionOf(purchase, {})
  const { runner, shop } = usageShop
  const requested = await runner.within(shop, (work) => requestCorrection(work, wanted))
  if (requested.kind !== 'requested') throw new Error(requested.kind)
  const { correctionLimits, ...parts } = correctionPartsOf(runner, 'before')
  const waiting = {
    ...{ ...parts, logger: runner.parts.logger },
    correctionLimits: { ...correctionLimits, waitMs: 20_000 },
  }
  const scope = { environment: 'sandbox', providerId: shop.providerId } as const
  await waitUntilApplied(waiting, scope, [requested.reference])
  expect(await dryRun(wanted)).toEqual([['open', -100]])
  await applyCorrections(runner, shop.providerId)
  expect(await dryRun(wanted)).toEqual([])
})
