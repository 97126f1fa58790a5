import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { expect, test } from 'vitest'
import { oracleChargePrice } from '../../../domain/test/charge-oracle.ts'
import { deliverPack, packUnitsOf } from './add-pack.ts'
import { tiers, tokens } from './studio-charges.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/* Packs pay for usage above the included units, and the invoice charges the rest. */

const usageShop = new UsageShop()

const cost = (used: string) =>
  oracleChargePrice(
    { model: 'graduated', tiers, included: '100' },
    { used, carriedOver: '0', before: '0' },
  )

const settle = (at: string) => usageShop.runner.runJob('pack-settlement', at)

test('pay for units of a charge, so that tiers begin after them', async () => {
  await usageShop.addMeters({ tokens: [], images: [] })
  const purchase = await usageShop.buy({
    ...{ type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' },
    charges: [tokens, { meter: 'images', model: 'per_unit', price: '5', per: 'period' }],
  })
  await deliverPack(usageShop, purchase, { meter: 'tokens', units: 400.5 })
  await usageShop.use(purchase, 1_700.25, '2026-02-10T00:00:00Z', 'tokens')
  await usageShop.use(purchase, 3, '2026-02-11T00:00:00Z', 'images')
  await usageShop.bill('2026-02-28T13:00:00Z')
  const [invoice] = await usageShop.invoicesOf(purchase)
  expect(invoice!.lines).toMatchObject([
    {
      inputs: { charge: 'tokens', usedUnits: '1700.25', packUnits: '400.5' },
      amountMinor: cost('1299.75').nearest(),
    },
    { inputs: { charge: 'images', usedUnits: '3' }, amountMinor: 15n },
  ])
  expect(invoice!.lines[1]!.inputs).not.toHaveProperty('packUnits')
  expect(recomputeInvoice(invoice!)).toEqual([])
  expect(await packUnitsOf(usageShop, purchase)).toEqual([{ used: 400.5, taken: 0 }])
})

test('begin after units that are carried over', async () => {
  const purchase = await usageShop.buy({
    ...{ type: 'hybrid', basePrice: 1_000, billingCycle: 'monthly', limit: 100 },
    ...{ rolloverUnusedUnits: true, overagePolicy: { allowOverage: true, overageRate: 100 } },
  })
  await usageShop.use(purchase, 70, '2026-02-10T00:00:00Z')
  await usageShop.renew('2026-02-28T12:00:00Z')
  await deliverPack(usageShop, purchase, { units: 5 })
  await usageShop.use(purchase, 137, '2026-03-10T00:00:00Z')
  await usageShop.renew('2026-03-31T12:00:00Z')
  await usageShop.bill('2026-03-31T13:00:00Z')
  await usageShop.bill('2026-03-31T13:30:00Z')
  const invoices = await usageShop.invoicesOf(purchase)
  const lines = invoices.flatMap((invoice) => invoice.lines)
  const march = lines.find(({ inputs }) => inputs.kind === 'usage' && inputs.usedUnits === '137')
  // 130 units are included, 5 are from the pack, and 2 cost 1 cent each.
  expect(march).toMatchObject({
    inputs: { carriedOverUnits: '30', packUnits: '5' },
    amountMinor: 2n,
  })
})

test('pay only for usage until their end, also if nothing ran at that time', async () => {
  const purchase = await usageShop.buy({ ...postPaid })
  await deliverPack(usageShop, purchase, { units: 50 }, 10)
  await usageShop.use(purchase, 110, '2026-02-05T00:00:00Z')
  await usageShop.use(purchase, 20, '2026-02-12T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  const [invoice] = await usageShop.invoicesOf(purchase)
  expect(invoice!.lines).toMatchObject([
    { inputs: { usedUnits: '130', packUnits: '10' }, amountMinor: 20n },
  ])
  expect(await packUnitsOf(usageShop, purchase)).toEqual([{ used: 10, taken: 0 }])
})

test('are settled and billed beside any number of later packs', async () => {
  const purchase = await usageShop.buy({ ...postPaid })
  usageShop.runner.clock.set('2026-02-02T00:00:00Z')
  for (let packs = 0; packs < 101; packs += 1) await deliverPack(usageShop, purchase, { units: 1 })
  await usageShop.use(purchase, 203, '2026-02-05T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  const [invoice] = await usageShop.invoicesOf(purchase)
  expect(invoice!.lines).toMatchObject([{ inputs: { usedUnits: '203', packUnits: '101' } }])
})

test('begin after units that another charge of the meter carries over', async () => {
  const perUnit = { meter: 'scans', model: 'per_unit', per: 'period' } as const
  await usageShop.addMeters({ scans: ['kind'] })
  const purchase = await usageShop.buy({
    ...{ type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' },
    charges: [
      { ...perUnit, key: 'large', price: '1', where: { kind: ['large'] } },
      { ...perUnit, key: 'all', price: '2', included: 100, rollover: true },
    ],
  })
  await usageShop.bill('2026-02-28T13:00:00Z')
  await deliverPack(usageShop, purchase, { meter: 'scans', units: 50 })
  await usageShop.use(purchase, 200, '2026-03-10T00:00:00Z', 'scans')
  await usageShop.bill('2026-03-31T13:00:00Z')
  // 100 units are included and 100 are carried over, so the pack pays for none.
  expect(await packUnitsOf(usageShop, purchase)).toEqual([{ used: 0, taken: 0 }])
})

test('are settled once by several runners at the same time', async () => {
  const purchase = await usageShop.buy({ ...postPaid })
  await deliverPack(usageShop, purchase, { units: 30 })
  await usageShop.use(purchase, 120, '2026-02-05T00:00:00Z')
  usageShop.runner.clock.set('2026-02-28T13:00:00Z')
  const at = '2026-02-28T13:00:00Z'
  await Promise.all([settle(at), usageShop.bill(at), settle(at), usageShop.bill(at)])
  await usageShop.bill('2026-02-28T14:00:00Z')
  expect(await packUnitsOf(usageShop, purchase)).toEqual([{ used: 20, taken: 0 }])
  const lines = [
    ...(await usageShop.invoicesOf(purchase)),
    ...(await usageShop.stack.draftsOf(usageShop.shop, purchase.reference)),
  ].flatMap((invoice) => invoice.lines)
  expect(lines).toMatchObject([{ inputs: { packUnits: '20' }, amountMinor: 0n }])
})
