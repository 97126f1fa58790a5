import { setTimeout as sleep } from 'node:timers/promises'
import { patientRetries, recordWithRetries } from '../client/record-with-retries.ts'
import type { SeededRandom } from '../client/seeded-random.ts'
import type { TollgateClient } from '../client/tollgate-client.ts'

export type CustomerLedger = {
  readonly customerRef: string
  units: number
  records: number
}

export type Load = {
  readonly ledgers: readonly CustomerLedger[]
  readonly retries: () => number
  /** Lets every request under way come to its answer, however often it must be sent again, and holds new ones back. */
  pause(): Promise<void>
  resume(): void
  /** As `pause`, for good. Rejects with the first refusal that no retry could help. */
  stop(): Promise<void>
}

export type LoadOptions = {
  readonly client: TollgateClient
  readonly random: SeededRandom
  readonly run: string
  readonly productRef: string
  readonly customerRefs: readonly string[]
  readonly lanes: number
}

const bulkRate = 0.15
const bulkSizeMax = 40
const resendRate = 0.05

/**
 * Clients that post usage without a break, every record under an idempotency key, and repeat what got no answer. The
 * ledgers hold what was acknowledged: once a record has an answer its units are added, exactly once per key.
 */
export function startLoad(options: LoadOptions): Load {
  const ledgers = options.customerRefs.map((customerRef) => ({ customerRef, units: 0, records: 0 }))
  let retries = 0
  let keys = 0
  let gate = openGate()
  let isOver = false
  let active = 0
  let failure: Error | undefined

  const onRetry = (): void => void retries++
  async function runLane(): Promise<void> {
    for (;;) {
      await gate.opened
      if (isOver) return
      active++
      try {
        await sendOne(options, ledgers, () => `${options.run}:${keys++}`, onRetry)
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(String(error))
        isOver = true
      } finally {
        active--
      }
    }
  }
  const lanes = Array.from({ length: options.lanes }, runLane)

  async function pause(): Promise<void> {
    gate = closeGate(gate)
    do await sleep(5)
    while (active > 0)
    if (failure) throw failure
  }
  return {
    ledgers,
    retries: () => retries,
    pause,
    resume: () => gate.open(),
    async stop() {
      isOver = true
      gate.open()
      await Promise.all(lanes)
      if (failure) throw failure
    },
  }
}

type Gate = { readonly opened: Promise<void>; readonly open: () => void; isOpen: boolean }

function closeGate(current: Gate): Gate {
  if (!current.isOpen) return current
  let resolve = (): void => undefined
  const gate: Gate = {
    opened: new Promise<void>((done) => (resolve = done)),
    open: () => {
      gate.isOpen = true
      resolve()
    },
    isOpen: false,
  }
  return gate
}

function openGate(): Gate {
  return { opened: Promise.resolve(), open: () => undefined, isOpen: true }
}

async function sendOne(
  { client, random, productRef }: LoadOptions,
  ledgers: readonly CustomerLedger[],
  nextKey: () => string,
  onRetry: () => void,
): Promise<void> {
  const count = random.chance(bulkRate) ? random.integer(2, bulkSizeMax) : 1
  const items = Array.from({ length: count }, () => {
    const ledger = random.pick(ledgers)
    const units = random.integer(1, 5)
    return {
      ledger,
      usage: { customerRef: ledger.customerRef, productRef, units, idempotencyKey: nextKey() },
    }
  })
  const [first] = items
  if (!first) return
  const send = (): Promise<unknown> =>
    count === 1
      ? recordWithRetries(
          (usage) => client.recordUsage(usage),
          first.usage,
          patientRetries,
          onRetry,
        )
      : recordWithRetries(
          (usages) => client.recordUsages(usages),
          items.map((item) => item.usage),
          patientRetries,
          onRetry,
        )
  await send()
  for (const { ledger, usage } of items) {
    ledger.units += usage.units
    ledger.records++
  }
  // A client that lost the answer on its own side asks again; nothing may change.
  if (random.chance(resendRate)) await send()
}
