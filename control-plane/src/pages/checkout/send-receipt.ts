import type { FastifyReply, FastifyRequest } from 'fastify'
import { readBrand } from '../../invoices/read-brand.ts'
import { readInvoice } from '../../invoices/read-invoice.ts'
import { renderInvoice } from '../../invoices/render-invoice.ts'
import { sendDocument } from '../../invoices/send-document.ts'
import { ProblemError, problems } from '../problem.tsx'
import { checkoutOf } from './checkout.ts'
import { requireIntent } from './payable-intent.ts'
import type { ReadParts } from '../../access/read.ts'

/** Sends the invoice of a payment that succeeded on the checkout, as a PDF. */
export async function sendReceipt(
  pages: ReadParts,
  request: FastifyRequest,
  reply: FastifyReply,
  intentRef: string,
): Promise<FastifyReply> {
  const { caller, frame } = checkoutOf(request)
  const { status, invoiceRef } = await requireIntent(pages, request, intentRef)
  const printed =
    status === 'succeeded' && invoiceRef !== null
      ? await readInvoice(pages, caller, invoiceRef)
      : undefined
  if (printed === undefined || printed.invoice.status === 'draft') {
    throw new ProblemError(problems.notFound, frame)
  }
  const brand = await readBrand(pages, caller)
  return sendDocument(reply, await renderInvoice(printed, brand, caller.environment))
}
