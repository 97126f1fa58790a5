import { setTimeout as sleep } from 'node:timers/promises'
import { askWithRetries, patientRetries } from '@tollgate/deploy/client/ask-with-retries'
import type { SeededRandom } from '../client/seeded-random.ts'
import { startLanes, type Lanes } from './lanes.ts'
import { enter, newLedger, type CustomerLedger } from './ledger.ts'
import { UnexpectedAnswerError, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'

/** A pause lets every request under way come to its answer, however often it must be sent again. */
export type Load = Lanes & {
  /** Their records bear idempotency keys and are sent until there is an answer. */
  readonly ledgers: readonly CustomerLedger[]
  /** Their records have no key and are sent once. */
  readonly unkeyedLedgers: readonly CustomerLedger[]
  readonly retries: () => number
  /** The longest time without an acknowledgement since the last call of this. */
  readonly takeLongestGapMs: () => number
}

export type LoadOptions = {
  /** One for each public address; every attempt takes one of them. */
  readonly clients: readonly TollgateClient[]
  readonly random: SeededRandom
  readonly run: string
  readonly productRef: string
  readonly customerRefs: readonly string[]
  /** Clients at work at the same time on these customers. */
  readonly lanes: number
  readonly unkeyed?: { readonly customerRefs: readonly string[]; readonly lanes: number }
  /** Comes with every record that has a key; a longer one fills the log sooner. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Up to this long each client waits between two requests. */
  readonly restMsMax?: number
  /** Told of a refusal that no retry should help, after which the record is sent again all the same. Without it the load ends. */
  readonly onRefusal?: (error: UnexpectedAnswerError) => void
}

const bulkRate = 0.15
const bulkSizeMax = 40
const resendRate = 0.05
/** Before the next attempt where the last one was refused at once, or not repeated: nobody is flooded. */
const pauseMs = 200

/**
 * Clients that post usage without a break, and repeat what got no answer where its idempotency key makes that harmless.
 * The ledgers hold what was acknowledged: once a record has an answer its units are added, exactly once.
 */
export function startLoad(options: LoadOptions): Load {
  const { random, restMsMax = 0 } = options
  const ledgers = options.customerRefs.map(newLedger)
  const unkeyedLedgers = (options.unkeyed?.customerRefs ?? []).map(newLedger)
  const pulse = createPulse()
  let retries = 0
  let keys = 0
  const onRetry = (): void => void retries++
  const nextKey = (): string => `${options.run}:${keys++}`
  /** `send` tells whether something was acknowledged. */
  const act = (send: () => Promise<boolean>) => async (): Promise<number> => {
    if (await send()) pulse.beat()
    return restMsMax > 0 ? random.integer(0, restMsMax) : 0
  }
  const sendWithKeys = act(() => sendKeyed(options, ledgers, nextKey, onRetry))
  const sendWithout = act(() => sendUnkeyed(options, unkeyedLedgers))
  const lanes = startLanes([
    ...Array.from({ length: options.lanes }, () => sendWithKeys),
    ...Array.from({ length: options.unkeyed?.lanes ?? 0 }, () => sendWithout),
  ])
  return {
    ledgers,
    unkeyedLedgers,
    retries: () => retries,
    takeLongestGapMs: pulse.takeLongestMs,
    ...lanes,
    resume: () => {
      pulse.restart()
      lanes.resume()
    },
  }
}

function createPulse() {
  let lastMs = performance.now()
  let longestMs = 0
  const beat = (): void => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
  }
  return {
    beat,
    /** The time before counts no more. */
    restart: () => {
      lastMs = performance.now()
      longestMs = 0
    },
    takeLongestMs: () => {
      const taken = longestMs
      longestMs = 0
      return taken
    },
  }
}

async function sendKeyed(
  options: LoadOptions,
  ledgers: readonly CustomerLedger[],
  nextKey: () => string,
  onRetry: () => void,
): Promise<boolean> {
  const { clients, random, productRef, metadata } = options
  const count = random.chance(bulkRate) ? random.integer(2, bulkSizeMax) : 1
  const items = Array.from({ length: count }, () => {
    const ledger = random.pick(ledgers)
    const units = random.integer(1, 5)
    const { customerRef } = ledger
    const idempotencyKey = nextKey()
    return { ledger, units, usage: { customerRef, productRef, units, idempotencyKey, metadata } }
  })
  const usages = items.map(({ usage }) => usage)
  const record = (): Promise<unknown> => {
    const client = random.pick(clients)
    return count === 1 ? client.recordUsage(usages[0]!) : client.recordUsages(usages)
  }
  const send = (): Promise<unknown> =>
    askWithRetries(() => insist(record, options.onRefusal), patientRetries, onRetry)
  await enter(items, send)
  // A client that lost the answer on its own side asks again; nothing may change.
  if (random.chance(resendRate)) await send()
  return true
}

/** Where refusals are told of, one is no reason to give a record up. */
export async function insist<Answer>(
  record: () => Promise<Answer>,
  onRefusal: LoadOptions['onRefusal'],
): Promise<Answer> {
  const deadline = Date.now() + patientRetries.patienceMs
  for (;;) {
    try {
      return await record()
    } catch (error) {
      if (!isRefusal(error) || onRefusal === undefined || Date.now() > deadline) throw error
      onRefusal(error)
      await sleep(pauseMs)
    }
  }
}

function isRefusal(error: unknown): error is UnexpectedAnswerError {
  return error instanceof UnexpectedAnswerError && error.status < 502
}

/** No answer, or a 502 to 504, leaves open whether the record was kept: it stays among what was sent. */
async function sendUnkeyed(
  { clients, random, productRef, onRefusal }: LoadOptions,
  ledgers: readonly CustomerLedger[],
): Promise<boolean> {
  const ledger = random.pick(ledgers)
  const units = random.integer(1, 5)
  const usage = { customerRef: ledger.customerRef, productRef, units }
  try {
    await enter([{ ledger, units }], () => random.pick(clients).recordUsage(usage))
    return true
  } catch (error) {
    if (isRefusal(error)) {
      if (onRefusal === undefined) throw error
      onRefusal(error)
    }
    await sleep(pauseMs)
    return false
  }
}
