import type { Answer } from '../api/answers.ts'

export type Invoice = Answer<'getInvoice'>
export type InvoiceLine = Invoice['lines'][number]
