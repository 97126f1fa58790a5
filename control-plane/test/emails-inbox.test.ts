import { emailKinds, type EmailBody, type EmailPreviewBody } from '@tollgate/schemas/http/emails'
import type { EmailSuppressionBody } from '@tollgate/schemas/http/emails'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Browser, Caller, createWorld, formTokenOf, hosted } from './customer-auth-world.ts'
import { EmailWorld, startEmailStack } from './email-world.ts'
import type { TestStack } from './test-stack.ts'

/* Emails of an installation without a mail server: the page that shows them, their links, and what the API lists. */

let stack: TestStack
let world: EmailWorld

beforeAll(async () => {
  stack = await startEmailStack({
    TOLLGATE_HOSTED_URL: hosted,
    TOLLGATE_INBOX_MESSAGES_MAX: '40',
  })
  world = await EmailWorld.open(stack, 'sandbox')
})
afterEach(() => stack.clock.set())
afterAll(() => stack.stop())

/** Returns the text of the newest message to the address. */
async function textTo(address: string): Promise<string> {
  const [row] = await stack.database.in('sandbox')<{ body: string }[]>`
    select body from inbox_messages where recipient = ${address} order by created_at desc limit 1`
  return row?.body ?? ''
}

describe('the link to the portal', () => {
  test('opens the portal after a sign-in, as often as the customer wants, and expires', async () => {
    const address = 'ada@example.com'
    const customerRef = await world.createCustomer(address)
    const [emailId] = await world.emit('purchase.past_due', [customerRef])
    await world.awaitEmail(emailId!, 'sent')
    const url = /^http.*\/customer\/connect\/.*$/m.exec(await textTo(address))![0]
    // The caller only finds the code that the sign-in sends.
    const signer = new Caller(stack, await createWorld(stack, { tenant: world.tenant }))
    const browser = new Browser(stack)
    const confirm = await signer.signIn(browser, await browser.open(url), address)
    const formToken = formTokenOf(confirm)
    for (let round = 0; round < 2; round += 1) {
      const led = await browser.open(`${url}/continue`, { formToken })
      expect(led.location).toContain('/customer/manage?id=')
    }
    await stack.database.in('sandbox')`update customer_links set expires_at = now()`
    expect((await new Browser(stack).open(url)).status).toBe(410)
  })

  test('is stored once for all attempts, and leads nobody but the customer anywhere', async () => {
    const customerRef = await world.createCustomer('grace@example.com')
    const [emailId] = await world.emit('purchase.past_due', [customerRef])
    await world.awaitEmail(emailId!, 'sent')
    const url = /^http.*\/customer\/connect\/.*$/m.exec(await textTo('grace@example.com'))![0]
    await stack.database.in('sandbox')`
      update customer_links set expires_at = now() where customer_ref = ${customerRef}`
    await stack.database.in('sandbox')`
      update emails set state = 'pending', finished_at = null where reference = ${emailId!}`
    await world.awaitEmail(emailId!, 'sent')
    expect(await textTo('grace@example.com')).toContain(url)
    // The link in an email that is sent later lasts as long as any other.
    const links = await stack.database.in('sandbox')`
      select expires_at > now() + interval '1 day' as is_renewed from customer_links where customer_ref = ${customerRef}`
    expect(links).toEqual([{ is_renewed: true }])
    const signer = new Caller(stack, await createWorld(stack, { tenant: world.tenant }))
    const browser = new Browser(stack)
    const refused = await signer.signIn(browser, await browser.open(url), 'eve@example.com')
    expect(refused.status).toBe(403)
  })
})

