import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import { afterEach, describe, expect, it } from 'vitest'
import { BusUnderTest, otherProviderId, type BusOptions } from './bus-under-test.ts'
import { providerId } from './installation.ts'

const isLeftOut = process.env['TOLLGATE_TEST_NATS_URL'] === undefined

let bus: BusUnderTest
afterEach(() => bus.remove())

/** Returns the log with another append function. */
function appendingBy(
  append: (real: EventLog, ...input: Parameters<EventLog['appendAll']>) => Promise<number[]>,
) {
  return (real: EventLog): EventLog =>
    new Proxy(real, {
      get: (target, name: keyof EventLog) => {
        if (name === 'appendAll') {
          return (...input: Parameters<EventLog['appendAll']>) => append(target, ...input)
        }
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    })
}

/** Returns a log that refuses appends while `isRefusing` is set. */
function refusingLog() {
  const state = { isAway: false, refused: 0 }
  const log = appendingBy((real, ...input) => {
    if (!state.isAway) return real.appendAll(...input)
    state.refused += 1
    return Promise.reject(new EventLogUnavailableError('away'))
  })
  return { state, log }
}

const own = (more: object = {}) => ({ meterName: 'requests', userId: 'cus_OWN', ...more })

const modes = ['jetstream', 'subjects'] as const

describe.skipIf(isLeftOut).each(modes)('the message bus in mode %s', (mode) => {
  const start = async (options?: BusOptions) => void (bus = await BusUnderTest.start(mode, options))

  it('records items for the provider and the environment of their customers', async () => {
    await start()
    await bus.publish(own({ value: 2.5, properties: { region: 'eu', outcome: 'fail' } }))
    await bus.publish({
      events: [
        own({ meterName: 'tokens', value: 7 }),
        { userId: 'cus_LIVE' },
        { userId: 'cus_OTHER', value: 3 },
      ],
    })
    await bus.untilMessages(2)
    const sandbox = await bus.installation.events()
    expect(sandbox.sort((a, b) => a.value - b.value)).toMatchObject([
      {
        providerId,
        customerRef: 'cus_OWN',
        meterName: 'requests',
        value: 2_500_000,
        outcome: 'fail',
        source: 'meter-events',
      },
      { providerId: otherProviderId, customerRef: 'cus_OTHER', value: 3_000_000 },
      {
        providerId,
        customerRef: 'cus_OWN',
        meterName: 'tokens',
        value: 7_000_000,
        outcome: 'success',
      },
    ])
    expect(JSON.parse(sandbox[0]!.properties)).toEqual({ region: 'eu', outcome: 'fail' })
    expect(await bus.installation.events('live')).toMatchObject([
      { providerId, customerRef: 'cus_LIVE', meterName: 'requests', value: 1_000_000 },
    ])
  })

  it('drops and counts invalid items, and records the valid items of their batch', async () => {
    await start()
    const tooOld = new Date(Date.now() - 31 * 86_400_000).toISOString()
    const bad: readonly (readonly [string, unknown])[] = [
      ['malformed', null],
      ['malformed', 'text'],
      ['malformed', []],
      ['malformed', { meterName: 'requests' }],
      ['malformed', own({ userId: '' })],
      ['malformed', own({ userId: 7 })],
      ['malformed', own({ userId: 'a'.repeat(257) })],
      ['malformed', own({ userId: 'a\0b' })],
      ['malformed', own({ meterName: 5 })],
      ['malformed', own({ value: -1 })],
      ['malformed', own({ value: '1' })],
      ['malformed', own({ value: 1e300 })],
      ['malformed', own({ value: 0.1234567 })],
      ['malformed', own({ properties: 'text' })],
      ['idempotency_key', own({ properties: { idempotencyKey: 5 } })],
      ['idempotency_key', own({ properties: { idempotencyKey: 'k'.repeat(257) } })],
      ['timestamp', own({ timestamp: tooOld })],
      ['unknown_customer', own({ userId: 'cus_NOBODY' })],
      ['unknown_customer', own({ userId: 'user-1' })],
      ['unknown_meter', own({ meterName: 'nothing' })],
      ['archived_meter', own({ meterName: 'old' })],
    ]
    await bus.publish({ events: [own(), ...bad.map(([, item]) => item), own({ value: 2 })] })
    await bus.untilMessages(1)
    expect((await bus.installation.events()).map(({ value }) => value)).toEqual([
      1_000_000, 2_000_000,
    ])
    for (const reason of new Set(bad.map(([each]) => each))) {
      const expected = bad.filter(([each]) => each === reason).length
      expect([reason, await bus.metric('bad_items', reason)]).toEqual([reason, expected])
    }
  })

  it('drops messages without items permanently', async () => {
    await start()
    const undecodable = [
      '',
      'text',
      '{',
      '[]',
      '"a"',
      '5',
      'null',
      new Uint8Array([0x7b, 0xff, 0x7d]),
    ]
    for (const body of undecodable) await bus.publishTo('record', body)
    for (const body of ['{}', '{"events":{}}', '[]', '{"events":'])
      await bus.publishTo('recordBulk', body)
    await bus.publish(own())
    await bus.untilMessages(1)
    await bus.untilMessages(undecodable.length + 4, 'undecodable')
    expect(await bus.installation.stored()).toBe(1)
    if (mode === 'subjects') return
    await expect
      .poll(() => bus.consumerInfo())
      .toMatchObject({ num_pending: 0, num_ack_pending: 0 })
  })

  it('records more items from one message than one bulk call may contain', async () => {
    await start()
    await bus.publish({ events: Array.from({ length: 2_500 }, () => own()) })
    await bus.untilMessages(1)
    expect(await bus.installation.stored()).toBe(2_500)
    expect(await bus.metric('items', 'recorded')).toBe(2_500)
  })

  it('records a repeated idempotency key once, shared with HTTP', async () => {
    await start()
    const key = await bus.installation.createKey()
    const keyed = own({ properties: { idempotencyKey: 'order-1' } })
    await bus.publish(keyed)
    await bus.publish({
      events: [keyed, keyed, own({ properties: { idempotencyKey: 'order-2' } })],
    })
    await bus.untilMessages(2)
    const body = { customerRef: 'cus_OWN', idempotencyKey: 'order-1' }
    const answer = await bus.installation.post('/v1/sdk/meter-events', key, body)
    expect(answer.status).toBe(200)
    expect(await bus.installation.stored()).toBe(2)
    expect(await bus.metric('items', 'duplicate')).toBe(2)
  })

  it('serves only the configured provider and environment', async () => {
    const settings = { TOLLGATE_NATS_PROVIDER: providerId, TOLLGATE_NATS_ENVIRONMENT: 'sandbox' }
    await start({ settings })
    const names = ['cus_OWN', 'cus_LIVE', 'cus_OTHER', 'user-1', 'user-2', 'user-3']
    await bus.publish({ events: names.map((userId) => ({ userId })) })
    await bus.untilMessages(1)
    const recorded = (await bus.installation.events()).map(({ customerRef }) => customerRef)
    expect(recorded.sort()).toEqual(['cus_OWN', 'user-1', 'user-2'])
    expect(await bus.installation.stored('live')).toBe(0)
    expect(await bus.metric('bad_items', 'unknown_customer')).toBe(3)
  })

  it('drops an external reference that names customers in both environments', async () => {
    await start({ settings: { TOLLGATE_NATS_PROVIDER: providerId } })
    await bus.publish({ events: [{ userId: 'user-1' }, { userId: 'user-2' }] })
    await bus.untilMessages(1)
    expect(await bus.installation.events()).toMatchObject([{ customerRef: 'user-1' }])
    expect(await bus.metric('bad_items', 'ambiguous_customer')).toBe(1)
  })

  it('keeps messages while the log or the control plane is away', async () => {
    const { state, log } = refusingLog()
    await start({ log })
    state.isAway = true
    bus.isControlPlaneAway = true
    await bus.publish(own())
    await expect.poll(() => bus.metric('messages', 'retried')).toBeGreaterThan(0)
    expect(state.refused).toBe(0)
    bus.isControlPlaneAway = false
    await expect.poll(() => state.refused).toBeGreaterThan(0)
    expect(await bus.metric('messages', 'acknowledged')).toBe(0)
    if (mode === 'jetstream') {
      expect(await bus.consumerInfo()).toMatchObject({ num_ack_pending: 1 })
    }
    state.isAway = false
    await bus.untilMessages(1)
    expect(await bus.installation.stored()).toBe(1)
    // Cached owners of customers stay in use.
    bus.isControlPlaneAway = true
    await bus.publish(own())
    await bus.untilMessages(2)
    expect(await bus.installation.stored()).toBe(2)
  })

  it('degrades readiness and still serves HTTP while nothing can be consumed', async () => {
    await start()
    const url = `http://127.0.0.1:${bus.installation.ingest.adminPort}/health/ready`
    const health = async () => (await (await fetch(url)).json()) as { status: string }
    expect(await health()).toMatchObject({ checks: { 'message-bus': 'ok' } })
    const settings = { TOLLGATE_NATS_URL: 'nats://127.0.0.1:1' }
    await bus.installation.restart({ settings })
    const again = `http://127.0.0.1:${bus.installation.ingest.adminPort}/health/ready`
    const answer = await fetch(again)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ status: 'degraded' })
    const key = await bus.installation.createKey()
    const body = { customerRef: 'cus_OWN' }
    expect((await bus.installation.post('/v1/sdk/meter-events', key, body)).status).toBe(200)
  })
})

