import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  claimSharedCode,
  generateSharedCode,
  joinSharedCode,
  removeSharedCode,
  tryCode,
} from '@tollgate/domain/customer-auth/sign-in-codes'
import { readSettings } from '@tollgate/platform/config/settings'
import { customerAuthSettings } from '../src/customer-auth/customer-auth-settings.ts'
import { createMailer, RecipientRefusedError, type Mailer } from '../src/customer-auth/mailer.ts'
import { readerOf } from '../src/pages/reader.ts'
import { sendCode } from '../src/pages/sign-in/send-code.ts'
import type { SignInParts, Visitor } from '../src/pages/sign-in/visitor.ts'
import { mailNameOf } from '../src/pages/sign-in/send-code.ts'
import { startMailServer, type MailServer } from './mail-server.ts'
import {
  Browser,
  Caller,
  createWorld,
  drawPkce,
  formTokenOf,
  hosted,
  startAuthStack,
  type Page,
  type World,
} from './customer-auth-world.ts'
import type { TestStack } from './test-stack.ts'

/* Codes that are sent through a mail server, at a hosted address with https, and the limits on them. */

/** Default number of codes of 6 digits for an address in 15 minutes. */
const short = 5

let mail: MailServer
let stack: TestStack
let world: World
let caller: Caller

beforeAll(async () => {
  mail = await startMailServer()
  stack = await startAuthStack({
    TOLLGATE_HOSTED_URL: hosted.replace('http:', 'https:'),
    TOLLGATE_SMTP_URL: mail.url,
    TOLLGATE_SMTP_FROM: 'Accounts <accounts@provider.example>',
    TOLLGATE_CUSTOMER_AUTH_CODES_PER_EMAIL_MAX: String(short),
  })
  world = await createWorld(stack)
  caller = new Caller(stack, world)
})
afterEach(() => {
  mail.received.length = 0
})
/* Delete the attempts, so that no test reaches a limit because of another test. */
afterEach(() => stack.database.in('sandbox')`delete from customer_auth_attempts`)
afterAll(async () => {
  await stack.stop()
  await mail.stop()
})

/** Opens the page that asks for an email address. Returns functions that send its forms. */
async function visit(browser = new Browser(stack)) {
  const { body: client } = await caller.register()
  const started = await browser.open(caller.authorizeUrl(client, drawPkce().challenge))
  const page = await browser.follow(started)
  const path = page.url.href
  const formToken = formTokenOf(page)
  return {
    browser,
    page,
    path,
    request: (email: string): Promise<Page> => browser.open(`${path}/email`, { formToken, email }),
    enter: (code: string): Promise<Page> => browser.open(`${path}/code`, { formToken, code }),
  }
}

/** Returns the code of the newest mail to the address, in its groups. */
function codeFor(email: string): string {
  const newest = mail.received.filter(({ recipients }) => recipients.includes(email)).at(-1)
  return /^(\d{6}|\d{4}( \d{4}){3}) is your code/m.exec(newest?.source ?? '')?.[1] ?? ''
}

function mailsTo(email: string): number {
  return mail.received.filter(({ recipients }) => recipients.includes(email)).length
}

/**
 * Acts like an attacker who wants to lock the owner out: sends more requests than there are short codes, each from another browser.
 */
async function flood(email: string, requests = short + 3): Promise<void> {
  const stranger = await visit()
  for (let index = 0; index < requests; index += 1) {
    expect((await stranger.request(email)).status).toBe(303)
  }
}

