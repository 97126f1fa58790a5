import fc from 'fast-check'
import { filterCondition } from '@tollgate/control-plane/usage/usage-filter'
import { queryGroupedUsage } from '@tollgate/control-plane/usage/query-grouped-usage'
import { sumUsage, type UsageQuery } from '@tollgate/control-plane/usage/query-usage'
import type { Charge } from '@tollgate/schemas/http/charges'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import { expect, test } from 'vitest'
import { images } from './studio-charges.ts'
import { UsageShop } from './usage-shop.ts'

/* The units that invoices bill are those that usage queries of the same time and customer return. */

const usageShop = new UsageShop()

const charges: readonly Charge[] = [
  { key: 'calls', meter: 'tokens', model: 'per_unit', price: '0.01', per: 'period' },
  {
    key: 'large',
    meter: 'images',
    where: { model: ['large', 'huge'] },
    model: 'per_unit',
    price: '1.5',
    per: 'period',
  },
  images,
]

const end = Date.parse('2026-02-28T12:00:00Z')

const arbitraryImage = fc.record({
  units: fc.integer({ min: 1, max: 9_000_000 }).map((micros) => micros / microsPerUnit),
  at: fc
    .integer({ min: Date.parse('2026-02-01T00:00:00Z'), max: end + 1 })
    .map((ms) => new Date(ms).toISOString()),
  dimensions: fc.record(
    {
      model: fc.constantFrom('large', 'small', 'huge'),
      region: fc.constantFrom('eu', 'us'),
    },
    { requiredKeys: [] },
  ),
})

test('bills exactly the units that usage queries return', { retry: 0 }, async () => {
  await usageShop.addMeters({ tokens: [], images: ['model', 'region'] })
  const plan = await usageShop.runner.addPlan(usageShop.shop, {
    type: 'usage-based',
    billingModel: 'post-paid',
    billingCycle: 'monthly',
    charges: [...charges],
  })
  const purchase = await usageShop.runner.buy(usageShop.shop, plan)
  const { customerRef } = purchase
  const [images] = fc.sample(fc.array(arbitraryImage, { minLength: 80, maxLength: 80 }), 1)
  const [tokens] = fc.sample(fc.array(arbitraryImage, { minLength: 20, maxLength: 20 }), 1)
  await usageShop.stack.storeMoved(usageShop.shop, [
    ...images!.map((image) => ({ customerRef, meterName: 'images', ...image })),
    ...tokens!.map((used) => ({ customerRef, meterName: 'tokens', ...used, dimensions: {} })),
  ])
  await usageShop.bill('2026-02-28T13:00:00Z')
  const [invoice] = await usageShop.invoicesOf(purchase)
  const inputsOf = (key: string) =>
    invoice!.lines
      .map(({ inputs }) => inputs)
      .find((each) => 'charge' in each && each.charge === key)

  const { usageStore } = usageShop.runner.parts
  const query = (meterName: string): UsageQuery => ({
    environment: 'sandbox',
    providerId: usageShop.shop.providerId,
    meterName,
    aggregation: 'sum',
    customerRefs: [customerRef],
    range: { startMs: 0, endMs: end },
    outcome: 'success',
    filter: undefined,
  })
  const calls = await sumUsage(usageStore, query('tokens'))
  expect(inputsOf('calls')).toMatchObject({ usedUnits: calls.total })

  const filter = filterCondition({ model: ['large', 'huge'] }, ['model', 'region'])
  const large = await sumUsage(usageStore, { ...query('images'), filter })
  expect(inputsOf('large')).toMatchObject({ usedUnits: large.total })

  const grouping = { dimensions: ['model', 'region'], top: undefined, granularity: undefined }
  const grouped = await queryGroupedUsage(usageStore, query('images'), grouping, 100)
  const microsOf = (total: string): number => Math.round(Number(total) * microsPerUnit)
  const rows = [0, 0, 0]
  for (const { values, total } of grouped!.groups) {
    const [model, region] = values
    const row = model === 'large' && region === 'eu' ? 0 : model === 'small' ? 1 : 2
    rows[row]! += microsOf(total)
  }
  expect(inputsOf('images')).toMatchObject({
    usedUnits: grouped!.whole.total,
    rowUnits: rows.map((micros) => String(micros / microsPerUnit)),
  })
})