describe('the unsubscribe link', () => {
  async function openNotice(address: string): Promise<{ url: string; customerRef: string }> {
    const customerRef = await world.createCustomer(address)
    const [emailId] = await world.emit('customer.credit.expiring', [customerRef])
    await world.awaitEmail(emailId!, 'sent')
    const url = /^http.*\/unsubscribe$/m.exec(await textTo(address))![0]
    return { url, customerRef }
  }

  test('stops notices after the form is sent, and no other emails', async () => {
    const { url, customerRef } = await openNotice('notice@example.com')
    const { pathname } = new URL(url)
    const page = await stack.fetch(pathname)
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining('notice@example.com'),
    ])
    const suppressions = async () =>
      (
        await world.send<{ suppressions: EmailSuppressionBody[] }>(
          'GET',
          '/v1/ui/email-suppressions?email=notice@example.com',
        )
      ).suppressions
    // Programs that check links open them.
    expect(await suppressions()).toEqual([])
    const form = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
    expect((await stack.fetch(pathname, form)).status).toBe(200)
    expect((await stack.fetch(pathname, form)).status).toBe(200)
    expect(await suppressions()).toMatchObject([{ reason: 'unsubscribed' }])
    const [notice] = await world.emit('customer.credit.expiring', [customerRef])
    expect(await world.awaitEmail(notice!, 'skipped')).toMatchObject({ reason: 'unsubscribed' })
    const [other] = await world.emit('purchase.past_due', [customerRef])
    await world.awaitEmail(other!, 'sent')
  })

  test.each(['multipart', 'urlencoded', 'none'])(
    'unsubscribes in one click with a body of any type (RFC 8058): %s',
    async (type) => {
      const address = `${type}@example.com`
      const { url } = await openNotice(address)
      const { pathname } = new URL(url)
      const form = new FormData()
      form.set('List-Unsubscribe', 'One-Click')
      const bodies = {
        multipart: form,
        urlencoded: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
        none: undefined,
      }
      const body = bodies[type as keyof typeof bodies]
      const sent = await stack.fetch(pathname, { method: 'POST', ...(body && { body }) })
      expect(sent.status).toBe(200)
      const { suppressions } = await world.send<{ suppressions: EmailSuppressionBody[] }>(
        'GET',
        `/v1/ui/email-suppressions?email=${address}`,
      )
      expect(suppressions).toMatchObject([{ reason: 'unsubscribed' }])
      const large = { method: 'POST', body: 'x'.repeat(20_000) }
      expect((await stack.fetch(pathname, large)).status).toBe(413)
    },
  )

  test('of an email that belongs to the contract, of a deleted customer, or made up, has no page', async () => {
    const { url, customerRef } = await openNotice('gone@example.com')
    await world.send('DELETE', `/v1/ui/customers/${customerRef}`)
    const customer = await world.createCustomer('kept@example.com')
    const [emailId] = await world.emit('purchase.past_due', [customer])
    await world.awaitEmail(emailId!, 'sent')
    const [row] = await stack.database.in('sandbox')<{ token: string }[]>`
      select token from emails where reference = ${emailId!}`
    for (const path of [
      new URL(url).pathname,
      `/customer/emails/${row!.token}/unsubscribe`,
      '/customer/emails/00000000-0000-4000-8000-000000000000/unsubscribe',
      '/customer/emails/x/unsubscribe',
    ]) {
      for (const method of ['GET', 'POST']) {
        expect([path, (await stack.fetch(path, { method })).status]).toEqual([path, 404])
      }
    }
  })
})

describe('the inbox', () => {
  test('is bounded, with the newest messages', async () => {
    const customerRef = await world.createCustomer('many@example.com')
    const emails = await world.emit('purchase.past_due', Array<string>(60).fill(customerRef))
    for (const emailId of emails) await world.awaitEmail(emailId, 'sent')
    await expect
      .poll(async () => {
        const [row] = await stack.database.in('sandbox')<{ count: number }[]>`
          select count(*)::int as count from inbox_messages`
        return row!.count
      })
      .toBe(40)
  })

  test('shows an email as HTML without scripts, and knows no other message', async () => {
    const customerRef = await world.createCustomer('html@example.com', {
      name: '<script>x</script>',
    })
    const [emailId] = await world.emit('purchase.past_due', [customerRef])
    await world.awaitEmail(emailId!, 'sent')
    const page = await (await stack.fetch('/inbox')).text()
    const [, path] = /href="([^"]*\/html)"/.exec(page)!
    const message = await stack.fetch(path!)
    expect(message.headers.get('content-security-policy')).toMatch(/^sandbox .*default-src 'none'/)
    const html = await message.text()
    expect(html).not.toContain('<script')
    expect(html).toContain('&lt;script&gt;')
    expect((await stack.fetch(path!.replace('/html', '/attachment'))).status).toBe(404)
    expect((await stack.fetch('/inbox/unknown/html')).status).toBe(404)
  })
})

test.each(emailKinds)('the API previews %s and stores nothing', async (kind) => {
  const preview = await world.send<EmailPreviewBody>(
    'GET',
    `/v1/ui/email-previews/${kind}?locale=pt_BR`,
  )
  expect(preview).toMatchObject({ kind, locale: 'pt-BR', from: 'Acme' })
  expect(preview.html).toContain('<html lang="pt">')
  expect(preview.text).toContain('Acme')
  const rows = await stack.database.in('sandbox')`
    select 1 from inbox_messages where subject = ${preview.subject}`
  expect(rows).toHaveLength(0)
})

test('settings refuse unknown kinds, languages and names with line breaks', async () => {
  for (const body of [
    { kinds: ['newsletter'] },
    { locale: 'xx' },
    { senderName: 'Acme\r\nBcc: eve@example.com' },
    { senderName: ' ' },
    { replyTo: 'nobody' },
    { sender: 'Acme' },
  ]) {
    const { status } = await stack.call(world.key, 'PATCH', '/v1/ui/email-settings', body)
    expect([body, status]).toEqual([body, 400])
  }
  const changed = { senderName: 'Acme', locale: 'pt_BR', sandboxRecipients: ['a@example.com'] }
  const body = await world.send('PATCH', '/v1/ui/email-settings', changed)
  expect(body).toMatchObject({ ...changed, locale: 'pt-BR', kinds: emailKinds, transport: 'inbox' })
  const reset = { senderName: null, locale: null, sandboxRecipients: [] }
  expect(await world.send('PATCH', '/v1/ui/email-settings', reset)).toMatchObject(reset)
})