describe('mail with a code', () => {
  test('is sent encrypted and authenticated, as plain text from the configured sender', async () => {
    const { request, enter } = await visit()
    expect((await request('ada@example.com')).status).toBe(303)
    const [sent, ...others] = mail.received
    expect(others).toEqual([])
    expect(sent).toMatchObject({
      from: 'accounts@provider.example',
      recipients: ['ada@example.com'],
      wasEncrypted: true,
    })
    expect(sent?.source).toMatch(/^From: Accounts <accounts@provider\.example>\r?$/m)
    expect(sent?.source).toMatch(/^To: ada@example\.com\r?$/m)
    expect(sent?.source).toMatch(/^Content-Type: text\/plain; charset=utf-8\r?$/m)
    const code = codeFor('ada@example.com')
    expect(sent?.source).toMatch(new RegExp(`^Subject: ${code} is your code for Acme\r?$`, 'm'))
    expect((await enter(code)).status).toBe(303)
  })

  test('takes no headers from a name or a recipient', async () => {
    const mailer = createMailer(
      { smtpUrl: mail.url, smtpFrom: 'accounts@provider.example', inbox: 'off' },
      { database: stack.database, clock: stack.clock, hostedUrl: hosted },
    )
    const sender = { providerId: world.tenant.providerId, environment: 'sandbox' } as const
    const injected = 'Acme\r\nBcc: victim@example.com\r\n\r\nBody'
    await mailer.send(sender, { recipient: 'ada@example.com', subject: injected, body: 'Text' })
    expect(mail.received[0]?.recipients).toEqual(['ada@example.com'])
    expect(mail.received[0]?.source).not.toMatch(/^Bcc:/m)
    const { request } = await visit()
    for (const email of ['a@example.com\r\nBcc: v@example.com', 'a@example.com, v@example.com']) {
      expect((await request(email)).status).toBe(400)
    }
    expect(mail.received).toHaveLength(1)
  })

  test.each([
    ['Acme Ltd. (Oslo)', 'Acme Ltd. (Oslo)'],
    ['Booking.com', 'Booking\u2024com'],
    ['Acme\n\nPay now: https://evil.example/pay', 'Acme Pay now: https evil\u2024example/pay'],
    ['mailto:me@evil.example', 'mailto: me @ evil\u2024example'],
    ['Ac\u202eme\u0007', 'Acme'],
    ['x'.repeat(500), 'x'.repeat(80)],
  ])('shows the name %j in one line without a link', (name, shown) => {
    expect(mailNameOf(name)).toBe(shown)
  })

  test("contains no line and no link from the provider's name", async () => {
    const rename = (displayName: string | null) =>
      stack.call(world.key, 'PATCH', '/v1/ui/merchant', { displayName })
    for (const lines of ['Acme\nPay now', 'Acme\r', 'Acme\u2028Pay', 'Ac\u0007me']) {
      expect((await rename(lines)).status).toBe(400)
    }
    expect((await rename('Acme https://evil.example')).status).toBe(200)
    const { request } = await visit()
    await request('named@example.com')
    await rename(null)
    expect(mail.received).toHaveLength(1)
    expect(mail.received[0]?.source).not.toMatch(/https:|evil\.example/)
  })

  test('keeps the person at the form if the server refuses the address', async () => {
    const { request } = await visit()
    const refused = await request('refused@example.com')
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('Enter an email address'),
    ])
    const later = await request('later@example.com')
    expect([later.status, later.text]).toEqual([503, expect.stringContaining('Try again later')])
  })

  test('is not sent if the certificate of the server is not trusted', async () => {
    const mailer = createMailer(
      { smtpUrl: mail.url.replace(/&tls.*/, ''), smtpFrom: 'a@provider.example', inbox: 'off' },
      { database: stack.database, clock: stack.clock, hostedUrl: hosted },
    )
    const sender = { providerId: world.tenant.providerId, environment: 'sandbox' } as const
    const sent = mailer.send(sender, { recipient: 'ada@example.com', subject: 'S', body: 'B' })
    await expect(sent).rejects.not.toThrow(RecipientRefusedError)
    expect(mail.received).toEqual([])
  })

  test('loses nothing while the server is down: the same page works afterwards', async () => {
    const { request, enter } = await visit()
    const port = Number(/:(\d+)\?/.exec(mail.url)?.[1])
    await mail.stop()
    const failed = await request('patient@example.com')
    expect([failed.status, failed.text]).toEqual([503, expect.stringContaining('No code can be')])
    // These failed requests use up the short codes, so that the next code is a long one.
    for (let index = 0; index < short; index += 1) await request('patient@example.com')
    mail = await startMailServer(port)
    expect((await request('patient@example.com')).status).toBe(303)
    expect((await enter(codeFor('patient@example.com'))).status).toBe(303)
  })
})

