import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { Charge } from '@tollgate/schemas/http/charges'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import { expect, test } from 'vitest'
import { oracleChargePrice, oracleMatrixPrice } from '../../../domain/test/charge-oracle.ts'
import { images, tiers, tokens } from './studio-charges.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/* Plans with charges on several meters: each has its own lines, late usage and carried-over units. */

const usageShop = new UsageShop()

const studio: Partial<PlanCreateInput> = {
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  charges: [tokens, images],
}

const oracleTokens = { model: 'graduated', tiers, included: '100' } as const
const tokensCost = (used: string) =>
  oracleChargePrice(oracleTokens, { used, carriedOver: '0', before: '0' })

/** Buys the plan and refuses a plan that the catalog would not accept. */
async function buy(input: Partial<PlanCreateInput>) {
  await usageShop.addMeters({ tokens: [], images: ['model', 'size', 'region'] })
  const plan = await usageShop.runner.addPlan(usageShop.shop, input)
  expect(plan.terms.charges).toEqual(input.charges)
  return usageShop.runner.buy(usageShop.shop, plan)
}

type Image = readonly [units: number, at: string, dimensions: Record<string, string>]

function storeImages(customerRef: string, given: readonly Image[]): Promise<void> {
  const rows = given.map(([units, at, dimensions]) => ({
    ...{ customerRef, meterName: 'images', units, at, dimensions },
  }))
  return usageShop.stack.storeMoved(usageShop.shop, rows)
}

const amounts = (lines: readonly InvoiceLine[]) =>
  lines.map(({ inputs, amountMinor }) => [
    inputs.kind,
    'charge' in inputs ? inputs.charge : undefined,
    amountMinor,
  ])

/** Compares the usage lines of all invoices with the stored records, with the clock set to that time. */
async function reconcile(at: string): Promise<unknown> {
  const { runner, shop } = usageShop
  runner.clock.set(at)
  const { providerId } = shop
  const request = { environment: 'sandbox', providerId, since: new Date('2026-01-01') } as const
  const { reports } = await runReconciliation(runner.config(), runner.parts, request)
  const [report] = reports
  const findings = report!.findings.filter(({ kind }) => kind === 'billed_usage')
  return { compared: report!.compared.billed_usage, findings }
}

test('bills each charge with a line of its own, and late usage of each with another', async () => {
  const purchase = await buy(studio)
  const { customerRef } = purchase
  await usageShop.use(purchase, 1_500.5, '2026-02-10T00:00:00Z', 'tokens')
  // Neither charge counts the usage of another meter.
  await usageShop.use(purchase, 9_000, '2026-02-11T00:00:00Z')
  await storeImages(customerRef, [
    [11, '2026-02-12T00:00:00Z', { model: 'large', region: 'eu' }],
    [2.25, '2026-02-12T00:00:00Z', { model: 'large', region: 'us' }],
    [3, '2026-02-12T00:00:01Z', { model: 'small', region: 'eu' }],
    [4, '2026-02-12T00:00:02Z', {}],
    [1_000, '2026-02-28T12:00:00Z', { model: 'small' }],
  ])
  await usageShop.bill('2026-02-28T13:00:00Z')
  const [first] = await usageShop.invoicesOf(purchase)
  const imagesCost = oracleMatrixPrice([
    { units: '11', price: '8.4' },
    { units: '3', price: '3.05' },
    { units: '6.25', price: '5' },
  ])
  expect(amounts(first!.lines)).toEqual([
    ['usage', 'tokens', tokensCost('1500.5').nearest()],
    ['usage', 'images', imagesCost.nearest()],
  ])
  expect(first!.lines[0]).toMatchObject({
    description: expect.stringMatching(/, Tokens$/) as string,
    inputs: { usedUnits: '1500.5', reading: { meterName: 'tokens' } },
  })
  expect(first!.lines[1]).toMatchObject({
    inputs: { usedUnits: '20.25', rowUnits: ['11', '3', '6.25'] },
  })
  expect(first!.totalMinor).toBe(tokensCost('1500.5').nearest() + imagesCost.nearest())
  expect(recomputeInvoice(first!)).toEqual([])
  expect(await reconcile('2026-02-28T15:00:00Z')).toEqual({ compared: 2, findings: [] })
  const charged = await usageShop.runner.events(usageShop.shop, /^usage\.charged$/)
  expect(charged.map(({ object }) => object)).toMatchObject([
    { charge: 'tokens', meterName: 'tokens', quantity: 1_500.5 },
    { charge: 'images', meterName: 'images', quantity: 20.25 },
  ])
  await usageShop.useLate(purchase, 99.5, '2026-02-20T00:00:00Z', 'tokens')
  await storeImages(customerRef, [[2, '2026-02-20T00:00:00Z', { model: 'small' }]])
  await usageShop.bill('2026-03-31T13:00:00Z')
  const [, second] = await usageShop.invoicesOf(purchase)
  const late = tokensCost('1600').minus(tokensCost('1500.5'))
  expect(amounts(second!.lines)).toEqual([
    ['late_usage', 'tokens', late.nearest()],
    ['late_usage', 'images', oracleMatrixPrice([{ units: '2', price: '3.05' }]).nearest()],
    ['usage', 'tokens', 0n],
    ['usage', 'images', 3_050n],
  ])
  expect(second!.lines[1]).toMatchObject({
    inputs: { rowUnits: ['11', '3', '6.25'], lateRowUnits: ['0', '2', '0'] },
  })
  expect(recomputeInvoice(second!)).toEqual([])
})

test('charges only the records of a filter, and carries over the included units of its charge', async () => {
  const charges: Charge[] = [
    {
      key: 'tokens',
      meter: 'tokens',
      model: 'per_unit',
      price: '1',
      included: 100,
      rollover: true,
      per: 'period',
    },
    {
      key: 'eu',
      meter: 'images',
      where: { region: ['eu', 'uk'] },
      model: 'package',
      unitsPerPackage: 10,
      price: '30',
      per: 'period',
    },
  ]
  const purchase = await buy({ ...studio, charges })
  await usageShop.use(purchase, 70, '2026-02-10T00:00:00Z', 'tokens')
  await storeImages(purchase.customerRef, [
    [11, '2026-02-12T00:00:00Z', { region: 'eu' }],
    [5, '2026-02-12T00:00:00Z', { region: 'uk' }],
    [500, '2026-02-12T00:00:00Z', { region: 'us' }],
  ])
  await usageShop.bill('2026-02-28T13:00:00Z')
  await usageShop.use(purchase, 200, '2026-03-10T00:00:00Z', 'tokens')
  await usageShop.bill('2026-03-31T13:00:00Z')
  const [first, second] = await usageShop.invoicesOf(purchase)
  expect(amounts(first!.lines)).toEqual([
    ['usage', 'tokens', 0n],
    ['usage', 'eu', 60n],
  ])
  expect(await reconcile('2026-02-28T15:00:00Z')).toEqual({ compared: 2, findings: [] })
  // 30 of the 100 included units of February are left.
  expect(second!.lines[0]).toMatchObject({
    inputs: { usedUnits: '200', carriedOverUnits: '30' },
    amountMinor: 70n,
  })
})

test('bills a plan without charges as before, and its line names no charge', async () => {
  const purchase = await usageShop.buy(postPaid)
  await usageShop.use(purchase, 150, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  const [invoice] = await usageShop.invoicesOf(purchase)
  expect(Object.keys(invoice!.lines[0]!.inputs).toSorted()).toEqual([
    'carriedOverUnits',
    'conversion',
    'kind',
    'reading',
    'terms',
    'usedUnits',
  ])
})
