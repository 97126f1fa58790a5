import type { Increment, Mark, Span } from '../hot-state.ts'
import { markIdBytes, writeMarkId } from '../mark-id.ts'
import { splitAmount } from './amount-format.ts'
import { namePart } from './hot-names.ts'
import { MsgpackWriter } from './msgpack-writer.ts'

/** Bytes of a mark's id that select its hash; the other bytes are the field. */
const bucketBytes = 2

/**
 * Encodes increments for the script: per subject and scope [subject, scope, [series, second, amount, second, amount, ..], ..], so
 * that it reads the windows of each entry once.
 */
export function packIncrements(increments: readonly Increment[]): Buffer {
  const subjects = new Map<string, Map<string, Map<string, Increment[]>>>()
  let groupsTotal = 0
  for (const increment of increments) {
    const scopes = getOrAdd(subjects, increment.subject, newMap<string, Map<string, Increment[]>>)
    const series = getOrAdd(scopes, increment.scope, newMap<string, Increment[]>)
    if (series.size === 0) groupsTotal += 1
    getOrAdd(series, increment.series, newArray<Increment>).push(increment)
  }
  const writer = new MsgpackWriter()
  writer.array(groupsTotal)
  for (const [subject, scopes] of subjects) {
    const subjectPart = namePart(subject)
    for (const [scope, series] of scopes) {
      writer.array(2 + series.size)
      writer.text(subjectPart)
      writer.text(namePart(scope))
      for (const [name, ofSeries] of series) writeSeries(writer, name, ofSeries)
    }
  }
  return writer.finish()
}

function writeSeries(writer: MsgpackWriter, name: string, increments: readonly Increment[]): void {
  writer.array(1 + 2 * increments.length)
  writer.text(namePart(name))
  for (const { second, amount } of increments) {
    writer.number(second)
    writeAmount(writer, amount)
  }
}

function writeAmount(writer: MsgpackWriter, amount: bigint): void {
  const split = splitAmount(amount)
  if (typeof split === 'string') {
    writer.text(split)
  } else {
    writer.array(2)
    for (const part of split) writer.text(part)
  }
}

export type PackedSpans = {
  /** Spans of one second, as increments. */
  readonly increments: Buffer
  /** Longer spans, per subject and scope: [subject, scope, series, from, last, amount, series, from, last, amount, ..]. */
  readonly longer: Buffer
  /** Index of the original span for each of the longer spans. */
  readonly order: readonly number[]
}

export function packSpans(spans: readonly Span[]): PackedSpans {
  const increments: Increment[] = []
  const subjects = new Map<string, Map<string, number[]>>()
  for (const [
    index,
    { subject, scope, series, fromSecond, lastSecond, amount },
  ] of spans.entries()) {
    if (fromSecond === lastSecond) {
      increments.push({ subject, scope, series, second: fromSecond, amount })
    } else {
      const scopes = getOrAdd(subjects, subject, newMap<string, number[]>)
      getOrAdd(scopes, scope, newArray<number>).push(index)
    }
  }
  const groups = [...subjects.values()].flatMap((scopes) => [...scopes.values()])
  const writer = new MsgpackWriter()
  writer.array(groups.length)
  for (const group of groups)
    writeSpans(
      writer,
      group.map((index) => spans[index]!),
    )
  return { increments: packIncrements(increments), longer: writer.finish(), order: groups.flat() }
}

/** Writes spans of the same subject and scope. */
function writeSpans(writer: MsgpackWriter, spans: readonly Span[]): void {
  const { subject, scope } = spans[0]!
  writer.array(2 + 4 * spans.length)
  writer.text(namePart(subject))
  writer.text(namePart(scope))
  for (const { series, fromSecond, lastSecond, amount } of spans) {
    writer.text(namePart(series))
    writer.number(fromSecond)
    writer.number(lastSecond)
    writeAmount(writer, amount)
  }
}

/** Encodes marks by minute of receive time: [minute, bucket, field, offset, bucket, field, offset, ..]. */
export function packMarks(marks: readonly Mark[]): Buffer {
  const minutes = new Map<number, Mark[]>()
  for (const mark of marks) {
    getOrAdd(minutes, Math.floor(mark.receivedAtMs / 60_000), newArray<Mark>).push(mark)
  }
  const writer = new MsgpackWriter()
  const id = Buffer.alloc(markIdBytes)
  writer.array(minutes.size)
  for (const [minute, ofMinute] of minutes) {
    writer.array(1 + 3 * ofMinute.length)
    writer.text(minute.toString())
    for (const mark of ofMinute) {
      writeId(writer, mark.id, id)
      writer.text(mark.offset.toString())
    }
  }
  return writer.finish()
}

/** Encodes ids: [bucket, field, bucket, field, ..]. */
export function packMarkIds(ids: readonly string[]): Buffer {
  const writer = new MsgpackWriter()
  const bytes = Buffer.alloc(markIdBytes)
  writer.array(2 * ids.length)
  for (const id of ids) writeId(writer, id, bytes)
  return writer.finish()
}

/** Writes an id. `bytes` is a reusable buffer for one id. */
function writeId(writer: MsgpackWriter, id: string, bytes: Buffer): void {
  writeMarkId(id, bytes, 0)
  writer.bytes(bytes, 0, bucketBytes)
  writer.bytes(bytes, bucketBytes, markIdBytes)
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = create()
    map.set(key, value)
  }
  return value
}

function newMap<Key, Value>(): Map<Key, Value> {
  return new Map()
}

function newArray<Item>(): Item[] {
  return []
}
