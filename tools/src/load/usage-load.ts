import { setTimeout as sleep } from 'node:timers/promises'
import { requestWithRetries, defaultRetries } from '@tollgate/deploy/client/request-with-retries'
import type { SeededRandom } from '../client/seeded-random.ts'
import type { ChargedLoad } from './charged-load.ts'
import { startLanes, type Lanes } from './lanes.ts'
import { recordInLedgers, newLedger, type CustomerLedger } from './ledger.ts'
import {
  UnexpectedResponseError,
  type TollgateClient,
} from '@tollgate/deploy/client/tollgate-client'

/** A load of usage records. A pause waits until every request in progress is answered, including its retries. */
export type Load = Lanes & {
  /** Ledgers of records with idempotency keys, which are sent until they are answered. */
  readonly ledgers: readonly CustomerLedger[]
  /** Ledgers of records without a key, which are sent once. */
  readonly unkeyedLedgers: readonly CustomerLedger[]
  readonly retries: () => number
  /** Returns the longest time without an acknowledgement since the last call, in milliseconds. */
  readonly takeLongestGapMs: () => number
}

export type LoadOptions = {
  /** One client for each public URL. Every attempt uses one of them. */
  readonly clients: readonly TollgateClient[]
  readonly random: SeededRandom
  readonly run: string
  readonly productRef: string
  readonly customerRefs: readonly string[]
  /** Number of concurrent requests for these customers. */
  readonly lanes: number
  readonly unkeyed?: { readonly customerRefs: readonly string[]; readonly lanes: number }
  /** Added to every record with a key. Longer metadata fills the log sooner. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Sends part of the requests with keys instead of usage of `productRef`. */
  readonly charged?: ChargedLoad
  /** Maximum milliseconds that each lane waits between 2 requests. */
  readonly restMsMax?: number
  /**
   * Called for a refusal that a retry should not fix. The record is sent again nevertheless. Without this function, a refusal ends
   * the load.
   */
  readonly onRefusal?: (error: UnexpectedResponseError) => void
}

const bulkRate = 0.15
const bulkSizeMax = 40
const resendRate = 0.05
const chargedRate = 0.25
/** Pause before the next attempt after an immediate refusal or a failure, so that the service is not flooded. */
const pauseMs = 200

/**
 * Posts usage continuously, and repeats unanswered requests whose idempotency key makes that safe. The ledgers contain what was
 * acknowledged: the units of a record are added exactly once, when it is answered.
 */
export function startLoad(options: LoadOptions): Load {
  const { random, restMsMax = 0 } = options
  const ledgers = options.customerRefs.map(newLedger)
  const unkeyedLedgers = (options.unkeyed?.customerRefs ?? []).map(newLedger)
  const gaps = createGapTracker()
  let retries = 0
  let keys = 0
  const onRetry = (): void => void retries++
  const nextKey = (): string => `${options.run}:${keys++}`
  /** Wraps `send`, which returns whether something was acknowledged. */
  const act = (send: () => Promise<boolean>) => async (): Promise<number> => {
    if (await send()) gaps.recordAck()
    return restMsMax > 0 ? random.integer(0, restMsMax) : 0
  }
  const sendWithKeys = act(() => sendKeyed(options, ledgers, nextKey, onRetry))
  const sendWithoutKeys = act(() => sendUnkeyed(options, unkeyedLedgers))
  const lanes = startLanes([
    ...Array.from({ length: options.lanes }, () => sendWithKeys),
    ...Array.from({ length: options.unkeyed?.lanes ?? 0 }, () => sendWithoutKeys),
  ])
  return {
    ledgers,
    unkeyedLedgers,
    retries: () => retries,
    takeLongestGapMs: gaps.takeLongestMs,
    ...lanes,
    resume: () => {
      gaps.restart()
      lanes.resume()
    },
  }
}

function createGapTracker() {
  let lastMs = performance.now()
  let longestMs = 0
  const recordAck = (): void => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
  }
  return {
    recordAck,
    /** Ignores the time before this call. */
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
  const { clients, random, productRef, metadata, charged } = options
  const insist = (record: () => Promise<unknown>): Promise<unknown> =>
    requestWithRetries(() => retryRefusals(record, options.onRefusal), defaultRetries, onRetry)
  if (charged !== undefined && random.chance(chargedRate)) {
    await charged.send({ clients, random, nextKey, insist })
    return true
  }
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
  const send = (): Promise<unknown> => insist(record)
  await recordInLedgers(items, send)
  // A client that lost the answer sends the same records again. Nothing may change.
  if (random.chance(resendRate)) await send()
  return true
}

/** Sends a record again after refusals if they are reported with `onRefusal`. */
export async function retryRefusals<Answer>(
  record: () => Promise<Answer>,
  onRefusal: LoadOptions['onRefusal'],
): Promise<Answer> {
  const deadline = Date.now() + defaultRetries.patienceMs
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

function isRefusal(error: unknown): error is UnexpectedResponseError {
  return error instanceof UnexpectedResponseError && error.status < 502
}

/** After no answer, or after 502 to 504, the record may be stored or not, so it only counts as sent. */
async function sendUnkeyed(
  { clients, random, productRef, onRefusal }: LoadOptions,
  ledgers: readonly CustomerLedger[],
): Promise<boolean> {
  const ledger = random.pick(ledgers)
  const units = random.integer(1, 5)
  const usage = { customerRef: ledger.customerRef, productRef, units }
  try {
    await recordInLedgers([{ ledger, units }], () => random.pick(clients).recordUsage(usage))
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
