import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { emailKinds } from '@tollgate/schemas/http/emails'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ClaimedEmail } from '../src/emails/email.ts'
import { findEmail, requeueEmail } from '../src/emails/emails-repository.ts'
import {
  beginSending,
  claimEmails,
  deleteOldEmails,
  finishEmail,
  markUnknown,
  releaseEmail,
} from '../src/emails/queue-repository.ts'
import { changeEmailSettings } from '../src/emails/settings-repository.ts'
import { insertOutboxEvents } from '../src/outbox/repository.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'

/* The states of an email whose sender dies between any two steps. */

const provider = 'prv_emails'
const start = new Date('2026-03-01T00:00:00Z')
const recipient = 'ada@example.com'

let testDatabase: Awaited<ReturnType<typeof startTestDatabase>>
let sql: ReturnType<Database['in']>

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  sql = testDatabase.database.in('live')
  await changeEmailSettings(sql, provider, { kinds: emailKinds }, start)
})
afterAll(() => testDatabase.stop())
beforeEach(async () => {
  await sql`delete from emails`
  await sql`delete from outbox`
})

function after(seconds: number): Date {
  return new Date(start.getTime() + seconds * 1_000)
}

async function emit(count = 1, providerId = provider): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    ...{ eventId: `evt_${index}`, providerId, type: 'purchase.past_due', livemode: true },
    object: { customer: 'cus_1' },
    previousAttributes: null,
    ...{ requestId: null, idempotencyKey: null, createdAt: start },
  }))
  // Repeated events are ignored, with their emails.
  await insertOutboxEvents(sql, events)
  await insertOutboxEvents(sql, events)
}

function claim(second: number, emailsMax = 10): Promise<ClaimedEmail[]> {
  return claimEmails(sql, { now: after(second), leasedUntil: after(second + 60), emailsMax })
}

async function claimOne(second: number): Promise<ClaimedEmail> {
  const claimed = await claim(second)
  expect(claimed).toHaveLength(1)
  return claimed[0]!
}

const begin = (email: ClaimedEmail, second: number): Promise<boolean> =>
  beginSending(sql, email, recipient, after(second + 60))

const finishSent = (email: ClaimedEmail, second: number): Promise<boolean> =>
  finishEmail(sql, email, { kind: 'sent', answer: '250 OK' }, recipient, after(second))

const stateOf = async (): Promise<string | undefined> =>
  (await findEmail(sql, provider, 'eml_0'))?.state

describe('a sender that dies', () => {
  test('before the text is handed over leaves an email for the next one, after its lease', async () => {
    await emit()
    await claimOne(0)
    expect(await claim(59)).toEqual([])
    const next = await claimOne(60)
    expect(await begin(next, 60)).toBe(true)
    expect(await finishSent(next, 61)).toBe(true)
    expect(await claim(1_000)).toEqual([])
  })

  test('after that leaves an email that is unknown and is never claimed again', async () => {
    await emit()
    expect(await begin(await claimOne(0), 0)).toBe(true)
    expect(await markUnknown(sql, after(59))).toBe(0)
    expect(await markUnknown(sql, after(60))).toBe(1)
    expect(await claim(1_000_000)).toEqual([])
    expect(await findEmail(sql, provider, 'eml_0')).toMatchObject({
      state: 'unknown',
      reason: 'interrupted',
      attempts: 0,
      recipient,
    })
  })
})

describe('a sender that lost its claim', () => {
  test('hands nothing over, whatever its clock says', async () => {
    await emit()
    const late = await claimOne(0)
    const next = await claimOne(60)
    expect(await begin(late, 0)).toBe(false)
    expect(await begin(next, 60)).toBe(true)
    // Nor does it once the other one is handing the email over, or has.
    expect(await begin(late, 0)).toBe(false)
    expect(await finishSent(next, 61)).toBe(true)
    expect(await begin(late, 0)).toBe(false)
    const refused = { kind: 'failed', reason: 'attempts', answer: null } as const
    expect(await finishEmail(sql, late, refused, recipient, after(70))).toBe(false)
    expect(await stateOf()).toBe('sent')
  })

  test('still records what it knows of an email that became unknown', async () => {
    await emit()
    const slow = await claimOne(0)
    await begin(slow, 0)
    await markUnknown(sql, after(60))
    expect(await finishSent(slow, 90)).toBe(true)
    expect(await stateOf()).toBe('sent')
  })

  test('changes nothing after a person had the email sent again', async () => {
    await emit()
    const slow = await claimOne(0)
    expect(slow).toMatchObject({ wantedAt: start, isRequested: false })
    await begin(slow, 0)
    expect(await requeueEmail(sql, provider, 'eml_0', after(10))).toBeUndefined()
    await markUnknown(sql, after(60))
    expect(await requeueEmail(sql, 'prv_other', 'eml_0', after(70))).toBeUndefined()
    expect(await requeueEmail(sql, provider, 'eml_0', after(70))).toMatchObject({
      state: 'pending',
    })
    expect(await finishSent(slow, 90)).toBe(false)
    const again = await claimOne(90)
    expect(again).toMatchObject({ wantedAt: after(70), isRequested: true })
    expect(await begin(again, 90)).toBe(true)
  })
})

