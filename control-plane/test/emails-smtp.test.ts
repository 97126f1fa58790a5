import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmailSuppressionBody } from '@tollgate/schemas/http/emails'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EmailWorld, smtpSettings, startEmailStack } from './email-world.ts'
import { startScriptedMailServer, type ScriptedMailServer } from './scripted-mail-server.ts'
import type { TestStack } from './test-stack.ts'

/* Emails that a control plane hands to a mail server. */

let mail: ScriptedMailServer
let stack: TestStack
let live: EmailWorld
let customers = 0

beforeAll(async () => {
  mail = await startScriptedMailServer()
  stack = await startEmailStack({ ...smtpSettings(mail.url), TOLLGATE_EMAIL_TIMEOUT_MS: '1000' })
  live = await EmailWorld.open(stack, 'live')
})
afterAll(async () => {
  await stack.stop()
  await mail.stop()
})

/** Emits an event of a new customer whose local part tells the server what to do. Returns the id of the email. */
async function emitTo(name: string, world = live): Promise<{ emailId: string; address: string }> {
  customers += 1
  const address = `${name}@${customers}.example.com`
  const customerRef = await world.createCustomer(address)
  const [emailId] = await world.emit('purchase.trial_ending', [customerRef])
  return { emailId: emailId!, address }
}

function messagesOf(address: string): number {
  return mail.received.filter(({ recipient }) => recipient === address).length
}

async function suppressionsOf(email: string): Promise<readonly EmailSuppressionBody[]> {
  const path = `/v1/ui/email-suppressions?email=${encodeURIComponent(email)}`
  const page = await live.send<{ suppressions: EmailSuppressionBody[] }>('GET', path)
  return page.suppressions
}