describe('cookies at an https address', () => {
  test('belong to the host only, and scripts cannot read them', async () => {
    const { browser, page, request, enter } = await visit()
    await request('cookies@example.com')
    const entered = await enter(codeFor('cookies@example.com'))
    const cookies = [page, entered].flatMap(({ headers }) => headers.getSetCookie())
    expect(cookies).toHaveLength(2)
    for (const cookie of cookies) {
      const [pair, ...attributes] = cookie.split('; ')
      expect(pair).toMatch(/^__Host-(sign_in_browser|signed_in_[0-9a-f]{16})=[\w-]{43}$/)
      const named = attributes.filter((each) => !each.startsWith('Max-Age'))
      expect(named.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure'])
    }
    expect((await browser.open(page.url.href)).text).toContain('name="answer"')
  })
})

describe('codes that a stranger requests for an address', () => {
  test('neither lock the owner out nor flood the mailbox', async () => {
    const email = 'owner@example.com'
    await flood(email)
    // These are the short codes and one long code for all browsers.
    expect(mailsTo(email)).toBe(short + 1)
    const owner = await visit()
    expect((await owner.request(email)).status).toBe(303)
    expect(mailsTo(email)).toBe(short + 1)
    const page = await owner.browser.open(`${owner.path}?step=code`)
    expect(page.text).toContain('16-digit code')
    expect((await owner.enter(codeFor(email))).status).toBe(303)
    expect((await owner.browser.open(owner.path)).text).toContain('name="answer"')
  })

  test("can be guessed only in the stranger's browser", async () => {
    const email = 'guessed@example.com'
    await flood(email)
    const stranger = await visit()
    await stranger.request(email)
    const wrong = '0000 0000 0000 0000'
    const tries = await Promise.all(Array.from({ length: 8 }, () => stranger.enter(wrong)))
    expect(tries.map(({ status }) => status)).toEqual(Array(8).fill(400))
    const code = codeFor(email)
    // After 5 wrong attempts, even the right code is refused.
    expect((await stranger.enter(code)).status).toBe(400)
    const owner = await visit()
    await owner.request(email)
    expect((await owner.enter(code)).status).toBe(303)
  })

  test('are valid once, in one browser', async () => {
    const email = 'once@example.com'
    await flood(email)
    const [first, second, third] = [await visit(), await visit(), await visit()]
    await first.request(email)
    await second.request(email)
    const code = codeFor(email)
    // The address was not entered in this browser.
    expect((await third.enter(code)).status).toBe(400)
    const ends = await Promise.all([first.enter(code), second.enter(code)])
    expect(ends.map(({ status }) => status).sort()).toEqual([303, 400])
    await third.request('other@example.com')
    expect((await third.enter(code)).status).toBe(400)
    // After a sign-in, the address gets another code.
    await third.request(email)
    expect(mailsTo(email)).toBe(short + 2)
  })

  test('are counted for all providers together, and per day', async () => {
    const email = 'everywhere@example.com'
    await flood(email, short)
    const other = new Caller(stack, await createWorld(stack))
    const { body: client } = await other.register()
    const browser = new Browser(stack)
    const started = await browser.open(other.authorizeUrl(client, drawPkce().challenge))
    const page = await browser.follow(started)
    await browser.open(`${page.url.href}/email`, { formToken: formTokenOf(page), email })
    expect(codeFor(email)).toHaveLength(19)
    const sql = stack.database.in('sandbox')
    await sql`update customer_auth_attempts set window_ends_at = now() where kind = 'code-email'`
    await sql`update customer_auth_attempts set attempts = 1000 where kind = 'code-email-day'`
    const later = await visit()
    await later.request(email)
    expect(codeFor(email)).toHaveLength(19)
  })

  test.each([
    [
      ...['tags@example.com', 'Tags+2@example.com', 'tags+3@example.com', 'tags+4@example.com'],
      ...['tags+5@example.com', 'tags+6@example.com'],
    ],
    [
      ...['a.b@gmail.com', 'ab+1@gmail.com', 'A.B@googlemail.com', 'ab@gmail.com'],
      ...['ab@googlemail.com', 'a.b+x@gmail.com'],
    ],
  ])('are counted for one mailbox, whatever tags its address has: %s', async (...emails) => {
    const { request } = await visit()
    for (const email of emails) await request(email)
    expect(emails.map((email) => codeFor(email).length)).toEqual([6, 6, 6, 6, 6, 19])
    const further: number[] = []
    for (const tag of ['+7', '+8', '+9', '+10', '+11', '']) {
      further.push((await request(emails[0]!.replace('@', `${tag}@`))).status)
    }
    // The sixth long code for an address with a tag is refused. The address without a tag is never refused.
    expect(further.slice(-2)).toEqual([429, 303])
  })

  test('are replaced after a minute if the process died before sending', async () => {
    const email = 'died@example.com'
    await flood(email)
    const sql = stack.database.in('sandbox')
    // The claim of the process has reached the end of its minute.
    await sql`update customer_sign_ins set expires_at = now() where email = ${email}`
    const sent = mailsTo(email)
    const owner = await visit()
    await owner.request(email)
    expect(mailsTo(email)).toBe(sent + 1)
    expect((await owner.enter(codeFor(email))).status).toBe(303)
  })
})

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Returns the largest number of times within any interval of this length. */
function mostWithin(times: readonly number[], lengthMs: number): number {
  const counts = times.map(
    (from) => times.filter((at) => at >= from && at < from + lengthMs).length,
  )
  return Math.max(...counts)
}

test('keeps emails and guesses below the limits per hour and day at the worst request times', async () => {
  const beginMs = Date.now()
  let nowMs = beginMs
  const sent = { short: [] as number[], long: [] as number[] }
  const config = readSettings(customerAuthSettings, {})
  const mailer: Mailer = {
    ...{ isReady: true, hasInbox: false },
    send: async (_caller, { body }) =>
      void sent[/^\d{6} /m.test(body) ? 'short' : 'long'].push(nowMs),
  }
  const { database, publisher } = {
    database: stack.database,
    publisher: { database: stack.database },
  }
  const pages = { database, publisher, clock: { now: () => nowMs } }
  const parts = { pages, auth: { config, mailer } } as unknown as SignInParts
  const caller = { providerId: world.tenant.providerId, environment: 'sandbox' }
  const visitor = { caller, browserToken: 'browser', frame: readerOf(undefined) } as Visitor
  const ask = async (atMs: number, requests: number): Promise<void> => {
    nowMs = beginMs + atMs
    for (let count = 0; count < requests; count += 1) {
      await sendCode(parts, visitor, 'bounds@example.com')
    }
  }
  // A day begins with its first code. The test uses most of the limit at the end of one day and then starts the next day at once.
  // It does the same with one window of 15 minutes.
  await ask(0, 1)
  await ask(22 * hourMs, 1)
  await ask(22 * hourMs + 15 * minuteMs - 1, 6)
  const windows = Array.from({ length: 16 }, (_, index) => 22.25 * hourMs + index * 15 * minuteMs)
  for (const atMs of windows) await ask(atMs, 7)
  for (let atMs = dayMs + 3 * hourMs; atMs < 2 * dayMs; atMs += hourMs) await ask(atMs, 1)
  const all = [...sent.short, ...sent.long]
  expect(mostWithin(sent.short, 15 * minuteMs)).toBe(9)
  expect(mostWithin(sent.short, hourMs)).toBe(24)
  expect(mostWithin(sent.long, hourMs)).toBe(1)
  expect(mostWithin(all, hourMs)).toBeLessThanOrEqual(25 + 1)
  // Two windows of a day are adjacent: 29 codes at the end of the first one, and 30 at the start of the second.
  expect(mostWithin(sent.short, dayMs)).toBe(59)
  expect(mostWithin(all, dayMs)).toBeLessThanOrEqual(60 + 24)
  expect(mostWithin(sent.short, dayMs) * config.codeAttemptsMax).toBeLessThanOrEqual(300)
})

test('keeps a newer long code when an older one is removed', async () => {
  const { providerId } = world.tenant
  const sql = stack.database.in('sandbox')
  const email = 'taken-back@example.com'
  const now = new Date()
  const later = new Date(now.getTime() + 2 * minuteMs)
  const [first, second] = [generateSharedCode(), generateSharedCode()]
  const browserToken = 'browser'
  const enter = async (code: string) => {
    await joinSharedCode(sql, providerId, { browserToken, email }, later)
    const limits = { attemptsMax: 5, now: later }
    return (await tryCode(sql, providerId, { browserToken, code }, limits)).kind
  }
  expect(await claimSharedCode(sql, providerId, { email, code: first }, now)).toBe(true)
  // The mail server refuses the mail so late that the claim has ended, and another process sends the next code.
  expect(await claimSharedCode(sql, providerId, { email, code: second }, later)).toBe(true)
  await removeSharedCode(sql, providerId, { email, code: first })
  expect(await enter(first)).toBe('wrong')
  expect(await enter(second)).toBe('right')
  expect(await claimSharedCode(sql, providerId, { email, code: first }, later)).toBe(true)
  await removeSharedCode(sql, providerId, { email, code: first })
  expect(await enter(first)).toBe('none')
})
