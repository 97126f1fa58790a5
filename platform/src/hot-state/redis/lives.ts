import { Cluster, type Redis } from 'ioredis'
import { mastersOf, type RedisClient } from './connect.ts'
import { slotsTotal } from './hash-slot.ts'
import { readRunId } from './incarnation.ts'

/**
 * Returns each master's run id with the slots it owns, as `<run id>@<from>-<to>,<from>-<to>`. Needs the INFO command, and CLUSTER
 * NODES on a cluster. Rejects if a slot does not have exactly one owner, as during a failover.
 */
export async function readLives(client: RedisClient): Promise<string> {
  const lives = await Promise.all(
    mastersOf(client).map(async (server) => {
      const [runId, slots] = await Promise.all([
        readRunId(client, server),
        client instanceof Cluster ? readOwnSlots(server) : `0-${slotsTotal - 1}`,
      ])
      return `${runId}@${slots}`
    }),
  )
  const text = lives.sort().join(' ')
  const owned = [...ownersOf(text).values()].flatMap((slots) => [...slots])
  if (owned.length !== slotsTotal || new Set(owned).size !== slotsTotal) {
    throw new Error('the masters of the cluster do not share all slots')
  }
  return text
}

async function readOwnSlots(server: Redis): Promise<string> {
  const nodes = (await server.cluster('NODES')) as string
  const own = nodes.split('\n').find((line) => line.split(' ')[2]?.split(',').includes('myself'))
  // Slots that are being moved are listed in brackets in addition to the owned ones.
  const ranges =
    own
      ?.split(' ')
      .slice(8)
      .filter((range) => !range.startsWith('[')) ?? []
  return ranges.join(',')
}

/** Returns a function that tells whether a slot may have been lost, or 'everything' if all slots may have been. */
export function lostSlots(then: string, now: string): 'everything' | ((slot: number) => boolean) {
  const before = ownersOf(then)
  const kept = new Set<number>()
  for (const [runId, slots] of ownersOf(now)) {
    const had = before.get(runId)
    for (const slot of slots) if (had?.has(slot)) kept.add(slot)
  }
  return kept.size === 0 ? 'everything' : (slot) => !kept.has(slot)
}

function ownersOf(lives: string): Map<string, ReadonlySet<number>> {
  const owners = new Map<string, ReadonlySet<number>>()
  for (const life of lives.split(' ')) {
    const [runId, ranges = ''] = life.split('@')
    owners.set(runId!, new Set(ranges.split(',').flatMap(slotsOf)))
  }
  return owners
}

function slotsOf(range: string): number[] {
  if (range === '') return []
  const [from, to = from] = range.split('-').map(Number)
  return Array.from({ length: to! - from! + 1 }, (_, index) => from! + index)
}
