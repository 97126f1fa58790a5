import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Environment } from '@tollgate/schemas/environment'
import {
  readStoreAgainRequest,
  storeAgainKey,
  writeStoreAgainRequest,
} from '@tollgate/schemas/hot-state/store-again-requests'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'

export type StoringAgainParts = {
  readonly eventLog: Pick<EventLog, 'position'>
  readonly hotState: Pick<HotState, 'readDocument' | 'putDocument'>
  readonly now: () => Date
}

export type LogPlace = { readonly environment: Environment; readonly partition: number }

/** Progress of the sink in one partition. */
export type StoringProgress = LogPlace & {
  /** `waiting`: no sink has started with the partition. */
  readonly phase: 'waiting' | 'comparing' | 'storing' | 'done'
  readonly offset: number
  readonly endOffset: number
}

const pollIntervalMs = 500

/**
 * Makes the sinks compare the log with ClickHouse, partition by partition, and store missing records again. Returns true when they
 * are done, false if `stopping` was aborted before. The sinks store their progress, so a repeated call continues an interrupted
 * one.
 */
export async function storeMissingRecords(
  parts: StoringAgainParts,
  places: readonly LogPlace[],
  stopping: AbortSignal,
  report: (progress: readonly StoringProgress[]) => void,
): Promise<boolean> {
  for (const place of places) await requestStoring(parts, place)
  for (;;) {
    const progress: StoringProgress[] = []
    for (const place of places) progress.push(await progressOf(parts, place))
    report(progress)
    if (progress.every(({ phase }) => phase === 'done')) return true
    // The sleep rejects only if it is aborted.
    await sleep(pollIntervalMs, undefined, { signal: stopping }).catch(() => undefined)
    if (stopping.aborted) return false
  }
}

/** An earlier request is still in progress and keeps its offset. */
async function requestStoring(
  { hotState, now }: StoringAgainParts,
  { environment, partition }: LogPlace,
): Promise<void> {
  const key = storeAgainKey(environment, partition)
  if ((await hotState.readDocument(key)) !== undefined) return
  await hotState.putDocument(key, writeStoreAgainRequest({ wantedAt: now().toISOString() }))
}

async function progressOf(
  { eventLog, hotState }: StoringAgainParts,
  place: LogPlace,
): Promise<StoringProgress> {
  const { environment, partition } = place
  const document = await hotState.readDocument(storeAgainKey(environment, partition))
  const { offset, note } = await eventLog.position(sinkGroup, usageTopic(environment), partition)
  if (document === undefined) return { ...place, phase: 'done', offset, endOffset: offset }
  const { comparedTo = 0, endOffset } = readStoreAgainRequest(document)
  if (endOffset === undefined) return { ...place, phase: 'waiting', offset: 0, endOffset: offset }
  const isStoring = readSinkNote(note)?.storeAgainTo !== undefined
  return isStoring
    ? { ...place, phase: 'storing', offset, endOffset }
    : { ...place, phase: 'comparing', offset: comparedTo, endOffset }
}
