import { setTimeout as sleep } from 'node:timers/promises'
import { GroupFencedError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import type { ConcurrencyLimit } from '@tollgate/platform/waiting/concurrency-limit'

/** One projection of one log partition. It keeps its own position, and at most one step runs at a time. */
export interface Projection {
  /** The next offset to process, as last known. Undefined until it is loaded. */
  readonly position: number | undefined
  /** Processes at most one batch. */
  step(): Promise<Step>
  /** Discards the known position, so that the next step reads it from the store that owns it. */
  forgetPosition(): void
}

export type Step =
  | { readonly kind: 'moved' }
  /** There is nothing to do until the log grows. */
  | { readonly kind: 'idle' }
  /** There is something to do after `waitMs`. */
  | { readonly kind: 'wait'; readonly waitMs: number }
  /** Another process works on this partition. */
  | { readonly kind: 'fenced' }

export type LoopParts = {
  readonly projection: Projection
  readonly log: EventLog
  readonly topic: string
  readonly partition: number
  readonly concurrencyLimit: ConcurrencyLimit
  readonly logger: Logger
  readonly onFailure: (kind: 'failed' | 'fenced') => void
}

/** Milliseconds after which a missed wake-up is noticed. It also bounds how long a stop waits for an idle log. */
const idleWaitMs = 1_000
const backoffMinMs = 100
const backoffMaxMs = 5_000

/**
 * Steps a projection while the service runs. It treats every failure like a crash: it discards the position, waits longer than
 * after the previous failure, and continues from durable state. It never gives up and never skips records.
 */
export function createProjectionLoop(parts: LoopParts): Service {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  return {
    start: async () => {
      running ??= runLoop(parts, stopping.signal)
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

async function runLoop(parts: LoopParts, signal: AbortSignal): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    const step = await stepSafely(parts)
    if (step.kind === 'failed' || step.kind === 'fenced') {
      parts.onFailure(step.kind)
      parts.projection.forgetPosition()
      await pause(Math.min(backoffMaxMs, backoffMinMs * 2 ** failures++), signal)
      continue
    }
    failures = 0
    if (step.kind === 'wait') await pause(step.waitMs, signal)
    if (step.kind === 'idle') await waitForAppend(parts, signal)
  }
}

async function stepSafely(parts: LoopParts): Promise<Step | { readonly kind: 'failed' }> {
  try {
    return await parts.concurrencyLimit.run(() => parts.projection.step())
  } catch (error) {
    if (error instanceof GroupFencedError) return { kind: 'fenced' }
    logFailure(parts.logger, error)
    return { kind: 'failed' }
  }
}

/** An unavailable store is expected to return, so each attempt logs one line without a stack. */
function logFailure(logger: Logger, error: unknown): void {
  if (error instanceof UsageStoreUnavailableError) {
    logger.warn(
      { reason: error.message.slice(0, 300) },
      'ClickHouse cannot be reached, the batch will be retried',
    )
  } else {
    logger.error({ err: error }, 'batch failed, will be tried again')
  }
}

async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  // The only rejection is the abort, and the loop checks the signal next.
  await sleep(waitMs, undefined, { signal }).catch(() => undefined)
}

async function waitForAppend(
  { log, topic, partition, projection }: LoopParts,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  let onAbort = (): void => undefined
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    const appended = log.waitForAppend(topic, idleWaitMs)
    // The head is read after the wait has started, so that a record that arrives in between does not have to wait.
    if ((await log.head(topic, partition)) !== projection.position) {
      appended.catch(() => undefined)
      return
    }
    await Promise.race([appended, aborted])
  } catch {
    // The log may be closing. The next step gets the same error and reports it.
    await pause(backoffMinMs, signal)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
