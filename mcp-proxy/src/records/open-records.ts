import { randomBytes } from 'node:crypto'
import { appendFileSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Registry } from '@tollgate/platform/observability/metrics'
import type { HealthCheck } from '@tollgate/platform/service/health'
import { adoptAbandoned, releaseAdopted } from './adopt.ts'
import { settledUse, type CallRecord } from './call-record.ts'
import { Delivery, type DeliveryParts } from './delivery.ts'
import type { Journal, JournalLimits } from './journal.ts'
import { LiveJournal } from './live-journal.ts'
import { createRecordMetrics, registerJournalGauges, type RecordMetrics } from './metrics.ts'
import { ownerTouchMs, releaseFolder } from './owner.ts'

export type RecordsOptions = {
  readonly dataDir: string
  readonly limits: JournalLimits & {
    /** Milliseconds between two syncs of the journal to disk. 0 disables syncs. */
    readonly syncMs: number
    /** Milliseconds that a stop waits for ingest to accept the remaining records. */
    readonly stopGraceMs: number
  }
  readonly send: DeliveryParts['send']
  readonly onRecorded: DeliveryParts['onRecorded']
  /** Called before a record of another process is appended to the journal of this process. */
  readonly onAdopted: (record: CallRecord) => void
  /** Called when another process has taken over the appended records that are not recorded yet. */
  readonly onLost: () => void
  /** Called when another process has already used this number of a client's key. Returns the record to deliver instead. */
  readonly onUsedElsewhere: (record: CallRecord) => CallRecord
  readonly nowMs: () => number
  readonly logger: Logger
  readonly metrics: Registry
}

export type Records = {
  /** Reserves room for one record. Returns false if there is none, and the call must then not begin. */
  promiseRoom(): boolean
  endPromise(): void
  /** Appends a record so that it survives the end of this process. Never throws. */
  append(record: CallRecord): void
  readonly health: HealthCheck
  stop(): Promise<void>
}

/** Milliseconds between two attempts to write records that the disk did not accept. */
const writeAgainMs = 500

/**
 * Milliseconds between two saves of the position. After a kill, the next process delivers the records since the last save again.
 */
const savePositionMs = 1_000

/** Names of the folder and the file below the data folder. */
const rootName = 'mcp-proxy'
const refusedName = 'refused.ndjson'

/** Opens the journal of this process, and starts its delivery and the adoption of records that ended processes left behind. */
export async function openRecords(options: RecordsOptions): Promise<Records> {
  const { limits, logger, nowMs, onAdopted } = options
  const root = join(options.dataDir, rootName)
  await mkdir(root, { recursive: true, mode: 0o700 })
  const metrics = createRecordMetrics(options.metrics)
  const id = `${process.pid}-${randomBytes(6).toString('hex')}`
  const live: LiveJournal = new LiveJournal({
    ...{ root, id, limits, logger },
    openDelivery: (journal) =>
      openDelivery(options, root, journal, metrics, (record) =>
        live.append(options.onUsedElsewhere(record)),
      ),
    onLost: () => {
      metrics.lost.inc()
      options.onLost()
    },
    onCarriedOver: onAdopted,
  })
  registerJournalGauges(options.metrics, {
    pendingBytes: () => live.journal.pendingBytes,
    oldestAgeSeconds: () => live.delivery.oldestAgeMs(nowMs()) / 1000,
  })
  const append = (record: CallRecord): void => {
    onAdopted(record)
    live.append(settledUse(record))
  }
  const adopt = async (): Promise<void> => {
    const adopting = {
      ...{ id, folder: live.journal.folder, append, isStopping: () => isStopping },
      isWritten: () => live.journal.unwrittenCount === 0,
      sync: () => live.journal.sync(),
    }
    const { records, damaged } = await adoptAbandoned(root, adopting, Date.now())
    metrics.damaged.inc(damaged)
    metrics.adopted.inc(records)
    if (records > 0) live.delivery.wake()
  }
  let isStopping = false
  const work = startWork({ live, logger, adopt, syncMs: limits.syncMs })
  return {
    promiseRoom: () => live.journal.promiseRoom(),
    endPromise: () => live.journal.endPromise(),
    append: (record) => {
      live.append(record)
      metrics.settled.inc({ space: record.environment, outcome: record.outcome })
      live.delivery.wake()
    },
    health: { name: 'journal', check: () => checkJournal(live.journal) },
    stop: async () => {
      const until = performance.now() + limits.stopGraceMs
      // An adoption in progress may finish within the grace period, so that its records are delivered too.
      await Promise.race([work.stop(), sleep(limits.stopGraceMs, undefined, { ref: false })])
      isStopping = true
      await work.stop()
      await live.delivery.stop(until - performance.now())
      await close(live, root, id)
    },
  }
}

