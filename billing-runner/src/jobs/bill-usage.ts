import { usageToBill } from '@tollgate/domain/calendar/due-items'
import { billUsage } from '@tollgate/domain/billing/bill-usage'
import { decideUsageBill, type UsageDelays } from '@tollgate/domain/billing/decide-usage-bill'
import { measureUsage, type MeasuringParts } from '@tollgate/domain/billing/measure-usage'
import {
  prepareUsageBill,
  type PreparedUsageBill,
  type UsageToBill,
} from '@tollgate/domain/billing/prepare-usage-bill'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import { beginCharge, collectInvoice, type Charging } from './collect-invoice.ts'
import type { ItemJob, ItemOutcome, ItemContext } from './job.ts'
import { packItem } from './settle-packs.ts'

export type UsageBilling = {
  readonly charging: Charging
  readonly measuring: MeasuringParts
  readonly delays: UsageDelays
  /** Renews purchases whose price is charged after the usage. */
  readonly renewals: Pick<ItemJob, 'perform' | 'explain'>
  /** Settles packs, which pay for usage before it is billed. */
  readonly packs: Pick<ItemJob, 'perform'>
}

/**
 * Bills the usage of periods that have ended. Order: the due period is read and committed; the usage is summed up with no
 * transaction open; the invoice is issued in one transaction with the note that the period is billed; the invoice is charged. After
 * a crash before the invoice, the next attempt starts from the beginning. After a crash behind it, the period is no longer due, and
 * the open invoice is charged like any other. A price that is charged after the usage is charged last; after a crash before that,
 * the purchase is found due for it again.
 */
export function createUsageBilling(billing: UsageBilling): ItemJob {
  const { measuring, delays, renewals, packs } = billing
  return {
    kind: 'items',
    name: 'usage-billing',
    due: usageToBill(delays.graceMs),
    perform: async (context, reference) => {
      const prepare = (): Promise<PreparedUsageBill> =>
        context.commit((work) => prepareUsageBill(work, reference, delays))
      const first = await prepare()
      if (first.kind === 'unsettled') await packs.perform(context, packItem(first.purchase))
      const prepared = first.kind === 'unsettled' ? await prepare() : first
      switch (prepared.kind) {
        case 'nothing':
          return 'nothing'
        case 'wait':
          if (!isPaidAfterUsage(prepared.purchase)) return 'postponed'
          return await renewals.perform(context, reference)
        case 'unsettled':
          return 'postponed'
        case 'aligned':
          return 'done'
        case 'due':
          return await bill(billing, context, prepared.toBill)
      }
    },
    explain: async (sql, { providerId, item }, now) => {
      const [purchase] = await listPurchases(sql, providerId, { reference: item, rowsMax: 1 })
      if (purchase === undefined) return 'gone'
      const decision = decideUsageBill(purchase, now, delays)
      return decision.kind === 'wait' && isPaidAfterUsage(purchase)
        ? await renewals.explain(sql, { providerId, item }, now)
        : describe(decision)
    },
  }

  async function bill(
    { charging }: UsageBilling,
    context: ItemContext,
    toBill: UsageToBill,
  ): Promise<ItemOutcome> {
    const { environment, providerId } = context
    const measured = await measureUsage(measuring, environment, providerId, toBill)
    const seller = await context.readProvider()
    const { billed, begun } = await context.commit(async (work) => {
      const issued = await billUsage(work, toBill, measured, seller)
      if (issued.kind !== 'invoiced') return { billed: issued, begun: undefined }
      const begun = await beginCharge(work, issued.invoice, toBill.purchase, charging)
      return { billed: issued, begun }
    })
    // A concurrent change may have billed the usage. If it did not, the purchase is found due again.
    if (billed.kind === 'changed') return 'nothing'
    if (billed.kind === 'invoiced') await collectInvoice(context, billed.invoice, charging, begun)
    if (!isPaidAfterUsage(toBill.purchase)) return 'done'
    const renewed = await renewals.perform(context, toBill.purchase.reference)
    return renewed === 'postponed' ? 'postponed' : 'done'
  }
}

function isPaidAfterUsage({ planSnapshot }: Purchase): boolean {
  return planSnapshot?.terms.billingStrategy === 'usage_first'
}

function describe(decision: ReturnType<typeof decideUsageBill>): string {
  switch (decision.kind) {
    case 'nothing':
      return 'nothing'
    case 'wait':
      return 'wait for late usage'
    case 'align':
      return `set the next usage bill to ${decision.billingDates.nextUsageBillAt?.toISOString() ?? 'none'}`
    case 'bill': {
      const { start, end } = decision.period
      return `bill the usage from ${start.toISOString()} until ${end.toISOString()}`
    }
    case 'close':
      return 'bill late usage for the last time'
  }
}
