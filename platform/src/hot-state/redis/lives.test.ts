import { expect, it } from 'vitest'
import { lostSlots } from './lives.ts'

const then = 'a@0-5460 b@5461-10922 c@10923-16383'

it.each([
  ['nothing changed', then, []],
  ['another server took over', 'a@0-5460 b@5461-10922 d@10923-16383', [10_923, 16_383]],
  ['slots went to another server', 'a@0-5459 b@5461-10922 c@5460,10923-16383', [5_460]],
  ['a new server has slots', 'a@0-5460 b@5461-10922 c@10923-16000 e@16001-16383', [16_001]],
])('counts slots of another server or run as lost: %s', (_, now, lost) => {
  const isLost = lostSlots(then, now)
  if (isLost === 'everything') throw new Error('not everything is lost')
  const edges = [0, 5_459, 5_460, 5_461, 10_922, 10_923, 16_000, 16_001, 16_383]
  const all = edges.filter(isLost)
  expect(all).toEqual(expect.arrayContaining(lost))
  const owner = (lives: string, slot: number): string =>
    lives
      .split(' ')
      .find((life) => isOwned(life, slot))!
      .split('@')[0]!
  expect(all).toEqual(edges.filter((slot) => owner(then, slot) !== owner(now, slot)))
})

function isOwned(life: string, slot: number): boolean {
  return life
    .split('@')[1]!
    .split(',')
    .some((range) => {
      const [from, to = from] = range.split('-').map(Number)
      return from! <= slot && slot <= to!
    })
}

it.each(['x@0-16383', 'x@0-5460 y@5461-16383'])(
  'has lost everything if no server run is left: %s',
  (now) => {
    expect(lostSlots(then, now)).toBe('everything')
  },
)
