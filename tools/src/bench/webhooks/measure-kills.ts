import { setTimeout as sleep } from 'node:timers/promises'
import { hasEnded, type Dispatchers, type Rig } from './rig.ts'
import { duplicatesIn } from './sink-process.ts'

export type Kills = {
  readonly deliveries: number
  readonly kills: number
  readonly restarts: number
  /** Attempts that a dispatcher recorded as failed, although the receiver may have got them. */
  readonly failures: number
  readonly lost: number
  /** Requests in addition to the first of each delivery. */
  readonly duplicates: number
}

/** Number of dispatchers that run at any time, and of endpoints that they send to. */
export const killTestSize = { dispatchers: 3, endpoints: 3 } as const

/** Milliseconds between two checks until the first delivery has arrived. */
const firstPollMs = 20

/** The lease is longer than two request timeouts. Retries start as soon as a failure is visible. */
const dispatcherEnvironment = {
  TOLLGATE_WEBHOOK_LEASE_MS: '8000',
  TOLLGATE_OUTBOUND_TIMEOUT_MS: '3500',
  TOLLGATE_WEBHOOK_POLL_MS: '1000',
  TOLLGATE_WEBHOOK_RETRY_DELAYS_SECONDS: '1,1,1,1,1,1,1,1,1,1,1',
}

/**
 * Kills the oldest dispatcher with `kill -9` as soon as a delivery has arrived, and then at intervals, and replaces it. The
 * database is restarted once, at the first kill after all events are written. No dispatcher is killed while nothing arrives: if a
 * process needs longer to start than the interval, no dispatcher would ever send.
 */
export async function measureKills(rig: Rig, deliveries: number, everyMs: number): Promise<Kills> {
  const { dispatchers, endpoints } = killTestSize
  await rig.clear()
  await rig.insertEndpoints(endpoints)
  const events = Math.ceil(deliveries / endpoints)
  const expected = events * endpoints
  let isEmitted = false
  const emitting = rig.emitEvents(events).then(() => {
    isEmitted = true
  })
  const start = (): Dispatchers => rig.startDispatchers(1, dispatcherEnvironment)
  let running = Array.from({ length: dispatchers }, start)
  // Like a supervisor, replace dispatchers that ended. A dispatcher that starts while the database is unavailable ends.
  const replaceEnded = (): void => {
    running = running.map((each) => (each.processes.some(hasEnded) ? start() : each))
  }
  let kills = 0
  let restarts = 0
  let arrived = 0
  for (;;) {
    await sleep(kills === 0 ? firstPollMs : everyMs)
    const { distinct } = await rig.sink.count()
    // End if a delivery has neither arrived nor is still open. It is lost, and waiting for it would never end.
    if (distinct >= expected || (isEmitted && (await countOpen(rig)) === 0)) break
    replaceEnded()
    if (distinct === arrived) continue
    arrived = distinct
    const [oldest] = running.splice(0, 1)
    oldest!.processes[0]!.kill('SIGKILL')
    kills += 1
    running.push(start())
    if (isEmitted && restarts === 0) {
      await rig.restartDatabase()
      restarts += 1
    }
  }
  await emitting
  // A delivery whose dispatcher died after it arrived is sent again when its lease expires. These duplicates must be counted.
  while ((await countOpen(rig)) > 0) {
    replaceEnded()
    await sleep(500)
  }
  for (const each of running) await each.stop()
  const list = await rig.sink.list()
  return {
    deliveries: expected,
    kills,
    restarts,
    failures: await countFailures(rig),
    lost: expected - list.length,
    duplicates: duplicatesIn(list),
  }
}

async function countFailures({ database }: Rig): Promise<number> {
  const [row] = await database.in('sandbox')<{ failures: number }[]>`
    select count(*)::int as failures from webhook_attempts where status is distinct from 200`
  return row!.failures
}

async function countOpen({ database }: Rig): Promise<number> {
  const [row] = await database.in('sandbox')<{ open: number }[]>`
    select count(*)::int as open from webhook_deliveries where state in ('pending', 'held')`
  return row!.open
}
