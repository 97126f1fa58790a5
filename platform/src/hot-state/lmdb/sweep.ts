import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { bucketAt } from '../buckets.ts'
import type { SlotLimits, SweepLimits, Window } from '../hot-state.ts'
import type { StoredForm } from './bucket-forms.ts'
import { lastBucket } from './bucket-list.ts'
import { asideId, decodeCounter, encodeCounter } from './counter-format.ts'
import {
  hotKey,
  keyAfter,
  keySpaces,
  readTimePart,
  textPart,
  textPartBytes,
  timePart,
  timePartBytes,
} from './hot-keys.ts'
import { countsNumberBytes, countsPart, namedCounts, readPartitionHead } from './partition-head.ts'
import { markIdBytes } from '../mark-id.ts'
import { markKey } from './marks.ts'
import { dayOfMinute, minuteOf, secondsPerSlotKey } from './slot-format.ts'
import { settledBefore } from './settled-slots.ts'
import { noVersion, type SubjectRecords } from './subject-record.ts'
import { findEnded, indexFirstEnd, type EndIndexEntry } from './window-ends.ts'

/** Slot keys that a sweep may visit per deleted key. Slots of unknown customers are kept longer and skipped. */
const lookedAtPerKey = 4

/**
 * Deletes expired data, a limited amount per call. Marks and windows are found by lists sorted by time. Slots are sorted by day,
 * and a position per partition lets the next call continue.
 */
export class Sweeper {
  readonly #store: LmdbStore
  readonly #subjects: SubjectRecords
  /** Lost at a restart; the sweep then starts again at the oldest day. */
  readonly #slotPositions = new Map<string, Buffer>()

  constructor(store: LmdbStore, subjects: SubjectRecords) {
    this.#store = store
    this.#subjects = subjects
  }

  /** Deletes expired keys and returns their number. Call it inside a write transaction. */
  sweep(partition: Buffer, limits: SweepLimits): number {
    let swept = this.#sweepMarks(partition, limits.marksReceivedBeforeMs, limits.keysMax)
    swept += this.#sweepWindows(partition, limits.windowsEndedBeforeSecond, limits.keysMax - swept)
    swept += this.#sweepSlots(partition, limits, limits.keysMax - swept)
    swept += this.#sweepStale(partition, limits.keysMax - swept)
    return swept
  }

