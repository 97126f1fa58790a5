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
  judgeLoss({ queued, progress, torn: [], ...state } as PublicationState, lives, hotState)

test('nothing is lost while progress is there and no partition is torn', () => {
  expect(judge({}, 'after', losing('everything')).kind).toBe('nothing')
})

test.each([
  ['nothing says when it was queued', { queued: undefined, progress: undefined }, 'after'],
  ['progress is lost and no server was started again', { progress: undefined }, 'before'],
])('everything is lost if %s', (_, state, lives) => {
  expect(judge(state, lives).kind).toBe('everything')
})

test('everything is lost if the servers say so', () => {
  expect(judge({ progress: undefined }, 'after', losing('everything')).kind).toBe('everything')
})

test('what one server kept, and each torn partition, is lost', () => {
  const loss = judge(
    { torn },
    'after',
    losing((at) => 'partition' in at && at.partition === 1),
  )
  if (loss.kind !== 'some') throw new Error(loss.kind)
  expect([0, 1, 2, 3].filter((partition) => loss.isLost(place(partition)))).toEqual([1, 2])
})