describe('an email', () => {
  test('is sent once, from the sender of the operator with the name of the provider', async () => {
    await live.send('PATCH', '/v1/ui/email-settings', {
      senderName: 'Acme Billing',
      replyTo: 'help@acme.example',
    })
    const { emailId, address } = await emitTo('ada')
    const email = await live.awaitEmail(emailId, 'sent')
    expect(email).toMatchObject({ kind: 'trial_ending', recipient: address, attempts: 1 })
    expect(email.answer).toMatch(/^250 /)
    const [message, ...others] = mail.received.filter(({ recipient }) => recipient === address)
    expect(others).toEqual([])
    expect(message?.messageId).toBe(`${emailId}@tollgate.example`)
    expect(message?.source).toMatch(/^From: Acme Billing <billing@tollgate\.example>\r$/m)
    expect(message?.source).toMatch(/^Reply-To: help@acme\.example\r$/m)
    await live.send('PATCH', '/v1/ui/email-settings', { senderName: null, replyTo: null })
  })

  test('is sent again after temporary refusals, with the same Message-ID', async () => {
    const { emailId, address } = await emitTo('busy')
    expect(await live.awaitEmail(emailId, 'sent')).toMatchObject({ attempts: 2 })
    const ids = mail.received.filter(({ recipient }) => recipient === address)
    expect(ids.map(({ messageId }) => messageId)).toEqual(
      Array(2).fill(`${emailId}@tollgate.example`),
    )
  })

  test('waits by the schedule while the server refuses the recipient temporarily', async () => {
    const { emailId } = await emitTo('later')
    await expect
      .poll(async () => (await live.getEmail(emailId)).attempts, { timeout: 10_000 })
      .toBe(3)
    const email = await live.getEmail(emailId)
    expect(email).toMatchObject({
      state: 'pending',
      answer: expect.stringContaining('451') as string,
    })
    expect(Date.parse(email.dueAt!) - Date.now()).toBeGreaterThan(3_000_000)
  })

  test('fails and suppresses the address if the server refuses it permanently', async () => {
    const { emailId, address } = await emitTo('refused')
    const email = await live.awaitEmail(emailId, 'failed')
    expect(email).toMatchObject({ reason: 'address-refused', attempts: 1 })
    const [suppression] = await suppressionsOf(address)
    expect(suppression).toMatchObject({
      reason: 'bounced',
      detail: expect.stringContaining('550') as string,
    })
    // The next email is skipped until a person removes the suppression.
    const [next] = await live.emit('purchase.trial_ending', [email.customerRef!])
    expect(await live.awaitEmail(next!, 'skipped')).toMatchObject({ reason: 'suppressed' })
    await live.send('DELETE', `/v1/ui/email-suppressions/${suppression!.id}`)
    await live.send('POST', `/v1/ui/emails/${next}/resend`)
    expect(await live.awaitEmail(next!, 'failed')).toMatchObject({ reason: 'address-refused' })
  })

  test('suppresses no address of a customer who is deleted meanwhile', async () => {
    const { emailId, address } = await emitTo('leaver')
    const sql = stack.database.in('live')
    await expect
      .poll(() => sql`select 1 from emails where reference = ${emailId} and claim > 0`)
      .toHaveLength(1)
    const { customerRef } = await live.getEmail(emailId)
    await live.send('DELETE', `/v1/ui/customers/${customerRef}`)
    await sleep(1_000)
    expect(await live.getEmail(emailId)).toMatchObject({ state: 'skipped', reason: 'no-address' })
    expect(await suppressionsOf(address)).toEqual([])
  })

  test('is not a bounce if the server does not relay for this sender', async () => {
    const { emailId, address } = await emitTo('relay')
    await expect
      .poll(async () => (await live.getEmail(emailId)).attempts, { timeout: 10_000 })
      .toBe(3)
    expect((await live.getEmail(emailId)).state).toBe('pending')
    expect(await suppressionsOf(address)).toEqual([])
  })

  test('fails without a suppression if the server refuses the text', async () => {
    const { emailId, address } = await emitTo('spam')
    expect(await live.awaitEmail(emailId, 'failed')).toMatchObject({ reason: 'message-refused' })
    expect(await suppressionsOf(address)).toEqual([])
  })

  test.each(['cut', 'hang'])(
    'is unknown and not repeated if the answer does not arrive: %s',
    async (name) => {
      const { emailId, address } = await emitTo(name)
      const email = await live.awaitEmail(emailId, 'unknown')
      expect(email).toMatchObject({ recipient: address, attempts: 0 })
      await sleep(200)
      expect(messagesOf(address)).toBe(1)
      await live.send('POST', `/v1/ui/emails/${emailId}/resend`)
      await live.awaitEmail(emailId, 'unknown')
      expect(messagesOf(address)).toBe(2)
      expect(
        new Set(
          mail.received
            .filter(({ recipient }) => recipient === address)
            .map(({ messageId }) => messageId),
        ).size,
      ).toBe(1)
    },
  )

  test('to a malformed address fails, and the next one is sent', async () => {
    const customerRef = await live.createCustomer('ada@example.com')
    await stack.database.in('live')`
      update customers set email = ${'ada@example.com, eve@example.com'} where reference = ${customerRef}`
    const [emailId] = await live.emit('purchase.trial_ending', [customerRef])
    const { emailId: next } = await emitTo('next')
    expect(await live.awaitEmail(emailId!, 'failed')).toMatchObject({ reason: 'bad-address' })
    await live.awaitEmail(next, 'sent')
  })

  test('that was accepted cannot be sent again', async () => {
    const { emailId } = await emitTo('ada')
    await live.awaitEmail(emailId, 'sent')
    const answer = await stack.call(live.key, 'POST', `/v1/ui/emails/${emailId}/resend`)
    expect([answer.status, answer.body.code]).toEqual([409, 'email_not_resendable'])
  })

  test('is not sent to addresses that a client made up, or when it is out of date', async () => {
    const made = await live.createCustomer('user_1-1760000000000@auto-created.local')
    const [emailId] = await live.emit('purchase.trial_ending', [made])
    expect(await live.awaitEmail(emailId!, 'skipped')).toMatchObject({ reason: 'no-address' })
    const customerRef = await live.createCustomer('late@example.com')
    stack.clock.set(new Date(Date.now() - 73 * 3_600_000).toISOString())
    const [old] = await live.emit('purchase.trial_ending', [customerRef])
    stack.clock.set()
    expect(await live.awaitEmail(old!, 'skipped')).toMatchObject({ reason: 'outdated' })
    expect(messagesOf('late@example.com')).toBe(0)
  })
})

