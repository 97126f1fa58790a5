import { expect } from 'vitest'

/* Common parts of answers. The world replaces the names in braces. */

/** A request, its body, the status of the answer, and the expected content. */
export type Row = readonly [row: string, body: unknown, status: number, answer: unknown]

export const text = expect.any(String) as unknown
export const number = expect.any(Number) as unknown
const list = expect.any(Array) as unknown
export const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/) as unknown
export const startingWith = (prefix: string) =>
  expect.stringMatching(new RegExp(`^${prefix}`)) as unknown

export const invalid = { statusCode: 400, message: 'Validation failed', errors: list, path: text }
export const customer = { reference: startingWith('cus_'), name: text, email: text, created: iso }
export const product = {
  reference: startingWith('prd_'),
  name: text,
  status: 'active',
  balance: 0,
  totalTransactions: 0,
  isMcpPay: false,
  createdAt: iso,
  updatedAt: iso,
}
export const plan = {
  reference: startingWith('pln_'),
  type: 'recurring',
  price: number,
  currency: 'USD',
  requiresPayment: expect.any(Boolean) as unknown,
  isActive: true,
  hidden: false,
  status: 'active',
  createdAt: iso,
  updatedAt: iso,
}
export const purchase = {
  reference: startingWith('pur_'),
  productName: 'Search',
  status: 'active',
  startDate: iso,
  amount: 0,
  currency: 'USD',
}
export const fullPurchase = {
  ...purchase,
  customerRef: '{customerRef}',
  customerEmail: 'ada@acme.example',
  isRecurring: true,
  createdAt: iso,
}
export const missing = (what: string) => ({ statusCode: 404, error: 'Not Found', message: what })
export const forCustomer = { customerRef: '{customerRef}', productRef: '{productRef}' }

export const sessionId = expect.stringMatching(/^[0-9a-f]{32}$/) as unknown
export const including = (part: string) => expect.stringContaining(part) as unknown
export const listWith = (item: object) =>
  expect.arrayContaining([expect.objectContaining(item)]) as unknown
