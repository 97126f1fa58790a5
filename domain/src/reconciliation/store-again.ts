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

/** How far the sink is with one partition. */
export type StoringProgress = LogPlace & {
  /** `waiting`: no sink has begun with it. */
  readonly phase: 'waiting' | 'comparing' | 'storing' | 'done'
  readonly offset: number
  readonly endOffset: number
}

const pollIntervalMs = 500

/**
 * Has the sinks compare the log with ClickHouse, partition by partition, and store again what is missing there; returns
 * when they are done. The sinks keep how far they are, so a call that was cut off goes on when it is repeated. Returns
 * false when it was told to stop before.
 */
export async function haveSinksStoreAgain(
  parts: StoringAgainParts,
  places: readonly LogPlace[],
  stopping: AbortSignal,
  report: (progress: readonly StoringProgress[]) => void,
): Promise<boolean> {
  for (const place of places) await ask(parts, place)
  for (;;) {
    const progress: StoringProgress[] = []
    for (const place of places) progress.push(await progressOf(parts, place))
    report(progress)
    if (progress.every(({ phase }) => phase === 'done')) return true
    // The only rejection is the abort.
    await sleep(pollIntervalMs, undefined, { signal: stopping }).catch(() => undefined)
    if (stopping.aborted) return false
  }
}

/** What was asked for before is on its way, and keeps its place. */
async function ask(
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
