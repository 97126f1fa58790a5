import { issueSample } from './printed-invoice.ts'
import type { Tenant, TestStack } from './test-stack.ts'

type Send = (path: string, body: unknown) => Promise<unknown>

/** Returns a request for each decision about an invoice. Earlier requests create the customer, to whom each issues an invoice. */
export function invoiceCalls(
  refs: Readonly<Record<string, string>>,
  send: Send,
  at: () => { readonly stack: TestStack; readonly tenant: Tenant },
): Record<string, (path: string) => Promise<unknown>> {
  const actions = ['credit-notes', 'void', 'write-off', 'outside-payments']
  const calls = actions.map((action): [string, () => Promise<void>] => [
    `POST /v1/ui/invoices/:invoiceRef/${action}`,
    async () => {
      const { stack, tenant } = at()
      const invoiceRef = await issueSample(stack, tenant.sandboxKey, refs['reference']!)
      await send(`/v1/ui/invoices/${invoiceRef}/${action}`, { reason: 'decided' })
    },
  ])
  return Object.fromEntries(calls)
}
