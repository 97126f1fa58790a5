import { uncollectedInvoices } from '@tollgate/domain/calendar/due-items'
import { endCollection } from '@tollgate/domain/billing/end-collection'
import type { ItemJob } from './job.ts'

/** Creates the job that writes off invoices that could not be charged and have not changed for `quietMs`. */
export function createWriteOffs(quietMs: number): ItemJob {
  return {
    kind: 'items',
    name: 'write-offs',
    due: uncollectedInvoices(quietMs),
    perform: async (context, reference) => {
      const quietSince = new Date(context.now.getTime() - quietMs)
      const isDone = await context.commit((work) => endCollection(work, reference, quietSince))
      return isDone ? 'done' : 'postponed'
    },
    explain: () => Promise.resolve('write it off'),
  }
}
