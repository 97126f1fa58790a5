import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import { linkReference } from '@tollgate/domain/customers/repository'
import { publishPending } from '@tollgate/domain/publishing/publisher'
import { publisherOf } from '@tollgate/billing-runner/open-parts'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase } from '@tollgate/domain/purchases/repository'
import { expect, test } from 'vitest'
import { postPaid, UsageShop } from '../usage-billing/usage-shop.ts'

/* The billed usage of invoices compared with the sum of the records. */

const of = new UsageShop()

async function reconcile(at: string): Promise<{ compared: number; findings: string[] }> {
  const { clock, parts } = of.runner
  clock.set(at)
  await publishPending(publisherOf(parts), 1_000)
  const { providerId } = of.shop
  const asked = { environment: 'sandbox', providerId, since: new Date('2026-01-01') } as const
  const { reports } = await runReconciliation(of.runner.config(), parts, asked)
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
  const first = await of.buy({ ...postPaid, freeUnits: 0 })
  const externalRef = `user-${first.reference}`
  await of.use(first, 90, '2026-02-10T00:00:00Z')
  await of.useLate({ customerRef: externalRef }, 7.25, '2026-02-11T00:00:00Z')
  await of.bill('2026-02-28T13:00:00Z')
  // The reference is linked to the customer after billing, so its usage is late.
  await of.runner.within(of.shop, ({ sql, providerId }) =>
    linkReference(
      sql,
      providerId,
      first.customerRef,
      externalRef,
      new Date('2026-02-28T14:00:00Z'),
    ),
  )
  await of.useLate(first, 30, '2026-02-20T00:00:00Z')
  expect(await reconcile('2026-02-28T15:00:00Z')).toEqual({ compared: 1, findings: [] })
  await of.use(first, 100, '2026-03-16T00:00:00Z')
  await of.bill('2026-03-31T13:00:00Z')
  const [, second] = await of.invoicesOf(first)
  expect(second!.lines[0]!.inputs).toMatchObject({ kind: 'late_usage', lateUnits: '37.25' })
  of.runner.clock.set('2026-04-02T06:00:00Z')
  await of.runner.within(of.shop, async (work) => {
    const held = await lockPurchase(work.sql, work.providerId, first.reference)
    await endNow(work, held!, 'expired')
  })
  const plan = await of.runner.addPlan(of.shop, { ...postPaid, freeUnits: 0 })
  await of.use(first, 20, '2026-04-02T05:58:00Z')
  of.runner.clock.set('2026-04-02T06:00:30Z')
  const next = await of.runner.buy(of.shop, plan, { customerRef: first.customerRef })
  await of.use(next, 50, '2026-04-02T07:00:00Z')
  await of.bill('2026-05-03T00:00:00Z')
  expect(await reconcile('2026-05-03T01:00:00Z')).toEqual({ compared: 5, findings: [] })
})

test('finds a missing record that is on an invoice', async () => {
  const purchase = await of.buy({ ...postPaid, freeUnits: 0 })
  await of.use(purchase, 90, '2026-02-10T00:00:00Z')
  await of.use(purchase, 12.5, '2026-02-11T00:00:00Z')
  await of.bill('2026-02-28T13:00:00Z')
  expect((await reconcile('2026-02-28T14:00:00Z')).findings).toEqual([])
  await of.runner.parts.usageStore.command(
    `DELETE FROM sandbox.usage_records
     WHERE customer_ref = '${purchase.customerRef}' AND value = 12.5`,
  )
  const [invoice] = await of.invoicesOf(purchase)
  expect((await reconcile('2026-03-01T00:00:00Z')).findings).toEqual([
    `billed_usage ${invoice!.reference}: line 1 billed 102.5 | recorded 90`,
  ])
})
