import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatchers, Rig } from './rig.ts'
import { duplicatesIn } from './sink-process.ts'

export type Kills = {
  readonly deliveries: number
  readonly kills: number
  readonly lost: number
  /** Requests beyond the first of each delivery. */
  readonly duplicates: number
}

/** Processes that send at any time, and the endpoints that they send to. */
export const sendersUnderFire = { dispatchers: 3, endpoints: 3 } as const

/** Between two looks until the first has arrived. */
const firstLookMs = 20

/**
 * The oldest dispatcher dies (-9) as soon as something has arrived, and then every so often, and is replaced; and the database
 * is restarted once, when half of the deliveries have arrived. Nobody dies while nothing arrives: where a process takes longer
 * to start than others live, none would ever send.
 */
export async function measureKills(rig: Rig, deliveries: number, everyMs: number): Promise<Kills> {
  const { dispatchers, endpoints } = sendersUnderFire
  await rig.clear()
  await rig.insertEndpoints(endpoints)
  const events = Math.ceil(deliveries / endpoints)
  const expected = events * endpoints
  const telling = rig.tell(events)
  const start = (): Dispatchers =>
    rig.startDispatchers(1, {
      TOLLGATE_WEBHOOK_LEASE_MS: '8000',
      TOLLGATE_OUTBOUND_TIMEOUT_MS: '3500',
      TOLLGATE_WEBHOOK_POLL_MS: '1000',
    })
  const running = Array.from({ length: dispatchers }, start)
  let kills = 0
  let arrived = 0
  let isRestarted = false
  for (;;) {
    await sleep(kills === 0 ? firstLookMs : everyMs)
    const { distinct } = await rig.sink.count()
    if (distinct >= expected) break
    if (distinct === arrived) continue
    arrived = distinct
    const [oldest] = running.splice(0, 1)
    oldest!.processes[0]!.kill('SIGKILL')
    kills += 1
    running.push(start())
    if (!isRestarted && distinct >= expected / 2) {
      await telling
      await rig.restartDatabase()
      isRestarted = true
    }
  }
  await telling
  // What arrived while its sender died is sent once more, when its lease has ended: a duplicate that counts.
  while ((await countOpen(rig)) > 0) await sleep(500)
  for (const each of running) await each.stop()
  const list = await rig.sink.list()
  return {
    deliveries: expected,
    kills,
    lost: expected - list.length,
    duplicates: duplicatesIn(list),
  }
}

async function countOpen({ database }: Rig): Promise<number> {
  const [row] = await database.in('sandbox')<{ open: number }[]>`
    select count(*)::int as open from webhook_deliveries where state in ('pending', 'held')`
  return row!.open
}