test('the list is filtered and read page by page', async () => {
  const customerRef = await world.createCustomer('list@example.com')
  const emails = [
    ...(await world.emit('purchase.past_due', [customerRef, customerRef])),
    ...(await world.emit('purchase.plan_changed', [customerRef])),
  ]
  for (const emailId of emails) await world.awaitEmail(emailId, 'sent')
  const list = async (query: string): Promise<string[]> => {
    const path = `/v1/ui/emails?customerRef=${customerRef}&${query}`
    const page = await world.send<{ emails: EmailBody[]; hasMore: boolean }>('GET', path)
    return [...page.emails.map(({ id }) => id), ...(page.hasMore ? ['more'] : [])]
  }
  const [first, second, third] = emails
  expect(await list('')).toEqual([third, second, first])
  expect(await list('limit=2')).toEqual([third, second, 'more'])
  expect(await list(`limit=2&before=${second}`)).toEqual([first])
  expect(await list('kind=plan_changed')).toEqual([third])
  expect(await list('state=failed')).toEqual([])
  const unknown = await stack.call(world.key, 'GET', '/v1/ui/emails?before=eml_unknown')
  expect([unknown.status, unknown.body.code]).toEqual([400, 'email_page_unknown'])
})

test('a deleted customer leaves no address behind, and gets no email', async () => {
  const address = 'leaver@example.com'
  const customerRef = await world.createCustomer(address)
  const [sent] = await world.emit('purchase.past_due', [customerRef])
  await world.awaitEmail(sent!, 'sent')
  await world.send('POST', '/v1/ui/email-suppressions', { email: address })
  // Due later, as after a temporary refusal.
  const [waiting] = await world.emit('purchase.past_due', [customerRef])
  await stack.database.in('sandbox')`
    update emails set state = 'pending', finished_at = null, due_at = 'infinity', claim = claim + 1, leased_until = null
    where reference = ${waiting!}`
  await world.send('DELETE', `/v1/ui/customers/${customerRef}`)
  expect(await world.getEmail(waiting!)).toMatchObject({ state: 'skipped', reason: 'no-address' })
  for (const emailId of [sent!, waiting!]) {
    expect(await world.getEmail(emailId)).not.toHaveProperty('recipient')
  }
  const { suppressions } = await world.send<{ suppressions: unknown[] }>(
    'GET',
    `/v1/ui/email-suppressions?email=${address}`,
  )
  expect(suppressions).toEqual([])
})

test('a suppression stays if another customer has the address of a deleted one', async () => {
  const addresses = ['owner@shared.example.com', 'invoices@shared.example.com']
  const owner = await world.createCustomer(addresses[0]!)
  const payer = await world.createCustomer('payer@shared.example.com')
  const leaver = await world.createCustomer('leaver@shared.example.com')
  // The leaver has the address of the owner for invoices, and the payer's invoices go to the other one.
  await stack.database.in('sandbox')`
    insert into customer_tax_details (provider_id, customer_ref, is_business, email, updated_at)
    select provider_id, reference, false,
      case reference when ${leaver} then ${addresses[0]!} else ${addresses[1]!} end, now()
    from customers where reference in (${leaver}, ${payer})`
  const second = await world.createCustomer(addresses[1]!)
  for (const email of addresses) {
    await world.send('POST', '/v1/ui/email-suppressions', { email, reason: 'unsubscribed' })
  }
  const suppressed = async (): Promise<string[]> => {
    const path = '/v1/ui/email-suppressions'
    const page = await world.send<{ suppressions: EmailSuppressionBody[] }>('GET', path)
    return page.suppressions
      .map(({ email }) => email)
      .filter((email) => addresses.includes(email))
      .toSorted()
  }
  await world.send('DELETE', `/v1/ui/customers/${leaver}`)
  await world.send('DELETE', `/v1/ui/customers/${second}`)
  expect(await suppressed()).toEqual(addresses.toSorted())
  await world.send('DELETE', `/v1/ui/customers/${owner}`)
  expect(await suppressed()).toEqual([addresses[1]])
  await world.send('DELETE', `/v1/ui/customers/${payer}`)
  expect(await suppressed()).toEqual([])
})

test('customers have a language, which is stored if there are texts in it', async () => {
  const path = '/v1/sdk/customers'
  const email = 'locale@example.com'
  const { reference } = await world.send<{ reference: string }>('POST', path, {
    email,
    locale: 'pt_br',
  })
  const readLocale = async () =>
    (await world.send<{ locale?: string }>('GET', `${path}/${reference}`)).locale
  expect(await readLocale()).toBe('pt-BR')
  await world.send('PATCH', `${path}/${reference}`, { name: 'Ada' })
  expect(await readLocale()).toBe('pt-BR')
  await world.send('PATCH', `${path}/${reference}`, { locale: 'sv' })
  expect(await readLocale()).toBeUndefined()
  await world.send('PATCH', `${path}/${reference}`, { locale: 'ja' })
  await world.send('PATCH', `${path}/${reference}`, { locale: null })
  expect(await readLocale()).toBeUndefined()
})
