import { issueSample } from './printed-invoice.ts'
import type { Tenant, TestStack } from './test-stack.ts'

type Send = (
  path: string,
  body: unknown,
  method?: string,
) => Promise<Readonly<Record<string, string>>>

/** Returns a request for each decision about an invoice. Earlier requests create the customer, to whom each issues an invoice. */
export function invoiceCalls(
  refs: Record<string, string>,
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
  const issue = (): Promise<string> => {
    const { stack, tenant } = at()
    return issueSample(stack, tenant.sandboxKey, refs['reference']!)
  }
  const refund = async (): Promise<void> => {
    const path = `/v1/ui/invoices/${await issue()}`
    await send(`${path}/outside-payments`, { reason: 'decided' })
    await send(`${path}/refunds`, { reason: 'decided', to: 'balance' })
  }
  /** Changes when an invoice is charged. It becomes void after that, because a customer with an open invoice is not deleted. */
  const reschedule = (...actions: readonly string[]) => {
    return async (): Promise<void> => {
      const path = `/v1/ui/invoices/${await issue()}`
      for (const action of [...actions, 'void']) {
        await send(`${path}/${action}`, { reason: 'decided', dueAt: '2030-01-01T00:00:00Z' })
      }
    }
  }
  const line = { description: 'Onboarding', amount: 1_000 }
  const items = '/v1/ui/customers/:reference/invoice-items'
  const discounts = '/v1/ui/customers/:reference/discounts'
  return {
    ...Object.fromEntries(calls),
    'POST /v1/ui/invoices/:invoiceRef/refunds': refund,
    // The refund above has left a credit, which would pay the invoices below.
    'POST /v1/ui/customers/:reference/invoice-balance/payouts': (path) =>
      send(path, { reason: 'decided', currency: 'USD', to: 'other' }),
    'POST /v1/ui/invoices/:invoiceRef/due-date': reschedule('due-date'),
    'POST /v1/ui/invoices/:invoiceRef/hold': reschedule('hold'),
    'POST /v1/ui/invoices/:invoiceRef/release': reschedule('hold', 'release'),
    'POST /v1/ui/invoices': async (path) => {
      const wanted = { currency: 'USD', lines: [line], reason: 'decided' }
      const issued = await send(path, { customerRef: refs['reference'], ...wanted })
      await send(`${path}/${issued['reference']}/void`, { reason: 'decided' })
    },
    [`POST ${items}`]: async (path) => {
      const added = await send(path, { ...line, currency: 'USD', reason: 'decided' })
      refs['itemRef'] = added['reference']!
    },
    [`DELETE ${items}/:itemRef`]: (path) => send(path, undefined, 'DELETE'),
    'POST /v1/ui/coupons': async (path) => {
      const coupon = { name: 'Launch', percentOff: 10, duration: 'forever' }
      refs['couponRef'] = (await send(path, coupon))['reference']!
    },
    'PATCH /v1/ui/coupons/:couponRef': (path) => send(path, { name: 'Start' }, 'PATCH'),
    [`POST ${discounts}`]: async (path) => {
      refs['discountRef'] = (await send(path, { couponRef: refs['couponRef'] }))['reference']!
    },
    [`DELETE ${discounts}/:discountRef`]: (path) => send(path, undefined, 'DELETE'),
    'POST /v1/ui/coupons/:couponRef/archive': (path) => send(path, {}),
  }
}
