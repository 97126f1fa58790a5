import type { Logger } from '@tollgate/platform/observability/logger'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { bulkRecordsMax } from '@tollgate/schemas/limits'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { isEvent } from '../domain/bulk-events.ts'
import type { EventMatcher } from '../domain/event-matcher.ts'
import { withMatches } from '../domain/usage-events.ts'
import type { KeyHolder } from '../domain/key-holder.ts'
import { isBuiltInMeter, meterEvent } from '../domain/meter-events.ts'
import type { CustomerTimes, TimesByCustomer } from '../hot-state/customer-times.ts'
import type { MetersCache } from '../hot-state/meters-cache.ts'
import { recordAllUsage, type UsageRecordingParts } from '../recording/record-usage.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { BadItemLog } from './bad-item-log.ts'
import type { BusCounts } from './bus-metrics.ts'
import { readMessage, type BadItemReason, type BusMessage, type ReadItem } from './bus-message.ts'
import type { CustomerOwners, Owner } from './customer-owners.ts'

export type BusRecorderParts = UsageRecordingParts & {
  readonly meters: MetersCache
  readonly nowMs: () => number
  readonly randomReference: (nowMs: number) => string
  readonly customerTimes: CustomerTimes
  readonly owners: Pick<CustomerOwners, 'find'>
  readonly counts: BusCounts
  readonly badItems: BadItemLog
  readonly logger: Logger
}

/** 'retry': at least one item is not in the log yet. Recording the message again may succeed. */
export type Recorded = 'recorded' | 'undecodable' | 'retry'

type Placed = {
  readonly at: number
  readonly index: number
  readonly event: MeterEvent
  readonly properties: JsonObject
}

type Bad = { readonly at: number; readonly index: number; readonly reason: BadItemReason }

type Built = Pick<Placed, 'event' | 'properties'> & { readonly holder: KeyHolder }

type Group = { readonly holder: KeyHolder; readonly placed: Placed[] }

/**
 * Records messages by the rules of `/v1/sdk/meter-events` and returns the result of each message, in input order. Invalid items are
 * counted and dropped. Every item has an idempotency key, so a message that is only partly in the log can be recorded again as a
 * whole.
 */
export async function recordMessages(
  parts: BusRecorderParts,
  messages: readonly BusMessage[],
): Promise<Recorded[]> {
  const read = messages.map(readMessage)
  const ends = read.map((items): Recorded => (items === undefined ? 'undecodable' : 'recorded'))
  const owners = await parts.owners.find(referencesOf(read))
  const times = await readTimes(parts, owners)
  const groups = new Map<string, Group>()
  const bad: Bad[] = []
  read.forEach((items, at) => {
    for (const item of items ?? []) {
      const built = eventOf(parts, item, owners, times)
      if (built === 'unavailable') ends[at] = 'retry'
      else if (typeof built === 'string') bad.push({ at, index: item.index, reason: built })
      else addTo(groups, built.holder, { at, index: item.index, ...built })
    }
  })
  const recorded = await Promise.all([...groups.values()].map((group) => recordGroup(parts, group)))
  for (const { failed, errors } of recorded) {
    for (const at of failed) ends[at] = 'retry'
    for (const { at, error } of errors) {
      const { subject, sequence } = messages[at]!
      parts.logger.error(
        { err: error, subject, sequence },
        'a message of the message bus could not be recorded and is retried',
      )
    }
  }
  // A message that is retried reports its invalid items at its last attempt only, so that each is counted once.
  for (const { at, index, reason } of [...bad, ...recorded.flatMap((each) => each.bad)]) {
    if (ends[at] !== 'retry') parts.badItems.add(messages[at]!, index, reason)
  }
  ends.forEach((end, at) => {
    if (end === 'undecodable') parts.badItems.addUndecodable(messages[at]!)
  })
  return ends
}

function referencesOf(read: readonly (ReadItem[] | undefined)[]): ReadonlySet<string> {
  const references = new Set<string>()
  for (const items of read) {
    for (const item of items ?? []) if (item.kind === 'item') references.add(item.input.customerRef)
  }
  return references
}

/** Returns the times of those customers who are on a test clock. */
async function readTimes(
  { customerTimes }: Pick<BusRecorderParts, 'customerTimes'>,
  owners: ReadonlyMap<string, Owner>,
): Promise<TimesByCustomer> {
  const times = new Map<string, number>()
  for (const [customerRef, owner] of owners) {
    if (typeof owner === 'string') continue
    const read = customerTimes.read(owner, [customerRef])
    const found = read instanceof Promise ? await read : read
    const time = found?.get(customerRef)
    if (time !== undefined) times.set(customerRef, time)
  }
  return times
}

