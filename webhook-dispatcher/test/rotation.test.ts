import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'
import { isSignedBy, startReceiver, type Receiver } from './receiver.ts'

/*
 * Tests the rotation of an endpoint's secret on a real PostgreSQL. Receivers lose no delivery whenever they switch to the new
 * secret.
 */

let stack: DispatcherStack
let receiver: Receiver | undefined

beforeAll(async () => {
  stack = await startDispatcherStack()
})

afterEach(async () => {
  await receiver?.close()
  await stack.reset()
})

afterAll(() => stack.close())

const configuredEvents = process.env['TOLLGATE_TEST_WEBHOOK_ROTATED']
const events = Number(configuredEvents ?? 300)
const deliveredWithinMs = 30_000 + 50 * events

test.each([
  ['any of the signatures', 'any', 0],
  ['only the first signature', 'first', 1],
] as const)(
  'loses no delivery during a rotation if the receiver verifies %s',
  async (_, whichV1, refusedMax) => {
    const switchesAfter = Math.floor(Math.random() * events)
    let secret = 'whsec_old'
    let refused = 0
    receiver = await startReceiver((received) => {
      const isSwitching = receiver!.received.length > switchesAfter
      if (isSwitching) secret = 'whsec_new'
      if (isSignedBy(received, secret, whichV1)) return { status: 200 }
      refused += 1
      return { status: 401 }
    })
    await stack.insertEndpoint({
      providerId: 'prov',
      reference: 'we_A',
      url: receiver.url,
      secrets: [
        { text: 'whsec_old', signsFirst: true },
        { text: 'whsec_new', signsFirst: false },
      ],
    })
    const [audited] = await stack.database.in('sandbox')<{ id: bigint | null }[]>`
    select max(id) as id from audit_log`
    const auditedBefore = audited?.id ?? 0n
    await stack.start({ perEndpointMax: 1 })
    await stack.emit(
      'prov',
      Array.from({ length: events }, (_, index) => `cus_${index}`),
    )
    const countStates = async () => {
      const rows = await stack.database.in('sandbox')<{ state: string; count: number }[]>`
      select state, count(*)::int as count from webhook_deliveries group by state`
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
    }
    await until(async () => (await countStates())['pending'] === undefined, deliveredWithinMs)
    expect(await countStates()).toEqual({ succeeded: events })
    expect(refused).toBeLessThanOrEqual(refusedMax)
    const [first] = await stack.database.in('sandbox')<{ reference: string }[]>`
    select reference from webhook_secrets where signs_first`
    expect(first?.reference).toBe(refused === 0 ? 'whs_we_A_0' : 'whs_we_A_1')
    const promoted = await stack.database.in('sandbox')<{ actor: string }[]>`
    select actor from audit_log
    where kind = 'webhook_secrets' and action = 'update' and id > ${String(auditedBefore)}`
    expect(new Set(promoted.map(({ actor }) => actor))).toEqual(
      new Set(refused === 0 ? [] : ['job:webhook-dispatcher']),
    )
    if (configuredEvents !== undefined)
      console.log('rotation', { whichV1, events, switchesAfter, refused })
  },
  30_000 + deliveredWithinMs,
)
