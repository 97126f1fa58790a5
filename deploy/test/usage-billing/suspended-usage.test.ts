import { applyChargeOutcome } from '@tollgate/domain/charging/apply-charge-outcome'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { beforeEach, expect, test } from 'vitest'
import { hybrid, UsageShop } from './usage-shop.ts'

/* A purchase is paid until 31 March, suspended on the 5th because the usage of February was not paid, and paid later. */

const usageShop = new UsageShop()
let purchase: Purchase
let failures = 0

const declining = async ({ invoiceRef }: { readonly invoiceRef: string }) => {
  failures += 1
  return { kind: 'declined', isFinal: false, failure: `${invoiceRef}:${failures}` } as const
}

beforeEach(async () => {
  purchase = await usageShop.buy(hybrid)
  await usageShop.use(purchase, 750, '2026-02-10T00:00:00Z')
  await usageShop.renew('2026-03-01T00:00:00Z')
  await usageShop.bill('2026-03-01T00:00:00Z', declining)
  for (const at of ['2026-03-01T05:00:00Z', '2026-03-02T05:00:00Z', '2026-03-05T05:00:00Z']) {
    await usageShop.runner.runJob('payment-retries', at, declining)
  }
  expect(await usageShop.now(purchase)).toMatchObject({
    status: 'suspended',
    nextBillingDate: new Date('2026-03-31T12:00:00Z'),
  })
})

async function payUsage(at: string): Promise<void> {
  usageShop.runner.clock.set(at)
  const [usage] = (await usageShop.invoicesOf(purchase)).filter(({ status }) => status === 'open')
  const { reference: invoiceRef, totalMinor: amountMinor, currency } = usage!
  const { customerRef, reference: purchaseRef } = purchase
  const { providerId } = usageShop.shop
  const by = { environment: 'sandbox', providerId, customerRef, purchaseRef } as const
  await usageShop.paying({ ...by, invoiceRef, amountMinor, currency, now: new Date(at) })
  await usageShop.runner.within(usageShop.shop, (work) =>
    applyChargeOutcome(work, invoiceRef, { kind: 'paid' }, { hours: [], jitterMs: 0 }),
  )
}

const pricedPeriods = async (): Promise<string[]> =>
  (await usageShop.invoicesOf(purchase))
    .flatMap(({ lines }) => lines)
    .filter(({ inputs }) => inputs.kind === 'recurring')
    .map(({ period }) => period!.start.toISOString())

test('charges no suspended months, and continues with the current month', async () => {
  await payUsage('2026-07-10T00:00:00Z')
  expect(await usageShop.now(purchase)).toMatchObject({
    status: 'active',
    nextBillingDate: new Date('2026-06-30T12:00:00Z'),
  })
  await usageShop.renew('2026-07-10T10:00:00Z')
  await usageShop.renew('2026-07-11T10:00:00Z')
  expect(await pricedPeriods()).toEqual(['2026-02-28T12:00:00.000Z', '2026-06-30T12:00:00.000Z'])
  expect((await usageShop.now(purchase)).nextBillingDate).toEqual(new Date('2026-07-31T12:00:00Z'))
})

test('does not charge the paid month again', async () => {
  await payUsage('2026-03-20T00:00:00Z')
  await usageShop.renew('2026-03-20T10:00:00Z')
  expect(await pricedPeriods()).toEqual(['2026-02-28T12:00:00.000Z'])
  expect(await usageShop.now(purchase)).toMatchObject({
    status: 'active',
    nextBillingDate: new Date('2026-03-31T12:00:00Z'),
  })
})
