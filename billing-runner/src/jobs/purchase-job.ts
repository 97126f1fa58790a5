import type { DueItem } from '@tollgate/domain/calendar/claims'
import type { DueItems } from '@tollgate/domain/calendar/due-items'
import { listPurchases, lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Queryable } from '@tollgate/platform/database/database'
import type { ItemJob, ItemOutcome } from './job.ts'

export type PurchaseJob<Decision> = {
  readonly name: string
  readonly due: DueItems
  /** Decides what to do with the purchase in its current state. Reads what the decision depends on, and changes nothing. */
  decide(at: DecisionContext, purchase: Purchase): Promise<Decision> | Decision
  /** Applies the decision in the transaction that holds the lock on the purchase. */
  act(work: UnitOfWork, purchase: Purchase, decision: Decision): Promise<ItemOutcome>
  describe(decision: Decision): string
}

export type DecisionContext = {
  readonly sql: Queryable
  readonly providerId: string
  readonly now: Date
}

/** Creates a job that processes each purchase in one transaction: lock the purchase, decide, act. */
export function createPurchaseJob<Decision>(job: PurchaseJob<Decision>): ItemJob {
  return {
    kind: 'items',
    name: job.name,
    due: job.due,
    perform: (context, reference) =>
      context.commit(async (work) => {
        const purchase = await lockPurchase(work.sql, work.providerId, reference)
        if (purchase === undefined) return 'nothing'
        return job.act(work, purchase, await job.decide(work, purchase))
      }),
    explain: async (sql: Queryable, { providerId, item }: DueItem, now) => {
      const [purchase] = await listPurchases(sql, providerId, { reference: item, rowsMax: 1 })
      if (purchase === undefined) return 'gone'
      return job.describe(await job.decide({ sql, providerId, now }, purchase))
    },
  }
}