  /** Deletes a list when its whole minute has expired, so a mark may stay up to a minute longer. */
  #sweepMarks(partition: Buffer, receivedBeforeMs: number, keysMax: number): number {
    let swept = 0
    while (swept < keysMax) {
      const prefix = hotKey(keySpaces.markMinute, partition)
      const [list] = this.#entries(prefix, keyAfter(prefix), 1)
      if (list === undefined) break
      if ((readTimePart(list.key, prefix.length) + 1) * 60_000 > receivedBeforeMs) break
      let end = list.value.length
      // From the end, because the first id is part of the list's key.
      for (; end > 0 && swept < keysMax; end -= markIdBytes) {
        this.#store.removeSync(markKey(partition, list.value.subarray(end - markIdBytes, end)))
        swept += 1
      }
      if (end === 0) this.#store.removeSync(list.key)
      else this.#store.putSync(list.key, list.value.subarray(0, end))
    }
    return swept
  }

  #sweepWindows(partition: Buffer, endedBeforeSecond: number, keysMax: number): number {
    let swept = 0
    while (swept < keysMax) {
      const ended = findEnded(this.#store, partition, endedBeforeSecond)
      if (ended === undefined) break
      this.#store.removeSync(ended.key)
      swept += 1 + this.#dropWindow(ended, endedBeforeSecond)
    }
    return swept
  }

  #dropWindow(ended: EndIndexEntry, endedBeforeSecond: number): number {
    const { partition, subject, scope, id, toSecond } = ended
    const subjectKey = hotKey(keySpaces.subject, partition, subject)
    const record = new Map(this.#subjects.read(subjectKey))
    const published = record.get(scope)
    // Its end is indexed when the publication is finished.
    if (published?.isUnfinished === true) return 0
    const forms = (published?.forms ?? []).filter(
      ({ withdrawnAtSecond }) => withdrawnAtSecond === 0 || withdrawnAtSecond >= endedBeforeSecond,
    )
    let dropped = this.#dropBuckets(ended, forms, endedBeforeSecond)
    if (published !== undefined) {
      const isOver = (window: Window): boolean => window.id === id && window.toSecond <= toSecond
      const windows = published.windows.filter((window) => !isOver(window))
      const isChanged =
        windows.length < published.windows.length || forms.length < published.forms.length
      const isLeft = published.version !== noVersion || forms.length > 0
      if (isChanged) {
        if (isLeft) record.set(scope, { ...published, windows, forms })
        else record.delete(scope)
        this.#subjects.write(subjectKey, record)
      }
      indexFirstEnd(this.#store, ended, windows)
      // The window was published again with a later end, so its amounts are kept.
      if (windows.some((window) => window.id === id)) return dropped
    }
    for (const counts of namedCounts(readPartitionHead(this.#store, partition))) {
      const part = countsPart(partition, counts)
      const prefix = hotKey(keySpaces.counter, part, subject, textPart(scope))
      for (const { key, value } of this.#entries(prefix, keyAfter(prefix), Infinity)) {
        const counter = decodeCounter(value)
        const hadAside = counter.delete(asideId(id))
        if (!counter.delete(id) && !hadAside) continue
        dropped += 1
        if (counter.size === 0) this.#store.removeSync(key)
        else this.#store.putSync(key, encodeCounter(counter))
      }
    }
    return dropped
  }

  /** Deletes the buckets of an entry that belong to none of these forms, and the lists whose last bucket ended long ago. */
  #dropBuckets(
    { partition, subject, scope }: EndIndexEntry,
    forms: readonly StoredForm[],
    endedBeforeSecond: number,
  ): number {
    let dropped = 0
    for (const counts of namedCounts(readPartitionHead(this.#store, partition))) {
      const prefix = hotKey(
        keySpaces.bucket,
        countsPart(partition, counts),
        subject,
        textPart(scope),
      )
      for (const { key, value } of this.#entries(prefix, keyAfter(prefix), Infinity)) {
        const name = key.subarray(prefix.length + textPartBytes(key, prefix.length))
        const form = forms.find((each) => textPart(each.name).equals(name))
        const isNeeded =
          form !== undefined && bucketAt(form, endedBeforeSecond) <= lastBucket(value)
        if (isNeeded) continue
        this.#store.removeSync(key)
        dropped += 1
      }
    }
    return dropped
  }

  /** Deletes a minute of slots when all of it is old enough. Slots of a shadow are deleted only once it is in use. */
  #sweepSlots(partition: Buffer, limits: SweepLimits, keysMax: number): number {
    if (keysMax <= 0) return 0
    const { slotsBeforeSecond, knownSubjectSlotsBeforeSecond } = limits
    const lastMinute = minuteOf(Math.max(slotsBeforeSecond, knownSubjectSlotsBeforeSecond))
    const counts = countsPart(partition, readPartitionHead(this.#store, partition).inUse)
    const prefix = hotKey(keySpaces.slot, counts)
    const end = Buffer.concat([prefix, timePart(dayOfMinute(lastMinute) + 1)])
    const positionName = counts.toString('latin1')
    const start = this.#slotPositions.get(positionName) ?? prefix
    const lookedAtMax = keysMax * lookedAtPerKey
    const keys = this.#keys(start, end, lookedAtMax)
    const settledBeforeOf = this.#settledSlots(partition, limits)
    let swept = 0
    let position: Buffer | undefined
    for (const key of keys) {
      position = key
      if (swept >= keysMax) break
      const endSecond = (readTimePart(key, key.length - timePartBytes) + 1) * secondsPerSlotKey
      if (endSecond > settledBeforeOf(key, prefix.length + timePartBytes)) continue
      this.#store.removeSync(key)
      swept += 1
    }
    const isAtEnd = keys.length < lookedAtMax && swept < keysMax
    if (position === undefined || isAtEnd) this.#slotPositions.delete(positionName)
    else this.#slotPositions.set(positionName, position)
    return swept
  }

  #settledSlots(partition: Buffer, limits: SlotLimits): (key: Buffer, subjectAt: number) => number {
    const known = new Map<string, number>()
    return (key, subjectAt) => {
      const scopeAt = subjectAt + textPartBytes(key, subjectAt)
      const scopeEnd = scopeAt + textPartBytes(key, scopeAt)
      const name = key.toString('latin1', subjectAt, scopeEnd)
      let settled = known.get(name)
      if (settled === undefined) {
        const subject = key.subarray(subjectAt, scopeAt)
        const record = this.#subjects.read(hotKey(keySpaces.subject, partition, subject))
        settled = settledBefore(record, key.subarray(scopeAt, scopeEnd), limits)
        known.set(name, settled)
      }
      return settled
    }
  }

  /** Deletes counts that were replaced or dropped. */
  #sweepStale(partition: Buffer, keysMax: number): number {
    const named = namedCounts(readPartitionHead(this.#store, partition))
    let swept = 0
    for (const space of [keySpaces.counter, keySpaces.bucket, keySpaces.slot]) {
      const all = hotKey(space, partition)
      let start = all
      while (swept < keysMax) {
        const [first] = this.#keys(start, keyAfter(all), 1)
        if (first === undefined) break
        const prefix = first.subarray(0, all.length + countsNumberBytes)
        const end = keyAfter(prefix)
        if (!named.includes(prefix.readUInt32BE(all.length))) {
          const stale = this.#keys(prefix, end, keysMax - swept)
          for (const key of stale) this.#store.removeSync(key)
          swept += stale.length
        }
        start = end
      }
    }
    return swept
  }

  #keys(start: Buffer, end: Buffer, limit: number): Buffer[] {
    const keys: Buffer[] = []
    for (const key of this.#store.getKeys({ start, end, limit })) keys.push(Buffer.from(key))
    return keys
  }

  /** Returns copies, because the caller changes what it has read. */
  #entries(start: Buffer, end: Buffer, limit: number): { key: Buffer; value: Buffer }[] {
    const entries: { key: Buffer; value: Buffer }[] = []
    for (const { key, value } of this.#store.getRange({ start, end, limit })) {
      entries.push({ key: Buffer.from(key), value: Buffer.from(value) })
    }
    return entries
  }
}
