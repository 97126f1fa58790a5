import { selectDuePacks } from '@tollgate/domain/calendar/due-items'
import type { MeasuringParts } from '@tollgate/domain/billing/measure-usage'
import { endUsedUpPacks } from '@tollgate/domain/billing/end-used-up-packs'
import type { AccountName } from '@tollgate/domain/packs/repository'
import {
  applySettlement,
  explainSettlement,
  measureSettlement,
  prepareSettlement,
} from '@tollgate/domain/billing/settle-packs'
import type { ItemContext, ItemJob, ItemOutcome } from './job.ts'

/** Largest number of settlements in one run of an item. A runner that was away for long continues in the next run. */
const settlementsMax = 100

/**
 * Settles what packs pay for when a period or a pack ends, and takes back refunded units. Order of each settlement: what is due is
 * read and committed; usage is summed up with no transaction open; the units are drawn in one transaction, which also moves the
 * account on. After a crash in between, the account is still due, and nothing was drawn.
 */
export function createPackSettlement(measuring: MeasuringParts): ItemJob {
  return {
    kind: 'items',
    name: 'pack-settlement',
    selectDue: selectDuePacks,
    perform: async (context, item) => {
      const name = accountOf(item)
      for (let settled = 0; settled < settlementsMax; settled += 1) {
        const outcome = await settleNext(measuring, context, name)
        if (outcome === 'settled') continue
        await endUsedUpPacks(context, name)
        return settled > 0 ? 'done' : outcome
      }
      return 'postponed'
    },
    explain: async (sql, { providerId, item }, now) => {
      const decision = await explainSettlement({ sql, providerId }, accountOf(item), now)
      if (decision === undefined) return 'gone'
      return decision.kind === 'wait'
        ? `wait until ${decision.dueAt?.toISOString() ?? 'another pack is bought'}`
        : `settle the units used until ${decision.settlement.at.toISOString()}`
    },
  }
}

async function settleNext(
  measuring: MeasuringParts,
  context: ItemContext,
  name: AccountName,
): Promise<ItemOutcome | 'settled'> {
  const prepared = await context.commit((work) => prepareSettlement(work, name))
  switch (prepared.kind) {
    case 'nothing':
      return 'nothing'
    case 'noted':
      return 'done'
    case 'due': {
      const measured = await measureSettlement(measuring, context, prepared)
      await context.commit((work) => applySettlement(work, prepared, measured))
      return 'settled'
    }
  }
}

/** Returns the item of an account. References contain no slash. */
export function packItem({ customerRef, productRef }: AccountName): string {
  return `${customerRef}/${productRef}`
}

function accountOf(item: string): AccountName {
  const [customerRef = '', productRef = ''] = item.split('/')
  return { customerRef, productRef }
}
