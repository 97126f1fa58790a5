import { readEnvironmentId } from '../../lmdb/environment.ts'
import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { RestoreFinish, RestorePosition, RestoreStep, SpansNotTaken } from '../hot-state.ts'
import { CountChanges } from './count-changes.ts'
import { hotKey, keySpaces, partitionPart } from './hot-keys.ts'
import { setMissingMarks } from './marks.ts'
import { readPartitionHead, writePartitionHead, type PartitionHead } from './partition-head.ts'
import type { SubjectRecords } from './subject-record.ts'

/* All functions of this file must run inside a write transaction. */

export function beginPartitionRestore(store: LmdbStore, space: string, partition: number): string {
  const part = partitionPart(space, partition)
  const head = readPartitionHead(store, part)
  const counts = head.lastCounts + 1
  writePartitionHead(store, part, { ...head, shadow: { counts, step: 0 }, lastCounts: counts })
  store.removeSync(answerKey(part))
  return tokenOf(store, counts)
}

export function restore(
  store: LmdbStore,
  subjects: SubjectRecords,
  step: RestoreStep,
): SpansNotTaken | 'fenced' {
  const partition = partitionPart(step.space, step.partition)
  const head = readPartitionHead(store, partition)
  const answered = isNext(store, head, { ...step, step: step.step + 1 })
    ? store.getBinary(answerKey(partition))
    : undefined
  if (answered !== undefined) return JSON.parse(answered.toString()) as SpansNotTaken
  if (!isNext(store, head, step)) return 'fenced'
  const { counts } = head.shadow
  const { spans = [], marks = [], markedOffset = 0 } = step
  const changes = new CountChanges(store, subjects, partition, counts, step.slotLimits)
  const cut: number[] = []
  const outside: number[] = []
  for (const [index, span] of spans.entries()) {
    if (span.fromSecond === span.lastSecond) {
      changes.add({ ...span, second: span.fromSecond })
      continue
    }
    const outcome = changes.addSpan(span)
    if (outcome === 'cut') cut.push(index)
    else if (outcome === 'outside') outside.push(index)
  }
  changes.write()
  setMissingMarks(store, partition, marks)
  const marked = Math.max(head.marked, markedOffset)
  writePartitionHead(store, partition, { ...head, shadow: { counts, step: step.step + 1 }, marked })
  store.putSync(answerKey(partition), Buffer.from(JSON.stringify({ cut, outside })))
  return { cut, outside }
}

export function finishRestore(store: LmdbStore, finish: RestoreFinish): 'restored' | 'fenced' {
  const partition = partitionPart(finish.space, finish.partition)
  const head = readPartitionHead(store, partition)
  if (!isNext(store, head, finish)) return 'fenced'
  const { counts } = head.shadow
  const { nextOffset } = finish
  writePartitionHead(store, partition, {
    ...head,
    fence: nextOffset,
    inUse: counts,
    shadow: undefined,
  })
  store.removeSync(answerKey(partition))
  return 'restored'
}

type RestoringHead = PartitionHead & { readonly shadow: object }

/** Returns whether the token is current and this is the next step. */
function isNext(
  store: LmdbStore,
  head: PartitionHead,
  { token, step }: RestorePosition,
): head is RestoringHead {
  const { shadow } = head
  return shadow !== undefined && tokenOf(store, shadow.counts) === token && shadow.step === step
}

/** Returns the key of the answer to the last step, for callers that lost it. */
function answerKey(partition: Buffer): Buffer {
  return hotKey(keySpaces.restoreAnswer, partition)
}

/** Includes the id of the folder, because a folder that replaces it starts numbering again. */
function tokenOf(store: LmdbStore, counts: number): string {
  return `${readEnvironmentId(store)} ${counts}`
}
