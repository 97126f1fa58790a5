import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EmailWorld, smtpSettings, startEmailStack } from './email-world.ts'
import { startKillableControlPlane, type KillableControlPlane } from './killable-control-plane.ts'
import { startScriptedMailServer, type ScriptedMailServer } from './scripted-mail-server.ts'
import type { TestStack } from './test-stack.ts'

/*
 * Kills control planes (-9) while they send emails. No email may reach the mail server twice, and none may be lost: each one reached
 * it, or is `unknown` because its process died while it handed it over.
 */

const requested = process.env['TOLLGATE_TEST_EMAILS']
const emailsTotal = Number(requested ?? 200)
const kills = Math.max(3, Math.round(emailsTotal / 200))

/** Two processes share the queue. */
const processes = 2
const connectionsMax = 4

const { seed } = randomRuns(1)
const random = new SeededRandom(seed)

let mail: ScriptedMailServer
let stack: TestStack
let world: EmailWorld

beforeAll(async () => {
  // The answer takes a moment, so that kills also hit emails whose text has arrived.
  mail = await startScriptedMailServer({ answerMs: 3 })
  // This control plane only serves the API. Its round is longer than the test.
  stack = await startEmailStack({ TOLLGATE_EMAIL_POLL_MS: '3600000' })
  world = await EmailWorld.open(stack, 'live')
})
afterAll(async () => {
  await stack.stop()
  await mail.stop()
})

function startSender(): Promise<KillableControlPlane> {
  return startKillableControlPlane(stack, {
    ...smtpSettings(mail.url),
    TOLLGATE_EMAIL_POLL_MS: '20',
    TOLLGATE_EMAIL_TIMEOUT_MS: '2000',
    TOLLGATE_EMAIL_CONNECTIONS_MAX: String(connectionsMax),
  })
}

type Counts = Readonly<Record<string, number>>

async function countStates(): Promise<Counts> {
  const rows = await stack.database.in('live')<{ state: string; count: number }[]>`
    select state, count(*)::int as count from emails group by state`
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** Ends all leases, as time would. */
async function endLeases(): Promise<void> {
  await stack.database.in('live')`
    update emails set leased_until = '-infinity' where leased_until is not null`
}

async function awaitReceived(count: number): Promise<void> {
  while (mail.received.length < count) {
    const { pending = 0, sending = 0 } = await countStates()
    if (pending + sending === 0) return
    await sleep(5)
  }
}

test(`sends each email at most once and loses none, with seed ${seed}`, async () => {
  const customerRefs: string[] = []
  for (let index = 0; index < 10; index += 1) {
    customerRefs.push(await world.createCustomer(`c${index}@example.com`))
  }
  const emitted: string[] = []
  for (let count = 0; count < emailsTotal; count += 10) {
    emitted.push(...(await world.emit('purchase.past_due', customerRefs)))
  }
  for (let life = 0; life < kills; life += 1) {
    const senders = await Promise.all(Array.from({ length: processes }, startSender))
    const share = Math.floor(emailsTotal / (kills + 1))
    await awaitReceived(mail.received.length + 1 + random.below(share))
    await sleep(random.below(10))
    await Promise.all(senders.map((sender) => sender.kill()))
    await endLeases()
  }
  const last = await startSender()
  for (;;) {
    const { pending = 0, sending = 0 } = await countStates()
    if (pending + sending === 0) break
    await sleep(50)
  }
  await last.kill()

  const ids = mail.received.map(({ messageId }) => messageId.split('@')[0]!)
  // None arrived twice, and each belongs to an event.
  expect(new Set(ids).size).toBe(ids.length)
  const expected = new Set(emitted)
  expect(ids.filter((id) => !expected.has(id))).toEqual([])
  const rows = await stack.database.in('live')<{ reference: string; state: string }[]>`
      select reference, state from emails`
  expect(rows.map(({ reference }) => reference).toSorted()).toEqual(emitted.toSorted())
  const arrived = new Set(ids)
  const missing = rows.filter(({ reference }) => !arrived.has(reference))
  // What did not arrive is not claimed to have been sent.
  expect(new Set(missing.map(({ state }) => state))).toEqual(
    new Set(missing.length === 0 ? [] : ['unknown']),
  )
  const { sent = 0, unknown = 0, ...others } = await countStates()
  expect(others).toEqual({})
  expect(sent + unknown).toBe(emailsTotal)
  expect(unknown).toBeLessThanOrEqual(kills * processes * connectionsMax)
  if (requested !== undefined) {
    console.log('killed senders', { emailsTotal, kills, sent, unknown, missing: missing.length })
  }
}, 1_800_000)
