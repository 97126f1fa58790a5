import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTimeOf } from '@tollgate/platform/processes/process-identity'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  isRunning,
  readProcessRecord,
  writeProcessRecord,
  type ProcessRecord,
} from './process-record.ts'
import { stopRecorded } from './stop-recorded.ts'

let folder: string
let child: ChildProcess
let record: ProcessRecord

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-record-'))
  child = spawn('sleep', ['600'], { stdio: 'ignore' })
  record = {
    engine: 'redis',
    name: 'redis',
    pid: child.pid!,
    startTime: startTimeOf(child.pid!),
    port: 16_379,
    stopSignal: 'SIGTERM',
    logPath: join(folder, 'redis.log'),
  }
  return async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true })
  }
})

describe('a process record', () => {
  it('reports the process as running until it has ended', async () => {
    writeProcessRecord(folder, record)
    expect(readProcessRecord(folder)).toEqual(record)
    expect(isRunning(record)).toBe(true)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isRunning(record)).toBe(false)
  })

  it('reports a later process with the same id as not running', () => {
    expect(isRunning({ ...record, startTime: '1' })).toBe(false)
  })

  it('reports a process with an unknown start time as not running', () => {
    expect(isRunning({ ...record, startTime: undefined })).toBe(false)
  })

  it.each(['', '{"pid": 12', 'null'])('is undefined if the file contains %j', async (text) => {
    await writeFile(join(folder, 'process.json'), text)
    expect(readProcessRecord(folder)).toBeUndefined()
  })
})

describe('stopRecorded', () => {
  it('ends the process and removes its record', async () => {
    writeProcessRecord(folder, record)
    await stopRecorded(folder)
    expect(isRunning(record)).toBe(false)
    expect(readProcessRecord(folder)).toBeUndefined()
  })

  it('ends a suspended process', async () => {
    writeProcessRecord(folder, record)
    child.kill('SIGSTOP')
    await stopRecorded(folder)
    expect(isRunning(record)).toBe(false)
  })

  it('does not end another process with the same id', async () => {
    writeProcessRecord(folder, { ...record, startTime: '1' })
    await stopRecorded(folder)
    expect(isRunning(record)).toBe(true)
    expect(readProcessRecord(folder)).toBeUndefined()
  })

  it('does nothing in a folder without a record', async () => {
    await stopRecorded(join(folder, 'nowhere'))
    expect(isRunning(record)).toBe(true)
  })
})
