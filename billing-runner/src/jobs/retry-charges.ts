import { dueCharges } from '@tollgate/domain/calendar/due-items'
import { findInvoice } from '@tollgate/domain/invoices/repository'
import { collectInvoice, type Charging } from './collect-invoice.ts'
import type { ItemJob } from './job.ts'

/**
 * Creates the job that charges due invoices: those whose charge failed, and those whose charge was never attempted because of a
 * crash.
 */
export function createRetries(charging: Charging): ItemJob {
  return {
    kind: 'items',
    name: 'payment-retries',
    due: dueCharges,
    perform: async (context, reference) => {
      const { now } = context
      const invoice = await context.commit(({ sql, providerId }) =>
        findInvoice(sql, providerId, reference),
      )
      const at = invoice?.nextChargeAt ?? null
      if (invoice === undefined || at === null || at > now) return 'nothing'
      return collectInvoice(context, invoice, charging)
    },
    explain: async (sql, { providerId, item }) => {
      const invoice = await findInvoice(sql, providerId, item)
      if (invoice === undefined) return 'gone'
      return `charge again, failed charges so far: ${invoice.failedCharges}`
    },
  }
}
