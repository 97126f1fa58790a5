import { setTimeout as sleep } from 'node:timers/promises'
import { hasEnded, type Dispatchers, type Rig } from './rig.ts'
import { duplicatesIn } from './sink-process.ts'

export type Kills = {
  readonly deliveries: number
  readonly kills: number
  readonly restarts: number
  /** Attempts that a dispatcher saw fail, although the receiver may have had them. */
  readonly failures: number
  readonly lost: number
  /** Requests beyond the first of each delivery. */
  readonly duplicates: number
}

/** Processes that send at any time, and the endpoints that they send to. */
export const sendersUnderFire = { dispatchers: 3, endpoints: 3 } as const

/** Between two looks until the first has arrived. */
const firstLookMs = 20

/** A lease that is longer than twice a request, and retries as soon as what failed would be seen. */
const dispatcherEnvironment = {
  TOLLGATE_WEBHOOK_LEASE_MS: '8000',
  TOLLGATE_OUTBOUND_TIMEOUT_MS: '3500',
  TOLLGATE_WEBHOOK_POLL_MS: '1000',
  TOLLGATE_WEBHOOK_RETRY_DELAYS_SECONDS: '1,1,1,1,1,1,1,1,1,1,1',
}

/**
 * The oldest dispatcher dies (-9) as soon as something has arrived, and then every so often, and is replaced; and the database
 * is restarted at the first death after all has been told. Nobody dies while nothing arrives: where a process takes longer to
 * start than others live, none would ever send.
 */
export async function measureKills(rig: Rig, deliveries: number, everyMs: number): Promise<Kills> {
  const { dispatchers, endpoints } = sendersUnderFire
  await rig.clear()
  await rig.insertEndpoints(endpoints)
  const events = Math.ceil(deliveries / endpoints)
  const expected = events * endpoints
  let isTold = false
  const telling = rig.tell(events).then(() => {
    isTold = true
  })
  const start = (): Dispatchers => rig.startDispatchers(1, dispatcherEnvironment)
  let running = Array.from({ length: dispatchers }, start)
  // As a supervisor does: one that starts while the database is away ends.
  const replaceEnded = (): void => {
    running = running.map((each) => (each.processes.some(hasEnded) ? start() : each))
  }
  let kills = 0
  let restarts = 0
  let arrived = 0
  for (;;) {
    await sleep(kills === 0 ? firstLookMs : everyMs)
    const { distinct } = await rig.sink.count()
    // What is neither there nor to be sent any more is lost: it would be waited for without end.
    if (distinct >= expected || (isTold && (await countOpen(rig)) === 0)) break
    replaceEnded()
    if (distinct === arrived) continue
    arrived = distinct
    const [oldest] = running.splice(0, 1)
    oldest!.processes[0]!.kill('SIGKILL')
    kills += 1
    running.push(start())
    if (isTold && restarts === 0) {
      await rig.restartDatabase()
      restarts += 1
    }
  }
  await telling
  // What arrived while its sender died is sent once more, when its lease has ended: a duplicate that counts.
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
