import type { Logger } from '@tollgate/platform/observability/logger'
import { expect, it } from 'vitest'
import { createForwardedWarning } from './warn-of-forwarded.ts'

it('warns of ignored X-Forwarded-For headers once in five minutes, and counts each of them', () => {
  let nowMs = 0
  let counted = 0
  const warned: unknown[] = []
  const logger = { warn: (fields: unknown) => warned.push(fields) } as unknown as Logger
  const onIgnored = createForwardedWarning(logger, { now: () => nowMs }, () => counted++)
  for (nowMs of [0, 1, 299_999, 300_000, 300_001]) onIgnored('10.0.0.1')
  expect(counted).toBe(5)
  expect(warned).toEqual([{ peer: '10.0.0.1' }, { peer: '10.0.0.1' }])
})
