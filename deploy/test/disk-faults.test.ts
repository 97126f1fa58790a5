import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { damageOldSegment, keepClickHouseCopy } from '../../tools/src/instance/disk-faults.ts'
import { dataFolderAt } from '../src/standalone/data-folder.ts'

test('restores an older copy of the ClickHouse folder repeatedly', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tollgate-disk-faults-'))
  const { clickhouse, log } = dataFolderAt(root)
  const file = join(clickhouse, 'rows')
  await mkdir(clickhouse)
  await writeFile(file, 'older')
  const copy = await keepClickHouseCopy(root)
  for (const newer of ['newer', 'newest']) {
    await writeFile(file, newer)
    await copy.putBack()
    expect(await readFile(file, 'utf8')).toBe('older')
  }
  await mkdir(log)
  expect(damageOldSegment(root)).toBeUndefined()
  await rm(root, { recursive: true })
})
