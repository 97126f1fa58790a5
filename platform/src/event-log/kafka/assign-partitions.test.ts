import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assignPartitions, type Candidate } from './assign-partitions.ts'

const topics = fc.record({ live: fc.nat(24), sandbox: fc.nat(24) })
const memberIds = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 8,
})

function fresh(ids: readonly string[]): Candidate[] {
  return ids.map((memberId) => ({ memberId, owned: [] }))
}

function resumed(assignment: ReturnType<typeof assignPartitions>): Candidate[] {
  return [...assignment].map(([memberId, owned]) => ({ memberId, owned }))
}

function difference(counts: readonly number[]): number {
  return Math.max(...counts) - Math.min(...counts)
}

describe('assigning partitions', () => {
  it('assigns each partition to one member, as evenly as possible', () => {
    fc.assert(
      fc.property(topics, memberIds, (counts, ids) => {
        const assignment = assignPartitions(fresh(ids), counts)
        const given = [...assignment.values()].flat().map((at) => `${at.topic}/${at.partition}`)
        const all = Object.entries(counts).flatMap(([topic, count]) =>
          Array.from({ length: count }, (_, partition) => `${topic}/${partition}`),
        )
        expect(given.sort()).toEqual(all.sort())
        const lists = [...assignment.values()]
        expect(difference(lists.map((list) => list.length))).toBeLessThanOrEqual(1)
        for (const topic of Object.keys(counts)) {
          const ofTopic = lists.map((list) => list.filter((at) => at.topic === topic).length)
          expect(difference(ofTopic)).toBeLessThanOrEqual(1)
        }
      }),
    )
  })

  it('moves nothing while the members stay the same', () => {
    fc.assert(
      fc.property(topics, memberIds, (counts, ids) => {
        const before = assignPartitions(fresh(ids), counts)
        const after = assignPartitions(resumed(before), counts)
        for (const [memberId, owned] of before) {
          expect(new Set(after.get(memberId))).toEqual(new Set(owned))
        }
      }),
    )
  })

  it('moves at most one partition of a topic between old members when a new one joins', () => {
    fc.assert(
      fc.property(topics, memberIds, (counts, [joining, ...ids]) => {
        fc.pre(ids.length > 0)
        const before = assignPartitions(fresh(ids), counts)
        const members = [...resumed(before), { memberId: joining!, owned: [] }]
        const after = assignPartitions(members, counts)
        const place = (at: { topic: string; partition: number }) => `${at.topic}/${at.partition}`
        const toNew = new Set(after.get(joining!)!.map(place))
        for (const [memberId, owned] of before) {
          const kept = new Set(after.get(memberId)!.map(place))
          const lost = owned.filter((at) => !kept.has(place(at)) && !toNew.has(place(at)))
          for (const topic of Object.keys(counts)) {
            expect(lost.filter((at) => at.topic === topic).length).toBeLessThanOrEqual(1)
          }
        }
      }),
    )
  })

  it('lets one of two members keep a partition that both claim', () => {
    const at = { topic: 'live', partition: 0 }
    const both = ['a', 'b'].map((memberId) => ({ memberId, owned: [at] }))
    const assignment = assignPartitions(both, { live: 2 })
    expect([...assignment.values()].map((list) => list.length)).toEqual([1, 1])
  })
})
