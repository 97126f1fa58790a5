import { z } from 'zod'
import { listPaymentsOf } from '@tollgate/domain/invoices/payments'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../http/api-server.ts'
import { read } from '../../http/read.ts'
import { readInvoice } from '../../invoices/read-invoice.ts'
import { renderInvoice } from '../../invoices/render-invoice.ts'
import type { PageParts } from '../frame.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { InvoicesPage } from './invoices-page.tsx'
import { noticeOfDone, type NoticeTable } from './notice-of-done.ts'
import { portalOf, portalPath } from './portal.ts'

const path = `${portalPath}/:handle/invoices`
const params = z.object({ handle: z.string(), invoiceRef: requiredReference })

/** Invoices and receipts of one page: years of months. */
const invoicesShownMax = 200

const notices: NoticeTable = { paid: { tone: 'good', text: 'portal:thanksPaid' } }

/** What was issued to the customer, and each of it as a document to keep. Drafts are nobody's business yet. */
export function registerInvoicePages(app: ApiServer, pages: PageParts): void {
  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    const portal = portalOf(request)
    const { caller, customer } = portal
    const filter = { customerRef: customer.reference }
    const page = { limit: invoicesShownMax, offset: 0 }
    const { invoices, payments } = await read(pages, caller, async (sql) => {
      const found = await listInvoices(sql, caller.providerId, filter, page)
      const references = found.invoices.map(({ reference }) => reference)
      return { ...found, payments: await listPaymentsOf(sql, caller.providerId, references) }
    })
    const issued = invoices.filter(({ status }) => status !== 'draft')
    const notice = noticeOfDone(request, notices)
    return sendPage(reply, 200, InvoicesPage({ portal, invoices: issued, payments, notice }))
  })

  app.get(`${path}/:invoiceRef`, { schema: { hide: true, params } }, async (request, reply) => {
    const { caller, customer, frame } = portalOf(request)
    const { invoiceRef } = request.params
    const printed = await readInvoice(pages, caller, invoiceRef)
    const isTheirs = printed?.invoice.customerRef === customer.reference
    if (!isTheirs || printed.invoice.status === 'draft') {
      throw new ProblemError(problems.notFound, frame)
    }
    return reply
      .type('application/pdf')
      .header('content-disposition', `inline; filename="${invoiceRef}.pdf"`)
      .send(await renderInvoice(printed, caller.environment))
  })
}
