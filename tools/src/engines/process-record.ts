import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasEnded, startTimeOf } from '@tollgate/platform/processes/process-identity'
import type { EngineName } from './engine-names.ts'

/** One started server, as the commands that come later find it. */
export type ProcessRecord = {
  readonly engine: EngineName
  /** `kafka-2`: the name of its folder and of its log. */
  readonly name: string
  readonly pid: number
  /** Tells the process from a later one that was given the same number. */
  readonly startTime: string | undefined
  readonly port: number
  readonly stopSignal: NodeJS.Signals
  readonly logPath: string
}

/** Synchronous, and called right after the launch: no other work may come between a process and the note of it. */
export function writeProcessRecord(folder: string, record: ProcessRecord): void {
  writeFileSync(fileIn(folder), `${JSON.stringify(record, null, 2)}\n`)
}

export function readProcessRecord(folder: string): ProcessRecord | undefined {
  try {
    return (JSON.parse(readFileSync(fileIn(folder), 'utf8')) as ProcessRecord | null) ?? undefined
  } catch {
    // Missing, or cut short by a full disk: then nothing is known to run.
    return undefined
  }
}

export function removeProcessRecord(folder: string): void {
  rmSync(fileIn(folder), { force: true })
}

/** Never true for a process that merely got the number of one that ended. */
export function isRunning({ pid, startTime }: ProcessRecord): boolean {
  return startTime !== undefined && !hasEnded(pid) && startTimeOf(pid) === startTime
}

function fileIn(folder: string): string {
  return join(folder, 'process.json')
}
