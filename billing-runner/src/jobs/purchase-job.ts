import type { DueItem, SelectDue } from '@tollgate/domain/calendar/claims'
import { listPurchases, lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Queryable } from '@tollgate/platform/database/database'
import type { ItemJob, ItemOutcome } from './job.ts'

export type PurchaseJob<Decision> = {
  readonly name: string
  readonly selectDue: SelectDue
  /** What is to be done about the purchase as it is now. Reads what it depends on; changes nothing. */
  decide(at: DecidingAt, purchase: Purchase): Promise<Decision> | Decision
  /** Carries the decision out in the transaction that holds the purchase's row. */
  act(work: UnitOfWork, purchase: Purchase, decision: Decision): Promise<ItemOutcome>
  describe(decision: Decision): string
}

export type DecidingAt = {
  readonly sql: Queryable
  readonly providerId: string
  readonly now: Date
}

/** A job whose every decision is one transaction: lock, look again, act. */
export function purchaseJob<Decision>(job: PurchaseJob<Decision>): ItemJob {
  return {
    kind: 'items',
    name: job.name,
    selectDue: job.selectDue,
    perform: (turn, reference) =>
      turn.commit(async (work) => {
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
