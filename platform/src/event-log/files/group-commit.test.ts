import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EventLogUnavailableError } from '../event-log.ts'
import { GroupCommit } from './group-commit.ts'
import type { LogTail } from './log-tail.ts'
import { recoverLog } from './recover.ts'

const value = Buffer.from('value')

describe('a commit that cannot be published', () => {
  let folder: string
  let tail: LogTail
  let commits: GroupCommit
  let told: number[]
  let isFailing: boolean

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-group-commit-'))
    tail = (await recoverLog(folder, { topic: 1 }, 1_000_000)).tail
    told = []
    isFailing = true
    commits = new GroupCommit(tail, 1_000_000, ([count]) => {
      if (isFailing) throw new Error('The disk took nothing.')
      told.push(count!)
    })
  })

  afterEach(async () => {
    await commits.close()
    await tail.close()
    await rm(folder, { recursive: true })
  })

  it('is refused, and the next commit is accepted', async () => {
    await expect(commits.append(0, value, 0)).rejects.toThrow(EventLogUnavailableError)
    await expect(commits.appendAll([0], [{ partition: 0, value }], 0)).rejects.toThrow(
      'The event log cannot write. The disk took nothing.',
    )
    isFailing = false
    await commits.append(0, value, 0)
    expect(told).toEqual([1])
    // The refused record is in the log as well.
    expect(tail.durable.heads).toEqual([3])
  })

  it('makes the log unwritable until publishing works again', async () => {
    await expect(commits.append(0, value, 0)).rejects.toThrow(EventLogUnavailableError)
    await expect(commits.checkWritable()).rejects.toThrow('The disk took nothing.')
    isFailing = false
    await commits.checkWritable()
    expect(told).toEqual([0])
  })
})