describe.skipIf(isLeftOut)('a JetStream consumer', () => {
  const start = async (options?: BusOptions) =>
    void (bus = await BusUnderTest.start('jetstream', options))

  it('counts 3,000 messages once although all are delivered three times', async () => {
    await start()
    const total = 3_000
    const messages = Array.from({ length: total }, (_, number) => number)
    await Promise.all(
      messages.map((number) => bus.publish(own({ value: 1, properties: { number } }))),
    )
    await bus.untilMessages(total)
    for (const delivery of [2, 3]) {
      // A new consumer starts at the beginning of the stream.
      await bus.manager.consumers.delete(bus.name, bus.name)
      await bus.untilMessages(delivery * total)
    }
    const events = await bus.installation.events()
    const numbers = events.map(
      ({ properties }) => (JSON.parse(properties) as { number: number }).number,
    )
    expect(numbers.sort((a, b) => a - b)).toEqual(messages)
    expect(await bus.metric('items', 'duplicate')).toBe(2 * total)
  })

  it('records the messages of a stream that was created again', async () => {
    await start()
    await bus.publish(own())
    await bus.untilMessages(1)
    await bus.manager.streams.delete(bus.name)
    await expect.poll(() => bus.metric('connected')).toBe(1)
    await expect
      .poll(
        () =>
          bus.manager.streams.info(bus.name).then(
            () => true,
            () => false,
          ),
        { timeout: 30_000 },
      )
      .toBe(true)
    await bus.publish(own())
    await bus.untilMessages(2)
    expect(await bus.installation.stored()).toBe(2)
  })

  it("records a message id once, also after the server's duplicate window", async () => {
    await start()
    await bus.publish({ events: [own(), own()] }, 'message-1')
    await bus.untilMessages(1)
    const { config } = await bus.manager.streams.info(bus.name)
    await bus.manager.streams.delete(bus.name)
    await bus.manager.streams.add(config)
    await bus.publish({ events: [own(), own()] }, 'message-1')
    await bus.untilMessages(2)
    expect(await bus.installation.stored()).toBe(2)
  })

  it('extends the acknowledgement deadline of messages whose append is slow', async () => {
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const log = appendingBy((real, ...input) => gate.then(() => real.appendAll(...input)))
    await start({ log, settings: { TOLLGATE_NATS_ACK_WAIT_MS: '1000' } })
    await bus.publish(own())
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(await bus.consumerInfo()).toMatchObject({ num_ack_pending: 1, num_redelivered: 0 })
    release()
    await bus.untilMessages(1)
  })

  it('holds at most the configured number of messages, and finishes them at a stop', async () => {
    const { state, log } = refusingLog()
    await start({
      log,
      settings: {
        TOLLGATE_NATS_UNACKNOWLEDGED_MAX: '20',
        TOLLGATE_NATS_MESSAGES_IN_FLIGHT_MAX: '10',
      },
    })
    state.isAway = true
    for (let number = 0; number < 50; number += 1) await bus.publish(own())
    await expect.poll(() => bus.metric('messages', 'retried')).toBeGreaterThan(20)
    expect((await bus.consumerInfo()).num_ack_pending).toBeLessThanOrEqual(20)
    state.isAway = false
    await bus.untilMessages(50)
    await bus.installation.ingest.stop()
    await expect
      .poll(() => bus.consumerInfo())
      .toMatchObject({ num_pending: 0, num_ack_pending: 0 })
    expect(await bus.installation.stored()).toBe(50)
  })

  it('refuses a stream that stores other subjects, with the reason in readiness', async () => {
    await start()
    await bus.manager.streams.delete(bus.name)
    const subjects = [`${bus.name}.meter.*`, `${bus.name}.other`]
    await bus.manager.streams.add({ name: bus.name, subjects })
    const url = `http://127.0.0.1:${bus.installation.ingest.adminPort}/health/ready`
    const fault = async () => (await (await fetch(url)).json()) as object
    await expect.poll(fault, { timeout: 30_000 }).toMatchObject({
      checks: { 'message-bus': expect.stringContaining('stores other subjects too') as string },
    })
  })
})

describe.skipIf(isLeftOut)('plain subjects', () => {
  it('drops and counts messages beyond the bounds while the log is away', async () => {
    const { state, log } = refusingLog()
    const settings = { TOLLGATE_NATS_MESSAGES_IN_FLIGHT_MAX: '10' }
    bus = await BusUnderTest.start('subjects', { log, settings })
    state.isAway = true
    for (let number = 0; number < 25; number += 1) await bus.publish(own())
    await bus.untilMessages(15, 'dropped')
    state.isAway = false
    await bus.untilMessages(10)
    expect(await bus.installation.stored()).toBe(10)
  })
})
