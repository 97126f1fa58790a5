import { z } from 'zod'
import { findCustomer } from '@tollgate/domain/customers/repository'
import { documentNumberText } from '@tollgate/domain/invoices/invoice'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  invoiceSchema,
  invoicesPageSchema,
  invoicesQuerySchema,
} from '@tollgate/schemas/http/invoices'
import { refusals } from '../../errors.ts'
import type { PrintedInvoice } from '../../invoices/invoice-texts.ts'
import { readInvoice } from '../../invoices/read-invoice.ts'
import { renderInvoice } from '../../invoices/render-invoice.ts'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { callerOf, type Caller } from '../plugins/authentication.ts'
import { read } from '../read.ts'
import { invoiceSummaryToHttp, invoiceToHttp } from '../translate/invoice.ts'

const params = z.object({ invoiceRef: requiredReference })

export function registerInvoiceRoutes(app: ApiServer, parts: AppParts): void {
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
        const customer = customerRef
          ? await findCustomer(sql, caller.providerId, customerRef)
          : undefined
        // As in the other lists a filter finds nothing where nothing is.
        if (customerRef && customer === undefined) return { invoices: [], total: 0 }
        const filter = {
          status,
          customerRef: customer?.reference,
          purchaseRef: purchaseRef || undefined,
        }
        return listInvoices(sql, caller.providerId, filter, page)
      })
      const invoices = found.invoices.map((each) => invoiceSummaryToHttp(each, caller.environment))
      return { invoices, total: found.total, ...page }
    },
  )

  app.get(
    '/v1/ui/invoices/:invoiceRef',
    { schema: { tags: ['Invoices'], params, response: { 200: invoiceSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const found = await requireInvoice(parts, caller, request.params.invoiceRef)
      return invoiceToHttp(found, caller.environment)
    },
  )

  registerPdf(app, parts)
}

function registerPdf(app: ApiServer, parts: AppParts): void {
  app.get(
    '/v1/ui/invoices/:invoiceRef/pdf',
    { schema: { tags: ['Invoices'], params } },
    async (request, reply) => {
      const caller = callerOf(request)
      const found = await requireInvoice(parts, caller, request.params.invoiceRef)
      const { invoice } = found
      const name =
        invoice.number === null
          ? invoice.reference
          : documentNumberText('invoice', invoice.number, caller.environment)
      const pdf = await renderInvoice(found, caller.environment)
      return reply
        .type('application/pdf')
        .header('content-disposition', `inline; filename="${name}.pdf"`)
        .header('cache-control', 'private, no-store')
        .header('x-content-type-options', 'nosniff')
        .send(pdf)
    },
  )
}

async function requireInvoice(
  parts: AppParts,
  caller: Caller,
  reference: string,
): Promise<PrintedInvoice> {
  const found = await readInvoice(parts, caller, reference)
  if (found === undefined) throw refusals.invoiceNotFound(reference)
  return found
}
