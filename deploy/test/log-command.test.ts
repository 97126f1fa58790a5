import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOutput, type Output } from '@tollgate/platform/cli/output'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { sealedSegments } from '@tollgate/platform/testing/damage-segment'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { environments } from '@tollgate/schemas/environment'
import { firstNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { repairLog } from '../src/event-log/repair-log.ts'
import { verifyLog } from '../src/event-log/verify-log.ts'
import { damageOldSegment } from '../../tools/src/instance/disk-faults.ts'
import { dataFolderAt, type DataFolder } from '../src/standalone/data-folder.ts'

const topic = usageTopic('live')
const records = 150

let root: string
let folder: DataFolder
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tollgate-log-command-'))
  folder = dataFolderAt(root)
})
afterEach(() => rm(root, { recursive: true }))

function openLog() {
  return openFileEventLog({
    logFolder: folder.log,
    groupsFolder: folder.groups,
    role: 'writer',
    topics: Object.fromEntries(environments.map((each) => [usageTopic(each), 1])),
    segmentBytesMax: 4_096,
  })
}

/** Creates a log in which the given numbers of records are stored and counted. */
async function createLog(stored: number, counted: number): Promise<void> {
  const log = await openLog()
  for (let at = 0; at < records; at += 1) await log.append(topic, 0, Buffer.alloc(100, 1), at)
  const note = writeSinkNote(firstNote('lineage'))
  const nothing = { offset: 0, note: '' }
  await log.commit(sinkGroup, topic, 0, nothing, { offset: stored, note })
  await log.close()
  const hotState = await openLmdbHotState({ folder: folder.hot, role: 'projection' })
  const at = { space: 'live', partition: 0, marks: [], increments: [] }
  await hotState.apply({ ...at, expectedOffset: 0, nextOffset: counted })
  await hotState.close()
}

async function outputOf(act: (output: Output) => Promise<boolean>): Promise<{
  isWhole: boolean
  text: string
}> {
  const lines: string[] = []
  const output = createOutput(
    () => 'text',
    (line) => void lines.push(line),
  )
  const isWhole = await act(output)
  return { isWhole, text: lines.join('\n') }
}

test('names the damaged segment, truncates the log after it and keeps a copy', async () => {
  await createLog(records, records)
  expect(await outputOf((output) => verifyLog(folder, output))).toMatchObject({ isWhole: true })
  const damaged = sealedSegments(folder.log)[2]!
  const path = damageOldSegment(root, { index: 2 })!

  const verified = await outputOf((output) => verifyLog(folder, output))
  expect(verified.isWhole).toBe(false)
  expect(verified.text).toContain(`segment ${damaged}: damaged`)
  expect(verified.text).toContain(path)
  expect(await outputOf((output) => repairLog(folder, {}, output))).toMatchObject({ isWhole: true })
  expect(existsSync(path)).toBe(false)
  expect(await readdir(join(root, 'damaged-log'))).toHaveLength(1)
  expect(await outputOf((output) => verifyLog(folder, output))).toMatchObject({ isWhole: true })

  const log = await openLog()
  const oldest = await log.oldest(topic, 0)
  const read = await log.read(topic, 0, oldest, { recordsMax: records, bytesMax: 1 << 20 })
  expect(read).toHaveLength(records - oldest)
  await log.close()
})

test.each([
  ['stored', 3, records],
  ['counted', records, 3],
] as const)(
  'changes nothing while records of the segment are not %s',
  async (_, stored, counted) => {
    await createLog(stored, counted)
    const path = damageOldSegment(root)!
    const { isWhole, text } = await outputOf((output) => repairLog(folder, {}, output))
    expect(isWhole).toBe(false)
    expect(text).toMatch(
      /tollgate\.usage\.live\/0: records 3 to \d+ are not both counted and stored/,
    )
    expect(existsSync(path)).toBe(true)
  },
)