test('an attempt that was given up hands nothing over, even if its begin is executed late', async () => {
  await emit()
  const slow = await claimOne(0)
  const timeout = { kind: 'pending', reason: 'timeout', answer: null, dueAt: after(30) } as const
  expect(await finishEmail(sql, slow, timeout, recipient, after(1))).toBe(true)
  expect(await begin(slow, 1)).toBe(false)
  const next = await claimOne(30)
  expect(next.attempts).toBe(1)
  expect(await begin(next, 30)).toBe(true)
})

test('a begun email of a deleted customer stores neither address nor answer', async () => {
  await emit()
  const email = await claimOne(0)
  await begin(email, 0)
  await sql`update emails set recipient = null, answer = null, is_erased = true`
  await finishSent(email, 1)
  expect(await findEmail(sql, provider, 'eml_0')).toMatchObject({ recipient: null, answer: null })
  await sql`update emails set state = 'pending', finished_at = null`
  expect(await begin(await claimOne(2), 2)).toBe(false)
})

test('only a person who has an email sent again leaves an entry in the audit log', async () => {
  const entries = async (): Promise<number> => {
    const rows = await sql`
      select 1 from audit_log where provider_id = ${provider} and kind = 'emails'`
    return rows.length
  }
  await emit()
  const slow = await claimOne(0)
  await begin(slow, 0)
  await markUnknown(sql, after(60))
  const before = await entries()
  // A late answer shows that the email was not accepted, so it is due again.
  const deferred = { kind: 'pending', reason: 'deferred', answer: '451', dueAt: after(90) } as const
  expect(await finishEmail(sql, slow, deferred, recipient, after(61))).toBe(true)
  expect(await entries()).toBe(before)
  const again = await claimOne(90)
  await begin(again, 90)
  await markUnknown(sql, after(150))
  await requeueEmail(sql, provider, 'eml_0', after(160))
  expect(await entries()).toBe(before + 1)
})

test('an attempt without an address keeps that of an earlier one, for the link to unsubscribe', async () => {
  await emit()
  const first = await claimOne(0)
  await begin(first, 0)
  await markUnknown(sql, after(60))
  await requeueEmail(sql, provider, 'eml_0', after(70))
  const skipped = { kind: 'skipped', reason: 'outdated' } as const
  expect(await finishEmail(sql, await claimOne(70), skipped, null, after(71))).toBe(true)
  expect(await findEmail(sql, provider, 'eml_0')).toMatchObject({ state: 'skipped', recipient })
})

test('concurrent senders claim each email once, and a released one again at once', async () => {
  await emit(100)
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim(0, 20)))
  const references = claims.flat().map(({ reference }) => reference)
  expect(new Set(references).size).toBe(references.length)
  const [first] = claims.flat()
  await releaseEmail(sql, first!)
  const again = await claim(1, 1_000)
  expect(again.map(({ reference }) => reference)).toContain(first!.reference)
  expect(references.length + again.length).toBe(100 + 1)
})

test('only finished emails are deleted when they are old', async () => {
  await emit(3)
  const [one, other] = await claim(0)
  await finishSent(one!, 0)
  await begin(other!, 0)
  expect(await deleteOldEmails(sql, after(1), 10)).toBe(1)
  expect(await deleteOldEmails(sql, after(1), 10)).toBe(0)
})

test('an event of a provider without settings has no email', async () => {
  await emit(1, 'prv_other')
  expect(await claim(0)).toEqual([])
})

test('answers are stored in one line of limited length, without U+0000', async () => {
  await emit()
  const email = await claimOne(0)
  const answer = `250-first\r\nsecond\u0000${'x'.repeat(2_000)}`
  await finishEmail(sql, email, { kind: 'sent', answer }, recipient, after(0))
  const stored = (await findEmail(sql, provider, 'eml_0'))!.answer!
  expect(stored).toMatch(/^250-first second x+$/)
  expect(stored).toHaveLength(500)
})
