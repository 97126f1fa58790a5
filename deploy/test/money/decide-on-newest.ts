import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import type { InvoiceChange } from '@tollgate/domain/invoice-decisions/invoice-decision'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import { sendRefund } from '@tollgate/domain/settlement/send-refund'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { CrashingService } from './crashing-service.ts'
import type { ProviderAct } from './provider-act.ts'
import type { Seller } from './seller.ts'

type Decide = Extract<ProviderAct<string>, { readonly do: 'decide' }>

/**
 * Decides about the newest invoice of the customer. A part is a fixed amount, which may exceed what is left. A refund to the card is
 * sent to the processor, as by the API.
 */
export async function decideOnNewest(
  service: CrashingService,
  { shop, customer }: Seller,
  act: Decide,
): Promise<void> {
  const operation = service.operation(shop.providerId)
  const refundRef = await service.parts.commit(operation, (work) =>
    decide(work, customer.reference, act),
  )
  if (refundRef !== null) await sendRefund(service.parts, operation, refundRef)
}

/** Returns the reference of the refund, null if nothing was refunded. */
async function decide(
  work: UnitOfWork,
  customerRef: string,
  { what, isPart }: Decide,
): Promise<string | null> {
  const { sql, providerId } = work
  const page = { limit: 1, offset: 0 }
  const { invoices } = await listInvoices(sql, providerId, { customerRef }, page)
  const [newest] = invoices
  if (newest === undefined) return null
  const change = changeOf(what, isPart ? 150n : undefined)
  const request = { invoiceRef: newest.reference, change, reason: 'decided' }
  const outcome = await decideOnInvoice(work, request)
  return outcome.kind === 'decided' ? outcome.decision.refundRef : null
}

function changeOf(what: Decide['what'], amountMinor: bigint | undefined): InvoiceChange {
  switch (what) {
    case 'credited':
    case 'paid_outside':
      return { kind: what, amountMinor }
    case 'voided':
    case 'written_off':
      return { kind: what }
    case 'refunded to card':
      return { kind: 'refunded', goesTo: 'card', amountMinor }
    case 'refunded to balance':
      return { kind: 'refunded', goesTo: 'balance', amountMinor }
  }
}
