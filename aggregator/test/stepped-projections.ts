import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { usageTopic } from '@tollgate/schemas/topics'
import { createCountersProjection } from '../src/consume/counters-projection.ts'
import type { Projection } from '../src/consume/projection-loop.ts'
import { createProjectionMetrics } from '../src/consume/projection-metrics.ts'
import { runSinkBatch } from '../src/consume/run-sink-batch.ts'
import { untracedBatches } from '../src/consume/trace-batches.ts'
import type { LogAndStore } from './log-and-store.ts'
import { encoded } from './meter-event.ts'

const topic = usageTopic('sandbox')
const forEver = 1e15

export type SteppedOptions = {
  /** Called at each step, because the hot state may be replaced meanwhile. */
  readonly hotState: () => HotState
  readonly isPublished?: () => boolean
  readonly clock?: Clock
  /** Default 0, so that lost counts are always rebuilt from ClickHouse. */
  readonly replayRecordsMax?: number
  readonly recordsPerBatchMax: number
  readonly slotsMs?: number
}

/** Both projections of one partition, one step at a time. */
export class SteppedProjections {
  readonly partition: number
  readonly metrics = createProjectionMetrics(createMetrics('test'))
  readonly #of: LogAndStore
  readonly #options: SteppedOptions
  #counters!: Projection

  constructor(of: LogAndStore, options: SteppedOptions) {
    this.#of = of
    this.#options = options
    this.partition = of.newPartition()
    this.startCounters()
  }

  get #parts() {
    const { hotState, recordsPerBatchMax } = this.#options
    return {
      log: this.#of.log,
      hotState: hotState(),
      usageStore: this.#of.clickhouse.store,
      environment: 'sandbox' as const,
      topic,
      partition: this.partition,
      readLimits: { recordsMax: recordsPerBatchMax, bytesMax: 1 << 20 },
      traceBatch: untracedBatches,
    }
  }

  /** Starts the counters as in a new process. */
  startCounters(): void {
    const { clock = systemClock, replayRecordsMax = 0, slotsMs = forEver } = this.#options
    const retention = {
      marksMs: forEver,
      windowsMs: forEver,
      slotsMs,
      knownSubjectSlotsMs: forEver,
      sweepKeysMax: 100,
    }
    const repairRequestsIntervalMs = 1_000
    const isPublished = async () => this.#options.isPublished?.() ?? true
    this.#counters = createCountersProjection(
      { ...this.#parts, clock, retention, replayRecordsMax, repairRequestsIntervalMs, isPublished },
      this.metrics,
      createLogger('test', 'silent'),
    )
  }

  async append(events: readonly MeterEvent[]): Promise<void> {
    const { partition } = this
    const records = events.map((event) => ({ partition, value: encoded(event) }))
    await this.#of.log.appendAll(topic, records, Date.now())
  }

  async count(): Promise<string> {
    const { kind } = await this.#counters.step()
    if (kind === 'fenced') this.#counters.forgetPosition()
    return kind
  }

  async store(): Promise<string> {
    const position = await this.#of.log.position(sinkGroup, topic, this.partition)
    const sink = {
      cluster: undefined,
      countersWaitMs: 0,
      newLineage: () => `lineage-${this.partition}`,
    }
    return (await runSinkBatch({ ...this.#parts, ...sink }, position)).kind
  }

  async countAll(): Promise<void> {
    while ((await this.count()) !== 'idle');
  }

  async storeAll(): Promise<void> {
    while ((await this.store()) !== 'idle');
  }

  async restores(result: 'begun' | 'restored' | 'fenced'): Promise<number> {
    const { values } = await this.metrics.restores.get()
    return values.find(({ labels }) => labels.result === result)?.value ?? 0
  }
}
