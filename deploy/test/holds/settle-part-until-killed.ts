import { runCountersBatch } from '@tollgate/aggregator/consume/run-counters-batch'
import { untracedBatches } from '@tollgate/aggregator/consume/trace-batches'
import type { CounterBatch, HotState } from '@tollgate/platform/hot-state/hot-state'
import { reservationUseText } from '@tollgate/schemas/reservation-reference'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { environment, HoldStores, partitionCount, providerId, topic } from './hold-stores.ts'
import type { PartToSettle } from './part-to-settle.ts'

/*
 * Does everything that a partial settlement does, one effect after the other: holds the credits of the record, appends the record,
 * counts it with the reductions of its own partition, and reduces the reservation in another partition. It kills itself after the
 * effect that its parameter names.
 */
const part = JSON.parse(process.argv[2]!) as PartToSettle
const stores = await HoldStores.open(part.dataDir)

/** Kills this process if its last effect is the one that the test named. */
async function after(effect: PartToSettle['lastEffect']): Promise<void> {
  if (effect !== part.lastEffect) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
}

const reservationId = reservationUseText(part.reservationId, false)!
const { usageRef, units } = part
const debit = part.isPaid ? await stores.takeFor(usageRef, units, reservationId) : null
await after('credits held')
await stores.use(part.customerRef, units, reservationId, {
  id: usageRef,
  idempotencyKey: usageRef,
  receivedAt: Date.now(),
  debit: debit === null ? null : debit.toString(),
})
await after('logged')

const hotState = new Proxy(stores.hotState, {
  get(target, property) {
    if (property === 'apply') return applyAndPause
    return (target[property as keyof HotState] as () => unknown).bind(target)
  },
})

async function applyAndPause(batch: CounterBatch): ReturnType<HotState['apply']> {
  const outcome = await stores.hotState.apply(batch)
  await after('counted')
  return outcome
}

const partition = partitionOf(subjectKey(providerId, part.customerRef), partitionCount)
const readLimits = { recordsMax: 1_000, bytesMax: 1_000_000 }
const at = { log: stores.log, hotState, environment, topic, partition } as const
const parts = { ...at, readLimits, traceBatch: untracedBatches }
await runCountersBatch(parts, await stores.hotState.appliedOffset(environment, partition))
await after('reduced')
throw new Error(`No effect is called ${part.lastEffect}`)
