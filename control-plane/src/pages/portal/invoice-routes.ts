import { z } from 'zod'
import { listBalances } from '@tollgate/domain/invoices/carried-amounts'
import { listCreditNotesByInvoice } from '@tollgate/domain/invoices/credit-notes'
import { listPaymentsOf } from '@tollgate/domain/payments/payments'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../access/api-server.ts'
import { read, type ReadParts } from '../../access/read.ts'
import type { PrintedInvoice } from '../../invoices/invoice-texts.ts'
import { readBrand } from '../../invoices/read-brand.ts'
import { readInvoice } from '../../invoices/read-invoice.ts'
import { renderCreditNote, renderInvoice } from '../../invoices/render-invoice.ts'
import { sendDocument } from '../../invoices/send-document.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { InvoicesPage } from './invoices-page.tsx'
import { doneNotice, type NoticeTable } from './done-notice.ts'
import { portalOf, portalPath, type Portal } from './portal.ts'

const path = `${portalPath}/:handle/invoices`
const params = z.object({ handle: z.string(), invoiceRef: requiredReference })
const noteParams = params.extend({ creditNoteRef: requiredReference })

/** Maximum number of invoices on the page: several years of monthly invoices. */
const invoicesShownMax = 200

const notices: NoticeTable = { paid: { tone: 'good', text: 'portal:thanksPaid' } }

/**
 * Registers the pages with the customer's issued invoices and credit notes, each as a document for download. Drafts are not shown.
 */
export function registerInvoicePages(app: ApiServer, pages: ReadParts): void {
  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    const portal = portalOf(request)
    const { caller, customer } = portal
    const filter = { customerRef: customer.reference }
    const page = { limit: invoicesShownMax, offset: 0 }
    const { invoices, payments, creditNotes, balances } = await read(pages, caller, async (sql) => {
      const found = await listInvoices(sql, caller.providerId, filter, page)
      const references = found.invoices.map(({ reference }) => reference)
      return {
        ...found,
        payments: await listPaymentsOf(sql, caller.providerId, references),
        creditNotes: await listCreditNotesByInvoice(sql, caller.providerId, references),
        balances: await listBalances(sql, caller.providerId, customer.reference),
      }
    })
    const issued = invoices.filter(({ status }) => status !== 'draft')
    const notice = doneNotice(request, notices)
    const shown = { portal, invoices: issued, payments, creditNotes, balances, notice }
    return sendPage(reply, 200, InvoicesPage(shown))
  })

  app.get(`${path}/:invoiceRef`, { schema: { hide: true, params } }, async (request, reply) => {
    const { caller } = portalOf(request)
    const printed = await requireIssued(pages, portalOf(request), request.params.invoiceRef)
    const brand = await readBrand(pages, caller)
    return sendDocument(reply, await renderInvoice(printed, brand, caller.environment))
  })

  app.get(
    `${path}/:invoiceRef/credit-notes/:creditNoteRef`,
    { schema: { hide: true, params: noteParams } },
    async (request, reply) => {
      const { caller, frame } = portalOf(request)
      const { invoiceRef, creditNoteRef } = request.params
      const { invoice, creditNotes } = await requireIssued(pages, portalOf(request), invoiceRef)
      const note = creditNotes.find(({ reference }) => reference === creditNoteRef)
      if (note === undefined) throw new ProblemError(problems.notFound, frame)
      const brand = await readBrand(pages, caller)
      return sendDocument(
        reply,
        await renderCreditNote({ note, invoice }, brand, caller.environment),
      )
    },
  )
}

/** Returns the customer's own invoice, but no draft. */
async function requireIssued(
  pages: ReadParts,
  { caller, customer, frame }: Portal,
  invoiceRef: string,
): Promise<PrintedInvoice> {
  const printed = await readInvoice(pages, caller, invoiceRef)
  const isTheirs = printed?.invoice.customerRef === customer.reference
  if (!isTheirs || printed.invoice.status === 'draft') {
    throw new ProblemError(problems.notFound, frame)
  }
  return printed
}
