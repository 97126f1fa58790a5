import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createLogger } from '../../observability/logger.ts'
import { runHealthChecks } from '../../service/health.ts'
import { damageSegment, sealedSegments } from '../../testing/damage-segment.ts'
import { openFileEventLog } from './file-event-log.ts'
import { createLogScrubber } from './log-scrubber.ts'

it('finds a damaged old segment beside the writer, and degrades health without failing it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-scrubber-'))
  const folder = join(root, 'log')
  const log = await openFileEventLog({
    logFolder: folder,
    groupsFolder: join(root, 'groups'),
    role: 'writer',
    topics: { usage: 1 },
    segmentBytesMax: 4_096,
  })
  const seen = { bytes: 0, damaged: undefined as number | undefined }
  const create = () =>
    createLogScrubber({
      folder,
      bytesPerSecond: 1 << 30,
      restMs: 1,
      logger: createLogger('scrubber', 'silent'),
      onScrubbed: (bytes) => (seen.bytes += bytes),
      onDamaged: (segments) => (seen.damaged = segments),
    })
  for (let at = 0; at < 100; at += 1) await log.append('usage', 0, Buffer.alloc(100, 1), at)
  const scrubber = create()
  await scrubber.start()
  await expect.poll(() => seen.damaged).toBe(0)
  expect(seen.bytes).toBeGreaterThan(4_096)
  expect(await runHealthChecks([scrubber.health], 1_000)).toMatchObject({ status: 'ok' })

  const path = damageSegment(folder, sealedSegments(folder)[1]!)
  await expect.poll(() => seen.damaged).toBe(1)
  const report = await runHealthChecks([scrubber.health], 1_000)
  expect(report.status).toBe('degraded')
  expect(report.checks['log-segments']).toContain(path)
  await scrubber.stop()
  await log.close()
  rmSync(root, { recursive: true, force: true })
})
