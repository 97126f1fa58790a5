import { afterAll, expect, test } from 'vitest'
import type { EmailBody } from '@tollgate/schemas/http/emails'
import { readPdf } from '../../../control-plane/test/read-pdf.ts'
import { eventually, PaymentStack } from './payment-stack.ts'

/* Receipts by email, from a payment to the inbox of an installation without a mail server. */

const payments = await PaymentStack.start({
  hasWebhooks: true,
  settings: { TOLLGATE_CUSTOMER_AUTH_INBOX: 'on', TOLLGATE_EMAIL_POLL_MS: '50' },
})
afterAll(() => payments.stop())

async function pay(key: string, customerRef: string, card: string): Promise<void> {
  const topUp = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  const { body } = await payments.createIntent(key, topUp)
  await payments.confirm(body.processorPaymentId, card)
}

async function emailsOf(customerRef: string): Promise<readonly EmailBody[]> {
  const path = `/v1/ui/emails?customerRef=${customerRef}`
  return (await payments.call<{ emails: EmailBody[] }>('GET', path)).body.emails
}

test('a payment sends no receipt until the provider asks for it', async () => {
  const customerRef = await payments.createCustomer()
  await pay('quiet', customerRef, 'pm_card_visa')
  await eventually(async () => expect(await payments.balanceOf(customerRef)).toBeGreaterThan(0))
  expect(await emailsOf(customerRef)).toEqual([])
})

test('a payment sends one receipt with its invoice as a PDF, in the language of the customer', async () => {
  const settings = { kinds: ['receipt'], locale: 'fr' }
  expect((await payments.call('PATCH', '/v1/ui/email-settings', settings)).status).toBe(200)
  const customerRef = await payments.createCustomer()
  const named = { name: 'Ada <b>', locale: 'de' }
  await payments.call('PATCH', `/v1/sdk/customers/${customerRef}`, named)
  await pay('receipt', customerRef, 'pm_card_visa')
  await eventually(async () => {
    expect(await emailsOf(customerRef)).toMatchObject([{ kind: 'receipt', state: 'sent' }])
  })
  const [email] = await emailsOf(customerRef)
  const inbox = await payments.stack.fetch('/inbox')
  expect(inbox.status).toBe(200)
  const page = await inbox.text()
  expect(page).toContain(`To ${email!.recipient}`)
  expect(page).toContain('Ihr Beleg von Acme')

  const [, html] = /href="([^"]*\/html)"/.exec(page)!
  const message = await payments.stack.fetch(html!)
  expect(message.headers.get('content-security-policy')).toMatch(/^sandbox /)
  expect(await message.text()).toContain('Ada &lt;b&gt;')

  const { invoices } = (
    await payments.call<{ invoices: { number: string }[] }>(
      'GET',
      `/v1/ui/invoices?customerRef=${customerRef}`,
    )
  ).body
  const [, attachment, name] = /href="([^"]*\/attachment)"[^>]*>([^<]*)</.exec(page)!
  expect(name).toBe(`${invoices[0]!.number}.pdf`)
  const pdf = await readPdf(
    Buffer.from(await (await payments.stack.fetch(attachment!)).arrayBuffer()),
  )
  expect(pdf.title).toContain(invoices[0]!.number)
})
