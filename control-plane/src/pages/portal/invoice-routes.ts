import { z } from 'zod'
import { listCreditNotes } from '@tollgate/domain/invoices/credit-notes'
import { listLines } from '@tollgate/domain/invoices/lines'
import { findInvoice, listInvoices } from '@tollgate/domain/invoices/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../http/api-server.ts'
import { read } from '../../http/read.ts'
import { renderInvoice } from '../../invoices/render-invoice.ts'
import type { PageParts } from '../frame.ts'
import { sendPage } from '../page.tsx'
import type { Notice } from '../notice.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { InvoicesPage } from './invoices-page.tsx'
import { portalOf, portalPath } from './portal.ts'

const path = `${portalPath}/:handle/invoices`
const params = z.object({ handle: z.string(), invoiceRef: requiredReference })

/** Invoices and receipts of one page: years of months. */
const invoicesShownMax = 200

const paid: Notice = { tone: 'good', text: 'Thank you. The invoice is paid.' }

/** What was issued to the customer, and each of it as a document to keep. Drafts are nobody's business yet. */
export function registerInvoicePages(app: ApiServer, pages: PageParts): void {
  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    const portal = portalOf(request)
    const { caller, customer } = portal
    const filter = { customerRef: customer.reference }
    const { invoices } = await read(pages, caller, (sql) =>
      listInvoices(sql, caller.providerId, filter, { limit: invoicesShownMax, offset: 0 }),
    )
    const issued = invoices.filter(({ status }) => status !== 'draft')
    const { done } = request.query as { readonly done?: unknown }
    const notice = done === 'paid' ? paid : undefined
    return sendPage(reply, 200, InvoicesPage({ portal, invoices: issued, notice }))
  })

  app.get(`${path}/:invoiceRef`, { schema: { hide: true, params } }, async (request, reply) => {
    const { caller, customer, frame } = portalOf(request)
    const { providerId, environment } = caller
    const { invoiceRef } = request.params
    const printed = await read(pages, caller, async (sql) => {
      const invoice = await findInvoice(sql, providerId, invoiceRef)
      if (invoice?.customerRef !== customer.reference || invoice.status === 'draft') return
      const lines = await listLines(sql, providerId, invoiceRef)
      const creditNotes = await listCreditNotes(sql, providerId, invoiceRef)
      return { invoice: { ...invoice, lines }, creditNotes }
    })
    if (printed === undefined) throw new ProblemError(problems.notFound, frame)
    return reply
      .type('application/pdf')
      .header('content-disposition', `inline; filename="${invoiceRef}.pdf"`)
      .send(await renderInvoice(printed, environment))
  })
}
