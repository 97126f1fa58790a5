import { z } from 'zod'
import { findCustomerReference } from '@tollgate/domain/customers/repository'
import { listPaymentsOf, type InvoicePayment } from '@tollgate/domain/payments/payments'
import { listRefundsOfInvoice } from '@tollgate/domain/payments/refunds-of-invoice'
import { listDecisions } from '@tollgate/domain/invoice-decisions/repository'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  invoiceSchema,
  invoicesPageSchema,
  invoicesQuerySchema,
  type InvoiceBody,
} from '@tollgate/schemas/http/invoices'
import { refusals } from '../../errors.ts'
import type { PrintedInvoice } from '../../invoices/invoice-texts.ts'
import { readInvoice } from '../../invoices/read-invoice.ts'
import { readBrand } from '../../invoices/read-brand.ts'
import { renderCreditNote, renderInvoice } from '../../invoices/render-invoice.ts'
import { sendDocument } from '../../invoices/send-document.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { invoiceSummaryToHttp, invoiceToHttp } from '../translate/invoice.ts'

const params = z.object({ invoiceRef: requiredReference })

export function registerInvoiceRoutes(app: ApiServer, parts: ReadParts): void {
  app.get(
    '/v1/ui/invoices',
    {
      schema: {
        tags: ['Invoices'],
        querystring: invoicesQuerySchema,
        response: { 200: invoicesPageSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { status, customerRef, purchaseRef } = request.query
      const page = clampPage(request.query)
      const found = await read(parts, caller, async (sql) => {
        const ownRef = customerRef
          ? await findCustomerReference(sql, caller.providerId, customerRef)
          : undefined
        // A filter that matches no customer returns an empty list, as in other lists.
        if (customerRef && ownRef === undefined) {
          return { invoices: [], total: 0, payments: new Map<string, InvoicePayment[]>() }
        }
        const filter = {
          status,
          customerRef: ownRef,
          purchaseRef: purchaseRef || undefined,
        }
        const listed = await listInvoices(sql, caller.providerId, filter, page)
        const references = listed.invoices.map(({ reference }) => reference)
        return { ...listed, payments: await listPaymentsOf(sql, caller.providerId, references) }
      })
      const invoices = found.invoices.map((each) => {
        const payments = found.payments.get(each.reference) ?? []
        return invoiceSummaryToHttp(each, payments, caller.environment)
      })
      return { invoices, total: found.total, ...page }
    },
  )

  app.get(
    '/v1/ui/invoices/:invoiceRef',
    { schema: { tags: ['Invoices'], params, response: { 200: invoiceSchema } } },
    async (request) => {
      const caller = callerOf(request)
      return readInvoiceBody(parts, caller, request.params.invoiceRef)
    },
  )

  registerDocuments(app, parts)
}

const noteParams = params.extend({ creditNoteRef: requiredReference })

/** Registers the routes that return invoices and credit notes as PDF files. */
function registerDocuments(app: ApiServer, parts: ReadParts): void {
  app.get(
    '/v1/ui/invoices/:invoiceRef/pdf',
    { schema: { tags: ['Invoices'], params } },
    async (request, reply) => {
      const caller = callerOf(request)
      const found = await requireInvoice(parts, caller, request.params.invoiceRef)
      const brand = await readBrand(parts, caller)
      return sendDocument(reply, await renderInvoice(found, brand, caller.environment))
    },
  )

  app.get(
    '/v1/ui/invoices/:invoiceRef/credit-notes/:creditNoteRef/pdf',
    { schema: { tags: ['Invoices'], params: noteParams } },
    async (request, reply) => {
      const caller = callerOf(request)
      const { invoiceRef, creditNoteRef } = request.params
      const { invoice, creditNotes } = await requireInvoice(parts, caller, invoiceRef)
      const note = creditNotes.find(({ reference }) => reference === creditNoteRef)
      if (note === undefined) throw refusals.creditNoteNotFound(creditNoteRef)
      const brand = await readBrand(parts, caller)
      return sendDocument(
        reply,
        await renderCreditNote({ note, invoice }, brand, caller.environment),
      )
    },
  )
}

/** Reads an invoice with everything that was decided about it. */
export async function readInvoiceBody(
  parts: ReadParts,
  caller: Caller,
  reference: string,
): Promise<InvoiceBody> {
  const found = await requireInvoice(parts, caller, reference)
  const decided = await read(parts, caller, async (sql) => ({
    decisions: await listDecisions(sql, caller.providerId, reference),
    refunds: await listRefundsOfInvoice(sql, caller.providerId, reference),
  }))
  return invoiceToHttp(found, decided, caller.environment)
}

async function requireInvoice(
  parts: ReadParts,
  caller: Caller,
  reference: string,
): Promise<PrintedInvoice> {
  const found = await readInvoice(parts, caller, reference)
  if (found === undefined) throw refusals.invoiceNotFound(reference)
  return found
}
