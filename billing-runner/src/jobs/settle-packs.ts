import { duePacks } from '@tollgate/domain/calendar/due-items'
import type { MeasuringParts } from '@tollgate/domain/billing/measure-usage'
import { endUsedUpPacks } from '@tollgate/domain/billing/end-used-up-packs'
import type { AccountName } from '@tollgate/domain/packs/repository'
import { settleDuePacks } from '@tollgate/domain/billing/settle-due-packs'
import { explainSettlement } from '@tollgate/domain/billing/settle-packs'
import type { ItemJob } from './job.ts'

/** Settles what packs pay for when a period or a pack ends, and takes back refunded units. */
export function createPackSettlement(measuring: MeasuringParts): ItemJob {
  return {
    kind: 'items',
    name: 'pack-settlement',
    due: duePacks,
    perform: async (context, item) => {
      const name = accountOf(item)
      const { settlements, left } = await settleDuePacks(measuring, context, name)
      // A runner that was away for long continues in the next run.
      if (left === 'some') return 'postponed'
      await endUsedUpPacks(context, name)
      return settlements === 0 && left === 'none' ? 'nothing' : 'done'
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

/** Returns the item of an account. References contain no slash. */
export function packItem({ customerRef, productRef }: AccountName): string {
  return `${customerRef}/${productRef}`
}

function accountOf(item: string): AccountName {
  const [customerRef = '', productRef = ''] = item.split('/')
  return { customerRef, productRef }
}
