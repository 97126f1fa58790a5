import { expect, test } from 'vitest'
import { foldHealth, type AttemptReport } from './endpoint-health.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute))

const news = (
  endpointRef: string,
  minute: number,
  rest: Partial<AttemptReport>,
): AttemptReport => ({
  endpointRef,
  isSuccess: false,
  isGone: false,
  startedAt: at(minute),
  exhaustedSince: null,
  ...rest,
})

const nothing = {
  hasSucceeded: false,
  failures: 0,
  failingSince: null,
  exhaustedSince: null,
  isGone: false,
}

test('counts only the failures after the last success', () => {
  expect(
    foldHealth([
      news('we_B', 1, { exhaustedSince: at(0), isGone: true }),
      news('we_B', 2, { isSuccess: true }),
      news('we_B', 4, {}),
      news('we_B', 3, {}),
      news('we_A', 5, { isSuccess: true }),
    ]),
  ).toEqual([
    { ...nothing, endpointRef: 'we_A', hasSucceeded: true },
    { ...nothing, endpointRef: 'we_B', hasSucceeded: true, failures: 2, failingSince: at(3) },
  ])
})

test('keeps the latest first attempt of the deliveries that failed for good', () => {
  const folded = foldHealth([
    news('we_A', 20, { exhaustedSince: at(3) }),
    news('we_A', 21, { exhaustedSince: at(7) }),
    news('we_A', 22, { exhaustedSince: at(5), isGone: true }),
    news('we_A', 23, {}),
  ])
  expect(folded).toEqual([
    {
      ...nothing,
      endpointRef: 'we_A',
      failures: 4,
      failingSince: at(20),
      exhaustedSince: at(7),
      isGone: true,
    },
  ])
})
