import { expect, test } from 'vitest'
import type { HotPlace, Loss } from '@tollgate/platform/hot-state/hot-state'
import { judgeLoss } from './judge-loss.ts'
import type { PublicationState } from './publication-state.ts'

const place = (partition: number): HotPlace & { partition: number } => ({
  space: 'sandbox',
  partition,
})
const progress = { id: 'a', queuedTo: {}, published: [] } as PublicationState['progress'] & object
const queued = { id: 'a', incarnation: 'i', lives: 'before' } as PublicationState['queued'] & object
const torn = [{ space: 'sandbox', partition: 2 }]

const losing = (loss: Loss) => ({ lostBetween: () => loss })
const nothingLost = losing(() => false)

const judge = (state: Partial<PublicationState>, lives: string, hotState = nothingLost) =>
  judgeLoss({ queued, progress, lostPartitions: [], ...state } as PublicationState, lives, hotState)

test('reports no loss while the progress exists and every partition is complete', () => {
  expect(judge({}, 'after', losing('everything')).kind).toBe('nothing')
})

test.each([
  ['no start is recorded', { queued: undefined, progress: undefined }, 'after'],
  ['the progress is lost and no server was restarted', { progress: undefined }, 'before'],
])('reports that everything is lost if %s', (_, state, lives) => {
  expect(judge(state, lives).kind).toBe('everything')
})

test('reports that everything is lost if the servers report it', () => {
  expect(judge({ progress: undefined }, 'after', losing('everything')).kind).toBe('everything')
})

test('reports the documents of a restarted server and the partitions without their witness as lost', () => {
  const loss = judge(
    { lostPartitions: torn },
    'after',
    losing((at) => 'partition' in at && at.partition === 1),
  )
  if (loss.kind !== 'some') throw new Error(loss.kind)
  expect([0, 1, 2, 3].filter((partition) => loss.isLost(place(partition)))).toEqual([1, 2])
})
