import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { Browser, drawPkce, formTokenOf, type Caller } from './customer-auth-world.ts'

type CustomerBody = { reference: string }

/** Tests about changes of customers by the provider, and about what such changes end. */
export function changeRules(given: () => Caller): void {
  const api = <Body = CustomerBody>(method: string, path: string, body?: object) =>
    given().stack.call<Body>(given().world.key, method, path, body)
  const sql = () => given().stack.database.in('sandbox')

  async function createCustomer(email: string): Promise<string> {
    const { body } = await api('POST', '/v1/sdk/customers', { email })
    return body.reference
  }

  /** Opens the page that the owner of the address sees for another client. */
  async function openConsent(email: string, browser: Browser) {
    const { body: client } = await given().register()
    const started = await browser.open(given().authorizeUrl(client, drawPkce().challenge))
    const page = await browser.follow(started)
    return page.text.includes('name="answer"') ? page : given().signIn(browser, page, email)
  }

  /** Changes the browser's session as if it had signed in with an account at an upstream. */
  function signInAs(email: string, subject: string) {
    return sql()`
      update customer_browser_sessions set issuer = 'https://accounts.test', subject = ${subject}
      where email = ${email}`
  }

  /** Deletes the customer and sends a form during the deletion. The form's request then waits for the customer's row. */
  async function whileDeleted<Answer>(reference: string, send: () => Promise<Answer>) {
    // The first request waits for the transaction that locks the row, and the next one for its turn.
    const waiting = async (count: number, holder: string) => {
      const wait = async () => {
        const rows = await sql()`
          select 1 from pg_locks where not granted and (transactionid::text = ${holder}
            or database = (select oid from pg_database where datname = current_database()))`
        return rows.length
      }
      await expect.poll(wait, { timeout: 10_000, interval: 50 }).toBeGreaterThanOrEqual(count)
    }
    let going: Promise<Answer> | undefined
    let deleted: ReturnType<typeof api> | undefined
    await sql().begin(async (held) => {
      await held`select from customers where reference = ${reference} for update`
      const [row] = await held<{ id: string }[]>`select pg_current_xact_id()::text as id`
      const holder = row!.id
      deleted = api('DELETE', `/v1/ui/customers/${reference}?settle=write_off`)
      await waiting(1, holder)
      going = send()
      await waiting(2, holder)
    })
    expect((await deleted!).status).toBe(200)
    return going!
  }

  async function linksOf(reference: string): Promise<number> {
    const rows = await sql()`
      select 1 from customer_identities where customer_ref = ${reference}`
    return rows.length
  }

  describe('a customer whose address the provider corrects', () => {
    test('ends grants, tokens, browser sessions and account links of the former address', async () => {
      const former = 'typo@stranger.example'
      const reference = await createCustomer(former)
      const { client, tokens } = await given().connect(former)
      const browser = new Browser(given().stack)
      const consent = await openConsent(former, browser)
      await signInAs(former, 'stranger')
      await given().answer(browser, consent, 'allow')
      expect(await linksOf(reference)).toBe(1)
      const path = `/v1/sdk/customers/${reference}`
      // The same address in other letter case ends nothing.
      await api('PATCH', path, { email: 'Typo@stranger.example' })
      expect((await given().userinfo(tokens.access_token)).status).toBe(200)
      expect((await api('PATCH', path, { email: 'right@owner.example' })).status).toBe(200)
      expect((await given().userinfo(tokens.access_token)).status).toBe(401)
      const { body } = await given().refresh(client, tokens.refresh_token)
      expect(body.error).toBe('invalid_grant')
      expect(await linksOf(reference)).toBe(0)
      const { body: other } = await given().register()
      const started = await browser.open(given().authorizeUrl(other, drawPkce().challenge))
      expect((await browser.follow(started)).text).toContain('name="email"')
      const stranger = await given().connect(former)
      expect(decodeJwt(stranger.tokens.access_token).sub).not.toBe(reference)
      const owner = await given().connect('right@owner.example')
      expect(decodeJwt(owner.tokens.access_token).sub).toBe(reference)
    })

    test('requires a new sign-in of an account whose former address another customer gets', async () => {
      const reference = await createCustomer('desk@example.com')
      const browser = new Browser(given().stack)
      const consent = await openConsent('desk@example.com', browser)
      await signInAs('desk@example.com', 'former')
      await given().answer(browser, consent, 'allow')
      // Change the address as a process of an earlier version does: the session stays.
      await sql()`update customers set email = 'new-desk@example.com' where reference = ${reference}`
      const successor = await createCustomer('desk@example.com')
      const again = await openConsent('desk@example.com', browser)
      expect(again.text).toContain('name="answer"')
      const answered = await given().answer(browser, again, 'allow')
      expect(answered.location).not.toContain('proof=')
      expect((await browser.open(again.url.href)).text).toContain('name="email"')
      expect(await linksOf(successor)).toBe(0)
    })
  })

  describe('a customer who is deleted meanwhile', () => {
    test('is linked to no account by a consent', async () => {
      const reference = await createCustomer('consents@example.com')
      const browser = new Browser(given().stack)
      const consent = await openConsent('consents@example.com', browser)
      await signInAs('consents@example.com', 'consents')
      const answered = await whileDeleted(reference, () =>
        given().answer(browser, consent, 'allow'),
      )
      expect(answered.location).not.toContain('proof=')
      expect(await linksOf(reference)).toBe(0)
    })

    test('is linked to no account by following a link', async () => {
      const reference = await createCustomer('follows@example.com')
      const { body: link } = await api<{ url: string }>('POST', '/v1/customer/auth/links', {
        ...{ customerRef: reference, productRef: given().world.productRef, purpose: 'portal' },
      })
      const browser = new Browser(given().stack)
      const page = await browser.open(link.url)
      const confirm = await given().signIn(browser, page, 'follows@example.com')
      await signInAs('follows@example.com', 'follows')
      const form = { formToken: formTokenOf(confirm) }
      const answered = await whileDeleted(reference, () =>
        browser.open(`${link.url}/continue`, form),
      )
      expect(answered.status).toBe(410)
      expect(await linksOf(reference)).toBe(0)
    })

    test('is deleted with the data of each of its addresses', async () => {
      const reference = await createCustomer('many@example.com')
      await api('PATCH', `/v1/sdk/customers/${reference}`, { externalRef: 'Other@many.example' })
      const browser = new Browser(given().stack)
      const { body: client } = await given().register()
      const started = await browser.open(given().authorizeUrl(client, drawPkce().challenge))
      const page = await browser.follow(started)
      const form = { formToken: formTokenOf(page), email: 'other@many.example' }
      await browser.open(`${page.url.href}/email`, form)
      const kept = async () => [
        await sql()`select 1 from inbox_messages where lower(recipient) = 'other@many.example'`,
        await sql()`select 1 from customer_sign_ins where lower(email) = 'other@many.example'`,
      ]
      expect((await kept()).map((rows) => rows.length)).toEqual([1, 1])
      await api('DELETE', `/v1/ui/customers/${reference}?settle=write_off`)
      expect((await kept()).map((rows) => rows.length)).toEqual([0, 0])
    })
  })
}