function addTo(groups: Map<string, Group>, holder: KeyHolder, placed: Placed): void {
  const name = `${holder.environment}/${holder.providerId}`
  const group = groups.get(name)
  if (group === undefined) groups.set(name, { holder, placed: [placed] })
  else group.placed.push(placed)
}

function eventOf(
  { nowMs, randomReference }: BusRecorderParts,
  item: ReadItem,
  owners: ReadonlyMap<string, Owner>,
  customerTimes: TimesByCustomer,
): Built | BadItemReason | 'unavailable' {
  if (item.kind === 'bad') return item.reason
  const holder = owners.get(item.input.customerRef) ?? 'unavailable'
  if (holder === 'unknown') return 'unknown_customer'
  if (holder === 'ambiguous') return 'ambiguous_customer'
  if (holder === 'unavailable') return holder
  // The meters are read once per provider, when the events of the provider are recorded.
  const receipt = { holder, receivedAtMs: nowMs(), customerTimes, randomReference }
  const event = meterEvent(item.input, receipt)
  return isEvent(event) ? { holder, event, properties: item.input.properties ?? {} } : 'timestamp'
}

type GroupEnd = {
  /** Positions of the messages that have at least one item that was not recorded. */
  readonly failed: number[]
  readonly bad: Bad[]
  /** Errors that are defects of this program rather than outages. */
  readonly errors: { readonly at: number; readonly error: unknown }[]
}

async function recordGroup(parts: BusRecorderParts, { holder, placed }: Group): Promise<GroupEnd> {
  const end: GroupEnd = { failed: [], bad: [], errors: [] }
  for (let from = 0; from < placed.length; from += bulkRecordsMax) {
    await recordChunk(parts, holder, placed.slice(from, from + bulkRecordsMax), end)
  }
  return end
}

async function recordChunk(
  parts: BusRecorderParts,
  holder: KeyHolder,
  chunk: readonly Placed[],
  end: GroupEnd,
): Promise<void> {
  try {
    const bad = new Map(await badMeters(parts, holder, chunk))
    const good = chunk.filter((each) => !bad.has(each))
    const events = withMatchesOf(good, await parts.meters.matcherOf(holder), bad)
    if (events.length > 0) {
      const recorded = await recordAllUsage(parts, holder, events)
      for (const { outcome } of recorded) parts.counts.items[outcome] += 1
    }
    for (const [{ at, index }, reason] of bad) end.bad.push({ at, index, reason })
  } catch (error) {
    const positions = [...new Set(chunk.map(({ at }) => at))]
    if (error instanceof UnavailableError) {
      end.failed.push(...positions)
    } else if (positions.length === 1) {
      end.failed.push(...positions)
      end.errors.push({ at: positions[0]!, error })
    } else {
      // Record each message separately, so that one message with an error does not keep the others from the log.
      for (const at of positions) {
        const alone = chunk.filter((each) => each.at === at)
        await recordChunk(parts, holder, alone, end)
      }
    }
  }
}

/** Returns the events with everything that meters count of them. Adds events with a value that a meter cannot use to `bad`. */
function withMatchesOf(
  placed: readonly Placed[],
  matcher: EventMatcher,
  bad: Map<Placed, BadItemReason>,
): MeterEvent[] {
  return placed.flatMap((each) => {
    const { event, properties } = each
    const matched = withMatches(event, event.meterName, properties, ['properties'], matcher)
    if (isEvent(matched)) return [matched]
    bad.set(each, 'meter_value')
    return []
  })
}

async function badMeters(
  { meters }: BusRecorderParts,
  holder: KeyHolder,
  chunk: readonly Placed[],
): Promise<ReadonlyMap<Placed, BadItemReason>> {
  const bad = new Map<Placed, BadItemReason>()
  const named = new Set(chunk.map(({ event }) => event.meterName))
  const names = [...named].filter((name) => !isBuiltInMeter(name))
  if (names.length === 0) return bad
  const statuses = await meters.statusOf(holder, names)
  const statusByName = new Map(names.map((name, at) => [name, statuses[at]!]))
  for (const each of chunk) {
    const status = statusByName.get(each.event.meterName)
    if (status === 'archived') bad.set(each, 'archived_meter')
    if (status === 'unknown') bad.set(each, 'unknown_meter')
    if (status === 'reads-events') bad.set(each, 'event_meter')
  }
  return bad
}
