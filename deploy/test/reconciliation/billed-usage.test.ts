import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import { linkReference } from '@tollgate/domain/customers/repository'
import { publishPending } from '@tollgate/domain/publishing/publisher'
import { publisherOf } from '@tollgate/billing-runner/open-parts'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase } from '@tollgate/domain/purchases/repository'
import { expect, test } from 'vitest'
import { postPaid, UsageShop } from '../usage-billing/usage-shop.ts'

/* The billed usage of invoices compared with the sum of the records. */

const usageShop = new UsageShop()

async function reconcile(at: string): Promise<{ compared: number; findings: string[] }> {
  const { clock, parts } = usageShop.runner
  clock.set(at)
  await publishPending(publisherOf(parts), 1_000)
  const { providerId } = usageShop.shop
  const request = { environment: 'sandbox', providerId, since: new Date('2026-01-01') } as const
  const { reports } = await runReconciliation(usageShop.runner.config(), parts, request)
  const [report] = reports
  expect(report!.gaps).toEqual([])
  return {
    compared: report!.compared.billed_usage ?? 0,
    findings: report!.findings.map(
      ({ kind, reference, ours, theirs }) => `${kind} ${reference}: ${ours} | ${theirs}`,
    ),
  }
}

test('confirms issued bills after later records, links and ends', async () => {
  const first = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  const externalRef = `user-${first.reference}`
  await usageShop.use(first, 90, '2026-02-10T00:00:00Z')
  await usageShop.useLate({ customerRef: externalRef }, 7.25, '2026-02-11T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  // The reference is linked to the customer after billing, so its usage is late.
  await usageShop.runner.within(usageShop.shop, ({ sql, providerId }) =>
    linkReference(
      sql,
      providerId,
      first.customerRef,
      externalRef,
      new Date('2026-02-28T14:00:00Z'),
    ),
  )
  await usageShop.useLate(first, 30, '2026-02-20T00:00:00Z')
  expect(await reconcile('2026-02-28T15:00:00Z')).toEqual({ compared: 1, findings: [] })
  await usageShop.use(first, 100, '2026-03-16T00:00:00Z')
  await usageShop.bill('2026-03-31T13:00:00Z')
  const [, second] = await usageShop.invoicesOf(first)
  expect(second!.lines[0]!.inputs).toMatchObject({ kind: 'late_usage', lateUnits: '37.25' })
  usageShop.runner.clock.set('2026-04-02T06:00:00Z')
  await usageShop.runner.within(usageShop.shop, async (work) => {
    const held = await lockPurchase(work.sql, work.providerId, first.reference)
    await endNow(work, held!, 'expired')
  })
  const plan = await usageShop.runner.addPlan(usageShop.shop, { ...postPaid, freeUnits: 0 })
  await usageShop.use(first, 20, '2026-04-02T05:58:00Z')
  usageShop.runner.clock.set('2026-04-02T06:00:30Z')
  const next = await usageShop.runner.buy(usageShop.shop, plan, { customerRef: first.customerRef })
  await usageShop.use(next, 50, '2026-04-02T07:00:00Z')
  await usageShop.bill('2026-05-03T00:00:00Z')
  expect(await reconcile('2026-05-03T01:00:00Z')).toEqual({ compared: 5, findings: [] })
})

test('finds a missing record that is on an invoice', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 90, '2026-02-10T00:00:00Z')
  await usageShop.use(purchase, 12.5, '2026-02-11T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  expect((await reconcile('2026-02-28T14:00:00Z')).findings).toEqual([])
  await usageShop.runner.parts.usageStore.command(
    `DELETE FROM sandbox.usage_records
     WHERE customer_ref = '${purchase.customerRef}' AND value = 12.5`,
  )
  const [invoice] = await usageShop.invoicesOf(purchase)
  expect((await reconcile('2026-03-01T00:00:00Z')).findings).toEqual([
    `billed_usage ${invoice!.reference}: line 1 billed 102.5 | recorded 90`,
  ])
})