function openDelivery(
  { send, onRecorded, logger }: RecordsOptions,
  root: string,
  journal: Journal,
  metrics: RecordMetrics,
  onUsedElsewhere: (record: CallRecord) => void,
): Delivery {
  return new Delivery({
    ...{ journal, send, onRecorded, onUsedElsewhere, metrics, logger },
    setAside: (record, message) => setAside(root, record, message),
  })
}

async function close(live: LiveJournal, root: string, id: string): Promise<void> {
  live.journal.retryWrites()
  await live.journal.sync().catch(() => undefined)
  live.replaceIfLost()
  const { journal } = live
  await journal.savePosition().catch(() => undefined)
  journal.close()
  releaseAdopted(root, id)
  if (journal.isDrained) rmSync(journal.folder, { recursive: true, force: true })
  else releaseFolder(journal.folder)
}

type WorkParts = {
  readonly live: LiveJournal
  readonly logger: Logger
  readonly adopt: () => Promise<void>
  readonly syncMs: number
}

/** Starts work that repeats on timers. `stop` resolves when none of it is running. */
function startWork({ live, logger, adopt, syncMs }: WorkParts): {
  stop(): Promise<void>
} {
  const look = async (): Promise<void> => {
    try {
      live.touch()
      await adopt()
    } catch (error) {
      logger.error(
        { err: error, folder: live.journal.folder },
        'the folder of the journal cannot be used',
      )
    }
  }
  let looking: Promise<void> | undefined
  const lookOnce = (): void => {
    looking ??= look().finally(() => (looking = undefined))
  }
  const write = (): void => {
    const error = live.journal.retryWrites()
    live.replaceIfLost()
    if (error !== undefined) logger.error({ err: error }, 'records of calls cannot be written')
  }
  const sync = (): void => {
    live.journal
      .sync()
      .then(() => live.replaceIfLost())
      .catch((error: unknown) => logger.error({ err: error }, 'the journal is not synced'))
  }
  const savePosition = (): void => {
    live.journal
      .savePosition()
      .catch((error: unknown) => logger.error({ err: error }, 'deliveries are not written down'))
  }
  lookOnce()
  const timers = [
    setInterval(lookOnce, ownerTouchMs),
    setInterval(write, writeAgainMs),
    setInterval(savePosition, savePositionMs),
  ]
  if (syncMs > 0) timers.push(setInterval(sync, syncMs))
  for (const timer of timers) timer.unref()
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await looking
    },
  }
}

function checkJournal(journal: Journal): Promise<void> {
  if (journal.unwrittenCount > 0) {
    return Promise.reject(new Error('records of calls cannot be written to the disk'))
  }
  if (!journal.hasRoom) {
    return Promise.reject(new Error('the journal of calls is full: ingest takes no records'))
  }
  return Promise.resolve()
}

/**
 * Appends one line of JSON per record, with the message of ingest. An operator can send the records again after fixing the cause.
 */
function setAside(root: string, record: CallRecord, message: string): void {
  const line = JSON.stringify({ refusedAt: new Date().toISOString(), message, record })
  appendFileSync(join(root, refusedName), `${line}\n`, { mode: 0o600 })
}
