import { selectGivenUp } from '@tollgate/domain/calendar/due-invoices'
import { giveUpInvoice } from '@tollgate/domain/billing/give-up-invoice'
import type { ItemJob } from './job.ts'

/** Creates the job that writes off invoices that could not be charged and have not changed for `quietMs`. */
export function createWriteOffs(quietMs: number): ItemJob {
  return {
    kind: 'items',
    name: 'write-offs',
    selectDue: selectGivenUp(quietMs),
    perform: async (context, reference) => {
      const quietSince = new Date(context.now.getTime() - quietMs)
      const isDone = await context.commit((work) => giveUpInvoice(work, reference, quietSince))
      return isDone ? 'done' : 'postponed'
    },
    explain: () => Promise.resolve('write it off'),
  }
}
