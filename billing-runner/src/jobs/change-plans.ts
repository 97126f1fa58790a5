import {
  applyScheduledChange,
  postponeToRenewal,
  readDueChange,
} from '@tollgate/domain/billing/apply-scheduled-change'
import { dueChanges } from '@tollgate/domain/calendar/due-items'
import type { BegunCharge } from '@tollgate/domain/charging/charge-invoice'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { lockWithCustomer } from '@tollgate/domain/purchases/lock-with-customer'
import { listPurchases } from '@tollgate/domain/purchases/repository'
import type { DueChange } from '@tollgate/domain/purchases/decide-scheduled-change'
import type { Seller } from '@tollgate/domain/invoices/parties'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { beginCharge, collectInvoice, type Charging } from './collect-invoice.ts'
import type { ItemJob, ItemOutcome } from './job.ts'

type Changed = {
  readonly outcome: ItemOutcome
  /** The invoice of the change, which is charged after the commit. */
  readonly invoice?: Invoice | undefined
  readonly begun?: BegunCharge | undefined
}

/**
 * Creates the job that changes the plan of purchases at a scheduled time within a period. Order: one transaction replaces the purchase
 * and issues the invoice of the difference; the invoice is charged. After a crash in between, the open invoice is charged like any
 * other. A declined charge makes the new purchase past due, as a declined renewal does.
 */
export function createPlanChanges(charging: Charging): ItemJob {
  return {
    kind: 'items',
    name: 'plan-changes',
    due: dueChanges,
    perform: async (context, reference) => {
      const seller = await context.readProvider()
      const { outcome, invoice, begun } = await context.commit((work) =>
        change(work, reference, seller, charging),
      )
      if (invoice !== undefined) await collectInvoice(context, invoice, charging, begun)
      return outcome
    },
    explain: async (sql, { providerId, item }, now) => {
      const [purchase] = await listPurchases(sql, providerId, { reference: item, rowsMax: 1 })
      if (purchase === undefined) return 'gone'
      return describe(await readDueChange({ sql, providerId, now }, purchase))
    },
  }
}

async function change(
  work: UnitOfWork,
  reference: string,
  seller: Seller,
  charging: Charging,
): Promise<Changed> {
  const held = await lockWithCustomer(work, reference)
  if (held === undefined) return { outcome: 'nothing' }
  const decision = await readDueChange(work, held)
  switch (decision.kind) {
    case 'nothing':
      return { outcome: 'nothing' }
    case 'wait':
      return { outcome: 'postponed' }
    case 'renewal':
      await postponeToRenewal(work, held, decision.at)
      return { outcome: 'done' }
    case 'change': {
      const { purchase, invoice } = await applyScheduledChange(work, held, decision, seller)
      const begun = invoice && (await beginCharge(work, invoice, purchase, charging))
      return { outcome: 'done', invoice, begun }
    }
  }
}

function describe(decision: DueChange): string {
  switch (decision.kind) {
    case 'nothing':
      return 'nothing'
    case 'wait':
      return 'wait for a renewal that is due, or for the payment of older invoices'
    case 'renewal':
      return `change the plan with the renewal on ${decision.at.toISOString()}`
    case 'change':
      return `change to ${decision.plan.reference} now`
  }
}