describe('a new provider', () => {
  test('sends nothing until it lists the kind', async () => {
    const world = await EmailWorld.open(stack, 'live', {})
    const customerRef = await world.createCustomer('quiet@example.com')
    await world.emit('purchase.trial_ending', [customerRef])
    await world.send('PATCH', '/v1/ui/email-settings', { kinds: ['receipt'] })
    await world.emit('purchase.trial_ending', [customerRef])
    const { emails } = await world.send<{ emails: unknown[] }>('GET', '/v1/ui/emails')
    expect(emails).toEqual([])
    expect(messagesOf('quiet@example.com')).toBe(0)
  })

  test('sends no waiting email of a kind that it no longer lists, unless a person requests it', async () => {
    const world = await EmailWorld.open(stack, 'live')
    const { emailId, address } = await emitTo('later', world)
    await expect
      .poll(async () => (await world.getEmail(emailId)).attempts, { timeout: 10_000 })
      .toBe(3)
    await world.send('PATCH', '/v1/ui/email-settings', { kinds: ['receipt'] })
    await stack.database.in('live')`
      update emails set due_at = now() where reference = ${emailId}`
    expect(await world.awaitEmail(emailId, 'skipped')).toMatchObject({ reason: 'not-chosen' })
    await stack.database.in('live')`
      update customers set email = ${`ready.${address}`}
      where reference = (select customer_ref from emails where reference = ${emailId})`
    await world.send('POST', `/v1/ui/emails/${emailId}/resend`)
    await world.awaitEmail(emailId, 'sent')
  })

  test('sends emails of the sandbox only to the addresses that it lists', async () => {
    const world = await EmailWorld.open(stack, 'sandbox')
    const ada = await world.createCustomer('ada@sandbox.example.com')
    const [skipped] = await world.emit('purchase.trial_ending', [ada])
    expect(await world.awaitEmail(skipped!, 'skipped')).toMatchObject({ reason: 'sandbox' })
    const listed = { sandboxRecipients: ['ada@sandbox.example.com'] }
    await world.send('PATCH', '/v1/ui/email-settings', listed)
    const [sent] = await world.emit('purchase.trial_ending', [ada])
    await world.awaitEmail(sent!, 'sent')
    expect(messagesOf('ada@sandbox.example.com')).toBe(1)
  })

  test('sees and changes nothing of another one', async () => {
    const { emailId } = await emitTo('hang')
    await live.awaitEmail(emailId, 'unknown')
    const suppressed = await live.send<EmailSuppressionBody>('POST', '/v1/ui/email-suppressions', {
      email: 'private@example.com',
    })
    const others = [
      (await EmailWorld.open(stack, 'live')).key,
      // The other environment of the same provider.
      live.tenant.sandboxKey,
    ]
    for (const key of others) {
      for (const [method, path] of [
        ['GET', `/v1/ui/emails/${emailId}`],
        ['POST', `/v1/ui/emails/${emailId}/resend`],
        ['DELETE', `/v1/ui/email-suppressions/${suppressed.id}`],
      ] as const) {
        expect([method, path, (await stack.call(key, method, path)).status]).toEqual([
          method,
          path,
          404,
        ])
      }
    }
    expect((await live.getEmail(emailId)).state).toBe('unknown')
    expect(await suppressionsOf('private@example.com')).toHaveLength(1)
  })
})

describe('a mail server that does not answer', () => {
  let silent: Server

  beforeAll(async () => {
    silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
  })
  afterAll(() => silent.close())

  test('holds no transaction open, and the emails wait', async () => {
    const { port } = silent.address() as { port: number }
    const slow = await startEmailStack({
      ...smtpSettings(`smtp://127.0.0.1:${port}`),
      TOLLGATE_EMAIL_TIMEOUT_MS: '1500',
    })
    try {
      const world = await EmailWorld.open(slow, 'live')
      const customerRef = await world.createCustomer('ada@example.com')
      const [emailId] = await world.emit('purchase.trial_ending', [customerRef])
      const connected = once(silent, 'connection')
      await connected
      await sleep(100)
      const [open] = await slow.database.control<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`
      expect(open?.count).toBe(0)
      await expect
        .poll(async () => (await world.getEmail(emailId!)).attempts, { timeout: 20_000 })
        .toBeGreaterThan(0)
      expect(await world.getEmail(emailId!)).toMatchObject({ state: 'pending', reason: 'timeout' })
    } finally {
      await slow.stop()
    }
  })

  test('that is not there keeps the emails, which are sent when it is', async () => {
    const probe = await startScriptedMailServer()
    await probe.stop()
    const later = await startEmailStack({
      ...smtpSettings(probe.url),
      TOLLGATE_EMAIL_RETRY_DELAYS_SECONDS: Array(30).fill('0').join(','),
      TOLLGATE_EMAIL_POLL_MS: '100',
    })
    try {
      const world = await EmailWorld.open(later, 'live')
      const customerRef = await world.createCustomer('ada@example.com')
      const [emailId] = await world.emit('purchase.trial_ending', [customerRef])
      await expect
        .poll(async () => (await world.getEmail(emailId!)).attempts, { timeout: 10_000 })
        .toBeGreaterThan(0)
      const back = await startScriptedMailServer({ port: probe.port })
      await world.awaitEmail(emailId!, 'sent')
      expect(back.received).toHaveLength(1)
      await back.stop()
    } finally {
      await later.stop()
    }
  })
})

test('a mail server without a sender sends nothing of providers', async () => {
  const unset = await startEmailStack({ TOLLGATE_SMTP_URL: mail.url })
  try {
    const world = await EmailWorld.open(unset, 'live')
    expect(await world.send('GET', '/v1/ui/email-settings')).toMatchObject({ transport: 'none' })
    const customerRef = await world.createCustomer('unset@example.com')
    const [emailId] = await world.emit('purchase.trial_ending', [customerRef])
    expect(await world.awaitEmail(emailId!, 'skipped')).toMatchObject({ reason: 'no-transport' })
    expect(messagesOf('unset@example.com')).toBe(0)
  } finally {
    await unset.stop()
  }
})
